import MoultBasics
import MoultModel
import MoultSQLite
import MoultStore
import TestSupport
import Testing

/// Stores that earlier migrations have altered in place: columns added at the end, names in quotes, numbers of an earlier version.
struct ActualLayoutSnapshotTests {
    let folder: ScratchFolder
    let path: String

    init() throws {
        folder = try ScratchFolder()
        path = folder.path + "/a.sqlite"
    }

    /// Users who block users and know each other, rooms with an ordered list of users, messages of two kinds.
    static func chat() throws -> ManagedObjectModel {
        func toMany(_ name: String, _ to: String, _ inverse: String?, ordered: Bool = false) -> RelationshipDescription
        {
            RelationshipDescription(
                name: name, destinationEntityName: to, inverseName: inverse, maxCount: 0, isOrdered: ordered)
        }
        return try ManagedObjectModel(
            """
            User = name String, blocked >> User.blockedBy, blockedBy >> User.blocked, friends >> User.friends,
                rooms >> Room.users, notes >> Message ordered, messages >> Message.author ordered
            Room = title String, users >> User.rooms ordered
            Message = author > User.messages, reply > Message.replies, replies >> Message.reply
            Image (Message) = value Double
            Text (Message) = value String
            """)
    }

    private func make(_ model: ManagedObjectModel) throws {
        try StoreCreator(ModelVersion(names: ["1"], model: model)).make(at: path)
    }

    /// The layout of the store after the sqlite3 shell has changed it.
    private func layout(_ model: ManagedObjectModel, after sql: String = "") throws -> StoreLayout {
        if !sql.isEmpty { _ = try SQLiteShell.run(path, "PRAGMA legacy_alter_table = ON; " + sql) }
        return try ReadOnlyStore.read(path) { probe in
            try StoreLayout(actual: StoreSnapshot(probe.connection), model: model)
        }
    }

    private func storages(_ layout: StoreLayout) -> [String: RelationshipStorage] {
        var all: [String: RelationshipStorage] = [:]
        for entity in layout.model.entities {
            for relationship in layout.model.relationships(of: entity) {
                all["\(entity.name).\(relationship.name)"] =
                    layout.storage(ofRelationship: relationship.name, in: entity)
            }
        }
        return all
    }

    @Test func `a fresh store is what it would be made as`() throws {
        let model = try Self.chat()
        try make(model)
        let actual = try layout(model)
        let fresh = try StoreLayout(model: model)
        #expect(actual.findings == [])
        #expect(actual.tables == fresh.tables)
        #expect(actual.joinTables == fresh.joinTables)
        #expect(Set(actual.indexes) == Set(fresh.indexes))
        #expect(actual.entityNumbers == fresh.entityNumbers)
        #expect(storages(actual).count == storages(fresh).count)
    }

    @Test func `columns are found in any order`() throws {
        let model = try Self.chat()
        try make(model)
        let actual = try layout(
            model,
            after: """
                ALTER TABLE ZROOM DROP COLUMN ZTITLE; ALTER TABLE ZROOM ADD COLUMN ZOTHER BLOB;
                ALTER TABLE ZROOM ADD COLUMN ZTITLE VARCHAR;
                """)
        #expect(actual.table(forEntity: "Room")?.columns.map(\.name) == ["Z_PK", "Z_ENT", "Z_OPT", "ZOTHER", "ZTITLE"])
        let room = try #require(model.entity("Room"))
        #expect(actual.column(forAttribute: "title", in: room) == "ZTITLE")
        #expect(actual.table(forEntity: "Room")?.columns.first { $0.name == "ZOTHER" }?.role == .unknown)
        #expect(actual.findings.map(\.code) == ["column-unknown"])
    }

    @Test func `a missing column is an error finding and its attribute has no column`() throws {
        let model = try Self.chat()
        try make(model)
        let actual = try layout(model, after: "ALTER TABLE ZROOM DROP COLUMN ZTITLE")
        #expect(actual.findings.map(\.code) == ["column-missing"])
        #expect(actual.findings.first?.severity == .error)
        #expect(actual.column(forAttribute: "title", in: try #require(model.entity("Room"))) == nil)
    }

