import MoultBasics

/// The differences between two compiled models, object by object, regardless of the order in their archives.
///
/// The compiler version is not part of a model and is not compared.
package struct ArchiveComparison: Sendable {
    package struct Difference: Sendable {
        /// The path to the value, such as `Post.title/NSIsOptional`.
        package let place: String
        /// The value in each model, as text; nil if there is none.
        package let old: String?
        package let new: String?
    }

    /// The differences, in byte order of their places; empty if the models are equal.
    package let differences: [Difference]

    /// - Throws: `propertyListInvalid` if the bytes are not an archive, `modelInvalid` if it has no model.
    package init(_ old: [UInt8], _ new: [UInt8]) throws(MigrationError) {
        let (old, new) = (try ArchiveText(old).values, try ArchiveText(new).values)
        let places = Set(old.keys).union(new.keys).inByteOrder()
        differences = places.compactMap { place in
            old[place] == new[place] ? nil : Difference(place: place, old: old[place]?.text, new: new[place]?.text)
        }
    }
}

/// Every plain value of a compiled model, by its path.
private struct ArchiveText {
    private(set) var values: [String: Value] = [:]
    private var left = Self.limit

    /// More values than in any real model; an archive that refers to itself would exceed it.
    private static let limit = 4_000_000
    private static let depth = 32
    private static let compiler: Set<String> = ["CDMCompilerToolVersion", "CDMCompilerXcodeVersion"]

    /// A value and its number: Foundation treats a flag as equal to 1 or 0.
    struct Value: Equatable {
        let text: String
        private var number: Int64?

        init(_ text: String) { self.text = text }
        init(_ flag: Bool) { (text, number) = (flag ? "true" : "false", flag ? 1 : 0) }
        init(_ number: Int64) { (text, self.number) = (String(number), number) }

        static func == (one: Value, other: Value) -> Bool {
            one.number == other.number && (one.number != nil || one.text == other.text)
        }
    }

    init(_ bytes: [UInt8]) throws(MigrationError) {
        guard let model = try KeyedArchive(parsing: bytes).root, model.className == "NSManagedObjectModel",
            let entities = model["NSEntities"]?.entries
        else {
            throw .modelInvalid(
                "The archive contains no model.", place: "the archive's root", remedy: "Give a compiled model (.mom).")
        }
        for key in model.keys where key != "NSEntities" && !Self.compiler.contains(key) {
            try add(model[key], at: "model/\(key)")
        }
        for (name, entity) in entities {
            for key in entity.keys {
                switch key {
                case "NSProperties":
                    for (property, value) in entity[key]?.entries ?? [] {
                        try addFields(of: value, at: "\(name).\(property)")
                    }
                case "NSFetchIndexDescriptions":
                    for index in entity[key]?.elements ?? [] {
                        try addFields(of: index, at: "\(name) index \(index["NSIndexName"]?.string ?? "")")
                    }
                default: try add(entity[key], at: "\(name)/\(key)")
                }
            }
            values["\(name)/class"] = entity.className.map { Value($0) }
        }
    }

    private mutating func addFields(of value: KeyedArchive.Value, at place: String) throws(MigrationError) {
        for key in value.keys { try add(value[key], at: "\(place)/\(key)") }
        values["\(place)/class"] = value.className.map { Value($0) }
    }

    private mutating func add(_ value: KeyedArchive.Value?, at place: String, depth: Int = 0) throws(MigrationError) {
        guard let value else { return }
        left -= 1
        guard left > 0, depth < Self.depth else {
            throw .modelInvalid(
                "The archive is nested without end.", place: place, remedy: "Compile the model again from its source.")
        }
        if let plain = plain(value) {
            values[place] = plain
        } else if let name = reference(value) {
            values[place] = Value(name)
        } else if let entries = value.entries {
            values[place + "/class"] = value.className.map { Value($0) }
            for (key, entry) in entries { try add(entry, at: "\(place)/\(key)", depth: depth + 1) }
        } else if let elements = value.elements {
            values[place + "/class"] = value.className.map { Value($0) }
            let isSet = value.className?.hasSuffix("Set") == true && value.className?.contains("Ordered") != true
            let inOrder = isSet ? elements.sorted { text($0).precedesInByteOrder(text($1)) } : elements
            for (position, element) in inOrder.enumerated() {
                try add(element, at: "\(place)/\(position)", depth: depth + 1)
            }
        } else {
            values[place + "/class"] = value.className.map { Value($0) }
            for key in value.keys { try add(value[key], at: "\(place)/\(key)", depth: depth + 1) }
        }
    }

    /// Returns a value without parts, as text with its kind.
    private func plain(_ value: KeyedArchive.Value) -> Value? {
        switch value.content {
        case .string(let text): return Value(text)
        case .boolean(let flag): return Value(flag)
        case .integer(let number): return Value(number)
        case .real(let number): return Value("\(number)")
        case .data(let bytes): return Value(bytes.base64)
        default: break
        }
        if let text = value.string { return Value("\(value.className ?? "") \(text)") }
        if let bytes = value.data { return Value("\(value.className ?? "") \(bytes.base64)") }
        return nil
    }

    /// Returns the name of an entity, a property or an index; its contents are compared at their own place.
    private func reference(_ value: KeyedArchive.Value) -> String? {
        switch value.className {
        case "NSManagedObjectModel": "the model"
        case "NSEntityDescription": "entity \(value["NSEntityName"]?.string ?? "")"
        case "NSFetchIndexDescription": "index \(value["NSIndexName"]?.string ?? "")"
        case let name? where Self.properties.contains(name): "property \(value["NSPropertyName"]?.string ?? "")"
        default: nil
        }
    }

    private static let properties: Set<String> = [
        "NSAttributeDescription", "NSDerivedAttributeDescription", "NSCompositeAttributeDescription",
        "NSRelationshipDescription", "NSFetchedPropertyDescription", "NSExpressionDescription",
    ]

    /// Returns the text that sorts the elements of a set.
    private func text(_ value: KeyedArchive.Value) -> String { plain(value)?.text ?? reference(value) ?? "" }
}
