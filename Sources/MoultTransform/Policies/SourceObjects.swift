import MoultModel
import MoultObjects

/// Finds objects of the unchanged store for a run.
final class SourceObjects {
    let store: ObjectStore
    weak var manager: MigrationManager?
    /// The batch that is read, by which relationships are read together.
    private var reader: InstanceReader?
    private var batch: (after: Int64, count: Int) = (0, 0)
    private var owners: [ObjectID]?
    /// By relationship, then by the owner's key.
    private var destinations: [String: [Int64: [SourceObject]]] = [:]

    init(_ store: ObjectStore) { self.store = store }

    func begin(_ reader: InstanceReader, after key: Int64, count: Int) {
        self.reader = reader
        batch = (key, count)
        owners = nil
        destinations = [:]
    }

    func endBatches() {
        reader = nil
        owners = nil
        destinations = [:]
    }

    func id(_ entityName: String, _ key: Int64) -> ObjectID {
        store.id(entityName, key: key)
    }

    /// Nil for an object that the store does not have.
    func snapshot(_ entityName: String, _ key: Int64) throws -> ObjectSnapshot? {
        try store.snapshots(of: [id(entityName, key)]).first
    }

    func object(_ snapshot: ObjectSnapshot) throws -> SourceObject {
        guard let manager else {
            throw MigrationError(
                .usage, "The migration is over.", place: snapshot.id.entityName,
                remedy: "Do not keep a source object after the run of its policy.")
        }
        return SourceObject(manager, try store.columns(of: snapshot.id.entityName), snapshot)
    }

    /// The destinations of a relationship of one object; of all objects of the batch where it is one of them.
    func destinations(of relationship: String, _ object: SourceObject, isInBatch: Bool) throws -> [SourceObject] {
        guard isInBatch, let reader, reader.entity === object.entity else {
            return try load(relationship, owners: [object.objectID])[object.key] ?? []
        }
        if destinations[relationship] == nil {
            if owners == nil {
                owners = try reader.keys(after: batch.after, count: batch.count).map { id(object.entityName, $0) }
            }
            destinations[relationship] = try load(relationship, owners: owners ?? [])
        }
        return destinations[relationship]?[object.key] ?? []
    }

    private func load(_ relationship: String, owners: [ObjectID]) throws -> [Int64: [SourceObject]] {
        let found = try store.destinations(of: relationship, owners: owners)
        let wanted = Set(found.values.joined())
        var objects: [ObjectID: SourceObject] = [:]
        objects.reserveCapacity(wanted.count)
        for snapshot in try store.snapshots(of: Array(wanted)) { objects[snapshot.id] = try object(snapshot) }
        return Dictionary(
            found.map { owner, ids in (owner.key, ids.compactMap { objects[$0] }) },
            uniquingKeysWith: { first, _ in first })
    }
}
