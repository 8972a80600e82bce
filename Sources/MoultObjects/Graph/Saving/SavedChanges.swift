import MoultModel

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The changes that one save wrote, by permanent identity, as `NSManagedObjectContextDidSave` carries them.
package struct SavedChanges: Sendable, Hashable {
    package var inserted: Set<ObjectID> = []
    package var updated: Set<ObjectID> = []
    package var deleted: Set<ObjectID> = []
    /// The numbers of the transactions in the history of the stores, by the stores' identifiers.
    package var transactions: [UUID: Int64] = [:]

    package init(inserted: Set<ObjectID> = [], updated: Set<ObjectID> = [], deleted: Set<ObjectID> = []) {
        self.inserted = inserted
        self.updated = updated
        self.deleted = deleted
    }

    package var isEmpty: Bool { inserted.isEmpty && updated.isEmpty && deleted.isEmpty }
}
