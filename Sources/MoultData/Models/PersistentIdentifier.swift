import Foundation
import MoultModel
import Synchronization

/// The identity of an object in its store, valid in every thread and, once permanent, in every process.
public struct PersistentIdentifier: Sendable, Hashable, Identifiable, Comparable, CustomStringConvertible {
    /// The Core Data identity of the same object.
    package let objectID: ObjectID

    package init(_ objectID: ObjectID) { self.objectID = objectID }

    /// A value that identifies the object; two are equal exactly if the identifiers are.
    public var id: ID { ID(objectID: objectID) }
    /// The name of the object's own entity, which may be a subentity of the one that was fetched.
    public var entityName: String { objectID.entityName }

    /// The UUID of the store, or the identifier of a ``DataStore``; nil for an unsaved object.
    public var storeIdentifier: String? { objectID.store.map { CustomIdentities.shared.name(of: $0) ?? $0.uuidString } }

    /// A value that identifies an object.
    public struct ID: Sendable, Hashable {
        let objectID: ObjectID
    }

    /// Orders identifiers by store, entity and key; within an entity, that is the order of insertion.
    public static func < (left: Self, right: Self) -> Bool {
        // A save sorts the objects that it wrote, nearly always of one entity in one store.
        if left.objectID.origin === right.objectID.origin { return left.objectID.key < right.objectID.key }
        if left.objectID.store != right.objectID.store {
            return (left.storeIdentifier ?? "") < (right.storeIdentifier ?? "")
        }
        return (left.entityName, left.objectID.key) < (right.entityName, right.objectID.key)
    }

    /// The URI, `x-coredata://UUID/Entity/p1`. For a model in a ``DataStore``, it names the store and the primary key.
    public var description: String {
        guard let custom = CustomIdentities.shared.identity(objectID) else { return objectID.description }
        return "x-swiftdata://\(custom.store)/\(custom.entityName)/\(custom.primaryKey)"
    }
}

// The format that SwiftData encodes: an object `implementation` with the URI and its parts.
extension PersistentIdentifier: Codable {
    private enum CodingKeys: String, CodingKey { case implementation }

    private struct Implementation: Codable {
        var primaryKey: String
        var uriRepresentation: String
        var isTemporary: Bool
        var storeIdentifier: String?
        var entityName: String
    }

    /// - Throws: `DecodingError` if the URI is invalid, or is a temporary one of another process.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        let found = try container.decode(Implementation.self, forKey: .implementation)
        if let objectID = ObjectID(uri: found.uriRepresentation) {
            self.init(objectID)
        } else if let store = found.storeIdentifier, found.uriRepresentation.hasPrefix("x-swiftdata:") {
            self.init(
                CustomIdentities.shared.objectID(
                    .init(store: store, entityName: found.entityName, primaryKey: found.primaryKey)))
        } else {
            throw DecodingError.dataCorruptedError(
                forKey: .implementation, in: container,
                debugDescription: "\(found.uriRepresentation) is not the identity of a stored object.")
        }
    }

    /// Encodes the identifier as SwiftData does: as its URI and the URI's parts.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        let uri = description
        let implementation = Implementation(
            primaryKey: CustomIdentities.shared.identity(objectID)?.primaryKey
                ?? uri.split(separator: "/").last.map(String.init) ?? "", uriRepresentation: uri,
            isTemporary: objectID.isTemporary, storeIdentifier: storeIdentifier, entityName: entityName)
        try container.encode(implementation, forKey: .implementation)
    }
}

extension PersistentIdentifier {
    /// Returns the identity of a model in a custom data store.
    ///
    /// - Parameter primaryKey: the value that identifies the model in its store. Only its description matters; it is
    ///   kept until the process ends.
    public static func identifier<Key>(
        for storeIdentifier: String, entityName: String, primaryKey: Key
    ) throws -> PersistentIdentifier
    where Key: Comparable & CustomStringConvertible & Decodable & Encodable & Hashable {
        PersistentIdentifier(
            CustomIdentities.shared.objectID(
                .init(store: storeIdentifier, entityName: entityName, primaryKey: primaryKey.description)))
    }
}

/// The identities in custom data stores, whose primary keys may be of any type. Each is represented by an ``ObjectID``
/// with a number that is valid in this process.
final class CustomIdentities: Sendable {
    static let shared = CustomIdentities()

    struct Identity: Hashable {
        let store: String
        let entityName: String
        let primaryKey: String
    }

    private struct Known {
        var stores: [String: UUID] = [:]
        var names: [UUID: String] = [:]
        var numbers: [Identity: ObjectID] = [:]
        var identities: [ObjectID: Identity] = [:]

        mutating func store(_ name: String) -> UUID {
            if let known = stores[name] { return known }
            let made = UUID(uuidString: name) ?? UUID()
            stores[name] = made
            names[made] = name
            return made
        }
    }

    private let known = Mutex(Known())

    /// Returns the UUID that stands for the identifier of a store.
    func store(_ identifier: String) -> UUID { known.withLock { $0.store(identifier) } }

    func objectID(_ identity: Identity) -> ObjectID {
        known.withLock { known in
            if let id = known.numbers[identity] { return id }
            let id = ObjectID(
                store: known.store(identity.store), entityName: identity.entityName,
                key: Int64(known.numbers.count + 1))
            known.numbers[identity] = id
            known.identities[id] = identity
            return id
        }
    }

    /// Returns nil for an identity of a SQLite store.
    func identity(_ id: ObjectID) -> Identity? { known.withLock { $0.identities[id] } }

    /// Returns nil for a SQLite store.
    func name(of store: UUID) -> String? { known.withLock { $0.names[store] } }
}
