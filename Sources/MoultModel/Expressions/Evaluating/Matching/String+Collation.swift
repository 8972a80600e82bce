@_spi(_Unicode) import Swift

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
