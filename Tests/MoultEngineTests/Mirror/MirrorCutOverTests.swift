import Foundation
import MoultBasics
import MoultCare
import MoultEngine
import MoultModel
import MoultObjects
import MoultStore
import TestSupport
import Testing

/// The second store takes the first one's place, and gives it back with what was written since.
struct MirrorCutOverTests {  // tier: long
    @Test(arguments: [true, false])
    func `a cut-over that is taken back loses nothing written since`(history: Bool) throws {
        let fixture = try MirrorFixture(to: "back", history: history, saves: 8)
        var mirror = try fixture.start()
        try fixture.write(seed: 20)
        // What the first store alone has.
        let notes = "SELECT Z_PK, ZNOTE FROM ZBOOK WHERE ZNOTE IS NOT NULL ORDER BY 1"
        let drafts = "SELECT * FROM ZDRAFT ORDER BY 1"
        let before = try (SQLiteShell.run(fixture.store, notes), SQLiteShell.run(fixture.store, drafts))
        #expect(!before.0.isEmpty && !before.1.isEmpty)
        #expect(try mirror.cutOver() == [])
        for round in 0..<3 {
            try fixture.write(seed: UInt64(30 + round), isSecond: true)
            var current = try fixture.mirror()
            _ = try current.synchronise()
            let verified = try current.verify()
            #expect(verified.isEqual, "\(verified)")
        }
        try fixture.write(seed: 40, isSecond: true)
        let written = try MirrorFixture.hash(MirrorFixture.copy(fixture.second, to: fixture.folder.path + "/kept"))
        mirror = try fixture.mirror()
        try mirror.undoCutOver()
        // All of it is in the first store: what that gives is what was written.
        let (second, fresh) = try fixture.hashes()
        #expect(second == fresh)
        #expect(second == written)
        #expect(try SQLiteShell.run(fixture.store, drafts) == before.1)
        let known = Set(before.0.split(separator: "\n"))
        let after = Set(try SQLiteShell.run(fixture.store, notes).split(separator: "\n"))
        #expect(after.isSubset(of: known), "notes of books that are still there stay, and no other comes")
        let books = Set(try SQLiteShell.run(fixture.store, "SELECT Z_PK FROM ZBOOK").split(separator: "\n"))
        #expect(after.count == known.filter { books.contains($0.prefix { $0 != "|" }) }.count)
        try fixture.write(seed: 50)
        _ = try mirror.synchronise()
        try fixture.expectEqual("followed again")
    }

    /// Cuts over, changes the second store, which the first one follows, and takes the cut-over back.
    private func cutOverAndBack(_ mirror: inout MirroredStore, changing second: String, _ sql: String) throws {
        #expect(try mirror.cutOver() == [])
        _ = try SQLiteShell.run(second, sql)
        _ = try mirror.synchronise()
        let verified = try mirror.verify()
        #expect(verified.isEqual, "\(verified.lines)")
        try mirror.undoCutOver()
    }

    @Test func `a value that only a sub-entity still has in the second store stays in the first one's others`() throws {
        let folder = try ScratchFolder()
        let versions = ModelVersions(versions: [
            ModelVersion(
                names: ["1"],
                model: try ManagedObjectModel(
                    """
                    Item = size Integer32, word String =standard
                    Tag (Item) = colour String
                    """)),
            ModelVersion(
                names: ["2"],
                model: try ManagedObjectModel(
                    """
                    Item = size Integer32
                    Tag (Item) = colour String, word String =standard
                    """)),
        ])
        let (store, second) = (folder.path + "/First.sqlite", folder.path + "/Second.sqlite")
        try StoreCreator(versions.versions[0]).make(at: store)
        _ = try SQLiteShell.run(
            store,
            """
            INSERT INTO ZITEM (Z_PK, Z_ENT, Z_OPT, ZSIZE, ZWORD) SELECT 1, Z_ENT, 1, 1, 'kept' FROM Z_PRIMARYKEY
                WHERE Z_NAME = 'Item';
            INSERT INTO ZITEM (Z_PK, Z_ENT, Z_OPT, ZSIZE, ZWORD) SELECT 2, Z_ENT, 1, 2, 'old' FROM Z_PRIMARYKEY
                WHERE Z_NAME = 'Tag';
            UPDATE Z_PRIMARYKEY SET Z_MAX = 2 WHERE Z_NAME = 'Item'
            """)
        var mirror = try MirroredStore.start(
            .init(store, .migrateInto(second)), .init(versions, losses: .asTheVersionsSay()))
        try cutOverAndBack(
            &mirror, changing: second,
            """
            UPDATE ZITEM SET ZSIZE = 10 * Z_PK, Z_OPT = Z_OPT + 1;
            UPDATE ZITEM SET ZWORD = 'new' WHERE Z_PK = 2
            """)
        let rows = try SQLiteShell.run(store, "SELECT Z_PK, ZSIZE, ZWORD FROM ZITEM ORDER BY 1")
        #expect(rows == "1|10|kept\n2|20|new\n")
    }

