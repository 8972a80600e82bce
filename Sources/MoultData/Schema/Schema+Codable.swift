import Foundation

/// A schema as the names of its classes: what a program writes, it reads again. For what others read, `moult schema
/// export` writes the models themselves.
struct EncodedSchema: Codable {
    var version: Schema.Version
    var models: [Model]

    struct Model: Codable {
        /// The entity's name, for people.
        var name: String
        /// The class, as the runtime calls it.
        var type: String
    }

    /// - Throws: `DecodingError` for a class that this program has not.
    func types(_ decoder: any Decoder) throws -> [any PersistentModel.Type] {
        try models.map { model in
            if let type = _typeByName(model.type) as? any PersistentModel.Type { return type }
            throw DecodingError.dataCorrupted(
                .init(
                    codingPath: decoder.codingPath,
                    debugDescription: "The class of the model \(model.name) is not in this program."))
        }
    }
}

extension Schema {
    /// Writes the version and the names of the classes to a file, for ``load(from:)``.
    ///
    /// - Throws: `EncodingError` for a class that has no name of its own; an error of writing.
    public func save(to toURL: URL) throws { try JSONEncoder().encode(self).write(to: toURL, options: .atomic) }

    /// The schema that ``save(to:)`` wrote, of the same classes.
    ///
    /// - Throws: `DecodingError` if a class is not in this program; an error of reading.
    public static func load(from fromURL: URL) throws -> Schema {
        try JSONDecoder().decode(Schema.self, from: Data(contentsOf: fromURL))
    }
}

extension Schema: Codable {
    /// - Throws: `EncodingError` for a class that has no name of its own, such as one in a function.
    public func encode(to encoder: any Encoder) throws {
        let models = try types.sorted { $0.key.precedesInByteOrder($1.key) }.map { name, type in
            guard let mangled = _mangledTypeName(type) else {
                throw EncodingError.invalidValue(
                    type, .init(codingPath: encoder.codingPath, debugDescription: "The class of \(name) has no name."))
            }
            return EncodedSchema.Model(name: name, type: mangled)
        }
        try EncodedSchema(version: version, models: models).encode(to: encoder)
    }
}
