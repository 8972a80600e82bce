import Foundation
import MoultModel
import MoultObjects
import Synchronization

/// The values of one model of any class: its attributes in stored form, and the destinations of its relationships.
///
/// A snapshot encodes each property under its name, as a value of the property's type.
public struct DefaultSnapshot: DataStoreSnapshot, Equatable {
    /// The identity of the model; temporary for a model that is being inserted.
    public let persistentIdentifier: PersistentIdentifier
    /// The column values of attributes, by path, without those that are NULL.
    var attributes: [String: AttributeValue] = [:]
    /// The destinations of relationships, by name, without empty relationships.
    var destinations: [String: [PersistentIdentifier]] = [:]

    init(_ persistentIdentifier: PersistentIdentifier) { self.persistentIdentifier = persistentIdentifier }

    /// Creates a snapshot of a model in a container with a data store; for any other class, only the identity is
    /// copied. For relationships, the snapshot has the identities of the destinations but not their values.
    public init(from backingData: any BackingData, relatedBackingDatas: inout [PersistentIdentifier: any BackingData]) {
        if let snapshot = (backingData as? SnapshotBacking)?.snapshot {
            self = snapshot
            return
        }
        self.init(backingData.persistentModelID)
        let type = SnapshotClasses.type(persistentIdentifier.entityName)
        for property in type?.schemaMetadata.keptProperties ?? [] {
            switch property.shape {
            case .attribute:
                for path in property.paths { attributes[path] = backingData.attribute(path) }
            case .toOne:
                lead(property.name, (backingData.toOne(property.name)?.persistentModelID).map { [$0] } ?? [])
            case .toMany:
                lead(property.name, backingData.toMany(property.name)?.map(\.persistentModelID) ?? [])
            }
        }
    }

    /// Creates a snapshot with the current values of a context's object.
    init(_ object: Object, _ type: any PersistentModel.Type) throws {
        self.init(PersistentIdentifier(object.id))
        for property in type.schemaMetadata.keptProperties {
            switch property.shape {
            case .attribute: for path in property.paths { attributes[path] = try object.attribute(path) }
            case .toOne:
                lead(property.name, try object.toOneID(property.name).map { [PersistentIdentifier($0)] } ?? [])
            case .toMany: lead(property.name, try object.toManyIDs(property.name).map(PersistentIdentifier.init))
            }
        }
    }

    /// Sets the destinations of a relationship, sorted, because they have no order of their own.
    mutating func lead(_ relationship: String, _ ids: [PersistentIdentifier]) {
        destinations[relationship] = ids.isEmpty ? nil : ids.sorted()
    }

    /// Returns the same values under another identity.
    ///
    /// - Parameter remappedIdentifiers: the identities that replace temporary ones in relationships.
    public func copy(
        persistentIdentifier: PersistentIdentifier,
        remappedIdentifiers: [PersistentIdentifier: PersistentIdentifier]? = nil
    ) -> DefaultSnapshot {
        var copy = DefaultSnapshot(persistentIdentifier)
        copy.attributes = attributes
        for (name, ids) in destinations { copy.lead(name, ids.map { remappedIdentifiers?[$0] ?? $0 }) }
        return copy
    }
}

