import MoultBasics
import MoultModel

/// A JSON object being read: typed members with what they mean when absent, and every complaint with its place.
struct JSONFields {
    private let value: JSONValue
    /// The file and the path inside it, such as `Model.json: entities[2].attributes[0]`.
    let place: String

    init(_ value: JSONValue, place: String) throws {
        self.value = value
        self.place = place
        guard value.members != nil else { throw invalid("should be an object") }
    }

    func invalid(_ what: String) -> MigrationError {
        .modelInvalid("The JSON here \(what).", place: place, remedy: "Correct the file, or write it again with Moult.")
    }

    /// A member that is neither absent nor null.
    func member(_ key: String) -> JSONValue? {
        guard let member = value[key], member != .null else { return nil }
        return member
    }

    func text(_ key: String) throws -> String? {
        try member(key).map { member in
            guard let text = member.string else { throw invalid("has a \(key) that is not a string") }
            return text
        }
    }

    func required(_ key: String) throws -> String {
        guard let text = try text(key) else { throw invalid("has no \(key)") }
        return text
    }

    func flag(_ key: String) throws -> Bool? {
        try member(key).map { member in
            guard let flag = member.bool else { throw invalid("has a \(key) that is neither true nor false") }
            return flag
        }
    }

    func integer(_ key: String) throws -> Int? {
        try member(key).map { member in
            guard let number = member.integer.flatMap({ Int(exactly: $0) }) else {
                throw invalid("has a \(key) that is not a whole number")
            }
            return number
        }
    }

    func texts(_ key: String) throws -> [String] {
        try elements(key).map { element in
            guard let text = element.string else { throw invalid("has a \(key) with something that is not a string") }
            return text
        }
    }

    func textLists(_ key: String) throws -> [[String]] {
        try elements(key).map { list in
            guard let texts = list.array?.map(\.string), !texts.contains(nil) else {
                throw invalid("has a \(key) with something that is not a list of strings")
            }
            return texts.compactMap(\.self)
        }
    }

    func dictionary(_ key: String) throws -> [String: String] {
        guard let member = member(key) else { return [:] }
        var entries: [String: String] = [:]
        for entry in try JSONFields(member, place: "\(place).\(key)").value.members ?? [] {
            guard let text = entry.value.string else {
                throw invalid("has a \(key) whose \(entry.key) is not a string")
            }
            entries[entry.key] = text
        }
        return entries
    }

    func object(_ key: String) throws -> JSONFields? {
        try member(key).map { try JSONFields($0, place: "\(place).\(key)") }
    }

    func objects<Part>(_ key: String, _ read: (JSONFields) throws -> Part) throws -> [Part] {
        try elements(key).enumerated().map { position, element in
            try read(JSONFields(element, place: "\(place).\(key)[\(position)]"))
        }
    }

    private func elements(_ key: String) throws -> [JSONValue] {
        guard let member = member(key) else { return [] }
        guard let elements = member.array else { throw invalid("has a \(key) that is not a list") }
        return elements
    }

    /// The names of the members that are not in the set.
    func unknown(_ known: Set<String>) -> [String] {
        (value.members ?? []).map(\.key).filter { !known.contains($0) }
    }
}

/// A JSON object being written: what is absent, empty or usual is left out, and keys come in byte order.
struct JSONMembers {
    private var members: [String: JSONValue] = [:]

    var value: JSONValue { JSONValue(sorted: members) }

    mutating func set(_ key: String, _ value: JSONValue?) { members[key] = value }
    mutating func set(_ key: String, _ text: String?) { members[key] = text.map(JSONValue.string) }
    mutating func set(_ key: String, _ number: Int, unless usual: Int? = nil) {
        members[key] = number == usual ? nil : JSONValue(number)
    }
    mutating func set(_ key: String, _ flag: Bool?, unless usual: Bool? = nil) {
        members[key] = flag == usual ? nil : flag.map(JSONValue.bool)
    }
    mutating func set(_ key: String, _ texts: [String]) { members[key] = texts.isEmpty ? nil : JSONValue(texts) }
    mutating func set(_ key: String, _ lists: [[String]]) {
        members[key] = lists.isEmpty ? nil : .array(lists.map { JSONValue($0) })
    }
    mutating func set(_ key: String, _ entries: [String: String]) {
        members[key] = entries.isEmpty ? nil : JSONValue(sorted: entries.mapValues(JSONValue.string))
    }
    mutating func set<Part>(_ key: String, _ parts: [Part], _ write: (Part) -> JSONValue) {
        members[key] = parts.isEmpty ? nil : .array(parts.map(write))
    }
}
