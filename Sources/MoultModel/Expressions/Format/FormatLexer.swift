/// Cuts a text of Core Data's format language into words, numbers, strings and signs.
struct FormatLexer {
    enum Token: Hashable {
        /// A name, a keyword or a selector with its colons.
        case word(String)
        /// A name behind `#`, which is no keyword.
        case escapedWord(String)
        /// A name behind `$`.
        case variable(String)
        case constant(ExpressionValue)
        case sign(String)
        case end
    }

    private static let signs = ["**", "==", "!=", "<>", "<=", "=<", ">=", "=>", "&&", "||"]

    private let text: [Character]
    private var position = 0

    /// - Returns: the tokens, each with the number of its first character from 0; the last one is the end.
    static func tokens(of text: String) throws(MigrationError) -> [(token: Token, place: Int)] {
        var lexer = FormatLexer(text: Array(text))
        var tokens: [(Token, Int)] = []
        repeat {
            lexer.skip { $0.isWhitespace }
            let place = lexer.position
            tokens.append((try lexer.next(), place))
        } while tokens.last?.0 != .end
        return tokens
    }

    private init(text: [Character]) { self.text = text }

    private mutating func next() throws(MigrationError) -> Token {
        guard let character = peek() else { return .end }
        if Self.isNameStart(character) { return .word(takeSelector()) }
        if character.isASCII, character.isNumber { return try number() }
        switch character {
        case "#", "$":
            position += 1
            let start = position
            let name = take { Self.isName($0) }
            guard let first = name.first, Self.isNameStart(first) else {
                throw .format("a name is missing behind \(character)", at: start)
            }
            return character == "#" ? .escapedWord(name) : .variable(name)
        case "\"", "'": return .constant(.string(try string(quote: character)))
        default: return .sign(sign(character))
        }
    }

    private mutating func sign(_ character: Character) -> String {
        let pair = String(text[position..<min(position + 2, text.count)])
        let sign = Self.signs.contains(pair) ? pair : String(character)
        position += sign.count
        return sign
    }

    /// A name, with further parts where colons follow: `count:`, `add:to:`.
    private mutating func takeSelector() -> String {
        var word = take { Self.isName($0) }
        while peek() == ":" {
            position += 1
            word += ":" + take { Self.isName($0) }
        }
        return word
    }

    private mutating func number() throws(MigrationError) -> Token {
        let start = position
        if peek() == "0", peek(1) == "x" || peek(1) == "X" {
            position += 2
            let digits = take { $0.isHexDigit }
            guard let number = Int64(digits, radix: 16) else { throw .format("0x\(digits) is no number", at: start) }
            return .constant(.integer(number))
        }
        var digits = take { $0.isASCII && $0.isNumber }
        if peek() == ".", let next = peek(1), next.isASCII, next.isNumber {
            position += 1
            digits += "." + take { $0.isASCII && $0.isNumber }
        }
        if peek() == "e" || peek() == "E" {
            position += 1
            digits += "e"
            if let sign = peek(), sign == "-" || sign == "+" {
                position += 1
                digits.append(sign)
            }
            digits += take { $0.isASCII && $0.isNumber }
        }
        if let number = Int64(digits) { return .constant(.integer(number)) }
        guard let number = Double(digits) else { throw .format("\(digits) is no number", at: start) }
        return .constant(.real(number))
    }

    private mutating func string(quote: Character) throws(MigrationError) -> String {
        let start = position
        position += 1
        var result = ""
        while let character = peek(), character != quote {
            position += 1
            guard character == "\\", let escaped = peek() else {
                result.append(character)
                continue
            }
            position += 1
            switch escaped {
            case "n": result.append("\n")
            case "r": result.append("\r")
            case "t": result.append("\t")
            default: result.append(escaped)
            }
        }
        guard peek() == quote else { throw .format("a string is not closed", at: start) }
        position += 1
        return result
    }

    // MARK: Characters

    private func peek(_ distance: Int = 0) -> Character? {
        position + distance < text.count ? text[position + distance] : nil
    }

    private mutating func take(while isIncluded: (Character) -> Bool) -> String {
        let start = position
        skip(while: isIncluded)
        return String(text[start..<position])
    }

    private mutating func skip(while isIncluded: (Character) -> Bool) {
        while let character = peek(), isIncluded(character) { position += 1 }
    }

    private static func isNameStart(_ character: Character) -> Bool {
        character.isLetter || character == "_" || character == "@"
    }

    private static func isName(_ character: Character) -> Bool {
        character.isLetter || character.isNumber || character == "_" || character == "@"
    }
}

extension MigrationError {
    /// A fault in an expression or predicate, at a character from 0.
    static func format(_ message: String, at character: Int) -> MigrationError {
        MigrationError(
            .modelInvalid, "The expression is not understood: \(message).", place: "character \(character)",
            remedy: "Correct it in the model editor, or write it in Core Data's predicate format.")
    }
}
