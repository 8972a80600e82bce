import Moult
import MoultBasics
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

    // MARK: - Ways back

    /// A store of the first version in a folder.
    private static func store(_ version: ModelVersion, in folder: ScratchFolder) throws -> String {
        let store = folder.path + "/Things.sqlite"
        try StoreCreator(version).make(at: store)
        return store
    }

    @discardableResult
    private static func migrate(_ store: String, _ versions: ModelVersions, isInPlace: Bool = false) throws
        -> StoreBackup?
    {
        var prepared = try PreparedMigration(store, versions: versions, options: .init(losses: .asTheVersionsSay()))
        if isInPlace { prepared = prepared.choosing(.inPlace) }
        return try Migrator().run(try #require(try prepared.migration()), on: store).backup
    }

    private static func key(_ entity: String, _ store: String) throws -> String {
        try SQLiteShell.run(store, "SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_NAME = '\(entity)'")
    }

    @Test(arguments: [false, true])
    func `an entity that a rollback takes away comes back with its counter`(isInPlace: Bool) throws {
        let versions = try ModelVersions(
            "Item = name String", "Item = name String\nPlace abstract = name String\nTag (Place) = size Double")
        let folder = try ScratchFolder()
        let store = try Self.store(versions.versions[0], in: folder)
        let backup = try #require(try Self.migrate(store, versions))
        _ = try SQLiteShell.run(store, "UPDATE Z_PRIMARYKEY SET Z_MAX = 7 WHERE Z_NAME = 'Place'")
        _ = try Migrator().rollback(store, to: backup, currentVersion: "2")
        // What was kept outlives the backups.
        try Self.removeBackups(of: store)
        try Self.migrate(store, versions, isInPlace: isInPlace)
        #expect(try Self.key("Place", store) == "7\n")
        #expect(try Self.key("Item", store) == "0\n")
        #expect(try StoreAudit(store, model: versions.versions[1].model).findings.isEmpty)
    }

    @Test(arguments: ["another store", "no record", "a number without a successor"])
    func `a record that is no use keeps no migration from running`(record: String) throws {
        let versions = try ModelVersions("Item = name String", "Item = name String\nTag = name String")
        let folder = try ScratchFolder()
        let store = try Self.store(versions.versions[0], in: folder)
        let uuid = try SQLiteShell.run(store, "SELECT Z_UUID FROM Z_METADATA").filter { $0 != "\n" }
        let sidecar = try StoreRecords(of: store, POSIXSystem())
        try sidecar.make(POSIXSystem())
        let text =
            switch record {
            case "another store": #"{"format": 1, "uuid": "another", "keys": {"Tag": 7}}"#
            case "no record": #"{"format": 1, "uui"#
            default: #"{"format": 1, "uuid": "\#(uuid)", "keys": {"Tag": 9223372036854775807}}"#
            }
        try POSIXSystem().write(Array(text.utf8), to: sidecar.keys)
        try Self.migrate(store, versions)
        #expect(try Self.key("Tag", store) == "0\n")
    }

    @Test func `an entity that has gone comes back with the counter of the newest backup that has it`() throws {
        let versions = try ModelVersions("Item = name String\nTag = name String", "Item = name String")
        let folder = try ScratchFolder()
        let store = try Self.store(versions.versions[0], in: folder)
        let first = try Migrator().backUp(store, version: "1")
        _ = try SQLiteShell.run(store, "UPDATE Z_PRIMARYKEY SET Z_MAX = 8 WHERE Z_NAME = 'Tag'")
        try Self.migrate(store, versions)
        _ = try Migrator().rollback(store, to: first, currentVersion: "2")
        #expect(try Self.key("Tag", store) == "8\n")
    }

    /// Versions in which an entity appears as `Tag` and is renamed twice.
    private static func renaming() throws -> ModelVersions {
        try ModelVersions(
            "Item = name String", "Item = name String\nTag = name String",
            "Item = name String\nPlace was=Tag = name String", "Item = name String\nSpot was=Place = name String")
    }

    private static let names = [2: "Tag", 3: "Place", 4: "Spot"]

    /// The first of the versions, up to and including one.
    private static func versions(upTo last: Int, of versions: ModelVersions) -> ModelVersions {
        ModelVersions(versions: Array(versions.versions.prefix(last)))
    }

    private static func removeBackups(of store: String) throws {
        for other in try Migrator().backups(of: store).list() { try Migrator().backups(of: store).remove(other) }
    }

    /// A rollback goes to a version without the entity, which comes back under each of its names.
    @Test(arguments: [2, 3, 4], [2, 3, 4])
    func `an entity that a rollback takes away comes back under another name`(gone: Int, back: Int) throws {
        let versions = try Self.renaming()
        let folder = try ScratchFolder()
        let store = try Self.store(versions.versions[0], in: folder)
        let backup = try #require(try Self.migrate(store, Self.versions(upTo: gone, of: versions)))
        let (before, after) = (try #require(Self.names[gone]), try #require(Self.names[back]))
        _ = try SQLiteShell.run(store, "UPDATE Z_PRIMARYKEY SET Z_MAX = 7 WHERE Z_NAME = '\(before)'")
        _ = try Migrator().rollback(store, to: backup, currentVersion: "\(gone)")
        try Self.removeBackups(of: store)
        try Self.migrate(store, Self.versions(upTo: back, of: versions), isInPlace: gone < back)
        #expect(try Self.key(after, store) == "7\n")
        #expect(try Self.key("Item", store) == "0\n")
    }

    /// The present state has the entity under no name.
    @Test func `a backup with an entity under an earlier name has the keys given since`() throws {
        let versions = try Self.renaming()
        let folder = try ScratchFolder()
        let store = try Self.store(versions.versions[0], in: folder)
        let first = try #require(try Self.migrate(store, Self.versions(upTo: 2, of: versions)))
        let second = try #require(try Self.migrate(store, versions))
        _ = try SQLiteShell.run(store, "UPDATE Z_PRIMARYKEY SET Z_MAX = 7 WHERE Z_NAME = 'Spot'")
        _ = try Migrator().rollback(store, to: first, currentVersion: "4")
        _ = try Migrator().rollback(store, to: second, currentVersion: "1")
        #expect(try Self.key("Tag", store) == "7\n")
        #expect(try Self.key("Item", store) == "0\n")
    }

    /// Only a backup has the counter when the rollback begins.
    @Test func `an entity that a migration and then a rollback leave out comes back with its counter`() throws {
        let versions = try ModelVersions(
            "Item = name String", "Item = name String\nTag = name String", "Item = name String, note String")
        let folder = try ScratchFolder()
        let store = try Self.store(versions.versions[0], in: folder)
        let first = try #require(try Self.migrate(store, Self.versions(upTo: 2, of: versions)))
        _ = try SQLiteShell.run(store, "UPDATE Z_PRIMARYKEY SET Z_MAX = 7 WHERE Z_NAME = 'Tag'")
        try Self.migrate(store, versions)
        _ = try Migrator().rollback(store, to: first, currentVersion: "3")
        try Self.removeBackups(of: store)
        try Self.migrate(store, Self.versions(upTo: 2, of: versions))
        #expect(try Self.key("Tag", store) == "7\n")
    }

    /// The sub-entity's own counter says nothing of the root's.
    @Test func `a renamed root counts on after a rollback`() throws {
        let versions = try ModelVersions(
            "Zebra = name String\nPark (Zebra) = size Double",
            "Place was=Zebra = name String\nPark = size Double, name String")
        let folder = try ScratchFolder()
        let store = try Self.store(versions.versions[0], in: folder)
        let backup = try #require(try Self.migrate(store, versions))
        _ = try SQLiteShell.run(store, "UPDATE Z_PRIMARYKEY SET Z_MAX = 5 WHERE Z_NAME = 'Place'")
        _ = try Migrator().rollback(store, to: backup, currentVersion: "2")
        #expect(try Self.key("Zebra", store) == "5\n")
    }
}
