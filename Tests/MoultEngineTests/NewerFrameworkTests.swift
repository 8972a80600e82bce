import Foundation
import Moult
import MoultBasics
import MoultModel
import MoultObjects
import MoultPlan
import MoultStore
import TestSupport
import Testing

@testable import MoultCare
@testable import MoultEngine

/// Stores of a system that is newer than any that Moult knows: the sqlite3 shell says what their catalogues are, and one
/// of the newest known level what they should be.
struct NewerFrameworkTests {
    private final class Notes {
        let folder: ScratchFolder
        let path: String
        let versions: ModelVersions

        init(level: Int?, made: Int = 1_526, history: Bool = true) throws {
            folder = try ScratchFolder()
            path = folder.path + "/Notes.sqlite"
            versions = ModelVersions(versions: [
                ModelVersion(names: ["1"], model: try ManagedObjectModel(entities: Notes.entities([]))),
                ModelVersion(names: ["2"], model: try ManagedObjectModel(entities: Notes.entities(["place"]))),
            ])
            try StoreCreator(versions.versions[0], framework: made, history: history).make(at: path)
            let list = try SQLiteShell.run(path, "SELECT hex(Z_PLIST) FROM Z_METADATA")
            var entries = try #require(try PropertyList(parsing: Array(Data(hex: list))).dictionary)
            entries["NSPersistenceFrameworkVersion"] = level.map { .integer(Int64($0)) }
            entries["NSSomethingNew"] = .string("kept")
            let changed = PropertyList.dictionary(entries).binary.map { String(format: "%02x", $0) }.joined()
            try shell(
                """
                UPDATE Z_METADATA SET Z_PLIST = x'\(changed)';
                INSERT INTO ZNOTE (Z_PK, Z_ENT, Z_OPT, ZBODY) VALUES (1, 1, 1, 'one'), (2, 1, 1, 'two');
                INSERT INTO ZTAG (Z_PK, Z_ENT, Z_OPT, ZNAME) VALUES (1, 2, 1, 'a');
                INSERT INTO Z_1TAGS VALUES (1, 1), (2, 1);
                UPDATE Z_PRIMARYKEY SET Z_MAX = 2 WHERE Z_ENT < 3
                """)
        }

        private static func entities(_ added: [String]) -> [EntityDescription] {
            [
                EntityDescription(
                    name: "Note", attributes: (["body"] + added).map { .init(name: $0, type: .string) },
                    relationships: [
                        .init(name: "tags", destinationEntityName: "Tag", inverseName: "notes", maxCount: 0)
                    ],
                    fetchIndexes: [
                        FetchIndexDescription(name: "byBody", elements: [.init(subject: .property("body"))])
                    ]),
                EntityDescription("Tag = name String, notes >> Note.tags"),
            ]
        }

        @discardableResult
        func shell(_ sql: String) throws -> String { try SQLiteShell.run(path, sql) }

        func prepared(_ store: String? = nil) throws -> PreparedMigration {
            try PreparedMigration(store ?? path, versions: versions, to: "2")
        }

        func schema(_ store: String? = nil) throws -> String {
            try SQLiteShell.run(store ?? path, "SELECT type, name, sql FROM sqlite_master ORDER BY 1, 2")
        }

        func level() throws -> Int? {
            try ReadOnlyStore.read(path, system: POSIXSystem()) { try StoreMetadata(from: $0.connection).framework }
        }
    }

    private static let rows = "SELECT ZBODY, ZPLACE FROM ZNOTE ORDER BY 1; SELECT * FROM Z_1TAGS ORDER BY 1"

