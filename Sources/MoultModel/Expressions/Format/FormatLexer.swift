import MoultBasics

/// Splits a text in Core Data's format language into words, numbers, strings and signs.
struct FormatLexer {
    enum Token: Hashable {
        /// A name, a keyword or a selector with its colons.
        case word(String)
        /// A name after `#`, never a keyword.
        case escapedWord(String)
        /// A name after `$`.
        case variable(String)
        /// A placeholder for an argument, without its `%`: `@`, `K`, `d`, `lu`.
        case placeholder(String)
        /// The argument for a `%K`.
        case path(String)
        case constant(ExpressionValue)
        /// An argument that is an expression.
        case expression(Expression)
        /// The digits of an integer that fits only with its sign.
        case hugeInteger(String)
        case sign(String)
        case end
    }

    private static let signs = ["**", "==", "!=", "<>", "<=", "=<", ">=", "=>", "&&", "||", "<<", ">>"]
    /// Longer than any printed list of values; a text of this length takes a few hundred megabytes.
    private static let lengthLimit = 4_000_000

    private let text: [Unicode.Scalar]
    private var position = 0

    /// - Returns: the tokens, each with the position of its first Unicode scalar from 0; the last token is the end.
    static func tokens(of text: String) throws(MigrationError) -> [(token: Token, place: Int)] {
        guard text.utf8.count <= lengthLimit else { throw .format("it is too long", at: lengthLimit) }
        var lexer = FormatLexer(text: Array(text.unicodeScalars))
        var tokens: [(Token, Int)] = []
        repeat {
            lexer.skip { $0.properties.isWhitespace }
            let place = lexer.position
            tokens.append((try lexer.next(), place))
        } while tokens.last?.0 != .end
        return tokens
    }

    private init(text: [Unicode.Scalar]) { self.text = text }

    private mutating func next() throws(MigrationError) -> Token {
        guard let scalar = peek() else { return .end }
        if Self.isNameStart(scalar) { return .word(takeSelector()) }
        if Self.isDigit(scalar) { return try number() }
        switch scalar {
        case "#", "$":
            position += 1
            let start = position
            let name = take { Self.isName($0) }
            guard let first = name.unicodeScalars.first, Self.isNameStart(first) else {
                throw .format("a name is missing after \(scalar)", at: start)
            }
            return scalar == "#" ? .escapedWord(name) : .variable(name)
        case "%": return try placeholder()
        case "\"", "'": return .constant(.string(try string(quote: scalar)))
        default: return .sign(sign(scalar))
        }
    }

    private mutating func sign(_ scalar: Unicode.Scalar) -> String {
        let pair = Self.string(text[position..<min(position + 2, text.count)])
        let sign = Self.signs.contains(pair) ? pair : String(scalar)
        position += sign == pair ? sign.unicodeScalars.count : 1
        return sign
    }

    /// Reads a name, or a selector with its colons: `count:`, `add:to:`.
    private mutating func takeSelector() -> String {
        var word = take { Self.isName($0) }
        while peek() == ":" {
            position += 1
            word += ":" + take { Self.isName($0) }
        }
        return word
    }

    private mutating func placeholder() throws(MigrationError) -> Token {
        let start = position
        position += 1
        let conversion = take { "hlqLzjt".unicodeScalars.contains($0) } + (peek().map { String($0) } ?? "")
        guard FormatArgument.isKnown(conversion) else {
            throw .format("%\(conversion) is not a placeholder", at: start)
        }
        position += 1
        return .placeholder(conversion)
    }

    // MARK: Numbers

    private static let radices: [Unicode.Scalar: Int] = ["x": 16, "X": 16, "o": 8, "O": 8, "b": 2, "B": 2]

