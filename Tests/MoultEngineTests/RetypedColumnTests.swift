import Foundation
import Moult
import MoultModel
import MoultPlan
import MoultSQLite
import MoultStore
import TestSupport
import Testing

@testable import MoultEngine

/// Columns that are declared with another type while their table stays. The reference is the same change with the table
/// made anew, which reads every value under its old type; the sqlite3 shell compares them.
@Suite("Columns of another type") struct RetypedColumnTests {  // tier: long
    /// A change of one attribute's type.
    struct Change: Sendable, CustomTestStringConvertible {
        let old, new: AttributeType
        let isRequired: Bool

        var testDescription: String { "\(old.name) to \(new.name)\(isRequired ? ", required" : "")" }
    }

    static let changes: [Change] = {
        let types: [AttributeType] = [
            .integer16, .integer64, .boolean, .double, .float, .decimal, .string, .uri, .uuid, .date, .binary,
        ]
        return types.flatMap { old in
            types.filter { $0 != old && (old.converts(to: $0) || old.widens(to: $0)) }.flatMap { new in
                [false, true].map { Change(old: old, new: new, isRequired: $0) }
            }
        }
    }()

    /// What a row may hold, in SQL.
    private static func values(_ type: AttributeType) -> [String] {
        let numbers = ["0", "1", "-7", "32767", "NULL"]
        let reals = ["1.5", "-0.0", "0.1", "3e300", "9007199254740994.0", "140737488355328.0", "-2.0"]
        return switch type {
        case .boolean: ["0", "1", "NULL"]
        case .integer64: numbers + ["9007199254740993", "9223372036854775807", "-9223372036854775808"]
        case .double, .date: numbers + reals
        case .float: numbers + ["1.5", "-0.0", "0.5", "16777216.0"]
        case .decimal: numbers + ["12.25", "0.1", "0.00001", "123456789012345678", "'12345678901234567890123.5'"]
        case .string:
            [
                "'5'", "'5.0'", "'007'", "' 8'", "''", "'1e3'", "'abc'", "'2001-01-02T00:00:00Z'", "'yes'", "NULL",
                "'9223372036854775808'", "'9F2A4C6E-0000-4000-8000-0123456789AB'", "'http://a/b'", "'0x10'",
            ]
        case .uri: ["'http://a/b'", "'5'", "NULL"]
        case .uuid: ["x'000102030405060708090a0b0c0d0e0f'", "NULL"]
        case .binary: ["x'000102030405060708090a0b0c0d0e0f'", "x'35'", "x''", "NULL"]
        default: numbers
        }
    }

    private static func standard(_ type: AttributeType) -> AttributeValue? {
        switch type {
        case .integer16, .integer64: .integer(42)
        case .boolean: .boolean(true)
        case .double, .float: .double(42)
        case .decimal: .decimal("42")
        case .string: .string("none")
        case .uri: .uri("http://none")
        case .uuid: .uuid([UInt8](repeating: 7, count: 16))
        case .date: .date(42)
        case .binary: .binary([42])
        default: nil
        }
    }

    private func versions(_ change: Change) throws -> ModelVersions {
        func version(_ name: String, _ value: AttributeDescription) throws -> ModelVersion {
            let attributes = [value, AttributeDescription(name: "label", type: .string, isIndexed: true)]
            return ModelVersion(
                names: [name],
                model: try ManagedObjectModel(entities: [EntityDescription(name: "Note", attributes: attributes)]))
        }
        var value = AttributeDescription(name: "value", type: change.new, isIndexed: true)
        value.defaultValue = Self.standard(change.new)
        value.isOptional = !change.isRequired
        return ModelVersions(
            versions: [
                try version("1", .init(name: "value", type: change.old, isIndexed: true)), try version("2", value),
            ])
    }