    @Test func `an object without a value that the second version requires has none again`() throws {
        let folder = try ScratchFolder()
        let versions = ModelVersions(versions: [
            ModelVersion(
                names: ["1"],
                model: try ManagedObjectModel(
                    """
                    Item = size Integer32, word String
                    Tag (Item) = day Integer16
                    """)),
            ModelVersion(
                names: ["2"],
                model: try ManagedObjectModel(
                    """
                    Item = size Integer32, word String required =none
                    Tag (Item) = day Integer16 required =7
                    """)),
        ])
        let (store, second) = (folder.path + "/First.sqlite", folder.path + "/Second.sqlite")
        try StoreCreator(versions.versions[0]).make(at: store)
        _ = try SQLiteShell.run(
            store,
            """
            INSERT INTO ZITEM (Z_PK, Z_ENT, Z_OPT, ZSIZE, ZWORD) SELECT value, Z_ENT, 1, value, iif(value = 2, 'two', NULL)
                FROM Z_PRIMARYKEY, generate_series(1, 3) WHERE Z_NAME = 'Item';
            INSERT INTO ZITEM (Z_PK, Z_ENT, Z_OPT, ZSIZE) SELECT value, Z_ENT, 1, value
                FROM Z_PRIMARYKEY, generate_series(4, 6) WHERE Z_NAME = 'Tag';
            UPDATE Z_PRIMARYKEY SET Z_MAX = 6 WHERE Z_NAME = 'Item'
            """)
        var mirror = try MirroredStore.start(
            .init(store, .migrateInto(second)), .init(versions, losses: .asTheVersionsSay()))
        try cutOverAndBack(
            &mirror, changing: second,
            """
            UPDATE ZITEM SET ZSIZE = 10 * Z_PK, Z_OPT = Z_OPT + 1 WHERE Z_PK IN (1, 4);
            UPDATE ZITEM SET ZWORD = 'new', ZDAY = 8, Z_OPT = Z_OPT + 1 WHERE Z_PK = 5
            """)
        let rows = try SQLiteShell.run(store, "SELECT Z_PK, ZSIZE, ZWORD, ZDAY FROM ZITEM ORDER BY 1")
        #expect(rows == "1|10||\n2|2|two|\n3|3||\n4|40||\n5|5|new|8\n6|6||\n")
    }

