import Foundation
import Moult
import MoultBasics
import MoultModel
import MoultPlan
import MoultSQLite
import MoultStore
import TestSupport
import Testing

@testable import MoultEngine

/// The way that each table takes to the next version, and what the sqlite3 shell says of the store afterwards.
@Suite("Ways of tables") struct TableStrategyTests {  // tier: long
    private static let note = EntityDescription("Note = title String indexed, size Integer16, rate Double, text String")

    private static func versions(_ models: [[EntityDescription]]) throws -> ModelVersions {
        try ModelVersions(of: models)
    }

    private static func notes(_ change: (inout EntityDescription) -> Void) throws -> ModelVersions {
        var changed = note
        change(&changed)
        return try versions([[note], [changed]])
    }

    private func ways(_ store: DeferredStore, _ versions: ModelVersions, normalises: Bool = false) throws -> [String] {
        try store.prepared(versions, defers: false, normalises: normalises).tableWays.map(\.sentence)
    }

    /// One change, and what the plan says of the table.
    struct Case: Sendable, CustomTestStringConvertible {
        let sentence: String
        let isInStore: Bool
        let change: @Sendable (inout EntityDescription) -> Void

        init(
            _ sentence: String, isInStore: Bool = true, _ change: @escaping @Sendable (inout EntityDescription) -> Void
        ) {
            (self.sentence, self.isInStore, self.change) = (sentence, isInStore, change)
        }

        var testDescription: String { sentence }
    }

    static let cases: [Case] = [
        Case("ZNOTE is altered in place: adds ZMARK.") { $0.attributes.append(.init(name: "mark", type: .date)) },
        Case("ZNOTE is altered in place: drops ZRATE.") { $0.removeAttribute("rate") },
        Case("ZNOTE is altered in place: renames ZTITLE to ZHEADING.") {
            $0.removeAttribute("title")
            $0.attributes.append(
                .init(name: "heading", type: .string, isIndexed: true, renamingIdentifier: "title"))
        },
        Case("ZNOTE is altered in place: adds ZMARK, drops ZRATE, renames ZTEXT to ZBODY.") {
            $0.removeAttribute("rate")
            $0.removeAttribute("text")
            $0.attributes.append(.init(name: "body", type: .string, renamingIdentifier: "text"))
            $0.attributes.append(.init(name: "mark", type: .date))
        },
        Case("ZNOTE is unchanged.") { $0.changeAttribute("size") { $0.type = .integer64 } },
        Case("ZNOTE is altered in place: adds ZMARK. Its rows are updated: ZMARK gets new values.") {
            $0.attributes.append(.init(name: "mark", type: .boolean, isOptional: false, defaultValue: .boolean(true)))
        },
        Case("Rows of ZNOTE are updated: ZSIZE gets new values.") {
            $0.changeAttribute("size") { ($0.isOptional, $0.defaultValue) = (false, .integer(3)) }
        },
        Case(
            "ZNOTE is altered in place: changes the type of ZSIZE to FLOAT. Its rows are updated: ZSIZE gets new values."
        ) {
            $0.changeAttribute("size") { $0.type = .double }
        },
        Case(
            "ZNOTE is rebuilt, because to drop its columns one by one would write all rows more often.",
            isInStore: false
        ) { note in for name in ["rate", "size", "text"] { note.removeAttribute(name) } },
    ]

