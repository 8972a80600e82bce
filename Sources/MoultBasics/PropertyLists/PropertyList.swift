/// A property list as a value: the format of a store's metadata, of a version list and of a keyed archive.
package enum PropertyList: Sendable, Hashable {
    /// Found only in binary files; Core Data never writes it.
    case null
    case boolean(Bool)
    case integer(Int64)
    /// A number above `Int64.max`; smaller ones are always `integer`.
    case unsignedInteger(UInt64)
    case real(Double)
    /// Seconds since 2001-01-01 00:00:00 UTC.
    case date(Double)
    case data([UInt8])
    case string(String)
    case array([PropertyList])
    case dictionary([String: PropertyList])
    /// A reference inside a keyed archive.
    case uid(Int)

    /// Reads a binary (`bplist00`) or XML property list; the first bytes determine the format.
    ///
    /// Any input is safe: every access is checked, nesting is limited, and cycles and lists that unfold to more than
    /// four million values are rejected.
    /// - Throws: `MigrationError` with code `propertyListInvalid`, whose place is the byte at fault, or
    ///   the line of an XML list.
    package init(parsing bytes: [UInt8]) throws(MigrationError) {
        if bytes.starts(with: Array("bplist0".utf8)) {
            var reader = try BinaryPropertyListReader(bytes)
            self = try reader.read()
        } else {
            self = try XMLPropertyListReader().read(bytes)
        }
    }

    /// Reads the value below the keys of nested dictionaries; nil if there is none. Nothing else of a binary list is
    /// read.
    ///
    /// - Throws: what ``init(parsing:)`` throws.
    package init?(parsing bytes: [UInt8], below keys: [String]) throws(MigrationError) {
        let found: PropertyList?
        if bytes.starts(with: Array("bplist0".utf8)) {
            var reader = try BinaryPropertyListReader(bytes)
            found = try reader.read(below: keys)
        } else {
            found = keys.reduce(try XMLPropertyListReader().read(bytes)) { $0?[$1] }
        }
        guard let found else { return nil }
        self = found
    }

    // MARK: - Looking inside

    package var string: String? { if case .string(let text) = self { text } else { nil } }
    package var data: [UInt8]? { if case .data(let bytes) = self { bytes } else { nil } }
    package var array: [PropertyList]? { if case .array(let elements) = self { elements } else { nil } }
    package var dictionary: [String: PropertyList]? { if case .dictionary(let entries) = self { entries } else { nil } }
    package var uid: Int? { if case .uid(let index) = self { index } else { nil } }

    /// The integer, or a boolean as 0 or 1: archives use either for a flag.
    package var integer: Int64? {
        switch self {
        case .integer(let number): number
        case .boolean(let flag): flag ? 1 : 0
        default: nil
        }
    }

    /// The boolean, or whether an integer is not 0: archives use either for a flag.
    package var boolean: Bool? { integer.map { $0 != 0 } }

    /// The number as a double, whether it is stored as a real or an integer.
    package var real: Double? {
        if case .real(let number) = self { number } else { integer.map(Double.init) }
    }

    /// The value under a key; nil if there is none or this is not a dictionary.
    package subscript(key: String) -> PropertyList? { dictionary?[key] }
}

extension MigrationError {
    /// Returns the error for a fault in a property list at a byte offset.
    static func propertyList(_ message: String, at offset: Int) -> MigrationError {
        propertyList(message, place: "byte \(offset)")
    }

    /// Returns the error for a fault in an XML property list.
    static func propertyList(_ message: String, line: Int) -> MigrationError {
        propertyList(message, place: "line \(line)")
    }

    private static func propertyList(_ message: String, place: String) -> MigrationError {
        MigrationError(
            .propertyListInvalid, "The property list is damaged: \(message).", place: place,
            remedy: "Restore the file from a backup, or create it again with the tool that wrote it.")
    }
}

