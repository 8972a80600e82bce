@_spi(_Unicode) import Swift

extension String {
    /// Returns the form for comparison under `[c]` and `[d]`, canonically composed (NFC), so that equivalent texts are
    /// equal and a letter with a remaining mark does not match its bare letter:
    /// - `[d]` removes marks with a combining class, such as accents, points and voicing marks. Letters with a stroke
    ///   and not a mark, such as `ø` and `ł`, keep it.
    /// - `[c]` folds letters, independent of language: to lower case by way of upper case, so that `ß` is `ss` and all
    ///   sigmas are equal. Only the dotless `ı` remains as it is.
    ///
    /// Returns the text itself if neither option is set, or if `[n]` marks it as already folded.
    package func folded(_ options: Predicate.Options) -> String {
        if options.isDisjoint(with: [.caseInsensitive, .diacriticInsensitive]) || options.contains(.normalized) {
            return self
        }
        let foldsCase = options.contains(.caseInsensitive)
        if utf8.allSatisfy({ $0 < 0x80 }) { return foldsCase ? lowercased() : self }
        let dropsMarks = options.contains(.diacriticInsensitive)
        var folded = String.UnicodeScalarView()
        for scalar in _nfd {
            if dropsMarks, scalar.properties.canonicalCombiningClass != .notReordered { continue }
            if foldsCase { folded.append(contentsOf: scalar.caseFolded) } else { folded.append(scalar) }
        }
        var composed = String.UnicodeScalarView()
        for scalar in String(folded)._nfc { composed.append(scalar) }
        return String(composed)
    }

    /// The text without case and diacritics, as `canonical:` returns it.
    package var canonical: String { folded([.caseInsensitive, .diacriticInsensitive]) }
}

extension Unicode.Scalar {
    fileprivate var caseFolded: String.UnicodeScalarView {
        if self == "\u{131}" { return String(self).unicodeScalars }
        var folded = String.UnicodeScalarView()
        // Lower case first, because the capital ẞ is its own upper case.
        for lower in properties.lowercaseMapping.unicodeScalars {
            for upper in lower.properties.uppercaseMapping.unicodeScalars {
                folded.append(contentsOf: upper.properties.lowercaseMapping.unicodeScalars)
            }
        }
        return folded
    }
}

extension String {
    /// The canonically composed form (NFC). In Swift, texts are equal if their composed forms have the same scalars.
    package var composed: String {
        if utf8.allSatisfy({ $0 < 0x80 }) { return self }
        var composed = String.UnicodeScalarView()
        for scalar in _nfc { composed.append(scalar) }
        return String(composed)
    }

    /// Whether every text that equals this one in Swift has the same scalars: it is ASCII, without the three characters
    /// that have another canonical equivalent (U+212A, U+037E, U+1FEF).
    package var hasOneForm: Bool {
        utf8.allSatisfy {
            $0 < 0x80 && $0 != UInt8(ascii: "K") && $0 != UInt8(ascii: ";") && $0 != UInt8(ascii: "`")
        }
    }

    /// Returns a key whose byte order is the order in which people list texts, independent of language: space,
    /// punctuation, symbols, digits, letters. Marks decide only between equal letters, and case only between equal
    /// marks, with lower case first.
    ///
    /// - Parameter isNumeric: whether adjacent digits count as one number.
    package func collationKey(isNumeric: Bool) -> String {
        var key = String.UnicodeScalarView()
        let letters = folded([.caseInsensitive, .diacriticInsensitive])
        if letters.utf8.allSatisfy({ $0 >= UInt8(ascii: "a") && $0 <= UInt8(ascii: "z") }) {
            key.append(contentsOf: letters.unicodeScalars)
        } else {
            letters.appendPrimaryKey(to: &key, isNumeric: isNumeric)
        }
        key.append(Self.levelEnd)
        let marked = folded(.caseInsensitive)
        if !marked.utf8.elementsEqual(letters.utf8) { key.append(contentsOf: marked._nfd.map(\.self)) }
        key.append(Self.levelEnd)
        for scalar in unicodeScalars { key.append(scalar.properties.isUppercase ? "1" : "0") }
        return String(key)
    }

