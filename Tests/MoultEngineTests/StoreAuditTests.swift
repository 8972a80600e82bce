import Foundation
import Moult
import MoultModel
import MoultModelFiles
import MoultStore
import TestSupport
import Testing

@testable import MoultCare
@testable import MoultEngine

/// Faults made with the sqlite3 shell are found, and real stores have none.
@Suite("Auditing a store", .enabled(if: Corpus.isWhole))
struct StoreAuditTests {  // tier: long
    @Test func `real stores are sound`() throws {
        var audited = 0
        for store in Corpus.stores {
            guard let model = try ReadOnlyStore.read(store, { try StoreSnapshot($0.connection).cachedModel }) else {
                #expect(!CorpusStores.withModel.contains(store), "\(store)")
                continue
            }
            let audit = try StoreAudit(store, model: model)
            for finding in audit.findings where finding.severity == .error {
                Issue.record("\(store.suffix(70)): \(finding.code) \(finding.place): \(finding.message)")
            }
            audited += 1
        }
        print("audited \(audited) real stores")
        #expect(audited > 20)
    }

    @Test(arguments: [
        ("UPDATE ZBOOK SET ZAUTHOR = 999999 WHERE Z_PK = (SELECT max(Z_PK) FROM ZBOOK)", "dangling-reference"),
        ("UPDATE ZBOOK SET ZTITLE = NULL WHERE Z_PK = (SELECT max(Z_PK) FROM ZBOOK)", "required-missing"),
        ("UPDATE ZBOOK SET Z_ENT = 77 WHERE Z_PK = (SELECT max(Z_PK) FROM ZBOOK)", "stranger"),
        ("UPDATE Z_PRIMARYKEY SET Z_MAX = 1", "key-counter"),
        ("UPDATE Z_PRIMARYKEY SET Z_SUPER = 9 WHERE Z_NAME = 'Book'", "entity-number"),
    ])
    func `each fault has its finding`(sql: String, code: String) throws {
        let original = try #require(Corpus.stores.first { $0.hasSuffix("SampleModel2_V1.sqlite") })
        let folder = try ScratchFolder()
        let store = try folder.copyStore(original)
        let model = try #require(try ReadOnlyStore.read(store) { try StoreSnapshot($0.connection).cachedModel })
        #expect(try !StoreAudit(store, model: model).findings.contains { $0.code == code })
        let triggers = try SQLiteShell.run(
            store, "SELECT 'DROP TRIGGER ' || name || ';' FROM sqlite_master WHERE type = 'trigger'")
        _ = try SQLiteShell.run(store, triggers + sql)
        #expect(try StoreAudit(store, model: model).findings.contains { $0.code == code })
    }

    @Test(arguments: [
        "ZUSER = NULL", "ZSYSTEMALL = 'systemAll'", "ZUSER = 'admin'", "ZUSER = NULL, ZSYSTEMSTANDARD = 'user'",
    ])
    func `an enum without a case, with two or with a text that is none is found`(assignment: String) throws {
        let original = try #require(Corpus.stores.first { $0.hasSuffix("/mock.store") })
        let folder = try ScratchFolder()
        let store = try folder.copyStore(original)
        let model = try #require(try ReadOnlyStore.read(store) { try StoreSnapshot($0.connection).cachedModel })
        #expect(try StoreAudit(store, model: model).findings.filter { $0.severity > .note } == [])
        _ = try SQLiteShell.run(store, "UPDATE ZSDFOLDER SET \(assignment) WHERE Z_PK IN (1, 2)")
        let found = try StoreAudit(store, model: model).findings.filter { $0.code == "enum-without-case" }
        #expect(found.map(\.place) == ["SDFolder.folderType"])
        // No value at all is what a migration leaves that adds the enum.
        #expect(found.first?.severity == (assignment == "ZUSER = NULL" ? .note : .error))
        #expect(found.first?.message.contains("2 objects") == true)
        #expect(found.first?.keys == [1, 2] && found.first?.values == [])
        let shown = try StoreAudit(store, model: model, withValues: true).findings
        let named = shown.first { $0.code == "enum-without-case" }
        let stored = try SQLiteShell.run(
            store,
            """
            SELECT quote(ZSYSTEMALL) || ', ' || quote(ZSYSTEMSTANDARD) || ', ' || quote(ZSYSTEMRECENTLYDELETED) || ', '
                || quote(ZUSER)
            FROM ZSDFOLDER WHERE Z_PK IN (1, 2) ORDER BY 1
            """)
        let values = try #require(named?.values)
        #expect(values.map { $0.prefix(3) } == ["1: ", "2: "])
        let parts = { (text: Substring) in text.components(separatedBy: ", ").sorted() }
        #expect(values.map { parts($0.dropFirst(3)) } == stored.split(separator: "\n").map(parts))
    }

    @Test func `a table, a view and an index of the app's own are no fault`() throws {
        let original = try #require(Corpus.stores.first { $0.hasSuffix("/mock.store") })
        let folder = try ScratchFolder()
        let store = try folder.copyStore(original)
        _ = try SQLiteShell.run(
            store,
            """
            CREATE TABLE mine (a); CREATE VIEW seen AS SELECT a FROM mine; CREATE INDEX mine_a ON mine (a);
            CREATE INDEX folders ON ZSDFOLDER (ZUSER)
            """)
        let model = try #require(try ReadOnlyStore.read(store) { try StoreSnapshot($0.connection).cachedModel })
        let audit = try StoreAudit(store, model: model)
        #expect(audit.isSound && audit.findings.contains { $0.code == "table-unknown" && $0.place == "mine" })
        #expect(StoreDiagnosis(store).isWell)
    }

    @Test func `a page that was overwritten is found`() throws {
        let original = try #require(Corpus.stores.first { $0.hasSuffix("SampleModel2_V1.sqlite") })
        let folder = try ScratchFolder()
        let store = try folder.copyStore(original)
        let model = try #require(try ReadOnlyStore.read(store) { try StoreSnapshot($0.connection).cachedModel })
        let file = try #require(FileHandle(forUpdatingAtPath: store))
        try file.seek(toOffset: 4096 * 40)
        try file.write(contentsOf: [UInt8](repeating: 0xA5, count: 4096 * 20))
        try file.close()
        do {
            let codes = try StoreAudit(store, model: model).findings.map(\.code)
            #expect(codes.contains("damaged-page"), "\(codes)")
        } catch let error as MigrationError {
            #expect(error.code == .storeCorrupted, "\(error)")
        }
    }
}