/// Reads an XML property list.
struct XMLPropertyListReader {
    func read(_ bytes: [UInt8]) throws(MigrationError) -> PropertyList {
        let root: XMLElement
        do {
            root = try XMLElement.root(of: bytes, limits: .init(depth: 256), keepsText: true)
        } catch {
            throw .propertyList("it is neither binary nor an XML property list: \(error.message)", line: error.line)
        }
        guard root.name == "plist" else {
            throw .propertyList("it is neither binary nor an XML property list", line: root.line)
        }
        let values = try elements(of: root)
        guard values.count == 1 else {
            throw .propertyList("it has \(values.isEmpty ? "no value" : "more than one value")", line: root.line)
        }
        return values[0]
    }

    private func value(_ element: XMLElement) throws(MigrationError) -> PropertyList {
        switch element.name {
        case "dict": .dictionary(try entries(of: element))
        case "array": .array(try elements(of: element))
        default: try leaf(element)
        }
    }

    private func elements(of list: XMLElement) throws(MigrationError) -> [PropertyList] {
        try expectNoText(in: list)
        var elements: [PropertyList] = []
        for child in list.children { elements.append(try value(child)) }
        return elements
    }

    private func entries(of dictionary: XMLElement) throws(MigrationError) -> [String: PropertyList] {
        try expectNoText(in: dictionary)
        var entries: [String: PropertyList] = [:]
        var children = dictionary.children[...]
        while let key = children.popFirst() {
            guard key.name == "key" else { throw .propertyList("a value has no key", line: key.line) }
            guard let child = children.popFirst() else {
                throw .propertyList("the key \(key.text) has no value", line: key.line)
            }
            entries[key.text] = try value(child)
        }
        return entries
    }

    private func expectNoText(in element: XMLElement) throws(MigrationError) {
        guard element.text.utf8.allSatisfy({ [0x20, 0x09, 0x0A, 0x0D].contains($0) }) else {
            throw .propertyList("there is text outside a value", line: element.line)
        }
    }

    private func leaf(_ element: XMLElement) throws(MigrationError) -> PropertyList {
        guard element.children.isEmpty else {
            throw .propertyList("<\(element.name)> holds an element", line: element.line)
        }
        let word = element.text.split(whereSeparator: \.isWhitespace).joined()
        switch element.name {
        case "string": return .string(element.text)
        case "true": return .boolean(true)
        case "false": return .boolean(false)
        case "integer":
            if let number = Int64(word) { return .integer(number) }
            if let number = UInt64(word) { return .unsignedInteger(number) }
        case "real": if let number = Double(word) { return .real(number) }
        case "date": if let seconds = secondsSince2001(word) { return .date(seconds) }
        case "data": if let bytes = [UInt8](base64: word) { return .data(bytes) }
        default: throw .propertyList("there is no element \(element.name)", line: element.line)
        }
        throw .propertyList("\(word.prefix(40)) is not of type \(element.name)", line: element.line)
    }

    /// Returns the seconds since 2001; `2001-01-01T00:00:00Z` is 0.
    private func secondsSince2001(_ text: String) -> Double? {
        let fields = text.split(whereSeparator: { "-T:Z".contains($0) }).map { Int($0) }
        guard fields.count == 6, text.hasSuffix("Z"), let year = fields[0], let month = fields[1], let day = fields[2],
            let hour = fields[3], let minute = fields[4], let second = fields[5],
            (0...9999).contains(year), (1...12).contains(month), (1...31).contains(day)
        else { return nil }
        guard (0..<24).contains(hour), (0..<60).contains(minute), (0...60).contains(second) else { return nil }
        // Days since 0000-03-01 in the Gregorian calendar, with years from March; 400 added years keep them positive.
        let march = (month > 2 ? year : year - 1) + 400
        let leapDays = march / 4 - march / 100 + march / 400
        let days = march * 365 + leapDays + (153 * ((month + 9) % 12) + 2) / 5 + day - 1 - 146_097
        return Double((days - 730_791) * 86400 + hour * 3600 + minute * 60 + second)
    }
}
