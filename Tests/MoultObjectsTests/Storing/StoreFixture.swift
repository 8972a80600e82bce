import Foundation
import MoultModel
import MoultStore
import TestSupport

@testable import MoultObjects

/// A store in a folder of its own, and short words for changing it.
final class StoreFixture {
    let folder: ScratchFolder
    let path: String
    let model: ManagedObjectModel
    let store: ObjectStore
    private var number: Int64 = 0

    init(_ model: ManagedObjectModel, history: Bool = false) throws {
        folder = try ScratchFolder()
        path = folder.path + "/Fixture.sqlite"
        self.model = model
        try StoreCreator(ModelVersion(names: ["1"], model: model), history: history).make(at: path)
        store = try ObjectStore(path, model: model)
    }

    /// A new object under a temporary identity.
    func new(_ entityName: String, _ values: [String: ObjectValue] = [:]) throws -> ObjectChanges.Insertion {
        number += 1
        return try Self.insertion(
            ObjectID(temporary: number, entityName: entityName), values, store)
    }

    static func insertion(_ id: ObjectID, _ values: [String: ObjectValue], _ store: ObjectStore) throws
        -> ObjectChanges.Insertion
    {
        let shape = try store.columns(of: id.entityName).shape
        var list = [ObjectValue?](repeating: nil, count: shape.properties.count)
        for (name, value) in values {
            guard let position = shape.position(of: name) else { throw UnknownProperty(name: name) }
            list[position] = value
        }
        return ObjectChanges.Insertion(id: id, values: list)
    }

    struct UnknownProperty: Error { let name: String }

    /// Saves new objects; returns their permanent identities in the same order.
    @discardableResult
    func insert(_ insertions: ObjectChanges.Insertion...) throws -> [ObjectID] {
        var changes = ObjectChanges()
        changes.inserted = insertions
        let outcome = try store.save(changes)
        return insertions.compactMap { outcome.permanentIDs[$0.id] }
    }

    @discardableResult
    func update(_ id: ObjectID, version: Int64? = nil, _ values: [String: ObjectValue]) throws -> SaveOutcome {
        var changes = ObjectChanges()
        changes.updated = [.init(id: id, version: version, values: values)]
        return try store.save(changes)
    }

    @discardableResult
    func delete(_ ids: ObjectID..., version: Int64? = nil) throws -> SaveOutcome {
        var changes = ObjectChanges()
        changes.deleted = ids.map { .init(id: $0, version: version) }
        return try store.save(changes)
    }

    /// What the shell prints.
    func shell(_ sql: String) throws -> String { try SQLiteShell.run(path, sql) }

    func value(_ name: String, of id: ObjectID) throws -> ObjectValue? {
        guard let snapshot = try store.snapshots(of: [id]).first else { return nil }
        return try store.columns(of: id.entityName).shape.position(of: name).flatMap { snapshot.values[$0] }
    }

    func list(_ name: String, of id: ObjectID) throws -> [ObjectID] {
        try store.destinations(of: name, owners: [id])[id] ?? []
    }
}

extension ObjectValue {
    static func text(_ text: String) -> ObjectValue { .attribute(.string(text)) }
    static func integer(_ number: Int64) -> ObjectValue { .attribute(.integer(number)) }
}

extension SaveOutcome {
    /// The permanent identity of each new object by its temporary one.
    var permanentIDs: [ObjectID: ObjectID] {
        var ids: [ObjectID: ObjectID] = [:]
        ids.reserveCapacity(inserted.count)
        for (given, permanent) in inserted where given.isTemporary { ids[given] = permanent }
        return ids
    }

    /// The `Z_OPT` of every object that the save wrote, by permanent identity.
    var versions: [ObjectID: Int64] {
        var versions = touched
        for (_, id) in inserted { versions[id] = 1 }
        for (id, version) in updated { versions[id] = version }
        return versions
    }
}
