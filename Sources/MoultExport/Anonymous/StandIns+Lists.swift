import MoultModel
import MoultPropertyList

/// Property lists, archives and JSON among bytes: their texts, numbers, dates and bytes get stand-ins; what they are made
/// of, and the names of what they hold, stays, so that they can still be read.
extension StandIns {
    /// Nil for bytes that are none of these.
    func listed(_ bytes: [UInt8]) -> [UInt8]? {
        if bytes.starts(with: Array("bplist".utf8)) || bytes.starts(with: Array("<?xml".utf8)) {
            return (try? PropertyList(parsing: bytes)).map { list($0).binary }
        }
        guard bytes.first == UInt8(ascii: "{") || bytes.first == UInt8(ascii: "["),
            let value = try? JSONValue(parsing: bytes, place: "", code: .usage)
        else { return nil }
        return Array(json(value).compact.utf8)
    }

    /// - Parameter key: what the list is called where it is.
    func list(_ list: PropertyList, named key: String = "") -> PropertyList {
        switch list {
        case .string(let text):
            // Names of classes, versions and other parts of an archive begin with this.
            return text.hasPrefix("$") || key.hasPrefix("$") ? list : .string(self.text(text))
        case .data(let bytes): return .data(self.bytes(bytes))
        case .date(let seconds): return .date(date(seconds))
        case .integer(let number): return key.hasPrefix("$") || key.hasPrefix("NS") ? list : .integer(whole(number))
        case .real(let number): return .real(key == "NS.time" ? date(number) : real(number))
        case .array(let elements):
            return key.hasPrefix("$class")
                ? list : .array(elements.map { self.list($0, named: key == "$objects" ? "" : key) })
        case .dictionary(let entries):
            if entries["$classname"] != nil { return list }
            return .dictionary(Dictionary(uniqueKeysWithValues: entries.map { ($0, self.list($1, named: $0)) }))
        case .null, .boolean, .unsignedInteger, .uid: return list
        }
    }

    private func json(_ value: JSONValue) -> JSONValue {
        switch value {
        case .string(let text): .string(self.text(text))
        case .integer(let number): .integer(whole(number))
        case .double(let number): .double(real(number))
        case .array(let elements): .array(elements.map(json))
        case .object(let members): .object(members.map { .init($0.key, json($0.value)) })
        case .null, .bool: value
        }
    }

    private func text(_ text: String) -> String { String(decoding: self.text(Array(text.utf8)), as: UTF8.self) }
}
