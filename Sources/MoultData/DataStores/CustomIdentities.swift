import Foundation
import MoultModel
import Synchronization

extension PersistentIdentifier {
    /// The identity of a model in a data store of your own.
    ///
    /// - Parameter primaryKey: what tells the model apart in its store. Its description counts, which the identity keeps
    ///   for as long as the process runs.
    public static func identifier<Key>(
        for storeIdentifier: String, entityName: String, primaryKey: Key
    ) throws -> PersistentIdentifier
    where Key: Comparable & CustomStringConvertible & Decodable & Encodable & Hashable {
        PersistentIdentifier(
            CustomIdentities.shared.objectID(
                .init(store: storeIdentifier, entityName: entityName, primaryKey: primaryKey.description)))
    }
}

/// The identities of data stores of the program's own, whose primary keys may be anything: each stands for an
/// ``ObjectID`` with a number of this process.
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

    /// Nil for an identity of a SQLite store.
    func identity(_ id: ObjectID) -> Identity? { known.withLock { $0.identities[id] } }

    /// Nil for a SQLite store.
    func name(of store: UUID) -> String? { known.withLock { $0.names[store] } }
}
