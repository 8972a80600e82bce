import MoultModel
import MoultStore
import TestSupport
import Testing

@testable import MoultEngine

/// `Z_PRIMARYKEY.Z_MAX` below a key that is taken is a fault of the store, which a migration repairs on its way.
struct KeyCounterTests {  // tier: long
    private static let low = """
        SELECT count(*) FROM Z_PRIMARYKEY WHERE Z_NAME = 'Item' AND Z_MAX <> (SELECT max(Z_PK) FROM ZITEM)
        """

    @Test(arguments: [false, true])
    func `a counter that is too low is named, and right after the migration`(isDeferred: Bool) throws {
        let folder = try ScratchFolder()
        let store = folder.path + "/Items.sqlite"
        let versions = try isDeferred ? DeferrableVersions.make() : KillableVersions.make()
        try StoreCreator(versions.versions[0]).make(at: store)
        _ = try SQLiteShell.run(
            store,
            """
            INSERT INTO ZITEM (Z_PK, Z_ENT, Z_OPT, ZNAME) SELECT value, (SELECT Z_ENT FROM Z_PRIMARYKEY
                WHERE Z_NAME = 'Item'), 1, 'i' || value FROM generate_series(1, 40);
            UPDATE Z_PRIMARYKEY SET Z_MAX = 3 WHERE Z_ENT < 16000
            """)
        var options = PreparedMigration.Options(losses: .asTheVersionsSay())
        options.defersWork = isDeferred
        let prepared = try PreparedMigration(store, versions: versions, options: options)
        let note = try #require(prepared.bound?.findings.first { $0.code == "key-counter" })
        #expect(note.severity == .note && note.place == "Item" && note.message.contains("40"))
        _ = try Migrator().run(try #require(try prepared.migration()), on: store)
        #expect(try SQLiteShell.run(store, Self.low) == "0\n")
    }

    @Test(arguments: ["'x'", "x'00ff'", "'12x'", "x'3132'", "1.5", "NULL", "9223372036854775807"], [false, true])
    func `a counter that is no number is one after the migration`(value: String, isInPlace: Bool) throws {
        let versions = try Self.wider()
        let folder = try ScratchFolder()
        let store = folder.path + "/Items.sqlite"
        try StoreCreator(versions.versions[0]).make(at: store)
        _ = try SQLiteShell.run(
            store,
            "INSERT INTO ZITEM SELECT value, 1, 1, 'i' FROM generate_series(1, 5); UPDATE Z_PRIMARYKEY SET Z_MAX = \(value)"
        )
        let prepared = try PreparedMigration(store, versions: versions)
        #expect(prepared.bound?.findings.contains { $0.code == "key-counter" } == true)
        _ = try Migrator().run(
            try #require(try prepared.choosing(isInPlace ? .inPlace : .cheapest).migration()), on: store)
        // The text that a blob holds is the number that an app was told.
        let expected = value == "'12x'" || value == "x'3132'" ? 12 : 5
        #expect(try SQLiteShell.run(store, "SELECT typeof(Z_MAX), Z_MAX FROM Z_PRIMARYKEY") == "integer|\(expected)\n")
    }

    private static func wider() throws -> ModelVersions {
        let item = EntityDescription(name: "Item", attributes: [.init(name: "name", type: .string)])
        var wider = item
        wider.attributes.append(.init(name: "note", type: .string))
        return ModelVersions(versions: [
            ModelVersion(names: ["1"], model: try ManagedObjectModel(entities: [item])),
            ModelVersion(names: ["2"], model: try ManagedObjectModel(entities: [wider])),
        ])
    }

    @Test func `in place too, where only the catalogue changes`() throws {
        let versions = try Self.wider()
        let folder = try ScratchFolder()
        let store = folder.path + "/Items.sqlite"
        try StoreCreator(versions.versions[0]).make(at: store)
        _ = try SQLiteShell.run(
            store,
            "INSERT INTO ZITEM SELECT value, 1, 1, 'i' FROM generate_series(1, 40); UPDATE Z_PRIMARYKEY SET Z_MAX = 3")
        let prepared = try PreparedMigration(store, versions: versions)
        _ = try Migrator().run(try #require(try prepared.choosing(.inPlace).migration()), on: store)
        #expect(try SQLiteShell.run(store, Self.low) == "0\n")
    }

    /// No object carries the number of a hierarchy over whose entities with objects have gone.
    @Test(arguments: [false, true])
    func `keys of entities that leave are not given again`(isInPlace: Bool) throws {
        let versions = try ModelVersions(
            "Place abstract = name String\nPark (Place) = size Double\nTag = name String",
            "Place abstract = name String\nTag = name String, note String")
        let folder = try ScratchFolder()
        let store = folder.path + "/Places.sqlite"
        try StoreCreator(versions.versions[0]).make(at: store)
        _ = try SQLiteShell.run(
            store,
            """
            INSERT INTO ZPLACE (Z_PK, Z_ENT, Z_OPT) SELECT 7, Z_ENT, 1 FROM Z_PRIMARYKEY WHERE Z_NAME = 'Park';
            UPDATE Z_PRIMARYKEY SET Z_MAX = 7 WHERE Z_NAME = 'Place'
            """)
        let options = PreparedMigration.Options(losses: .asTheVersionsSay())
        var prepared = try PreparedMigration(store, versions: versions, options: options)
        if !isInPlace { prepared = prepared.choosing(.normalised) }
        _ = try Migrator().run(try #require(try prepared.migration()), on: store)
        #expect(try SQLiteShell.run(store, "SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_NAME = 'Place'") == "7\n")
    }
}