    private static var levelEnd: Unicode.Scalar { "\u{1}" }

    private func appendPrimaryKey(to key: inout String.UnicodeScalarView, isNumeric: Bool) {
        var rest = unicodeScalars[...]
        while let scalar = rest.popFirst() {
            guard let kind = scalar.collationClass else {
                key.append(scalar)
                continue
            }
            key.append(kind)
            guard isNumeric, scalar.isDigit else {
                key.append(scalar)
                continue
            }
            var digits = [scalar]
            while let digit = rest.first, digit.isDigit {
                digits.append(digit)
                rest.removeFirst()
            }
            // The number of digits first, then the digits.
            let number = digits.drop { $0 == "0" }
            key.append(Unicode.Scalar(UInt32(min(number.count, 50_000)) + 0x20) ?? "0")
            key.append(contentsOf: number)
        }
    }
}

extension Unicode.Scalar {
    fileprivate var isDigit: Bool { value >= 0x30 && value <= 0x39 }

    /// The scalar that precedes this one in a sort key, so that its class sorts before the letters; nil for a letter.
    fileprivate var collationClass: Unicode.Scalar? {
        if isDigit { return "\u{6}" }
        switch properties.generalCategory {
        case .spaceSeparator, .lineSeparator, .paragraphSeparator, .control, .format: return "\u{2}"
        case .connectorPunctuation, .dashPunctuation, .openPunctuation, .closePunctuation, .initialPunctuation,
            .finalPunctuation, .otherPunctuation:
            return "\u{3}"
        case .modifierSymbol, .mathSymbol, .otherSymbol: return "\u{4}"
        case .currencySymbol: return "\u{5}"
        case .decimalNumber, .letterNumber, .otherNumber: return "\u{6}"
        default: return nil
        }
    }
}

/// The right side of `LIKE`: `*` matches any number of scalars, `?` matches exactly one, and a backslash before one of
/// these three makes it literal. The pattern must match the whole text.
package struct LikePattern: Sendable, Hashable {
    private enum Part: Sendable, Hashable {
        case run
        case any
        case scalar(Unicode.Scalar)
    }

    private let parts: [Part]
    private let options: Predicate.Options

    /// - Parameter options: `[c]` and `[d]` fold the pattern and each text.
    package init(_ pattern: String, _ options: Predicate.Options = []) {
        self.options = options
        var parts: [Part] = []
        var isEscaped = false
        for scalar in pattern.folded(options).unicodeScalars {
            switch scalar {
            case "\\" where !isEscaped:
                isEscaped = true
                continue
            case "*" where !isEscaped: if parts.last != .run { parts.append(.run) }
            case "?" where !isEscaped: parts.append(.any)
            case "*", "?", "\\": parts.append(.scalar(scalar))
            default: parts += isEscaped ? [.scalar("\\"), .scalar(scalar)] : [.scalar(scalar)]
            }
            isEscaped = false
        }
        if isEscaped { parts.append(.scalar("\\")) }
        self.parts = parts
    }

    /// Takes at most the product of both lengths: on a mismatch only the last run grows, never an earlier one.
    package func matches(_ text: String) -> Bool {
        let scalars = text.folded(options).unicodeScalars
        var (position, part) = (scalars.startIndex, 0)
        var lastRun: (part: Int, position: String.UnicodeScalarView.Index)?
        while position < scalars.endIndex {
            if part < parts.count, parts[part] == .run {
                lastRun = (part, position)
                part += 1
            } else if part < parts.count, parts[part] == .any || parts[part] == .scalar(scalars[position]) {
                part += 1
                position = scalars.index(after: position)
            } else if let run = lastRun {
                part = run.part + 1
                position = scalars.index(after: run.position)
                lastRun = (run.part, position)
            } else {
                return false
            }
        }
        return parts[part...].allSatisfy { $0 == .run }
    }
}
