import MoultBasics

/// A JSON object being read: typed members with their defaults, and errors with their places.
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

    /// Returns the names of the members that are not in the set.
    func unknown(_ known: Set<String>) -> [String] { (value.members ?? []).map(\.key).filter { !known.contains($0) } }
}

/// A part of a model that is a JSON object, read and written by a table of its members.
protocol JSONPart {
    /// An empty part to read into.
    static var blank: Self { get }
    /// The members, in reading order.
    static var members: [JSONMember<Self>] { get }
}

extension JSONPart {
    /// The members, without absent, empty and default values, with keys in byte order.
    var json: JSONValue {
        let values = Self.members.map { ($0.key, $0.write(self)) }
        return JSONValue(sorted: Dictionary(uniqueKeysWithValues: values).compactMapValues(\.self))
    }

    init(_ fields: JSONFields, noting unknown: inout UnknownMembers) throws {
        let members = Self.members
        unknown.inspect(fields, Set(members.map(\.key)))
        self = Self.blank
        for member in members { try member.read(&self, fields, &unknown) }
    }
}

/// A member of a JSON object, with the closures that write and read it.
struct JSONMember<Part> {
    let key: String
    /// Returns the value to write; nil to omit the member.
    let write: (Part) -> JSONValue?
    let read: (inout Part, JSONFields, inout UnknownMembers) throws -> Void
}

extension JSONMember {
    private init<Value>(
        _ key: String, _ path: WritableKeyPath<Part, Value>, write: @escaping (Value) -> JSONValue?,
        read: @escaping (JSONFields) throws -> Value
    ) {
        self.init(
            key: key, write: { write($0[keyPath: path]) },
            read: { part, fields, _ in part[keyPath: path] = try read(fields) })
    }

    static func required(_ key: String, _ path: WritableKeyPath<Part, String>) -> Self {
        Self(key, path, write: JSONValue.string, read: { try $0.required(key) })
    }

    static func text(_ key: String, _ path: WritableKeyPath<Part, String?>) -> Self {
        Self(key, path, write: { $0.map(JSONValue.string) }, read: { try $0.text(key) })
    }

    static func flag(_ key: String, _ path: WritableKeyPath<Part, Bool>, unless usual: Bool) -> Self {
        Self(key, path, write: { $0 == usual ? nil : .bool($0) }, read: { try $0.flag(key) ?? usual })
    }

    static func choice(_ key: String, _ path: WritableKeyPath<Part, Bool?>) -> Self {
        Self(key, path, write: { $0.map(JSONValue.bool) }, read: { try $0.flag(key) })
    }

    static func number(_ key: String, _ path: WritableKeyPath<Part, Int>, unless usual: Int) -> Self {
        Self(key, path, write: { $0 == usual ? nil : JSONValue($0) }, read: { try $0.integer(key) ?? usual })
    }

    static func texts(_ key: String, _ path: WritableKeyPath<Part, [String]>) -> Self {
        Self(key, path, write: { $0.isEmpty ? nil : JSONValue($0) }, read: { try $0.texts(key) })
    }

    static func lists(_ key: String, _ path: WritableKeyPath<Part, [[String]]>) -> Self {
        Self(key, path, write: { $0.isEmpty ? nil : .array($0.map { JSONValue($0) }) }, read: { try $0.textLists(key) })
    }

    static func entries(_ key: String, _ path: WritableKeyPath<Part, [String: String]>) -> Self {
        Self(
            key, path, write: { $0.isEmpty ? nil : JSONValue(sorted: $0.mapValues(JSONValue.string)) },
            read: { try $0.dictionary(key) })
    }

    /// - Parameter isWritten: whether to write the member for a part.
    static func parts<Element: JSONPart>(
        _ key: String, _ path: WritableKeyPath<Part, [Element]>, if isWritten: @escaping (Part) -> Bool = { _ in true }
    ) -> Self {
        Self(
            key: key,
            write: {
                let elements = isWritten($0) ? $0[keyPath: path] : []
                return elements.isEmpty ? nil : .array(elements.map(\.json))
            },
            read: { part, fields, unknown in
                part[keyPath: path] = try fields.objects(key) { try Element($0, noting: &unknown) }
            })
    }
}