    @Test func `two columns of one name are told apart by their types`() throws {
        let model = try Self.chat()
        try make(model)
        let swapped = try layout(
            model,
            after: """
                ALTER TABLE ZMESSAGE RENAME COLUMN ZVALUE TO X; ALTER TABLE ZMESSAGE RENAME COLUMN ZVALUE1 TO ZVALUE;
                ALTER TABLE ZMESSAGE RENAME COLUMN X TO ZVALUE1;
                """)
        #expect(swapped.column(forAttribute: "value", in: try #require(model.entity("Image"))) == "ZVALUE1")
        #expect(swapped.column(forAttribute: "value", in: try #require(model.entity("Text"))) == "ZVALUE")
        #expect(swapped.findings == [])
    }

    @Test func `join tables and columns that keep old numbers are found`() throws {
        let model = try Self.chat()
        try make(model)
        let fresh = try StoreLayout(model: model)
        let room = try #require(fresh.entityNumbers["Room"])
        let user = try #require(fresh.entityNumbers["User"])
        let actual = try layout(
            model,
            after: """
                ALTER TABLE Z_\(room)USERS RENAME TO "Z_24USERS";
                ALTER TABLE "Z_24USERS" RENAME COLUMN Z_\(room)ROOMS TO Z_24ROOMS;
                ALTER TABLE "Z_24USERS" RENAME COLUMN Z_\(user)USERS TO Z_99USERS1;
                ALTER TABLE "Z_24USERS" RENAME COLUMN Z_FOK_\(user)USERS TO Z_FOK_17USERS;
                ALTER TABLE ZMESSAGE RENAME COLUMN Z\(user)NOTES TO Z77NOTES;
                ALTER TABLE ZMESSAGE RENAME COLUMN Z_FOK_\(user)NOTES TO Z_FOK_77NOTES;
                """)
        #expect(
            storages(actual)["Room.users"]
                == .joinTable(
                    table: "Z_24USERS", ownColumn: "Z_24ROOMS", otherColumn: "Z_99USERS1",
                    orderColumn: "Z_FOK_17USERS", inverseOrderColumn: nil, isReflexive: false))
        #expect(
            storages(actual)["User.notes"]
                == .inverseless(table: "ZMESSAGE", column: "Z77NOTES", orderColumn: "Z_FOK_77NOTES"))
        #expect(actual.findings.filter { $0.severity > .note } == [])
    }

    @Test func `a self many-to-many may be named after either side`() throws {
        let model = try Self.chat()
        try make(model)
        let fresh = try StoreLayout(model: model)
        let user = try #require(fresh.entityNumbers["User"])
        #expect(fresh.joinTables.contains { $0.name == "Z_\(user)BLOCKEDBY" })
        let actual = try layout(model, after: "ALTER TABLE Z_\(user)BLOCKEDBY RENAME TO Z_\(user)BLOCKED")
        #expect(
            storages(actual)["User.blocked"]
                == .joinTable(
                    table: "Z_\(user)BLOCKED", ownColumn: "Z_\(user)BLOCKEDBY", otherColumn: "Z_\(user)BLOCKED",
                    orderColumn: nil, inverseOrderColumn: nil, isReflexive: false))
        #expect(storages(actual)["User.friends"] == storages(fresh)["User.friends"])
    }

    @Test func `a renamed entity is found under its old name`() throws {
        let model = try Self.chat()
        try make(model)
        let actual = try layout(
            model,
            after: """
                UPDATE Z_PRIMARYKEY SET Z_NAME = 'Picture' WHERE Z_NAME = 'Image';
                UPDATE Z_PRIMARYKEY SET Z_NAME = 'Chamber' WHERE Z_NAME = 'Room';
                ALTER TABLE ZROOM RENAME TO ZCHAMBER;
                """)
        #expect(actual.entityNumbers == (try StoreLayout(model: model)).entityNumbers)
        #expect(actual.table(forEntity: "Room")?.name == "ZCHAMBER")
    }

    @Test func `tables of nobody are told, a missing one is an error`() throws {
        let model = try Self.chat()
        try make(model)
        #expect(try layout(model, after: "CREATE TABLE mine (a)").findings.map(\.code) == ["table-unknown"])
        #expect {
            try layout(model, after: "DROP TABLE ZROOM")
        } throws: { ($0 as? MigrationError)?.code == .storeCorrupted }
    }

    @Test func `another model's store is not taken for this one`() throws {
        try make(try Self.chat())
        let other = try ManagedObjectModel("Other")
        #expect {
            try layout(other)
        } throws: { ($0 as? MigrationError)?.code == .storeUnknown }
    }
}