    private func migrate(_ store: String, _ versions: ModelVersions, _ choice: StoreScript.Choice) throws
        -> TableStrategy
    {
        var note = EntityMapping(from: "Note", to: "Note")
        note.attributeMappings = [try PropertyMapping("value", "$source.value")]
        let mapping = MappingModel([note]).completed(from: versions.versions[0], to: versions.versions[1])
        var stage = try RegisteredStage(mapping, named: "values", in: versions)
        stage.acceptedLosses = .all
        var options = PreparedMigration.Options(registered: [stage])
        options.choice = choice
        let prepared = try PreparedMigration(store, versions: versions, options: options)
        _ = try Migrator().run(#require(try prepared.migration()), on: store)
        return try #require(prepared.tableWays.first)
    }

    @Test(arguments: changes)
    func `a column that is declared anew holds what a table that is made anew holds`(change: Change) throws {
        let versions = try versions(change)
        let store = try DeferredStore(versions.versions[0], rows: 0)
        for (key, value) in Self.values(change.old).enumerated() where !change.isRequired || value != "NULL" {
            _ = try store.shell("INSERT INTO ZNOTE (Z_PK, Z_ENT, Z_OPT, ZVALUE) VALUES (\(key + 1), 1, 1, \(value))")
        }
        let other = try store.copy()
        let way = try migrate(store.path, versions, .cheapest)
        _ = try migrate(other.path, versions, .normalised)
        #expect(try store.values() == other.values())
        let columns = "SELECT name, type FROM pragma_table_info('ZNOTE') ORDER BY 1"
        #expect(try store.shell(columns) == other.shell(columns))
        // How a number is stored, which SQL does not tell, decides how the next version of SQLite's machine reads it.
        let row = "SELECT Z_PK, typeof(ZVALUE), quote(ZVALUE) FROM ZNOTE ORDER BY 1"
        #expect(try store.shell(row) == other.shell(row))
        // A conversion would be given whole numbers as reals by a column that is declared FLOAT already.
        let isRaw = change.old.columnType == "INTEGER" && change.old.widens(to: change.new)
        let isRebuilt = change.new.columnType == "FLOAT" && change.old.columnType != "FLOAT" && !isRaw
        #expect((way.kind == .rebuilt) == isRebuilt, "\(way.sentence)")
    }

    /// What an app may hang on a column beside an index that names it.
    @Test(arguments: [
        "CREATE INDEX own ON ZNOTE (ZLABEL) WHERE (G = 1)", "CREATE INDEX own ON ZNOTE (G)",
        "CREATE INDEX own ON ZNOTE (ZLABEL, G DESC)", "CREATE INDEX own ON ZNOTE (abs(ZVALUE))",
        "CREATE INDEX own ON ZNOTE (ZLABEL) WHERE ZVALUE > 3",
    ])
    func `an index that depends on the column agrees with it afterwards`(index: String) throws {
        let versions = try versions(.init(old: .integer16, new: .double, isRequired: false))
        let store = try DeferredStore(versions.versions[0], rows: 0)
        _ = try store.shell(
            """
            INSERT INTO ZNOTE (Z_PK, Z_ENT, Z_OPT, ZVALUE, ZLABEL) VALUES (1, 1, 1, 3, 'a'), (2, 1, 1, 5, 'b');
            ALTER TABLE ZNOTE ADD COLUMN G AS (ZVALUE / 2); \(index)
            """)
        let other = try store.copy()
        _ = try migrate(store.path, versions, .cheapest)
        _ = try migrate(other.path, versions, .normalised)
        #expect(try store.values() == other.values())
    }

    @Test(arguments: [StoreScript.Choice.cheapest, .normalised])
    func `a search table has the text of the new type`(choice: StoreScript.Choice) throws {
        let versions = try versions(.init(old: .integer16, new: .double, isRequired: false))
        let store = try DeferredStore(versions.versions[0], rows: 0)
        _ = try store.shell(
            """
            INSERT INTO ZNOTE (Z_PK, Z_ENT, Z_OPT, ZVALUE) VALUES (1, 1, 1, 3);
            CREATE VIRTUAL TABLE own USING fts5 (ZVALUE, content='ZNOTE', content_rowid='Z_PK');
            INSERT INTO own (own) VALUES ('rebuild')
            """)
        _ = try migrate(store.path, versions, choice)
        // 3.0 is two words.
        #expect(
            try store.shell(
                "INSERT INTO own (own, rank) VALUES ('integrity-check', 1); SELECT rowid FROM own WHERE own MATCH '0'")
                == "1\n")
    }

    @Test(arguments: ["'ZLABEL' VARCHAR", "\"ZLABEL\" VARCHAR", "[ZLABEL] /* a, ( */ VARCHAR", "`ZLABEL`VARCHAR"])
    func `the rest of the table's text stays, however it is written`(label: String) throws {
        let versions = try versions(.init(old: .integer16, new: .double, isRequired: false))
        let store = try DeferredStore(versions.versions[0], rows: 0)
        _ = try store.shell(
            """
            INSERT INTO ZNOTE (Z_PK, Z_ENT, Z_OPT, ZVALUE, ZLABEL) VALUES (1, 1, 1, 3, 'a'); PRAGMA writable_schema = ON;
            UPDATE sqlite_master SET sql = replace(sql, 'ZLABEL VARCHAR', \(label.quotedLiteral)) WHERE name = 'ZNOTE'
            """)
        #expect(try migrate(store.path, versions, .cheapest).kind == .updated)
        #expect(try store.shell("SELECT typeof(ZVALUE), ZLABEL FROM ZNOTE") == "real|a\n")
        #expect(try store.shell("SELECT sql FROM sqlite_master WHERE name = 'ZNOTE'").contains(label))
        #expect(try StoreAudit(store.path, model: versions.versions[1].model).findings == [])
    }

    @Test func `other connections are told to read the text again`() throws {
        let versions = try versions(.init(old: .integer16, new: .string, isRequired: false))
        let store = try DeferredStore(versions.versions[0], rows: 0)
        let before = try store.shell("PRAGMA schema_version")
        _ = try migrate(store.path, versions, .cheapest)
        #expect(try store.shell("PRAGMA schema_version") != before)
    }
}
