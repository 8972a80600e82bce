import Foundation
import MoultBasics
import MoultModel
import MoultSQLite
import MoultStore
import TestSupport
import Testing

/// Rows that the sqlite3 shell wrote, read by name and type.
struct StoreRowsTests {
    let folder: ScratchFolder
    let path: String

    init() throws {
        folder = try ScratchFolder()
        path = folder.path + "/a.sqlite"
    }

    private func rows(
        _ entity: String, of model: ManagedObjectModel, after sql: String, withSubentities: Bool = false
    ) throws -> [ObjectRow] {
        if try !POSIXSystem().exists(path) {
            try StoreCreator(ModelVersion(names: ["1"], model: model)).make(at: path)
        }
        _ = try SQLiteShell.run(path, sql)
        return try ReadOnlyStore.read(path) { probe in
            let layout = try StoreLayout(actual: StoreSnapshot(probe.connection), model: model)
            let reader = StoreReader(connection: probe.connection, layout: layout, store: path)
            var rows: [ObjectRow] = []
            try reader.forEachObject(
                of: try #require(model.entity(entity)), includingSubentities: withSubentities
            ) { rows.append($0) }
            return rows
        }
    }

    // MARK: - Attributes

    private static func oneAttribute(_ type: AttributeType, external: Bool = false) throws -> ManagedObjectModel {
        let attribute = AttributeDescription(name: "a", type: type, allowsExternalBinaryDataStorage: external)
        return try ManagedObjectModel(entities: [EntityDescription(name: "Thing", attributes: [attribute])])
    }

    /// The value that a column holds after `sql` was put into it.
    private func read(_ sql: String, as type: AttributeType, external: Bool = false) throws -> PropertyValue? {
        let insert = "INSERT INTO ZTHING (Z_PK, Z_ENT, Z_OPT, ZA) VALUES (7, 1, 3, \(sql))"
        let rows = try rows("Thing", of: Self.oneAttribute(type, external: external), after: insert)
        #expect(rows.count == 1 && rows.first?.primaryKey == 7 && rows.first?.saves == 3)
        return rows.first?["a"]
    }

    @Test(
        arguments: [
            ("NULL", AttributeType.string, nil), ("9223372036854775807", .integer64, .integer(.max)),
            ("-32768", .integer16, .integer(-32768)), ("1", .boolean, .boolean(true)), ("0", .boolean, .boolean(false)),
            ("0.1", .double, .double(0.1)), ("9e999", .double, .double(.infinity)), ("2", .float, .double(2)),
            ("500000000", .date, .date(500_000_000)), ("500000000.25", .date, .date(500_000_000.25)),
            ("'12'", .decimal, .decimal("12")), ("'0.1'", .decimal, .decimal("0.1")),
            ("'1e3'", .decimal, .decimal("1000")), ("1e-7", .decimal, .decimal("0.0000001")),
            ("'12345678901234567890.5'", .decimal, .decimal("12345678901234567000")),
            ("'ü 🐦' || char(0) || 'x'", .string, .string("ü 🐦\0x")), ("''", .string, .string("")),
            ("'https://a.example/'", .uri, .uri("https://a.example/")),
            ("x'000102030405060708090a0b0c0d0e0f'", .uuid, .uuid(Array(0...15))), ("x''", .binary, .binary([])),
            ("x'01ff'", .binary, .binary([1, 255])), ("x'62'", .transformable, .transformable([98])),
        ] as [(String, AttributeType, AttributeValue?)])
    func `a value is read by its declared type`(sql: String, type: AttributeType, value: AttributeValue?) throws {
        #expect(try read(sql, as: type) == .attribute(value))
    }

    @Test(
        arguments: [
            ("'abc'", AttributeType.integer32, "abc"), ("1.5", .integer16, "1.5"), ("2", .boolean, "2"),
            ("x'00'", .double, "\0"), ("'soon'", .date, "soon"), ("'twelve'", .decimal, "twelve"),
            ("'NaN'", .decimal, "NaN"),
            ("x'41'", .string, "A"), ("x'0001'", .uuid, "\0\u{1}"), ("'text'", .binary, "text"),
            ("5", .transformable, "5"),
        ] as [(String, AttributeType, String)])
    func `a value of another kind is kept as it is stored`(sql: String, type: AttributeType, text: String) throws {
        guard case .undecodable(let value)? = try read(sql, as: type) else {
            Issue.record("\(sql) was read as \(type)")
            return
        }
        #expect(value.bytes == Array(text.utf8))
        #expect(!value.reason.isEmpty)
    }

    @Test func `a text that is not UTF-8 is kept as bytes`() throws {
        guard case .undecodable(let value)? = try read("CAST(x'61ff62' AS TEXT)", as: .string) else {
            Issue.record("it was read")
            return
        }
        #expect(value.bytes == [0x61, 0xFF, 0x62])
        #expect(try rows("Thing", of: Self.oneAttribute(.string), after: "UPDATE ZTHING SET ZA = x'61'").count == 1)
    }