    private mutating func number() throws(MigrationError) -> Token {
        let start = position
        if peek() == "0", let letter = peek(1), let radix = Self.radices[letter] {
            position += 2
            let digits = take { $0.properties.isASCIIHexDigit }
            guard let number = Int64(digits, radix: radix) else {
                throw .format("0\(letter)\(digits) is not a number", at: start)
            }
            return .constant(.integer(number))
        }
        var digits = take(while: Self.isDigit)
        if peek() == ".", let next = peek(1), Self.isDigit(next) {
            position += 1
            digits += "." + take(while: Self.isDigit)
        }
        if peek() == "e" || peek() == "E" {
            position += 1
            digits += "e"
            if let sign = peek(), sign == "-" || sign == "+" {
                position += 1
                digits += String(sign)
            }
            digits += take(while: Self.isDigit)
        }
        if let number = Int64(digits) { return .constant(.integer(number)) }
        if digits.utf8.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 }) { return .hugeInteger(digits) }
        guard let number = Double(digits) else { throw .format("\(digits) is not a number", at: start) }
        return .constant(.real(number))
    }

    // MARK: Strings

    private mutating func string(quote: Unicode.Scalar) throws(MigrationError) -> String {
        let start = position
        position += 1
        var result = String.UnicodeScalarView()
        while let scalar = peek(), scalar != quote {
            position += 1
            if scalar == "\\" { result.append(try escape()) } else { result.append(scalar) }
        }
        guard peek() == quote else { throw .format("a string is not closed", at: start) }
        position += 1
        return String(result)
    }

    /// Reads an escape, from after its backslash; a character without a special meaning stands for itself.
    private mutating func escape() throws(MigrationError) -> Unicode.Scalar {
        guard let scalar = peek() else { throw .format("a string is not closed", at: position) }
        position += 1
        switch scalar {
        case "n": return "\n"
        case "r": return "\r"
        case "t": return "\t"
        case "u": return try unicodeEscape()
        default: return scalar
        }
    }

    /// Reads four hexadecimal digits, or two such escapes for a surrogate pair.
    private mutating func unicodeEscape() throws(MigrationError) -> Unicode.Scalar {
        let start = position - 2
        var unit = codeUnit()
        if let high = unit, (0xD800..<0xDC00).contains(high), peek() == "\\", peek(1) == "u" {
            position += 2
            unit = codeUnit().flatMap { low in
                (0xDC00..<0xE000).contains(low) ? 0x10000 + (high - 0xD800) << 10 + (low - 0xDC00) : nil
            }
        }
        guard let scalar = unit.flatMap(Unicode.Scalar.init) else {
            throw .format("\\u needs the four hexadecimal digits of a character", at: start)
        }
        return scalar
    }

    private mutating func codeUnit() -> UInt32? {
        let digits = text[min(position, text.count)..<min(position + 4, text.count)]
        guard digits.count == 4, digits.allSatisfy(\.properties.isASCIIHexDigit) else { return nil }
        position += 4
        return UInt32(Self.string(digits), radix: 16)
    }

    // MARK: Scalars

    private func peek(_ distance: Int = 0) -> Unicode.Scalar? {
        position + distance < text.count ? text[position + distance] : nil
    }

    private mutating func take(while isIncluded: (Unicode.Scalar) -> Bool) -> String {
        let start = position
        skip(while: isIncluded)
        return Self.string(text[start..<position])
    }

    private mutating func skip(while isIncluded: (Unicode.Scalar) -> Bool) {
        while let scalar = peek(), isIncluded(scalar) { position += 1 }
    }

    private static func string(_ scalars: ArraySlice<Unicode.Scalar>) -> String {
        var view = String.UnicodeScalarView()
        view.append(contentsOf: scalars)
        return String(view)
    }

    private static func isDigit(_ scalar: Unicode.Scalar) -> Bool { ("0"..."9").contains(scalar) }

    private static func isNameStart(_ scalar: Unicode.Scalar) -> Bool {
        scalar.properties.isAlphabetic || scalar == "_" || scalar == "@"
    }

    private static func isName(_ scalar: Unicode.Scalar) -> Bool {
        if isNameStart(scalar) || scalar.properties.numericType != nil { return true }
        // The accents of a letter, which may be separate scalars.
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .spacingMark: return true
        default: return false
        }
    }

    /// Whether a text is a valid name in a key path.
    static func isName(_ text: some StringProtocol) -> Bool {
        guard let first = text.unicodeScalars.first else { return false }
        return isNameStart(first) && text.unicodeScalars.allSatisfy(isName)
    }
}

extension MigrationError {
    /// Returns the error for a fault in an expression or predicate, at the position of a Unicode scalar from 0.
    static func format(_ message: String, at scalar: Int, near word: String? = nil) -> MigrationError {
        MigrationError(
            .invalidPredicate, "The expression cannot be parsed: \(message).\(Suggestion.sentence(word))",
            place: "character \(scalar)", remedy: "Correct it there. It must be in Core Data's predicate format.")
    }
}
