import Foundation
import MoultModel
import MoultSQLite
import MoultStore
import TestSupport
import Testing

@Suite struct StoreSnapshotTests {
    @Test(.enabled(if: Corpus.isAvailable), arguments: Corpus.stores)
    func `a real store says who it is, as the sqlite3 shell reads it`(path: String) throws {
        try StoreProbe.read(path) { probe in
            let snapshot = try StoreSnapshot(probe.connection)
            let copy = try ScratchFolder().witness(of: path)
            #expect(snapshot.metadata.uuid == (try copy("SELECT Z_UUID FROM Z_METADATA")))
            #expect((230...1526).contains(snapshot.framework.number))
            let rows = snapshot.primaryKeyRows.map { "\($0.number)|\($0.name)|\($0.superNumber)|\($0.max)" }
            #expect(rows.joined(separator: "\n") == (try copy("SELECT * FROM Z_PRIMARYKEY ORDER BY Z_ENT")))
            let names = snapshot.catalogue.entries.map(\.name)
            #expect(names.joined(separator: "\n") == (try copy("SELECT name FROM sqlite_master")))
            #expect("\(snapshot.file.pageCount)" == (try copy("PRAGMA page_count")))
            #expect(snapshot.hashes.entities.values.allSatisfy { $0.count == 32 })
            #expect((snapshot.framework.hasModelCache) == (snapshot.cachedModel != nil))
        }
    }

    @Test(.enabled(if: Corpus.isAvailable), arguments: Corpus.stores)
    func `every table and column of a real store is explained by its own model`(path: String) throws {
        try StoreProbe.read(path) { probe in
            let snapshot = try StoreSnapshot(probe.connection)
            guard let model = snapshot.cachedModel else { return }
            let layout = try StoreLayout(actual: snapshot, model: model)
            #expect((snapshot.findings + layout.findings).filter { $0.severity > .note } == [])
            #expect(layout.entityNumbers.count == snapshot.entityRows.count)
            #expect(Set(layout.entityNumbers.values) == Set(snapshot.entityRows.map(\.number)))
            #expect(layout.tables.flatMap(\.columns).filter { $0.role == .unknown } == [])
            for entity in model.entities {
                for relationship in model.relationships(of: entity) where !relationship.isTransient {
                    #expect(layout.storage(ofRelationship: relationship.name, in: entity) != nil)
                }
            }
        }
    }
}

extension ScratchFolder {
    /// What the sqlite3 shell answers over a copy of a store, without the last line's end.
    func witness(of store: String) throws -> (String) throws -> String {
        let copy = try copyStore(store)
        return { sql in
            let text = try SQLiteShell.run(copy, sql)
            withExtendedLifetime(self) {}
            return text.hasSuffix("\n") ? String(text.dropLast()) : text
        }
    }
}
