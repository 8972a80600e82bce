import Foundation
import MoultBasics

/// The models of one version of an app, from which a store's managed object model is made.
///
/// A schema includes the destinations of relationships and the superclasses of models, even if they are not listed.
public final class Schema: Sendable {
    /// The version of the app's models; `1.0.0` by default.
    public let version: Version
    /// The entities, in the byte order of their names.
    public let entities: [Entity]
    /// The entities by their names.
    public let entitiesByName: [String: Entity]
    /// The class of each entity.
    package let types: [String: any PersistentModel.Type]
    /// The faults of the models; ``managedObjectModel()`` throws the first of them.
    package let faults: [MigrationError]

    /// Creates a schema of these models and the models that they refer to. Opening a store throws any faults in them.
    public init(_ types: [any PersistentModel.Type], version: Version = Version(1, 0, 0)) {
        var builder = SchemaBuilder()
        builder.add(types)
        builder.pairRelationships()
        builder.linkLineages()
        self.version = version
        self.types = builder.types
        entities = builder.entities.values.inByteOrder { $0.name }
        entitiesByName = builder.entities
        faults = builder.faults
    }

    init(entities: [Entity], version: Version) {
        self.version = version
        types = [:]
        self.entities = entities.inByteOrder { $0.name }
        entitiesByName = Dictionary(entities.map { ($0.name, $0) }) { first, _ in first }
        faults = Self.faults(of: entities)
    }

    /// Returns the faults that prevent making a model from entities.
    private static func faults(of entities: [Entity]) -> [MigrationError] {
        var names: Set<String> = []
        var faults: [MigrationError] = []
        for entity in entities {
            if !names.insert(entity.name).inserted {
                faults.append(
                    .modelInvalid(
                        "Two entities are named \(entity.name).", place: entity.name, remedy: "Rename one of them."))
            }
            for property in entity.own where property.name.isEmpty {
                faults.append(
                    .modelInvalid(
                        "A property of \(entity.name) has no name.", place: entity.name, remedy: "Set its name."))
            }
            for attribute in entity.attributesByName.values
            where attribute.transformerName == nil && !(attribute.valueType is any Codable.Type) {
                faults.append(
                    .modelInvalid(
                        "\(entity.name).\(attribute.name) is of the type \(attribute.valueType), which no store keeps.",
                        place: "\(entity.name).\(attribute.name)", remedy: "Give it a type that is Codable."))
            }
        }
        return faults
    }

    /// - Throws: `DecodingError` if this program lacks one of the classes.
    public convenience init(from decoder: any Decoder) throws {
        let encoded = try EncodedSchema(from: decoder)
        self.init(try encoded.types(decoder), version: encoded.version)
    }

    /// Creates a schema without models.
    public convenience init() { self.init([], version: Version(1, 0, 0)) }

    /// The version of the form in which ``save(to:)`` writes a schema.
    public static let schemaEncodingVersion = Version(1, 0, 0)
    /// The version of the form in which this schema is written.
    public var encodingVersion: Version { Self.schemaEncodingVersion }

    /// Creates a schema of these models and the models that they refer to.
    public convenience init(_ types: any PersistentModel.Type..., version: Version = Version(1, 0, 0)) {
        self.init(types, version: version)
    }

    /// Creates a schema of the models of a released version, with its version number.
    public convenience init(versionedSchema: any VersionedSchema.Type) {
        self.init(versionedSchema.models, version: versionedSchema.versionIdentifier)
    }

    /// Returns the entity of a model; nil if it is not in the schema.
    public func entity(for type: any PersistentModel.Type) -> Entity? {
        let name = type.schemaMetadata.name
        guard types[name].map({ $0 == type }) ?? false else { return nil }
        return entitiesByName[name]
    }

    /// Returns the entity name of a class, which is the class name without its enclosing types.
    public static func entityName(for type: any PersistentModel.Type) -> String { type.schemaMetadata.name }
}

extension Schema: Hashable, CustomDebugStringConvertible {
    /// The version and the names of the entities.
    public var debugDescription: String { "Schema(\(version): \(entities.map(\.name).joined(separator: ", ")))" }

    /// Returns whether both have the same version and equal entities.
    public static func == (left: Schema, right: Schema) -> Bool {
        left.version == right.version && left.entities == right.entities
    }

    /// Hashes the version and the entities.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(version)
        hasher.combine(entities)
    }
}

extension Schema {
    /// The identifier of a version: three numbers, compared one after the other.
    public struct Version: Sendable, Hashable, Comparable, Codable, CustomStringConvertible {
        /// The first number, compared before the others.
        public let major: Int
        /// The second number.
        public let minor: Int
        /// The third number.
        public let patch: Int

        /// Creates a version from three numbers.
        public init(_ major: Int, _ minor: Int, _ patch: Int) {
            (self.major, self.minor, self.patch) = (major, minor, patch)
        }

        /// The version in the form `1.0.0`, like a store's `NSStoreModelVersionIdentifiers`.
        public var description: String { "\(major).\(minor).\(patch)" }

        /// Returns whether the left version is earlier.
        public static func < (left: Version, right: Version) -> Bool {
            (left.major, left.minor, left.patch) < (right.major, right.minor, right.patch)
        }
    }
}

/// A version of an app's models, which are nested in this type or in types that it names:
///
///     enum NotesV1: VersionedSchema {
///         static let versionIdentifier = Schema.Version(1, 0, 0)
///         static var models: [any PersistentModel.Type] { [Note.self] }
///         @Model final class Note { … }
///     }
public protocol VersionedSchema {
    static var models: [any PersistentModel.Type] { get }
    static var versionIdentifier: Schema.Version { get }
}

/// A schema encoded as the names of its classes, for the same program to decode. Use `moult schema export` to write the
/// models themselves for other programs.
struct EncodedSchema: Codable {
    var version: Schema.Version
    var models: [Model]

    struct Model: Codable {
        /// The entity's name, for human readers.
        var name: String
        /// The runtime's name of the class.
        var type: String
    }

    /// - Throws: `DecodingError` for a class that this program lacks.
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
    /// - Throws: `EncodingError` for a class without a name that can be looked up; any error in writing the file.
    public func save(to toURL: URL) throws { try JSONEncoder().encode(self).write(to: toURL, options: .atomic) }

    /// Reads the schema that ``save(to:)`` wrote, with the same classes.
    ///
    /// - Throws: `DecodingError` if this program lacks one of the classes; any error in reading the file.
    public static func load(from fromURL: URL) throws -> Schema {
        try JSONDecoder().decode(Schema.self, from: Data(contentsOf: fromURL))
    }
}

extension Schema: Codable {
    /// - Throws: `EncodingError` for a class without a name that can be looked up, such as a class in a function.
    public func encode(to encoder: any Encoder) throws {
        let models = try types.inByteOrder { $0.key }.map { name, type in
            guard let mangled = _mangledTypeName(type) else {
                throw EncodingError.invalidValue(
                    type, .init(codingPath: encoder.codingPath, debugDescription: "The class of \(name) has no name."))
            }
            return EncodedSchema.Model(name: name, type: mangled)
        }
        try EncodedSchema(version: version, models: models).encode(to: encoder)
    }
}