    @Test(arguments: [1_526, 1_527, 1_602, 20_000])
    func `a store of a newer system is migrated as one of the newest known level, with one warning`(level: Int) throws {
        let (notes, known) = (try Notes(level: level), try Notes(level: 1_526))
        _ = try Migrator().run(known.prepared())
        let prepared = try notes.prepared()
        let warned = prepared.storeFindings + (prepared.bound?.findings ?? [])
        #expect(warned.filter { $0.severity > .note }.map(\.code) == (level > 1_526 ? ["framework-unknown"] : []))
        _ = try Migrator().run(prepared)
        #expect(try notes.schema() == known.schema())
        #expect(try notes.shell(Self.rows) == "one|\ntwo|\n1|1\n2|1\n")
        // The level stays that of the system that made the store, and what it keeps there too.
        #expect(try notes.level() == level)
        #expect(try notes.shell("SELECT instr(hex(Z_PLIST), hex('NSSomethingNew')) > 0 FROM Z_METADATA") == "1\n")
        let audit = try StoreAudit(notes.path, model: notes.versions.versions[1].model)
        #expect(audit.isSound)
        #expect(audit.findings.filter { $0.severity > .note }.count == (level > 1_526 ? 1 : 0))
        #expect(StoreDiagnosis(notes.path, versions: notes.versions).isWell)
    }

    @Test func `the way back and a mirror warn of it as a migration does`() throws {
        let notes = try Notes(level: 1_602)
        let mirror = try MirroredStore.start(
            .init(notes.path, .migrateInto(notes.folder.path + "/m.sqlite")), .init(notes.versions))
        #expect(mirror.warnings.map(\.code) == ["framework-unknown"])
        _ = try Migrator().run(notes.prepared())
        let back = try StoreDowngrade(notes.path, versions: notes.versions, to: "1")
        #expect(back.findings.map(\.code) == ["framework-unknown"] && back.losses.isEmpty)
    }

    @Test func `a store without a level, and one of an older system, are judged by their catalogues too`() throws {
        let nameless = try Notes(level: nil)
        _ = try Migrator().run(nameless.prepared())
        #expect(try nameless.shell(Self.rows) == "one|\ntwo|\n1|1\n2|1\n")
        let old = try Notes(level: 120, made: 230, history: false)
        _ = try Migrator().run(old.prepared())
        #expect(try old.shell(Self.rows) == "one|\ntwo|\n1|1\n2|1\n")
        // A new store's tables are not those of that time.
        let other = try Notes(level: 120)
        #expect(throws: MigrationError.self) { try other.prepared() }
        let mixed = try Notes(level: 120, made: 230, history: false)
        try mixed.shell("CREATE TABLE Z_MODELCACHE (Z_CONTENT BLOB)")
        #expect(#expect(throws: MigrationError.self) { try mixed.prepared() }?.place == "Z_MODELCACHE")
    }

