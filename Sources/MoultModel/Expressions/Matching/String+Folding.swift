@_spi(_Unicode) import Swift

extension String {
    /// The form in which texts are compared under `[c]` and `[d]`, canonically composed (NFC), so that equivalent texts
    /// are equal and a letter with a mark left is not found by its bare letter:
    /// - `[d]` leaves out marks with a combining class, such as accents, points and voicing marks; letters that have a
    ///   stroke instead of a mark, as in `ø` and `ł`, keep it.
    /// - `[c]` folds letters, whatever the language: to lower case by way of upper case, so that `ß` is `ss` and every
    ///   sigma alike; only the dotless `ı` stays itself.
    ///
    /// The text itself where neither is asked for, or where `[n]` says that it is folded already.
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

    /// The text without case and diacritics, as `canonical:` gives it.
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
    /// The canonically composed form (NFC). Swift's texts are equal where their composed forms have the same scalars.
    package var composed: String {
        if utf8.allSatisfy({ $0 < 0x80 }) { return self }
        var composed = String.UnicodeScalarView()
        for scalar in _nfc { composed.append(scalar) }
        return String(composed)
    }

    /// Whether every text that equals this one in Swift has the very same scalars: it is ASCII, without the three
    /// characters that others stand for canonically (U+212A, U+037E, U+1FEF).
    package var hasOneForm: Bool {
        utf8.allSatisfy {
            $0 < 0x80 && $0 != UInt8(ascii: "K") && $0 != UInt8(ascii: ";") && $0 != UInt8(ascii: "`")
        }
    }

    /// A text whose byte order is the order in which people list texts, whatever their language: space, punctuation,
    /// symbols, digits, letters; marks only where the letters are the same, case only where the marks are too, small
    /// letters first.
    ///
    /// - Parameter isNumeric: whether digits that stand together count as one number.
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
            // The number of digits, then the digits.
            let number = digits.drop { $0 == "0" }
            key.append(Unicode.Scalar(UInt32(min(number.count, 50_000)) + 0x20) ?? "0")
            key.append(contentsOf: number)
        }
    }
}

extension Unicode.Scalar {
    fileprivate var isDigit: Bool { value >= 0x30 && value <= 0x39 }

    /// The scalar that goes before this one in a sort key, so that its class comes before the letters; nil for a
    /// letter.
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

/// The right side of `LIKE`: `*` stands for any scalars, none too, `?` for exactly one, and a backslash before one of the
/// three for the character itself. A text must fit as a whole.
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

    /// Takes at most the product of both lengths: a run that does not fit is made longer, and earlier runs never again.
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
