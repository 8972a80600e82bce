import MoultBasics
import MoultPlan

/// A reader of CloudKit's schema language.
///
///     schema = "DEFINE" "SCHEMA" { ( "CREATE" "ROLE" name | type ) ";" }
///     type   = "RECORD" "TYPE" name "(" item { "," item } ")"
///     item   = name kind { index } | "GRANT" right { "," right } "TO" name
///
/// Keywords may have any case. A comment begins with `//` or `--`, or is between `/*` and `*/`.
struct CloudKitSchemaReader {
    private var lexer: CloudKitLexer
    private var token: CloudKitLexer.Token
    private var schema = CloudKitSchema()

    /// - Throws: `modelInvalid` if the text does not begin with a word of the language.
    init(_ bytes: [UInt8], path: String) throws(MigrationError) {
        lexer = CloudKitLexer(bytes, path: path)
        token = try lexer.next()
    }

    /// - Throws: `modelInvalid` with the line and the column of what is not part of the language.
    mutating func read() throws(MigrationError) -> CloudKitSchema {
        try need("DEFINE")
        try need("SCHEMA")
        while token.kind != .end {
            if try take("CREATE") {
                try need("ROLE")
                schema.roles.append(try name())
            } else {
                try need("RECORD", or: "CREATE")
                try need("TYPE")
                try readType()
            }
            try need(mark: ";")
        }
        return schema
    }

    private mutating func readType() throws(MigrationError) {
        let place = token
        var type = CloudKitSchema.RecordType(try name())
        guard schema.types[type.name] == nil else {
            throw lexer.fault("The record type \(type.name) is defined twice.", at: place)
        }
        try need(mark: "(")
        while try !take(mark: ")") {
            if try take("GRANT") { type.grants.append(try grant()) } else { try readField(of: &type) }
            guard try take(mark: ",") else {
                try need(mark: ")")
                break
            }
        }
        schema.types[type.name] = type
    }

    private mutating func readField(of type: inout CloudKitSchema.RecordType) throws(MigrationError) {
        let place = token
        let name = try name()
        guard type.fields[name] == nil else {
            throw lexer.fault("The field \(name) of \(type.name) is defined twice.", at: place)
        }
        var field = CloudKitSchema.Field(try fieldType())
        while let index = try word(of: CloudKitSchema.Index.self) { field.indexes.append(index) }
        type.fields[name] = field
    }

    private mutating func fieldType() throws(MigrationError) -> CloudKitSchema.FieldType {
        guard try take("LIST") else { return try singleType() }
        try need(mark: "<")
        var type = try singleType()
        try need(mark: ">")
        type.isList = true
        return type
    }

    private mutating func singleType() throws(MigrationError) -> CloudKitSchema.FieldType {
        let isEncrypted = try take("ENCRYPTED")
        let place = token
        guard var primitive = try word(of: CloudKitSchema.Primitive.self) else {
            throw expected("a type such as STRING")
        }
        guard !isEncrypted || primitive.canBeEncrypted else {
            throw lexer.fault("\(primitive.rawValue) cannot be encrypted.", at: place)
        }
        if primitive == .number, try take("PREFERRED") {
            try need("AS")
            if try take("INT64") {
                primitive = .numberAsInteger
            } else {
                try need("DOUBLE", or: "INT64")
                primitive = .numberAsDouble
            }
        }
        return .init(primitive, isEncrypted: isEncrypted)
    }

    private mutating func grant() throws(MigrationError) -> CloudKitSchema.Grant {
        var rights: [CloudKitSchema.Right] = []
        repeat {
            guard let right = try word(of: CloudKitSchema.Right.self) else { throw expected("READ, CREATE or WRITE") }
            rights.append(right)
        } while try take(mark: ",")
        try need("TO")
        return .init(rights, to: try name())
    }

    // MARK: - Tokens

    private func expected(_ what: String) -> MigrationError {
        lexer.fault("\(what.capitalizedFirst) should be here, and not \(token.shown).", at: token)
    }

    private mutating func take(_ word: String) throws(MigrationError) -> Bool {
        guard case .word(let text) = token.kind, text.uppercased() == word else { return false }
        token = try lexer.next()
        return true
    }

    private mutating func need(_ word: String, or other: String? = nil) throws(MigrationError) {
        guard try take(word) else { throw expected([word, other].compactMap(\.self).joined(separator: " or ")) }
    }

    private mutating func take(mark: Character) throws(MigrationError) -> Bool {
        guard token.kind == .mark(mark) else { return false }
        token = try lexer.next()
        return true
    }

    private mutating func need(mark: Character) throws(MigrationError) {
        guard try take(mark: mark) else { throw expected("'\(mark)'") }
    }