    @Test func `a value that is missing where both versions require it is no difference`() throws {
        let folder = try ScratchFolder()
        let versions = try ModelVersions(
            "Item = size Integer32, word String required =none, day Integer16 required =7, note String",
            "Item = size Integer32, word String required =none, day Integer16 =7")
        let (store, second) = (folder.path + "/First.sqlite", folder.path + "/Second.sqlite")
        try StoreCreator(versions.versions[0]).make(at: store)
        _ = try SQLiteShell.run(
            store,
            """
            INSERT INTO ZITEM (Z_PK, Z_ENT, Z_OPT, ZSIZE, ZWORD, ZDAY)
                SELECT value, Z_ENT, 1, value, iif(value = 1, 'one', NULL), iif(value = 1, 1, NULL)
                FROM Z_PRIMARYKEY, generate_series(1, 3) WHERE Z_NAME = 'Item';
            UPDATE Z_PRIMARYKEY SET Z_MAX = 3 WHERE Z_NAME = 'Item'
            """)
        var mirror = try MirroredStore.start(
            .init(store, .migrateInto(second)), .init(versions, losses: .asTheVersionsSay()))
        try cutOverAndBack(&mirror, changing: second, "UPDATE ZITEM SET ZSIZE = 20, Z_OPT = Z_OPT + 1 WHERE Z_PK = 2")
        // An object that is written gets the defaults of the version that requires them.
        let rows = try SQLiteShell.run(store, "SELECT Z_PK, ZSIZE, ZWORD, ZDAY FROM ZITEM ORDER BY 1")
        #expect(rows == "1|1|one|1\n2|20|none|7\n3|3||\n")
    }

    @Test func `derived attributes that only the second version has keep no change from the first store`() throws {
        let folder = try ScratchFolder()
        let versions = try ModelVersions(
            "Shelf = name String, books >> Book.shelf\nBook = title String, shelf > Shelf.books",
            """
            Shelf = name String, books >> Book.shelf, count Integer64 derived=books.@count
            Book = title String, upper String derived=uppercase:(title), shelf > Shelf.books
            """)
        let (store, second) = (folder.path + "/First.sqlite", folder.path + "/Second.sqlite")
        let makers = try versions.versions.map { try StoreCreator($0) }
        try makers[0].make(at: store)
        func write(_ path: String, _ maker: StoreCreator, _ title: String) throws {
            let writer = try ObjectWriter(store: path, layout: maker.layout)
            let book = try writer.insert("Book", ["title": .attribute(.string(title))])
            let shelf = ObjectReference(entityName: "Shelf", primaryKey: 1)
            if title == "old" { try writer.insert("Shelf", [:]) }
            try writer.link(shelf, "books", to: [book])
            try writer.finish()
        }
        try write(store, makers[0], "old")
        var mirror = try MirroredStore.start(
            .init(store, .migrateInto(second)), .init(versions, losses: .asTheVersionsSay()))
        #expect(try mirror.cutOver() == [])
        try write(second, makers[1], "new")
        _ = try mirror.synchronise()
        let verified = try mirror.verify()
        #expect(verified.isEqual, "\(verified.lines)")
        try mirror.undoCutOver()
        let books = "SELECT Z_PK, ZSHELF, ZTITLE FROM ZBOOK ORDER BY 1"
        #expect(try SQLiteShell.run(store, books) == "1|1|old\n2|1|new\n")
        let derived = "SELECT ZCOUNT FROM ZSHELF; SELECT ZUPPER FROM ZBOOK ORDER BY Z_PK"
        #expect(try SQLiteShell.run(second, derived) == "2\nOLD\nNEW\n")
    }

    @Test func `the order that a relationship had before the first version is no difference`() throws {
        let folder = try ScratchFolder()
        let versions = try ModelVersions(
            "Book = note String, tags >> Tag.books ordered\nTag = word String, books >> Book.tags",
            "Book = note String, tags >> Tag.books\nTag = word String, books >> Book.tags",
            "Book = tags >> Tag.books\nTag = word String, books >> Book.tags")
        let (store, second) = (folder.path + "/First.sqlite", folder.path + "/Second.sqlite")
        try StoreCreator(versions.versions[0]).make(at: store)
        let coordinator = ObjectCoordinator(model: versions.versions[0].model)
        let opened = try ObjectStore(store, model: versions.versions[0].model)
        try coordinator.add(opened)
        let context = ObjectContext(coordinator: coordinator)
        let book = try context.insert("Book")
        for place in 0..<3 { try book.insert(try context.insert("Tag"), in: "tags", at: place) }
        try context.save()
        opened.close()
        _ = try Migrator().run(
            PreparedMigration(store, versions: versions, to: "2", options: .init(losses: .asTheVersionsSay())))
        let join = try SQLiteShell.run(
            store, "SELECT name FROM sqlite_master WHERE type = 'table' AND name GLOB 'Z_[0-9]*'"
        ).trimmingCharacters(in: .newlines)
        let order = "SELECT count(*) FROM pragma_table_info('\(join)') WHERE name GLOB 'Z_FOK_*'"
        #expect(try SQLiteShell.run(store, order) == "1\n")
        var mirror = try MirroredStore.start(
            .init(store, to: "3", .migrateInto(second)), .init(versions, losses: .asTheVersionsSay()))
        try cutOverAndBack(&mirror, changing: second, "DELETE FROM \(join) WHERE rowid = 1")
        #expect(try SQLiteShell.run(store, "SELECT count(*) FROM \(join)") == "2\n")
        // A pair that only one of the two has is still found.
        _ = try mirror.cutOver()
        _ = try SQLiteShell.run(store, "DELETE FROM \(join)")
        #expect(try mirror.verify().differences.map(\.table) == [join])
    }

