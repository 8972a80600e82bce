import MoultModel

/// What one save wrote, by permanent identity: what `NSManagedObjectContextDidSave` carries.
package struct SavedChanges: Sendable, Hashable {
    package var inserted: Set<ObjectID> = []
    package var updated: Set<ObjectID> = []
    package var deleted: Set<ObjectID> = []

    package init(inserted: Set<ObjectID> = [], updated: Set<ObjectID> = [], deleted: Set<ObjectID> = []) {
        self.inserted = inserted
        self.updated = updated
        self.deleted = deleted
    }

    package var isEmpty: Bool { inserted.isEmpty && updated.isEmpty && deleted.isEmpty }
}