    @Test(arguments: cases)
    func `the plan says the cheapest way, and both ways leave the same values`(trial: Case) throws {
        let versions = try Self.notes(trial.change)
        let store = try DeferredStore(versions.versions[0])
        let other = try store.copy()
        #expect(try ways(store, versions) == [trial.sentence])
        let prepared = try store.prepared(versions, defers: false, normalises: false)
        let outcome = try Migrator().run(try #require(try prepared.migration()), on: store.path)
        // Without a working copy there is no such phase.
        #expect(outcome.seconds.contains { $0.phase == .copy } == !trial.isInStore)
        try other.migrate(versions, defers: false, normalises: true)
        #expect(try store.values() == other.values())
        #expect(try StoreAudit(store.path, model: versions.versions[1].model).findings == [])
        let backup = try #require(try Migrator().backups(of: store.path).list().last)
        #expect(try SQLiteShell.run(backup.store, "PRAGMA integrity_check") == "ok\n")
    }

    @Test func `normalised, the columns stand as in a new store, also those that were appended before`() throws {
        let mark = AttributeDescription(name: "mark", type: .string)
        var (second, third) = (Self.note, Self.note)
        second.attributes.append(mark)
        third.attributes += [mark, .init(name: "aside", type: .string)]
        let versions = try Self.versions([[Self.note], [second], [third]])
        let store = try DeferredStore(versions.versions[0])
        try store.migrate(versions, to: "2", defers: false, normalises: false)
        let columns = "SELECT group_concat(name) FROM pragma_table_info('ZNOTE')"
        #expect(try store.shell(columns) == "Z_PK,Z_ENT,Z_OPT,ZSIZE,ZRATE,ZTEXT,ZTITLE,ZMARK\n")
        let sentence = "ZNOTE is rebuilt, because the columns were asked for in the order of a new store."
        #expect(try ways(store, versions, normalises: true) == [sentence])
        try store.migrate(versions, defers: false, normalises: true)
        #expect(try store.shell(columns) == "Z_PK,Z_ENT,Z_OPT,ZSIZE,ZRATE,ZASIDE,ZMARK,ZTEXT,ZTITLE\n")
    }

    @Test func `an entity that sorts first renumbers the rows, and the table stays`() throws {
        let versions = try Self.versions([[Self.note], [Self.note, EntityDescription(name: "Author")]])
        let store = try DeferredStore(versions.versions[0])
        #expect(
            try ways(store, versions) == ["ZAUTHOR is made.", "Rows of ZNOTE are updated: Z_ENT gets new values."])
        try store.migrate(versions, defers: false, normalises: false)
        #expect(try store.shell("SELECT DISTINCT Z_ENT FROM ZNOTE") == "2\n")
        #expect(
            try store.shell("SELECT Z_ENT, Z_NAME FROM Z_PRIMARYKEY ORDER BY 1") == "1|Author\n2|Note\n")
    }

    @Test func `what one entity of a hierarchy gets does not write the rows of another`() throws {
        let animal = EntityDescription(name: "Animal", attributes: [.init(name: "name", type: .string)])
        var cat = EntityDescription("Cat (Animal) = lives Integer16")
        let dog = EntityDescription("Dog (Animal) = tail Double")
        let before = [animal, cat, dog]
        cat.attributes.append(.init(name: "purr", type: .string))
        let versions = try Self.versions([before, [animal, cat, dog]])
        let store = try DeferredStore(versions.versions[0])
        // The new version does not know it.
        _ = try store.shell(
            "UPDATE ZANIMAL SET ZTAIL = 0.5 WHERE Z_ENT = 2 AND Z_PK = (SELECT min(Z_PK) FROM ZANIMAL WHERE Z_ENT = 2)")
        #expect(try ways(store, versions) == ["ZANIMAL is altered in place: adds ZPURR."])
        let rows = "SELECT Z_PK, Z_ENT, Z_OPT, ZNAME, ZLIVES, ZTAIL FROM ZANIMAL ORDER BY 1"
        let before2 = try store.shell(rows)
        try store.migrate(versions, defers: false, normalises: false)
        #expect(try store.shell(rows) == before2)
        #expect(try store.shell("SELECT count(*), count(ZPURR) FROM ZANIMAL").hasSuffix("|0\n"))
    }

    @Test(arguments: ["VIEW v AS SELECT ZTEXT FROM ZNOTE", "INDEX app ON ZNOTE (\"ZSIZE\")"])
    func `an object of the app that SQLite would read again has the table rebuilt, and stays`(object: String) throws {
        let versions = try Self.notes { $0.removeAttribute("rate") }
        let store = try DeferredStore(versions.versions[0])
        _ = try store.shell("CREATE \(object)")
        #expect(try ways(store, versions).first?.hasPrefix("ZNOTE is rebuilt, because the ") == true)
        try store.migrate(versions, defers: false, normalises: false)
        #expect(try store.shell("SELECT sql FROM sqlite_master WHERE name IN ('v', 'app')") == "CREATE \(object)\n")
    }

    @Test func `many columns in many tables are not altered one by one`() throws {
        let entities = (0..<200).map { EntityDescription(name: "Entity\($0)") }
        let changed = entities.map { entity in
            EntityDescription(name: entity.name, attributes: (0..<5).map { .init(name: "value\($0)", type: .date) })
        }
        let store = try DeferredStore(Self.versions([entities]).versions[0], rows: 0)
        let reason = "because SQLite would read every table and index 1,000 times to alter them one by one."
        let ways = try ways(store, Self.versions([entities, changed]))
        #expect(ways.count == 200 && ways.allSatisfy { $0.hasSuffix(reason) }, "\(ways.prefix(2))")
    }

    @Test(
        arguments: [
            "UPDATE main.ZNOTE SET ZTITLE = 'x' WHERE Z_PK = 1", "DELETE FROM main.ZNOTE WHERE Z_PK = 2",
            "ALTER TABLE main.ZNOTE ADD COLUMN ZSTRANGE INTEGER", "UPDATE main.ZNOTE SET Z_ENT = 9",
            "CREATE TABLE main.STRANGE (a)", "CREATE INDEX main.STRANGE ON ZNOTE (ZTITLE)",
            "CREATE VIEW main.STRANGE AS SELECT 1",
            "CREATE TRIGGER main.STRANGE AFTER DELETE ON ZNOTE BEGIN SELECT 1; END",
        ], ["WAL", "DELETE"])
    func `what a statement does wrong is found before the commit, and the store is as it was`(
        sql: String, journal: String
    ) throws {
        let versions = try Self.notes { $0.attributes.append(.init(name: "mark", type: .string)) }
        let store = try DeferredStore(versions.versions[0])
        _ = try store.shell("PRAGMA journal_mode = \(journal)")
        let before = try store.contents()
        let prepared = try store.prepared(versions, defers: false, normalises: false)
        var migration = try #require(try prepared.migration())
        #expect(migration.staysInStore)
        migration.script.statements.append(.init(.update, "ZNOTE", sql, "Does something wrong."))
        let error = #expect(throws: MigrationError.self) { try Migrator().run(migration, on: store.path) }
        #expect(error?.code == .verificationFailed)
        #expect(try store.contents() == before)
        // The same run without the fault succeeds.
        try store.migrate(versions, defers: false, normalises: false)
    }

    @Test(arguments: ["WAL", "DELETE"])
    func `rows of a table whose pages nobody wrote are not compared, unless asked`(journal: String) throws {
        let versions = try Self.versions([
            [Self.note, EntityDescription(name: "Word", attributes: [.init(name: "text", type: .string)])],
            [
                Self.note,
                EntityDescription("Word = text String, mark String"),
            ],
        ])
        let store = try DeferredStore(versions.versions[0])
        _ = try store.shell("PRAGMA journal_mode = \(journal)")
        for asksAll in [false, true] {
            let copy = try store.copy()
            let steps = try StatementSteps.counting(below: copy.folder.path) {
                let prepared = try copy.prepared(
                    versions, defers: false, normalises: false, comparesUnwritten: asksAll)
                _ = try Migrator().run(try #require(try prepared.migration()), on: copy.path)
            }
            let compared = ["ZNOTE", "ZWORD"].filter { table in
                steps.keys.contains { $0.contains("FROM source.\"\(table)\" AS s LEFT JOIN") }
            }
            #expect(compared == (asksAll ? ["ZNOTE", "ZWORD"] : []))
        }
    }

    @Test func `a frugal run changes a copy, and keeps no backup`() throws {
        let versions = try Self.notes { $0.attributes.append(.init(name: "mark", type: .string)) }
        let store = try DeferredStore(versions.versions[0])
        let prepared = try store.prepared(versions, defers: false, normalises: false)
        let outcome = try Migrator(options: MigrationOptions(isFrugal: true)).run(
            try #require(try prepared.migration()), on: store.path)
        #expect(outcome.backup == nil && outcome.seconds.contains { $0.phase == .copy })
    }
}

extension EntityDescription {
    fileprivate mutating func removeAttribute(_ name: String) { attributes.removeAll { $0.name == name } }

    fileprivate mutating func changeAttribute(_ name: String, _ change: (inout AttributeDescription) -> Void) {
        for index in attributes.indices where attributes[index].name == name { change(&attributes[index]) }
    }
}