    /// The records of the first store have the key; those of the second need it for its next migration.
    @Test func `an entity that a rollback took out of the first store has its counter in the second`() throws {
        let fixture = try MirrorFixture()
        let prepared = try PreparedMigration(
            fixture.store, versions: fixture.versions, options: .init(losses: .asTheVersionsSay()))
        let run = try Migrator().run(try #require(try prepared.migration()), on: fixture.store)
        let backup = try #require(run.backup)
        _ = try SQLiteShell.run(fixture.store, "UPDATE Z_PRIMARYKEY SET Z_MAX = 7 WHERE Z_NAME = 'Aardvark'")
        _ = try Migrator().rollback(fixture.store, to: backup, currentVersion: "on")
        _ = try fixture.start()
        let key = "SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_NAME = 'Aardvark'"
        #expect(try SQLiteShell.run(fixture.second, key) == "7\n")
        let uuid = try SQLiteShell.run(fixture.store, "SELECT Z_UUID FROM Z_METADATA").filter { $0 != "\n" }
        let kept = try KeptKeys.read(StoreRecords(of: fixture.second, POSIXSystem()), of: uuid, POSIXSystem())
        #expect(kept["Aardvark"] == 7)
        #expect(try fixture.mirror().verify().isEqual)
    }

    @Test func `what cannot be taken back is said, and refused unless accepted`() throws {
        let fixture = try MirrorFixture(to: "on")
        var mirror = try fixture.start()
        let error = #expect(throws: MigrationError.self) { _ = try mirror.cutOver() }
        #expect(error?.code == .unsupported)
        #expect(error?.message.contains("authors") == true, "\(String(describing: error))")
        try fixture.write(seed: 3)
        _ = try mirror.synchronise()
        try fixture.expectEqual("a refused cut-over changes nothing")
        #expect(try !mirror.cutOver(acceptingLosses: true).isEmpty)
        #expect(mirror.record.isOneWay)
        #expect(throws: MigrationError.self) { try mirror.undoCutOver() }
        try MirroredStore.stop(fixture.store)
        #expect(throws: MigrationError.self) { try fixture.mirror() }
    }

    @Test func `a store that somebody has open is not cut over`() throws {
        let fixture = try MirrorFixture(to: "back")
        var mirror = try fixture.start()
        let app = try SQLiteProcess(fixture.store)
        _ = try app.run("BEGIN; SELECT count(*) FROM ZBOOK")
        let error = #expect(throws: MigrationError.self) { _ = try mirror.cutOver() }
        #expect(error?.code == .locked)
        app.end()
        #expect(try mirror.cutOver() == [])
    }

    @Test func `an app that still writes to the first store after the cut-over is found out`() throws {
        let fixture = try MirrorFixture(to: "back")
        var mirror = try fixture.start()
        _ = try mirror.cutOver()
        try fixture.write(saves: 1, seed: 8)
        let error = #expect(throws: MigrationError.self) { _ = try mirror.synchronise() }
        #expect(error?.code == .mirrorDiverged)
        #expect(throws: MigrationError.self) { try mirror.undoCutOver() }
    }
}
