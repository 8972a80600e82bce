import Foundation
import MoultBasics
import MoultModel
import MoultStore
import TestSupport
import Testing

@testable import MoultObjects

@Suite("Saves into real stores", .enabled(if: Corpus.isAskedWhole))
struct CorpusSaveTests {
    /// Every row of every table, without what a save always changes.
    private func contents(_ path: String) throws -> String {
        let tables = try SQLiteShell.run(
            path,
            """
            SELECT m.name || '|' || group_concat('quote("' || c.name || '")', ' || '' '' || ')
            FROM sqlite_master m, pragma_table_info(m.name) c
            WHERE m.type = 'table' AND m.name GLOB 'Z*' AND c.name <> 'Z_OPT'
              AND m.name NOT IN ('Z_PRIMARYKEY', 'Z_MODELCACHE', 'Z_METADATA') GROUP BY m.name ORDER BY m.name
            """)
        let queries = tables.split(separator: "\n").map { line -> String in
            let parts = line.split(separator: "|", maxSplits: 1).map(String.init)
            return "SELECT '\(parts[0])', \(parts[1]) FROM \"\(parts[0])\" ORDER BY 2"
        }
        return try SQLiteShell.run(path, queries.joined(separator: "; "))
    }

    /// The model inside a store, where it is that of all its entities.
    private static func model(of path: String) throws -> ManagedObjectModel? {
        let snapshot = try ReadOnlyStore.read(path) { try StoreSnapshot($0.connection) }
        let model = try StoreRecognition(of: snapshot).model
        return model.flatMap { VersionHashes(of: $0).isCompatible(with: snapshot.hashes) ? $0 : nil }
    }

    @Test func `most real stores are tried`() throws {
        #expect(try Corpus.stores.count { try Self.model(of: $0) != nil } > Corpus.stores.count / 2)
    }

    @Test(arguments: Corpus.stores)
    func `writing again what is there changes no row, and new objects go without a trace`(path: String) throws {
        guard let model = try Self.model(of: path) else { return }
        let folder = try ScratchFolder()
        let copy = try folder.copyStore(path)
        let store: ObjectStore
        do {
            store = try ObjectStore(copy, model: model)
        } catch let error as MigrationError where error.code == .storeCorrupted {
            // A store that its makers damaged on purpose.
            return
        }
        let before = try contents(copy)

        for entity in model.entities where !entity.isAbstract {
            let ids = try SQLiteShell.run(
                copy,
                "SELECT Z_PK FROM \(try store.columns(of: entity.name).table) WHERE Z_ENT = "
                    + "\(try store.columns(of: entity.name).number) ORDER BY Z_PK LIMIT 4"
            ).split(separator: "\n").compactMap { Int64($0) }
                .map { ObjectID(store: store.identifier, entityName: entity.name, key: $0) }
            var changes = ObjectChanges()
            changes.updated = try store.snapshots(of: ids).map { try update($0, store) }
            let outcome = try store.save(changes)
            #expect(outcome.versions.keys.filter { ids.contains($0) }.count == ids.count)

            let new = ObjectID(temporary: 1, entityName: entity.name)
            changes = ObjectChanges()
            changes.inserted = [try StoreFixture.insertion(new, [:], store)]
            let made = try #require(try store.save(changes).permanentIDs[new])
            changes = ObjectChanges()
            changes.deleted = [.init(id: made, version: 1)]
            _ = try store.save(changes)
        }
        #expect(try contents(copy) == before)
        #expect(try SQLiteShell.run(copy, "PRAGMA integrity_check") == "ok\n")
    }

    /// Everything that an object holds.
    private func update(_ snapshot: ObjectSnapshot, _ store: ObjectStore) throws -> ObjectChanges.Update {
        let entity = try store.columns(of: snapshot.id.entityName)
        var values: [String: ObjectValue] = [:]
        for (position, place) in entity.places.enumerated() {
            let name = entity.shape.properties[position].name
            switch place {
            case .attribute(_, let attribute)
            where attribute.derivation == nil && !attribute.allowsExternalBinaryDataStorage:
                values[name] = snapshot.values[position]
            case .toOne:
                values[name] = snapshot.values[position]
            case .toMany:
                values[name] = .toMany(
                    try store.destinations(of: name, owners: [snapshot.id])[snapshot.id] ?? [])
            case .none, .attribute: break
            }
        }
        return .init(id: snapshot.id, version: snapshot.version, values: values)
    }
}
