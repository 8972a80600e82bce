extension JSONValue {
    /// Reads one JSON document (RFC 8259, UTF-8).
    ///
    /// - Parameters:
    ///   - place: the source of the bytes, for the error's place.
    ///   - code: the code of the error if the bytes are not JSON.
    /// - Throws: `MigrationError` with `code`, with the line and column; also if the document is nested deeper than 128
    ///   levels or an object has the same key twice.
    package init(parsing bytes: [UInt8], place: String, code: MigrationError.Code) throws {
        var reader = JSONReader(bytes: bytes)
        do {
            self = try reader.document()
        } catch {
            let (line, column) = reader.lineAndColumn
            throw MigrationError(
                code, "This is not JSON: \(error.what) at line \(line), column \(column).", place: place,
                remedy: "Correct the file there.")
        }
    }
}

private struct JSONReader {
    struct Failure: Error { let what: String }

    let bytes: [UInt8]
    var position = 0

    init(bytes: [UInt8]) { self.bytes = bytes }

    /// The current line and column, counted from one; columns count bytes.
    var lineAndColumn: (Int, Int) {
        let before = bytes.prefix(position)
        let line = before.count { $0 == 0x0A } + 1
        return (line, before.count - (before.lastIndex(of: 0x0A).map { $0 + 1 } ?? 0) + 1)
    }

    mutating func document() throws(Failure) -> JSONValue {
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { position = 3 }
        let value = try value(depth: 0)
        skipSpace()
        if position < bytes.count { throw Failure(what: "more text after the end of the document") }
        return value
    }

    private var next: UInt8? { position < bytes.count ? bytes[position] : nil }

    private mutating func skipSpace() {
        while let byte = next, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { position += 1 }
    }

    private mutating func take(_ byte: Unicode.Scalar) -> Bool {
        guard next == UInt8(ascii: byte) else { return false }
        position += 1
        return true
    }

    private mutating func value(depth: Int) throws(Failure) -> JSONValue {
        if depth > 128 { throw Failure(what: "more than 128 levels") }
        skipSpace()
        switch next {
        case UInt8(ascii: "{"): return try object(depth: depth)
        case UInt8(ascii: "["): return try array(depth: depth)
        case UInt8(ascii: "\""): return .string(try string())
        case UInt8(ascii: "t"): return try word("true", .bool(true))
        case UInt8(ascii: "f"): return try word("false", .bool(false))
        case UInt8(ascii: "n"): return try word("null", .null)
        case nil: throw Failure(what: "the text ends unexpectedly")
        default: return try number()
        }
    }

    private mutating func word(_ text: String, _ value: JSONValue) throws(Failure) -> JSONValue {
        guard bytes[position...].starts(with: text.utf8) else { throw Failure(what: "an unknown word") }
        position += text.utf8.count
        return value
    }

    private mutating func object(depth: Int) throws(Failure) -> JSONValue {
        position += 1
        var members: [JSONValue.Member] = []
        var keys: Set<String> = []
        skipSpace()
        if take("}") { return .object([]) }
        while true {
            skipSpace()
            guard next == UInt8(ascii: "\"") else { throw Failure(what: "a key is missing") }
            let key = try string()
            guard keys.insert(key).inserted else { throw Failure(what: "the key \(key) occurs twice") }
            skipSpace()
            guard take(":") else { throw Failure(what: "a colon is missing") }
            members.append(JSONValue.Member(key, try value(depth: depth + 1)))
            skipSpace()
            if take("}") { return .object(members) }
            guard take(",") else { throw Failure(what: "a comma or the end of an object is missing") }
        }
    }

    private mutating func array(depth: Int) throws(Failure) -> JSONValue {
        position += 1
        var elements: [JSONValue] = []
        skipSpace()
        if take("]") { return .array([]) }
        while true {
            elements.append(try value(depth: depth + 1))
            skipSpace()
            if take("]") { return .array(elements) }
            guard take(",") else { throw Failure(what: "a comma or the end of a list is missing") }
        }
    }

    private mutating func digits() throws(Failure) {
        let start = position
        while let byte = next, (0x30...0x39).contains(byte) { position += 1 }
        if position == start { throw Failure(what: "something other than a value") }
    }

    private mutating func number() throws(Failure) -> JSONValue {
        let start = position
        var isWhole = true
        _ = take("-")
        let leading = position
        try digits()
        if position > leading + 1, bytes[leading] == 0x30 { throw Failure(what: "a number that begins with zero") }
        if take(".") {
            isWhole = false
            try digits()
        }
        if take("e") || take("E") {
            isWhole = false
            if !take("+") { _ = take("-") }
            try digits()
        }
        let text = String(decoding: bytes[start..<position], as: UTF8.self)
        if isWhole, let whole = Int64(text) { return .integer(whole) }
        guard let number = Double(text), number.isFinite else { throw Failure(what: "a number that is too large") }
        return .double(number)
    }

    private mutating func string() throws(Failure) -> String {
        position += 1
        var text: [UInt8] = []
        while let byte = next {
            position += 1
            switch byte {
            case UInt8(ascii: "\""):
                guard let string = String(validating: text, as: UTF8.self) else {
                    throw Failure(what: "a string that is not UTF-8")
                }
                return string
            case UInt8(ascii: "\\"): text += try escape()
            case 0..<0x20: throw Failure(what: "a control character in a string")
            default: text.append(byte)
            }
        }
        throw Failure(what: "a string without an end")
    }

    private mutating func escape() throws(Failure) -> [UInt8] {
        guard let byte = next else { throw Failure(what: "a string without an end") }
        position += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return [byte]
        case UInt8(ascii: "b"): return [0x08]
        case UInt8(ascii: "f"): return [0x0C]
        case UInt8(ascii: "n"): return [0x0A]
        case UInt8(ascii: "r"): return [0x0D]
        case UInt8(ascii: "t"): return [0x09]
        case UInt8(ascii: "u"): return try unicodeEscape()
        default: throw Failure(what: "an unknown escape")
        }
    }

    /// Reads an escape. Two escapes, one for each surrogate, make a scalar beyond the basic plane.
    private mutating func unicodeEscape() throws(Failure) -> [UInt8] {
        var code = try fourDigits()
        if (0xD800..<0xDC00).contains(code), take("\\"), take("u") {
            let low = try fourDigits()
            guard (0xDC00..<0xE000).contains(low) else { throw Failure(what: "half of a surrogate pair") }
            code = 0x10000 + (code - 0xD800) << 10 + (low - 0xDC00)
        }
        guard let scalar = Unicode.Scalar(code) else { throw Failure(what: "half of a surrogate pair") }
        return Array(String(Character(scalar)).utf8)
    }

    private mutating func fourDigits() throws(Failure) -> UInt32 {
        let text = String(decoding: bytes[position...].prefix(4), as: UTF8.self)
        guard text.utf8.count == 4, text.allSatisfy(\.isHexDigit), let code = UInt32(text, radix: 16) else {
            throw Failure(what: "a character escape that is not four hexadecimal digits")
        }
        position += 4
        return code
    }
}
