import MoultModel

/// Reads an XML property list in UTF-8: the few elements that one has, no external entities, no document type's own.
struct XMLPropertyListReader {
    private static let depthLimit = 256

    private let bytes: [UInt8]
    private var position = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    mutating func read() throws(MigrationError) -> PropertyList {
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { position = 3 }
        guard bytes[position...].first(where: { !Self.isSpace($0) }) == UInt8(ascii: "<"),
            let first = try nextTag(), first.name == "plist", first.kind == .opening
        else {
            throw .propertyList("it is neither binary nor an XML property list", at: 0)
        }
        guard let tag = try nextTag(), let value = try value(tag, depth: 0) else {
            throw .propertyList("it has no value", at: position)
        }
        guard let last = try nextTag(), last.name == "plist", last.kind == .closing else {
            throw .propertyList("something follows its value", at: position)
        }
        return value
    }

    // MARK: Values

    /// The value that `tag` opens; nil where `tag` closes something.
    private mutating func value(_ tag: Tag, depth: Int) throws(MigrationError) -> PropertyList? {
        guard tag.kind != .closing else { return nil }
        guard depth < Self.depthLimit else { throw .propertyList("it is nested too deeply", at: tag.offset) }
        switch tag.name {
        case "dict": return .dictionary(try entries(of: tag, depth: depth))
        case "array": return .array(try elements(of: tag, depth: depth))
        default: return try leaf(tag.name, try text(of: tag), at: tag.offset)
        }
    }

    private mutating func elements(of tag: Tag, depth: Int) throws(MigrationError) -> [PropertyList] {
        var elements: [PropertyList] = []
        guard tag.kind == .opening else { return elements }
        while let next = try nextTag() {
            guard let element = try value(next, depth: depth + 1) else {
                try expect(next, toClose: tag)
                return elements
            }
            elements.append(element)
        }
        throw .propertyList("an array is not closed", at: tag.offset)
    }

    private mutating func entries(of tag: Tag, depth: Int) throws(MigrationError) -> [String: PropertyList] {
        var entries: [String: PropertyList] = [:]
        guard tag.kind == .opening else { return entries }
        while let next = try nextTag() {
            if next.kind == .closing {
                try expect(next, toClose: tag)
                return entries
            }
            guard next.name == "key" else { throw .propertyList("a value has no key", at: next.offset) }
            let key = try text(of: next)
            guard let tag = try nextTag(), let value = try value(tag, depth: depth + 1) else {
                throw .propertyList("the key \(key) has no value", at: next.offset)
            }
            entries[key] = value
        }
        throw .propertyList("a dictionary is not closed", at: tag.offset)
    }

    private func leaf(_ name: String, _ text: String, at offset: Int) throws(MigrationError) -> PropertyList {
        let word = text.split(whereSeparator: \.isWhitespace).joined()
        switch name {
        case "string": return .string(text)
        case "true": return .boolean(true)
        case "false": return .boolean(false)
        case "integer":
            if let number = Int64(word) { return .integer(number) }
            if let number = UInt64(word) { return .unsignedInteger(number) }
        case "real": if let number = Double(word) { return .real(number) }
        case "date": if let seconds = secondsSince2001(word) { return .date(seconds) }
        case "data": if let bytes = [UInt8](base64: word) { return .data(bytes) }
        default: throw .propertyList("there is no element \(name)", at: offset)
        }
        throw .propertyList("\(word.prefix(40)) is no \(name)", at: offset)
    }

    /// `2001-01-01T00:00:00Z` is 0.
    private func secondsSince2001(_ text: String) -> Double? {
        let fields = text.split(whereSeparator: { "-T:Z".contains($0) }).map { Int($0) }
        guard fields.count == 6, text.hasSuffix("Z"), let year = fields[0], let month = fields[1], let day = fields[2],
            let hour = fields[3], let minute = fields[4], let second = fields[5],
            (0...9999).contains(year), (1...12).contains(month), (1...31).contains(day)
        else { return nil }
        guard (0..<24).contains(hour), (0..<60).contains(minute), (0...60).contains(second) else { return nil }
        // Days since 0000-03-01 in the Gregorian calendar, where a year begins in March; 400 years more keep them positive.
        let march = (month > 2 ? year : year - 1) + 400
        let leapDays = march / 4 - march / 100 + march / 400
        let days = march * 365 + leapDays + (153 * ((month + 9) % 12) + 2) / 5 + day - 1 - 146_097
        return Double((days - 730_791) * 86400 + hour * 3600 + minute * 60 + second)
    }

