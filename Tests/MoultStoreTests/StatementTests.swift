import MoultBasics
import MoultCare
import MoultModel
import MoultPlan
import MoultSQLite
import TestSupport
import Testing

@testable import MoultStore

@Suite("Statements as values")
struct StatementTests {
    private static func version(_ name: String, _ attributes: [AttributeDescription]) throws -> ModelVersion {
        let item = EntityDescription(name: "Item", attributes: [.init(name: "name", type: .string)] + attributes)
        return ModelVersion(names: [name], model: try ManagedObjectModel(entities: [item]))
    }

    @Test(arguments: ["none", "SELECT 1"])
    func `a table whose texts only name SQL's words is made for single objects`(text: String) throws {
        let from = try Self.version("1", [])
        let to = try Self.version(
            "2", [.init(name: "note", type: .string, isOptional: false, defaultValue: .string(text))])
        let script = try PartialScript(
            ResolvedMapping(inferring: from, to: to), from: StoreCreator(from).layout, to: StoreCreator(to).layout,
            catalogue: Catalogue(entries: []))
        #expect(script.tables.map { $0.limits?.map(\.column) } == [["Z_PK"]])
    }

    @Test
    func `in place, the index of a renamed column is kept, and one of a column with a longer name is missed`() throws {
        let from = try Self.version("1", [.init(name: "code", type: .string, isIndexed: true)])
        let mark = AttributeDescription(name: "mark", type: .string, isIndexed: true, renamingIdentifier: "code")
        let renamed = try Self.script(inPlace: from, try Self.version("2", [mark]))
        #expect(renamed.statements.contains { $0.kind == .renameColumn })
        let marked = AttributeDescription(name: "marked", type: .string, isIndexed: true)
        let error = #expect(throws: MigrationError.self) {
            try Self.script(inPlace: from, try Self.version("2", [mark, marked]))
        }
        #expect(error?.message.contains("Create the index") == true)
    }

    private static func script(inPlace from: ModelVersion, _ to: ModelVersion) throws -> StoreScript {
        let folder = try ScratchFolder()
        try StoreCreator(from).make(at: folder.path + "/s.sqlite")
        return try ReadOnlyStore.read(folder.path + "/s.sqlite") { probe in
            let plan = try BoundPlan(
                ResolvedMapping(inferring: from, to: to), from: from, to: to, over: StoreSnapshot(probe.connection),
                connection: probe.connection)
            return try StoreScript(plan, .inPlace)
        }
    }

    @Test(
        arguments: [
            .null, 7, .integer(.min), .real(0.5), .real(-.infinity), "(a)", "a\0b", "NULL", .blob([1, 0]),
        ] as [SQLiteValue])
    func `what counts as a literal is one to SQLite, as the default of a new column`(value: SQLiteValue) throws {
        let connection = try Connection(":memory:", mode: .create)
        try connection.execute("CREATE TABLE t (a); INSERT INTO t VALUES (1)")
        let isAdded = (try? connection.execute("ALTER TABLE t ADD COLUMN b DEFAULT \(value.literal)")) != nil
        #expect(isAdded == value.hasLiteral)
        if isAdded { #expect(try connection.value("SELECT b FROM t") == value) }
    }
}
