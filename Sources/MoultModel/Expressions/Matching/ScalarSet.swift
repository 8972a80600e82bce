/// A class of Unicode scalars in a regular expression, such as `[a-z\d]`.
struct ScalarSet: Sendable {
    enum Element: Sendable {
        case range(ClosedRange<UInt32>)
        case property(Property)
        case set(ScalarSet)
    }

    enum Property: Sendable {
        case digit, word, space, horizontalSpace, lineBreak, alphabetic, uppercase, lowercase, ascii, punctuation
        case assigned
        /// A category by the first letters of its short name: `L`, `Lu`.
        case category(String)
    }

    var elements: [Element] = []
    /// Sets that must also contain the scalar (`&&`).
    var intersections: [ScalarSet] = []
    var isNegative = false
    /// Whether the set also contains the other cases of its letters.
    var ignoresCase = false

    init(_ elements: Element..., isNegative: Bool = false) {
        self.elements = elements
        self.isNegative = isNegative
    }

    init(_ scalar: Unicode.Scalar, ignoresCase: Bool) {
        elements = [.range(scalar.value...scalar.value)]
        self.ignoresCase = ignoresCase
    }

    func contains(_ scalar: Unicode.Scalar) -> Bool {
        let isIn = holds(scalar) || (ignoresCase && scalar.otherCases.contains(where: holds))
        return isIn != isNegative
    }

    private func holds(_ scalar: Unicode.Scalar) -> Bool {
        elements.contains { element in
            switch element {
            case .range(let range): range.contains(scalar.value)
            case .property(let property): property.holds(for: scalar)
            case .set(let set): set.contains(scalar)
            }
        } && intersections.allSatisfy { $0.contains(scalar) }
    }
}

extension ScalarSet.Property {
    /// Creates the set of `\p{name}` or `[:name:]`; nil for an unknown name.
    init?(name: String) {
        let plain = name.lowercased().filter { $0 != "_" && $0 != " " }
        switch plain {
        case "alphabetic", "alpha": self = .alphabetic
        case "uppercase", "upper": self = .uppercase
        case "lowercase", "lower": self = .lowercase
        case "whitespace", "space": self = .space
        case "digit": self = .digit
        case "word": self = .word
        case "blank": self = .horizontalSpace
        case "ascii": self = .ascii
        case "punct": self = .punctuation
        case "any": self = .assigned
        default:
            let letters = plain.hasPrefix("gc=") ? String(plain.dropFirst(3)) : plain
            guard Self.categories.contains(where: { $0.lowercased().hasPrefix(letters) }),
                (1...2).contains(letters.count)
            else { return nil }
            self = .category(letters.prefix(1).uppercased() + letters.dropFirst())
        }
    }

    private static let categories = [
        "Lu", "Ll", "Lt", "Lm", "Lo", "Mn", "Mc", "Me", "Nd", "Nl", "No", "Pc", "Pd", "Ps", "Pe", "Pi", "Pf", "Po",
        "Sm", "Sc", "Sk", "So", "Zs", "Zl", "Zp", "Cc", "Cf", "Cs", "Co", "Cn",
    ]

    fileprivate func holds(for scalar: Unicode.Scalar) -> Bool {
        let properties = scalar.properties
        switch self {
        case .digit: return properties.generalCategory == .decimalNumber
        case .word: return scalar.isWord
        case .space: return properties.isWhitespace
        case .horizontalSpace: return scalar == "\t" || properties.generalCategory == .spaceSeparator
        case .lineBreak: return scalar.isLineBreak
        case .alphabetic: return properties.isAlphabetic
        case .uppercase: return properties.isUppercase
        case .lowercase: return properties.isLowercase
        case .ascii: return scalar.isASCII
        case .punctuation: return properties.generalCategory.letters.hasPrefix("P")
        case .assigned: return true
        case .category(let name): return properties.generalCategory.letters.hasPrefix(name)
        }
    }
}

extension Unicode.Scalar {
    var isLineBreak: Bool { ("\n"..."\r").contains(self) || ["\u{85}", "\u{2028}", "\u{2029}"].contains(self) }

    /// Whether `\w` matches the scalar, as defined in UTS 18.
    var isWord: Bool {
        if isASCII {
            return ("a"..."z").contains(self) || ("A"..."Z").contains(self) || ("0"..."9").contains(self) || self == "_"
        }
        if properties.isAlphabetic || properties.isJoinControl { return true }
        switch properties.generalCategory {
        case .nonspacingMark, .spacingMark, .enclosingMark, .decimalNumber, .connectorPunctuation: return true
        default: return false
        }
    }

    /// The lower case and upper case of the scalar, and the lower case of the latter, if each is a single scalar.
    fileprivate var otherCases: [Unicode.Scalar] {
        if isASCII {
            guard properties.isAlphabetic, let other = Unicode.Scalar(value ^ 0x20) else { return [] }
            return [other]
        }
        let upper = properties.uppercaseMapping.unicodeScalars
        let mappings =
            [properties.lowercaseMapping.unicodeScalars, upper]
            + (upper.first.map { [$0.properties.lowercaseMapping.unicodeScalars] } ?? [])
        return mappings.filter { $0.count == 1 }.compactMap(\.first)
    }
}

extension Unicode.GeneralCategory {
    fileprivate var letters: String {
        switch self {
        case .uppercaseLetter: "Lu"
        case .lowercaseLetter: "Ll"
        case .titlecaseLetter: "Lt"
        case .modifierLetter: "Lm"
        case .otherLetter: "Lo"
        case .nonspacingMark: "Mn"
        case .spacingMark: "Mc"
        case .enclosingMark: "Me"
        case .decimalNumber: "Nd"
        case .letterNumber: "Nl"
        case .otherNumber: "No"
        case .connectorPunctuation: "Pc"
        case .dashPunctuation: "Pd"
        case .openPunctuation: "Ps"
        case .closePunctuation: "Pe"
        case .initialPunctuation: "Pi"
        case .finalPunctuation: "Pf"
        case .otherPunctuation: "Po"
        case .mathSymbol: "Sm"
        case .currencySymbol: "Sc"
        case .modifierSymbol: "Sk"
        case .otherSymbol: "So"
        case .spaceSeparator: "Zs"
        case .lineSeparator: "Zl"
        case .paragraphSeparator: "Zp"
        case .control: "Cc"
        case .format: "Cf"
        case .surrogate: "Cs"
        case .privateUse: "Co"
        case .unassigned: "Cn"
        @unknown default: "Cn"
        }
    }
}
