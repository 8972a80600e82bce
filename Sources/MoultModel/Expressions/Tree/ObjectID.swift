import MoultBasics

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The identity of an object in a store, as `NSManagedObjectID`.
///
/// A permanent identity is valid in every process and forever. A temporary identity belongs to an object that was never
/// saved, and is valid only in this process and until the object is saved.
public struct ObjectID: Sendable, Hashable {
    package let origin: Origin
    /// The primary key `Z_PK`; for a temporary identity a number of this process.
    package let key: Int64

    /// The part that all objects of one entity in one store share: an identity is a reference to it and a key.
    package final class Origin: Sendable {
        /// `NSStoreUUID`; nil for temporary identities.
        package let store: UUID?
        package let entityName: String

        package init(store: UUID?, entityName: String) {
            self.store = store
            self.entityName = entityName
        }
    }

    /// The `NSStoreUUID` of the store; nil for a temporary identity.
    package var store: UUID? { origin.store }
    /// The object's own entity, which may be a sub-entity of the one in a relationship or a fetch.
    public var entityName: String { origin.entityName }

    package init(_ origin: Origin, key: Int64) {
        self.origin = origin
        self.key = key
    }

    package init(store: UUID, entityName: String, key: Int64) {
        self.init(Origin(store: store, entityName: entityName), key: key)
    }

    /// Creates the temporary identity of a new object.
    package init(temporary number: Int64, entityName: String) {
        self.init(Origin(store: nil, entityName: entityName), key: number)
    }

    /// Whether the object has not been saved yet.
    public var isTemporary: Bool { origin.store == nil }

    /// Whether both identify the same object. A temporary identity does not equal the permanent one that replaces it.
    public static func == (left: ObjectID, right: ObjectID) -> Bool {
        left.key == right.key
            && (left.origin === right.origin
                || left.store == right.store && left.entityName == right.entityName)
    }

    // Keys nearly always differ; hashing two more fields would cost more than the few collisions.
    /// Hashes the key alone.
    public func hash(into hasher: inout Hasher) { hasher.combine(key) }
}

extension ObjectID: CustomStringConvertible {
    /// Distinguishes the temporary identities of this process from those of others.
    private static let process = UUID()

    /// The URI in Core Data's form (`uriRepresentation()`): `x-coredata://UUID/Entity/p1`, and for a temporary identity
    /// `x-coredata:///Entity/tUUID1`, where the UUID is that of the process.
    public var description: String {
        let name = entityName.percentEncoded()
        guard let store else { return "x-coredata:///\(name)/t\(Self.process.uuidString)\(key)" }
        return "x-coredata://\(store.uuidString)/\(name)/p\(key)"
    }

    /// Reads the URI of a permanent identity, or of a temporary one of this process; nil for any other text.
    package init?(uri: String) {
        let parts = uri.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 5, parts[0].lowercased() == "x-coredata:", parts[1].isEmpty,
            let name = parts[3].percentDecoded(), !name.isEmpty
        else { return nil }
        if parts[2].isEmpty {
            let prefix = "t" + Self.process.uuidString
            guard parts[4].hasPrefix(prefix), let number = Int64(parts[4].dropFirst(prefix.count)) else { return nil }
            self.init(temporary: number, entityName: name)
        } else {
            guard let store = UUID(uuidString: String(parts[2])), parts[4].first == "p",
                let key = Int64(parts[4].dropFirst()), key > 0
            else { return nil }
            self.init(store: store, entityName: name, key: key)
        }
    }
}
