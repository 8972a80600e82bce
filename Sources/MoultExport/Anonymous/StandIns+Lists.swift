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
            guard text.hasPrefix("$") || key.hasPrefix("$") else { return .string(self.text(text)) }
            keepTexts(of: list)
            return list
        case .data(let bytes): return .data(self.bytes(bytes))
        case .date(let seconds): return .date(date(seconds))
        case .integer(let number): return key.hasPrefix("$") || key.hasPrefix("NS") ? list : .integer(whole(number))
        case .real(let number): return .real(key == "NS.time" ? date(number) : real(number))
        case .array(let elements):
            guard !key.hasPrefix("$class") else {
                keepTexts(of: list)
                return list
            }
            return .array(elements.map { self.list($0, named: key == "$objects" ? "" : key) })
        case .dictionary(let entries):
            if entries["$classname"] != nil {
                keepTexts(of: list)
                return list
            }
            return .dictionary(
                Dictionary(
                    entries.map { (name($0), self.list($1, named: $0)) }, uniquingKeysWith: { first, _ in first }))
        case .null, .boolean, .unsignedInteger, .uid: return list
        }
    }

    /// A name that source code can have stays; another one is a text of its own, such as a key of a dictionary.
    private func name(_ name: String) -> String {
        let isPlain = name.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "_$.".contains($0)) }
        guard isPlain, name.first?.isNumber == false else { return text(name) }
        keep(Array(name.utf8))
        return name
    }

    /// Notes what stays of a list.
    private func keepTexts(of list: PropertyList) {
        switch list {
        case .string(let text): keep(Array(text.utf8))
        case .array(let elements): for element in elements { keepTexts(of: element) }
        case .dictionary(let entries): for element in entries.values { keepTexts(of: element) }
        default: break
        }
    }

    private func json(_ value: JSONValue) -> JSONValue {
        switch value {
        case .string(let text): .string(self.text(text))
        case .integer(let number): .integer(whole(number))
        case .double(let number): .double(real(number))
        case .array(let elements): .array(elements.map(json))
        case .object(let members): .object(members.map { .init(name($0.key), json($0.value)) })
        case .null, .bool: value
        }
    }

    private func text(_ text: String) -> String { String(decoding: self.text(Array(text.utf8)), as: UTF8.self) }
}