    /// Takes a word of a list; returns nil for any other token.
    private mutating func word<Word: RawRepresentable & CaseIterable>(
        of words: Word.Type
    ) throws(MigrationError) -> Word? where Word.RawValue == String {
        guard case .word(let text) = token.kind, let word = Word(rawValue: text.uppercased()) else { return nil }
        token = try lexer.next()
        return word
    }

    private mutating func name() throws(MigrationError) -> String {
        switch token.kind {
        case .word(let text), .quoted(let text):
            token = try lexer.next()
            return text
        case .mark, .end: throw expected("a name")
        }
    }
}

/// The words, names and marks of a schema's text.
struct CloudKitLexer {
    /// A word, a name in quotes or a mark, with its place.
    struct Token: Equatable {
        enum Kind: Equatable {
            case word(String)
            case quoted(String)
            case mark(Character)
            case end
        }

        let kind: Kind
        /// The line, counted from 1.
        let line: Int
        /// The bytes of the line before the token.
        let before: Range<Int>

        /// The token for an error message.
        var shown: String {
            switch kind {
            case .word(let text): String(text.prefix(40))
            case .quoted(let text): "\"\(text.prefix(40))\""
            case .mark(let mark): "'\(mark)'"
            case .end: "the end"
            }
        }
    }

    private let bytes: [UInt8]
    private let path: String
    private var place = 0
    private var line = 1
    /// The position of the line's first byte.
    private var lineStart = 0

    init(_ bytes: [UInt8], path: String) {
        (self.bytes, self.path) = (bytes, path)
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { (place, lineStart) = (3, 3) }
    }

    /// Returns the next token.
    ///
    /// - Throws: `modelInvalid` for a character that begins no token, and for a comment or a name without an end.
    mutating func next() throws(MigrationError) -> Token {
        try skipBlank()
        let start = place
        guard let byte = bytes[start...].first else { return token(.end, at: start) }
        if byte.isASCIILetter || byte == UInt8(ascii: "_") {
            place = bytes[start...].firstIndex { !$0.isInCloudKitName } ?? bytes.count
            return token(.word(String(decoding: bytes[start..<place], as: UTF8.self)), at: start)
        }
        if byte == UInt8(ascii: "\"") { return try quoted() }
        guard "(),;<>".utf8.contains(byte) else {
            let shown = String(decoding: bytes[start...].prefix(4), as: UTF8.self).first.map(String.init) ?? ""
            throw fault("\(shown.printable) is not part of the schema language.", at: token(.end, at: start))
        }
        place += 1
        return token(.mark(Character(Unicode.Scalar(byte))), at: start)
    }

    private mutating func quoted() throws(MigrationError) -> Token {
        let start = place
        guard let end = bytes[(start + 1)...].firstIndex(where: { [0x22, 0x0A].contains($0) }), bytes[end] == 0x22
        else {
            throw fault("A name in quotes has no end on its line.", at: token(.end, at: start))
        }
        place = end + 1
        guard let name = String(validating: bytes[(start + 1)..<end], as: UTF8.self), !name.isEmpty else {
            throw fault("A name is empty, or not in UTF-8.", at: token(.end, at: start))
        }
        return token(.quoted(name), at: start)
    }

    /// Skips white space and comments.
    private mutating func skipBlank() throws(MigrationError) {
        while let byte = bytes[place...].first {
            let next = bytes[(place + 1)...].first
            switch (byte, next) {
            case (0x0A, _): endLine()
            case (0x20, _), (0x09, _), (0x0D, _), (0x0B, _), (0x0C, _): place += 1
            case (0x2F, 0x2F?), (0x2D, 0x2D?): place = bytes[place...].firstIndex(of: 0x0A) ?? bytes.count
            case (0x2F, 0x2A?): try skipComment()
            default: return
            }
        }
    }

    /// Skips a comment between `/*` and `*/`.
    private mutating func skipComment() throws(MigrationError) {
        let start = token(.end, at: place)
        place += 2
        while let byte = bytes[place...].first {
            if byte == 0x2A, bytes[(place + 1)...].first == 0x2F {
                place += 2
                return
            }
            if byte == 0x0A { endLine() } else { place += 1 }
        }
        throw fault("A comment has no end.", at: start)
    }

    private mutating func endLine() {
        place += 1
        (line, lineStart) = (line + 1, place)
    }

    private func token(_ kind: Token.Kind, at start: Int) -> Token {
        Token(kind: kind, line: line, before: lineStart..<start)
    }

    /// Returns the error for a place, with its line and column.
    func fault(_ message: String, at token: Token) -> MigrationError {
        // The bytes that continue a character are no column of their own.
        let column = bytes[token.before].count { $0 & 0xC0 != 0x80 } + 1
        return MigrationError(
            .modelInvalid, message, place: "\(path):\(token.line):\(column)",
            remedy: "Correct the file, or save the schema again from the CloudKit console.")
    }
}