extension DefaultSnapshot: Codable {
    /// - Throws: `DecodingError` for a class that no container with a data store has, or a value of another type.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: DataStoreSnapshotCodingKey.self)
        self.init(try container.decode(PersistentIdentifier.self, forKey: .persistentIdentifier))
        for property in try Self.properties(persistentIdentifier, container.codingPath) {
            let key = DataStoreSnapshotCodingKey.modeledProperty(property.name)
            guard container.contains(key), try !container.decodeNil(forKey: key) else { continue }
            switch property.shape {
            case .attribute: try decode(property, key, container)
            case .toOne: lead(property.name, [try container.decode(PersistentIdentifier.self, forKey: key)])
            case .toMany: lead(property.name, try container.decode([PersistentIdentifier].self, forKey: key))
            }
        }
    }

    private mutating func decode(
        _ property: Schema.PropertyMetadata, _ key: DataStoreSnapshotCodingKey,
        _ container: KeyedDecodingContainer<DataStoreSnapshotCodingKey>
    ) throws {
        func value<Value: Decodable>(_ type: Value.Type) throws -> Any { try container.decode(type, forKey: key) }
        guard let type = property.valueType as? any Decodable.Type else {
            attributes[property.name] = .transformable([UInt8](try container.decode(Data.self, forKey: key)))
            return
        }
        guard let columns = try property.columnValues(try value(type)) else {
            throw DecodingError.typeMismatch(
                type, .init(codingPath: container.codingPath + [key], debugDescription: "It is of another type."))
        }
        attributes.merge(columns) { $1 }
    }

    /// Encodes every stored property, with null for a missing value.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: DataStoreSnapshotCodingKey.self)
        try container.encode(persistentIdentifier, forKey: .persistentIdentifier)
        let backing = MissingBackingData(persistentIdentifier, attributes)
        for property in try Self.properties(persistentIdentifier, encoder.codingPath) {
            let key = DataStoreSnapshotCodingKey.modeledProperty(property.name)
            switch property.shape {
            case .toOne: try container.encode(destinations[property.name]?.first, forKey: key)
            case .toMany: try container.encode(destinations[property.name] ?? [], forKey: key)
            case .attribute:
                guard property.isWhole(in: attributes, backing) else {
                    try container.encodeNil(forKey: key)
                    continue
                }
                if property.valueType is any Codable.Type,
                    let value = property.read(property.name, backing) as? any Encodable
                {
                    try container.encode(value, forKey: key)
                } else if case .transformable(let bytes)? = attributes[property.name] {
                    try container.encode(Data(bytes), forKey: key)
                }
            }
        }
    }

    private static func properties(
        _ id: PersistentIdentifier, _ path: [any CodingKey]
    ) throws -> [Schema.PropertyMetadata] {
        if let type = SnapshotClasses.type(id.entityName) { return type.schemaMetadata.keptProperties }
        throw DecodingError.dataCorrupted(
            .init(
                codingPath: path,
                debugDescription: "\(id.entityName) is no model of a container that has been made over a data store."))
    }
}

/// The model classes of snapshots, by name: decoding a snapshot needs the class for a name.
enum SnapshotClasses {
    /// The schema of the data store that is currently called.
    @TaskLocal static var schema: Schema?
    private static let known = Mutex<[String: any PersistentModel.Type]>([:])

    /// Registers the classes of a schema, for code that runs outside a call of its data store.
    static func note(_ schema: Schema) { known.withLock { $0.merge(schema.types) { $1 } } }

    static func type(_ entityName: String) -> (any PersistentModel.Type)? {
        schema?.types[entityName] ?? known.withLock { $0[entityName] }
    }
}

/// Backing data with a snapshot's values, for creating a snapshot of another type.
final class SnapshotBacking: BackingData {
    let snapshot: DefaultSnapshot

    init(_ snapshot: DefaultSnapshot) { self.snapshot = snapshot }

    var persistentModelID: PersistentIdentifier { snapshot.persistentIdentifier }
    func attribute(_ key: String) -> AttributeValue? { snapshot.attributes[key] }
    func setAttribute(_ key: String, _ value: AttributeValue?) {}
    func toOne(_ key: String) -> (any PersistentModel)? { snapshot.destinations[key]?.first.flatMap(model) }
    func setToOne(_ key: String, _ model: (any PersistentModel)?) {}
    func toMany(_ key: String) -> [any PersistentModel]? { snapshot.destinations[key]?.compactMap(model) }
    func setToMany(_ key: String, _ models: [any PersistentModel]?) {}
    func refuse(_ key: String, _ error: MigrationError) {}

    /// Returns a model that has only its identity.
    private func model(_ id: PersistentIdentifier) -> (any PersistentModel)? {
        SnapshotClasses.type(id.entityName)?.init(backingData: MissingBackingData(id))
    }
}

extension Schema.ModelMetadata {
    /// The stored properties.
    var keptProperties: [Schema.PropertyMetadata] {
        properties.filter { !$0.declared.attributeOptions.contains(.ephemeral) }
    }
}