    // MARK: Tags

    private struct Tag {
        enum Kind { case opening, closing, empty }
        var name: String
        var kind: Kind
        var offset: Int
    }

    private func expect(_ closing: Tag, toClose tag: Tag) throws(MigrationError) {
        guard closing.name == tag.name else {
            throw .propertyList("\(tag.name) is closed by \(closing.name)", at: closing.offset)
        }
    }

    /// The next tag behind white space, comments, declarations; nil at the end.
    private mutating func nextTag() throws(MigrationError) -> Tag? {
        while position < bytes.count {
            if Self.isSpace(bytes[position]) {
                position += 1
            } else if has("<!--") {
                try skip(past: "-->")
            } else if has("<?") {
                try skip(past: "?>")
            } else if has("<!DOCTYPE") {
                try skipDocumentType()
            } else if has("<") {
                return try tag()
            } else {
                throw .propertyList("there is text outside of a value", at: position)
            }
        }
        return nil
    }

    private mutating func tag() throws(MigrationError) -> Tag {
        let start = position
        try skip(past: ">")
        var inner = bytes[(start + 1)..<(position - 1)]
        let isClosing = inner.first == UInt8(ascii: "/")
        let isEmpty = inner.last == UInt8(ascii: "/")
        if isClosing { inner = inner.dropFirst() }
        if isEmpty { inner = inner.dropLast() }
        let name = inner.prefix { $0 > 0x20 }
        return Tag(
            name: String(decoding: name, as: UTF8.self), kind: isClosing ? .closing : isEmpty ? .empty : .opening,
            offset: start)
    }

    /// The characters up to the tag that closes `tag`.
    private mutating func text(of tag: Tag) throws(MigrationError) -> String {
        guard tag.kind == .opening else { return "" }
        var text: [UInt8] = []
        while position < bytes.count {
            if has("<![CDATA[") {
                let start = position + 9
                try skip(past: "]]>")
                if start <= position - 3 { text += bytes[start..<(position - 3)] }
            } else if has("<!--") {
                try skip(past: "-->")
            } else if has("<") {
                try expect(try self.tag(), toClose: tag)
                return String(decoding: text, as: UTF8.self)
            } else if has("&") {
                text += try entity()
            } else {
                text.append(bytes[position])
                position += 1
            }
        }
        throw .propertyList("\(tag.name) is not closed", at: tag.offset)
    }

    private mutating func entity() throws(MigrationError) -> [UInt8] {
        let start = position
        guard let end = bytes[start...].prefix(12).firstIndex(of: UInt8(ascii: ";")) else {
            throw .propertyList("an entity is not closed", at: start)
        }
        position = end + 1
        let name = String(decoding: bytes[(start + 1)..<end], as: UTF8.self)
        if let character = ["amp": "&", "lt": "<", "gt": ">", "quot": "\"", "apos": "'"][name] {
            return Array(character.utf8)
        }
        let code =
            name.hasPrefix("#x")
            ? UInt32(name.dropFirst(2), radix: 16) : name.hasPrefix("#") ? UInt32(name.dropFirst()) : nil
        guard let scalar = code.flatMap(Unicode.Scalar.init) else {
            throw .propertyList("there is no entity \(name)", at: start)
        }
        return Array(String(Character(scalar)).utf8)
    }

    // MARK: Bytes

    private static func isSpace(_ byte: UInt8) -> Bool {
        byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D
    }

    private func has(_ prefix: String) -> Bool { bytes[position...].starts(with: prefix.utf8) }

    private mutating func skip(past end: String) throws(MigrationError) {
        let start = position
        while position < bytes.count {
            if has(end) {
                position += end.utf8.count
                return
            }
            position += 1
        }
        throw .propertyList("\(end) is missing", at: start)
    }

    private mutating func skipDocumentType() throws(MigrationError) {
        let start = position
        try skip(past: ">")
        if bytes[start..<position].contains(UInt8(ascii: "[")) {
            throw .propertyList("it declares a document type of its own", at: start)
        }
    }
}