    @Test(arguments: [
        ("ALTER TABLE ZNOTE ADD COLUMN ZNEW INTEGER", "ZNOTE.ZNEW"), ("CREATE TABLE ZNEW (Z_PK INTEGER)", "ZNEW"),
        ("CREATE TABLE ANEWHISTORY (Z_PK INTEGER)", "ANEWHISTORY"), ("DROP INDEX Z_Note_byBody", "Z_Note_byBody"),
        ("DROP INDEX Z_Note_byBody; CREATE INDEX Z_Note_byBody ON ZNOTE (Z_OPT)", "Z_Note_byBody"),
        ("CREATE INDEX Z_NEWKIND ON ZNOTE (ZBODY)", "Z_NEWKIND"),
        ("CREATE UNIQUE INDEX Z_Note_UNIQUE_body ON ZNOTE (ZBODY)", "Z_Note_UNIQUE_body"),
        ("ALTER TABLE Z_METADATA ADD COLUMN Z_NEW BLOB", "Z_METADATA.Z_NEW"),
        ("DROP TABLE Z_MODELCACHE", "Z_MODELCACHE"),
        ("ALTER TABLE ATRANSACTION ADD COLUMN ZNEW INTEGER", "ATRANSACTION.ZNEW"),
        ("CREATE TRIGGER Z_NEW AFTER DELETE ON ZTAG BEGIN SELECT 1; END", "Z_NEW"),
        ("CREATE TABLE ANSCKNEW (Z_PK INTEGER)", "ANSCKNEW"),
        ("ALTER TABLE Z_1TAGS ADD COLUMN ZNEW INTEGER", "Z_1TAGS.ZNEW"),
    ])
    func `what a known store would not have is refused, and the way out is one for a store`(
        sql: String, place: String
    ) throws {
        let notes = try Notes(level: 1_602)
        try notes.shell(sql)
        let options = PreparedMigration.Options(allowsCloudKit: true)
        let error = #expect(throws: MigrationError.self) {
            try PreparedMigration(notes.path, versions: notes.versions, to: "2", options: options)
        }
        #expect(error?.code == .unsupported)
        #expect(error?.place == place)
        #expect(error?.remedy.contains("Choose a level") == false)
        // It can be read; objects of it are not written.
        let model = notes.versions.versions[0].model
        #expect(throws: Never.self) { try ObjectStore(notes.path, model: model, isReadOnly: true).close() }
        #expect(throws: MigrationError.self) { try ObjectStore(notes.path, model: model) }
        // The remedy, followed.
        let saved = notes.folder.path + "/saved.sqlite"
        _ = try StoreSalvage(notes.versions.versions[0]).run(notes.path, into: saved)
        _ = try Migrator().run(notes.prepared(saved))
        #expect(try SQLiteShell.run(saved, Self.rows) == "one|\ntwo|\n1|1\n2|1\n")
    }

    @Test func `an app's own objects, and an index that an earlier version has left, are no surprise`() throws {
        let notes = try Notes(level: 1_602)
        try notes.shell(
            """
            CREATE TABLE search (word TEXT); CREATE INDEX search_word ON search (word);
            CREATE INDEX note_body ON ZNOTE (ZBODY); CREATE INDEX Z_Note_byOldName ON ZNOTE (ZBODY COLLATE BINARY DESC);
            CREATE TRIGGER counting AFTER DELETE ON ZTAG BEGIN SELECT 1; END
            """)
        _ = try Migrator().run(notes.prepared())
        #expect(try notes.shell(Self.rows) == "one|\ntwo|\n1|1\n2|1\n")
        #expect(try notes.shell("SELECT count(*) FROM sqlite_master WHERE name IN ('search', 'note_body')") == "2\n")
    }

    @Test func `objects are saved in it, and deferred work is put off and finished`() throws {
        let notes = try Notes(level: 1_602)
        let model = notes.versions.versions[0].model
        let store = try ObjectStore(notes.path, model: model)
        store.close()
        var options = PreparedMigration.Options()
        options.defersWork = true
        let prepared = try PreparedMigration(notes.path, versions: notes.versions, to: "2", options: options)
        _ = try Migrator().run(prepared)
        // What has come since is looked at before the work is done.
        try notes.shell("ALTER TABLE ATRANSACTION ADD COLUMN ZNEW INTEGER")
        let error = #expect(throws: MigrationError.self) {
            try Migrator().finishDeferred(notes.path, versions: notes.versions)
        }
        #expect(error?.code == .unsupported && error?.place == "ATRANSACTION.ZNEW")
        try notes.shell("ALTER TABLE ATRANSACTION DROP COLUMN ZNEW")
        let outcome = try Migrator().finishDeferred(notes.path, versions: notes.versions)
        #expect(outcome.left.isEmpty)
        #expect(try notes.shell(Self.rows) == "one|\ntwo|\n1|1\n2|1\n")
    }
}

extension Data {
    fileprivate init(hex text: String) {
        let digits = Array(text.utf8).filter { $0 != UInt8(ascii: "\n") }
        self.init(
            stride(from: 0, to: digits.count - 1, by: 2).compactMap {
                UInt8(String(decoding: digits[$0...$0 + 1], as: UTF8.self), radix: 16)
            })
    }
}
