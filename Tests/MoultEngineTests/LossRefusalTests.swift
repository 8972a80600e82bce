import Foundation
import MoultBasics
import MoultModel
import MoultObjects
import MoultPlan
import MoultStore
import TestSupport
import Testing

@testable import MoultEngine

/// When a migration is refused that would lose what nobody has declared. The sqlite3 shell makes the rows, and reads what
/// is there afterwards.
struct LossRefusalTests {
    private let folder: ScratchFolder
    private let store: String
    private let versions: ModelVersions

    /// Notes and drafts; the second version has an attribute more, the third no drafts.
    init() throws {
        folder = try ScratchFolder()
        store = folder.path + "/s.sqlite"
        versions = try ModelVersions(
            "Note = body String\nDraft = text String", "Note = body String, place String\nDraft = text String",
            "Note = body String, place String")
        try StoreCreator(versions.versions[0]).make(at: store)
        try shell(
            """
            INSERT INTO ZNOTE (Z_PK, Z_ENT, Z_OPT, ZBODY) SELECT 1, Z_ENT, 1, 'one' FROM Z_PRIMARYKEY WHERE Z_NAME = 'Note';
            INSERT INTO ZDRAFT (Z_PK, Z_ENT, Z_OPT, ZTEXT) SELECT 1, Z_ENT, 1, 'two' FROM Z_PRIMARYKEY WHERE Z_NAME = 'Draft';
            UPDATE Z_PRIMARYKEY SET Z_MAX = 1 WHERE Z_NAME IN ('Note', 'Draft')
            """)
    }

    @discardableResult
    private func shell(_ sql: String) throws -> String { try SQLiteShell.run(store, sql) }

    private func refusal(_ body: () throws -> Void) -> MigrationError.Code? {
        #expect(throws: MigrationError.self, performing: body)?.code
    }

    /// A machine on which no folder can be made.
    private struct FullSystem: ForwardingSystem {
        func makeFolder(_ path: String, _ rights: FileRights) throws {
            throw MigrationError.system("make", path, error: ENOSPC)
        }
    }

    @Test func `a migration into another file is refused before anything is copied`() throws {
        let prepared = try PreparedMigration(store, versions: versions)
        let code = refusal { _ = try Migrator(system: FullSystem()).run(prepared, into: folder.path + "/new.sqlite") }
        #expect(code == .lossNotAccepted)
    }

    @Test func `a migration that stops at each version is refused before the first stop`() throws {
        let options = PreparedMigration.Options(stopsAtEachVersion: true)
        let prepared = try PreparedMigration(store, versions: versions, options: options)
        #expect(refusal { _ = try Migrator().run(prepared) } == .lossNotAccepted)
        #expect(try shell("SELECT count(*) FROM pragma_table_info('ZNOTE') WHERE name = 'ZPLACE'") == "0\n")
        #expect(try shell("SELECT ZTEXT FROM ZDRAFT") == "two\n")
    }

    private final class Drafting: EntityMigrationPolicy {
        override func createDestinationInstances(
            forSource source: SourceObject, in mapping: EntityMapping, manager: MigrationManager
        ) throws {
            try super.createDestinationInstances(forSource: source, in: mapping, manager: manager)
            try manager.insertObject(forEntityName: "Draft")["text"] = source["body"]
        }
    }

    @Test func `what code has made on the way is not dropped by a later pass`() throws {
        try shell("DELETE FROM ZDRAFT")
        var registry = MigrationRegistry()
        registry.policies["Drafting"] = { Drafting() }
        registry.register(
            mapping: MappingModel([
                EntityMapping(from: "Note", to: "Note", entityMigrationPolicyClassName: "Drafting"),
                EntityMapping(from: "Draft", to: "Draft"),
            ]), from: "1", to: "2")
        let before = try shell(".sha3sum")
        let prepared = try PreparedMigration(
            store, versions: versions, options: PreparedMigration.Options(registry: registry))
        #expect(refusal { _ = try Migrator().run(prepared) } == .lossNotAccepted)
        #expect(try shell(".sha3sum") == before)
    }
}
