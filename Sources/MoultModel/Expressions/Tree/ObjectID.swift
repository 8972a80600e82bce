#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The identity of an object of a store: `NSManagedObjectID`.
///
/// A permanent one is good in every process and forever; a temporary one, of an object that no save has reached, is
/// good in this process until that save.
public struct ObjectID: Sendable, Hashable {
    package let origin: Origin
    /// `Z_PK`; for a temporary one a number of this process.
    package let key: Int64

    /// The part that the identities of the objects of one entity in one store share: an identity is a reference to it
    /// and a key.
    package final class Origin: Sendable {
        /// `NSStoreUUID`; nil for temporary identities.
        package let store: UUID?
        package let entityName: String

        package init(store: UUID?, entityName: String) {
            self.store = store
            self.entityName = entityName
        }
    }

    /// `NSStoreUUID`; nil for a temporary one.
    package var store: UUID? { origin.store }
    /// The object's own entity, which may lie below the one that a relationship or a fetch names.
    public var entityName: String { origin.entityName }

    package init(_ origin: Origin, key: Int64) {
        self.origin = origin
        self.key = key
    }

    package init(store: UUID, entityName: String, key: Int64) {
        self.init(Origin(store: store, entityName: entityName), key: key)
    }

    /// The temporary identity of a new object.
    package init(temporary number: Int64, entityName: String) {
        self.init(Origin(store: nil, entityName: entityName), key: number)
    }

    /// Whether the object has not been saved yet.
    public var isTemporary: Bool { origin.store == nil }

    /// Whether both are of the same object; a temporary identity is not equal to the permanent one that follows it.
    public static func == (left: ObjectID, right: ObjectID) -> Bool {
        left.key == right.key
            && (left.origin === right.origin
                || left.store == right.store && left.entityName == right.entityName)
    }

    // Keys differ nearly always; hashing two more fields would cost more than the few collisions.
    /// Hashes the key alone.
    public func hash(into hasher: inout Hasher) { hasher.combine(key) }
}