    @Test func `external storage is inline or a file, and a missing file is a value of its own`() throws {
        let name = "0F0E0D0C-0B0A-0908-0706-050403020100"
        let cell = "CAST(x'02' || CAST('\(name)' AS BLOB) || x'00' AS BLOB)"
        #expect(try read("x'01aabb'", as: .binary, external: true) == .attribute(.binary([0xAA, 0xBB])))
        let model = try Self.oneAttribute(.binary, external: true)
        func update(_ sql: String) throws -> PropertyValue? {
            try rows("Thing", of: model, after: "UPDATE ZTHING SET ZA = \(sql)").first?["a"]
        }
        #expect(try update(cell)?.isUndecodable == true)
        let files = ExternalStorage(store: path)
        try files.makeFolder(on: POSIXSystem())
        try POSIXSystem().write([1, 2, 3], to: Path.join(files.folder, name))
        #expect(try update(cell) == .attribute(.binary([1, 2, 3])))
        for hostile in ["x'02' || CAST('../../a.sqlite' AS BLOB) || x'00'", "x''", "x'03aa'", "x'02'"] {
            #expect(try update("CAST(\(hostile) AS BLOB)")?.isUndecodable == true, "\(hostile)")
        }
    }

    // MARK: - Relationships

    private func chat(_ entity: String, withSubentities: Bool = false) throws -> [ObjectRow] {
        let model = try ActualLayoutSnapshotTests.chat()
        let numbers = try StoreLayout(model: model).entityNumbers
        func number(_ name: String) -> Int { numbers[name] ?? 0 }
        let (user, room) = (number("User"), number("Room"))
        let sql = """
            INSERT INTO ZUSER (Z_PK, Z_ENT, Z_OPT) VALUES (1, \(user), 1), (2, \(user), 1), (3, \(user), 1);
            INSERT INTO ZROOM (Z_PK, Z_ENT, Z_OPT) VALUES (1, \(room), 1);
            INSERT INTO Z_\(room)USERS VALUES (1, 1, 3000), (1, 2, 1000), (1, 3, 2000);
            INSERT INTO Z_\(user)BLOCKEDBY (Z_\(user)BLOCKEDBY, Z_\(user)BLOCKED) VALUES (1, 2), (1, 3);
            INSERT INTO Z_\(user)FRIENDS VALUES (1, 3), (3, 1);
            INSERT INTO ZMESSAGE (Z_PK, Z_ENT, Z_OPT, ZAUTHOR, Z_FOK_AUTHOR, ZREPLY, Z\(number("Message"))_REPLY) VALUES
                (1, \(number("Text")), 1, 1, 2048, NULL, NULL),
                (2, \(number("Image")), 1, 1, 1024, 1, \(number("Text"))),
                (3, \(number("Message")), 1, 2, 1024, 1, \(number("Text"))),
                (4, \(number("Text")), 1, 9, 1024, 2, 77),
                (5, \(number("Text")), 1, NULL, NULL, 2, NULL);
            UPDATE ZMESSAGE SET Z\(user)NOTES = 3, Z_FOK_\(user)NOTES = 10 - Z_PK WHERE Z_PK < 3;
            """
        return try rows(entity, of: model, after: sql, withSubentities: withSubentities)
    }

    private func many(_ references: (String, Int64)...) -> PropertyValue {
        .toMany(references.map { ObjectReference(entityName: $0, primaryKey: $1) })
    }

    @Test func `lists come in their order, with the entity of each object`() throws {
        let users = try chat("User")
        #expect(users.map(\.primaryKey) == [1, 2, 3])
        #expect(users[0]["messages"] == many(("Image", 2), ("Text", 1)))
        #expect(users[1]["messages"] == many(("Message", 3)))
        #expect(users[2]["messages"] == many())
        #expect(users[2]["notes"] == many(("Image", 2), ("Text", 1)))
        #expect(users.map { $0["rooms"] } == [many(("Room", 1)), many(("Room", 1)), many(("Room", 1))])
    }

    @Test func `an ordered many-to-many has its order`() throws {
        #expect(try chat("Room").first?["users"] == many(("User", 2), ("User", 3), ("User", 1)))
    }

    @Test func `relationships inside one entity are seen from both sides`() throws {
        let users = try chat("User")
        #expect(users.map { $0["blocked"] } == [many(("User", 2), ("User", 3)), many(), many()])
        #expect(users.map { $0["blockedBy"] } == [many(), many(("User", 1)), many(("User", 1))])
        #expect(users.map { $0["friends"] } == [many(("User", 3)), many(), many(("User", 1))])
    }

    @Test func `a to-one says of what entity its destination is`() throws {
        let messages = try chat("Message", withSubentities: true)
        #expect(messages.map(\.entityName) == ["Image", "Message", "Text", "Text", "Text"])
        #expect(messages.map(\.primaryKey) == [2, 3, 1, 4, 5])
        #expect(messages[0]["reply"] == .toOne(ObjectReference(entityName: "Text", primaryKey: 1)))
        #expect(messages[2]["reply"] == .toOne(nil))
        // A number that no entity has; then none at all, so that the row itself is asked.
        #expect(messages[3]["reply"]?.isUndecodable == true)
        #expect(messages[4]["reply"] == .toOne(ObjectReference(entityName: "Image", primaryKey: 2)))
        #expect(messages[2]["replies"] == many(("Image", 2), ("Message", 3)))
        // Its object is missing: the reference is shown as it is stored.
        #expect(messages[3]["author"] == .toOne(ObjectReference(entityName: "User", primaryKey: 9)))
    }

    @Test func `a row's properties stand in byte order`() throws {
        let user = try #require(try chat("User").first)
        #expect(user.shape.properties == ["blocked", "blockedBy", "friends", "messages", "name", "notes", "rooms"])
        #expect(user["nothing"] == nil)
    }
}
