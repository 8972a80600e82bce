import MoultBasics
import MoultModel
import MoultSQLite
import MoultStore
import TestSupport
import Testing

/// Join tables of a store are found by name and key columns together; the sqlite3 shell makes names that mislead.
struct JoinTableMatchingTests {
    private static func model() throws -> ManagedObjectModel {
        func end(_ name: String, _ destination: String, _ inverse: String) -> RelationshipDescription {
            .init(name: name, destinationEntityName: destination, inverseName: inverse, maxCount: 0)
        }
        return try ManagedObjectModel(entities: [
            .init(name: "Album", relationships: [end("users", "Photo", "albums"), end("fans", "Photo", "likes")]),
            .init(
                name: "Photo",
                relationships: [
                    end("albums", "Album", "users"), end("likes", "Album", "fans"), end("users", "Site", "photos"),
                ]),
            .init(name: "Site", relationships: [end("photos", "Photo", "users")]),
        ])
    }

    private func layout(_ sql: String) throws -> StoreLayout {
        let folder = try ScratchFolder()
        defer { withExtendedLifetime(folder) {} }
        let path = folder.path + "/Store.sqlite"
        let model = try Self.model()
        try StoreCreator(ModelVersion(names: ["1"], model: model)).make(at: path)
        _ = try SQLiteShell.run(path, sql)
        let connection = try Connection(path, mode: .immutable)
        defer { connection.close() }
        return try StoreLayout(actual: StoreSnapshot(connection), model: model)
    }

    private func table(_ relationship: String, of entity: String, in layout: StoreLayout) throws -> String? {
        let entity = try #require(layout.model.entity(entity))
        guard case .joinTable(let table, _, _, _, _, _)? = layout.storage(ofRelationship: relationship, in: entity)
        else { return nil }
        return table
    }

    @Test func `a table with an old number is not mistaken for another relationship of that name`() throws {
        let layout = try layout(
            """
            ALTER TABLE Z_1USERS RENAME TO Z_9USERS; ALTER TABLE Z_2USERS RENAME TO Z_1USERS
            """)
        #expect(try table("users", of: "Album", in: layout) == "Z_9USERS")
        #expect(try table("users", of: "Photo", in: layout) == "Z_1USERS")
        #expect(layout.findings.filter { $0.severity > .note } == [])
    }

    @Test func `a missing column is named, and the table of somebody else is not taken for it`() throws {
        #expect(throws: MigrationError.self) {
            try layout("DROP TABLE Z_1FANS; CREATE TABLE Z_1FANS (Z_1LIKES INTEGER)")
        }
        let other = try layout("CREATE TABLE Z_4USERS (a, b)")
        #expect(try table("users", of: "Album", in: other) == "Z_1USERS")
        #expect(other.findings.map(\.code).contains("table-unknown"))
    }
}
