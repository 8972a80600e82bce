import MoultBasics
import MoultCare
import MoultEngine
import MoultObjects
import MoultSQLite
import MoultStore
import MoultTesting
import TestSupport
import Testing

/// Both stores of a mirror after a power cut, where an app had the first one open and SQLite had not synchronised its
/// commits, as with `PRAGMA synchronous = NORMAL`.
struct MirrorPowerCutTests {
    enum Way: CaseIterable { case changes, allRows, verification }

    @Test(arguments: Way.allCases)
    func `a power cut takes nothing from the first store that the second has`(way: Way) throws {
        // The first round counts the calls. In the second, the power is cut at the last one.
        var last = 0
        for isCut in [false, true] {
            let folder = try ScratchFolder()
            let root = try POSIXSystem().resolve(folder.path)
            let (store, second) = (root + "/first.sqlite", root + "/second.sqlite")
            let versions = try MirroredVersions.make(to: "on")
            try StoreCreator(versions.versions[0], history: false).make(at: store)
            let objects = try ObjectStore(store, model: versions.versions[0].model)
            let coordinator = ObjectCoordinator(model: versions.versions[0].model)
            try coordinator.add(objects)
            let context = ObjectContext(coordinator: coordinator)
            try context.insert("Tag").setAttribute("word", .string("old"))
            try context.save()
            try coordinator.remove(objects)
            objects.close()
            _ = try MirroredStore.start(
                .init(store, .migrateInto(second)), .init(versions, losses: .asTheVersionsSay()))

            let disk = try FaultDisk(root, isCut ? Fault(.powerLoss, at: last, seed: 0) : nil)
            let result = try disk.run { system in
                let app = try Connection(store, mode: .readWrite)
                defer { app.close() }
                try app.execute(
                    """
                    PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;
                    UPDATE ZTAG SET ZWORD = 'new', Z_OPT = Z_OPT + 1
                    """)
                var mirror = try MirroredStore(of: store, .init(versions), on: system)
                switch way {
                case .changes: _ = try mirror.synchronise()
                case .allRows: _ = try mirror.synchronise(all: true)
                case .verification: _ = try mirror.verify()
                }
                try system.append([1], to: root + "/after", .own)
            }
            guard isCut else {
                try result.get()
                last = try #require(disk.operations.lastIndex(of: .append)) + 1
                continue
            }
            #expect(throws: MigrationError.self) { try result.get() }
            for path in [store, second] {
                let tags = try SQLiteShell.run(path, "SELECT Z_PK, Z_OPT, ZWORD FROM ZTAG")
                #expect(tags == "1|2|new\n", "\(path)")
            }
        }
    }
}
