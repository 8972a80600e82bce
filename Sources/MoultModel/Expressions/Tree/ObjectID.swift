#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Which object of which store: `NSManagedObjectID`.
///
/// A permanent one is good in every process and forever; a temporary one, of an object that no save has reached, is
/// good in this process until that save.
public struct ObjectID: Sendable, Hashable {
    /// `NSStoreUUID`; nil for a temporary one.
    package let store: UUID?
    /// The object's own entity, which may lie below the one that a relationship or a fetch names.
    public let entityName: String
    /// `Z_PK`; for a temporary one a number of this process.
    package let key: Int64

    package init(store: UUID, entityName: String, key: Int64) {
        self.store = store
        self.entityName = entityName
        self.key = key
    }

    /// The temporary identity of a new object.
    package init(temporary number: Int64, entityName: String) {
        store = nil
        self.entityName = entityName
        key = number
    }

    /// Whether the object has not been saved yet.
    public var isTemporary: Bool { store == nil }

    /// Whether both are of the same object; a temporary identity is not equal to the permanent one that follows it.
    public static func == (left: ObjectID, right: ObjectID) -> Bool {
        left.key == right.key && left.store == right.store && left.entityName == right.entityName
    }

    // Keys differ nearly always; hashing two more fields would cost more than the few collisions.
    /// Hashes the key alone.
    public func hash(into hasher: inout Hasher) { hasher.combine(key) }
}
