import Foundation
import Moult
import MoultBasics
import MoultModel
import MoultStore
import Synchronization
import TestSupport
import Testing

@testable import MoultCare
@testable import MoultEngine

/// Other processes on the same store, and paths that are unusual.
struct NeighbourTests {
    private static func migrate(_ store: String, patience: Int32 = 100) throws -> MigrationOutcome? {
        let prepared = try PreparedMigration(store, versions: try KillableVersions.make())
        return try prepared.migration().map {
            try Migrator(options: MigrationOptions(patience: patience)).run($0, on: store)
        }
    }

    private static let state = "SELECT count(*), sum(ZSCORE) FROM ZITEM"

    @Test func `of two processes that migrate at once one does it, and the other is refused or has nothing to do`()
        throws
    {
        for _ in Tier.faults.rounds(quick: 2, full: 40, sharedBy: 2) {
            let fixture = try EngineFixture(killable: 400, isWAL: true)
            let items = try fixture.shell("SELECT count(*) FROM ZITEM")
            let children = try (0..<3).map { _ in try EngineChild("infer", fixture.store) }
            let said = children.map { $0.process.readToEnd() }
            let exits = children.map { $0.end() }
            #expect(exits.contains(0) && exits.allSatisfy { $0 == 0 || $0 == 3 }, "\(exits): \(said)")
            #expect(try fixture.shell("SELECT count(*) FROM ZITEM") == items)
            #expect(
                try fixture.shell("SELECT count(*) FROM ZITEM WHERE ZSCORE IS NOT 1; PRAGMA integrity_check")
                    == "0\nok\n")
            #expect(try fixture.sidecarNames() == IdentityMigrationTests.tidy)
        }
    }

    /// A machine on which somebody commits between the look at a file and the reading of its header.
    private final class GrowingSystem: ForwardingSystem, Sendable {
        let isGrown = Mutex(false)

        func read(_ path: String, prefix count: Int) throws -> [UInt8] {
            let isFirst = isGrown.withLock { isGrown in
                defer { isGrown = true }
                return !isGrown
            }
            if isFirst {
                _ = try SQLiteShell.run(path, "INSERT INTO ZLINK (ZPLACE) SELECT value FROM generate_series(1, 5000)")
            }
            return try real.read(path, prefix: count)
        }
    }

    @Test func `a store that grows while it is looked at is not called cut off`() throws {
        let fixture = try EngineFixture(killable: 40, isWAL: false)
        _ = try fixture.shell("PRAGMA journal_mode = DELETE")
        let system = GrowingSystem()
        #expect(try ReadOnlyStore.checkFile(fixture.store, system) == POSIXSystem().resolve(fixture.store))
        #expect(system.isGrown.withLock { $0 })
        let short = fixture.folder.path + "/short.sqlite"
        try POSIXSystem().write(Array(POSIXSystem().read(fixture.store).dropLast(5_000)), to: short)
        let error = #expect(throws: MigrationError.self) { try ReadOnlyStore.checkFile(short, POSIXSystem()) }
        #expect(error?.code == .storeCorrupted && error?.message.contains("cut off") == true)
    }

    /// A machine on which a commit is half done when the tables are looked at, and done right after.
    private final class CommittingSystem: ForwardingSystem, Sendable {
        let (store, whole): (String, [UInt8])
        private let looks = Mutex(0)

        init(_ store: String) throws {
            self.store = try POSIXSystem().resolve(store)
            whole = try POSIXSystem().read(store)
        }

        func status(of path: String) throws -> FileStatus? {
            let look = looks.withLock { looks in
                looks += path == store + "-journal" ? 1 : 0
                return looks
            }
            if path == store + "-journal", look == 2 {
                let half = whole.prefix(100) + [UInt8](repeating: 0xEE, count: 3_996) + whole.dropFirst(4_096)
                try real.write(Array(half), to: store)
            } else if path == store, look == 2 {
                try real.write(whole, to: store)
            }
            return try real.status(of: path)
        }
    }

    @Test func `a store in the middle of a commit is looked at again, and not called damaged`() throws {
        let fixture = try EngineFixture(killable: 40, isWAL: false)
        _ = try fixture.shell("PRAGMA journal_mode = DELETE")
        let tables = try ReadOnlyStore.read(fixture.store, system: try CommittingSystem(fixture.store)) { probe in
            try probe.connection.catalogue().tables.count
        }
        #expect(tables > 3)
        let error = #expect(throws: MigrationError.self) {
            _ = try ReadOnlyStore(fixture.store, system: try CommittingSystem(fixture.store))
        }
        #expect(error?.code == .locked)
    }

    @Test func `a stopped owner is named and never robbed, and what it began goes on`() throws {
        let fixture = try EngineFixture(killable: 100, isWAL: false)
        let child = try EngineChild("hold", fixture.store)
        child.wait(for: "held")
        kill(child.process.identifier, SIGSTOP)
        for _ in 0..<3 {
            let error = #expect(throws: MigrationError.self) { try Self.migrate(fixture.store) }
            #expect(error?.code == .locked)
            #expect(error?.message.contains("process \(child.process.identifier)") == true)
        }
        let diagnosis = StoreDiagnosis(fixture.store)
        let stopped = try #require(diagnosis.findings.first { $0.code == "run-stopped" })
        #expect(stopped.remedy.contains("kill -CONT \(child.process.identifier)"))
        kill(child.process.identifier, SIGCONT)
        child.kill()
        #expect(try Self.migrate(fixture.store) != nil)
        #expect(!StoreDiagnosis(fixture.store).findings.contains { $0.code.hasPrefix("run-") })
    }

    @Test func `a row that is written between two stops is migrated with the rest`() throws {
        let folder = try ScratchFolder()
        let store = folder.path + "/Flights.sqlite"
        let versions = try FlightVersions.make()
        try StoreCreator(versions.versions[0]).make(at: store)
        let first = try PreparedMigration(store, versions: versions, to: versions.versions[1].name)
        _ = try Migrator().run(try #require(try first.migration()), on: store)
        _ = try SQLiteShell.run(
            store,
            "INSERT INTO ZAIRCRAFT (Z_PK, Z_ENT, Z_OPT, ZNAME) VALUES (77, 1, 1, 'late'); UPDATE Z_PRIMARYKEY SET Z_MAX = 77"
        )
        let reached = try ReadOnlyStore.read(store) { try StoreSnapshot($0.connection).hashes }
        #expect(versions.position(matching: reached) == 1)
        let rest = try PreparedMigration(store, versions: ModelVersions(versions: Array(versions.versions[1...2])))
        _ = try Migrator().run(try #require(try rest.migration()), on: store)
        #expect(try SQLiteShell.run(store, "SELECT ZNAME FROM ZAIRCRAFT WHERE Z_PK = 77") == "late\n")
    }

    @Test(arguments: [
        "with spaces and 'quotes' \"both\"", "ünïcødé 日本語 🦢", "-rf; $(touch hacked) `x` %s #?&", "a\tb\\c",
        String(repeating: "n", count: 244) + ".sqlite", String(repeating: "ä", count: 122) + ".sqlite",
    ])
    func `a store of any name is migrated and comes back`(name: String) throws {
        let fixture = try EngineFixture(killable: 40, isWAL: false)
        // There is no room for a -journal behind such a name, so only a WAL can be written.
        if name.utf8.count > 247 { _ = try fixture.shell("PRAGMA journal_mode = WAL") }
        let folder = fixture.folder.path + "/" + String(name.prefix(20))
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let store = folder + "/" + name
        try POSIXSystem().rename(fixture.store, to: store)
        let before = try SQLiteShell.run(store, ".sha3sum --schema")
        let outcome = try #require(try Self.migrate(store))
        #expect(try SQLiteShell.run(store, "SELECT count(*) FROM ZITEM WHERE ZSCORE IS NOT 1") == "0\n")
        let backup = try #require(outcome.backup)
        try Migrator().backups(of: store).verify(backup)
        _ = try Migrator().rollback(store, to: backup)
        #expect(try SQLiteShell.run(store, ".sha3sum --schema") == before)
        let names = try POSIXSystem().list(folder)
        #expect(names.count == 2 && names.contains(name), "\(names)")
        #expect(try POSIXSystem().list(".").contains("hacked") == false)
    }

    @Test func `through symbolic links the store itself is migrated, and the links stay`() throws {
        let fixture = try EngineFixture(killable: 40, isWAL: true)
        let (link, folder) = (fixture.folder.path + "/link.sqlite", fixture.folder.path + "-linked")
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "Forum data.sqlite")
        try FileManager.default.createSymbolicLink(atPath: folder, withDestinationPath: fixture.folder.path)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let outcome = try #require(try Self.migrate(folder + "/link.sqlite"))
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link) == "Forum data.sqlite")
        #expect(
            try fixture.shell("SELECT count(*) FROM ZITEM WHERE ZSCORE IS NOT 1; PRAGMA integrity_check") == "0\nok\n")
        #expect(try fixture.sidecarNames() == IdentityMigrationTests.tidy)
        _ = try Migrator().rollback(link, to: try #require(outcome.backup))
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link) == "Forum data.sqlite")
    }

    @Test func `a store that was moved to another volume takes its backups along`() throws {
        let fixture = try EngineFixture(killable: 40, isWAL: false)
        let before = try fixture.logicalHash()
        let outcome = try #require(try Self.migrate(fixture.store))
        let there = try OtherVolume.folder(besides: fixture.folder.path)
        defer { try? FileManager.default.removeItem(atPath: there) }
        for name in ["Forum data.sqlite", "Forum data.sqlite.moult"] {
            try FileManager.default.moveItem(atPath: fixture.folder.path + "/" + name, toPath: there + "/" + name)
        }
        let store = there + "/Forum data.sqlite"
        let backup = try Migrator().backups(of: store).backup(named: try #require(outcome.backup?.name))
        _ = try Migrator().rollback(store, to: backup)
        let copy = fixture.store
        try POSIXSystem().copy(store, to: copy)
        #expect(try fixture.logicalHash() == before)
        // And with the backups on one volume, the store on another.
        let migrator = Migrator(options: MigrationOptions(backupFolder: fixture.folder.path + "/kept"))
        let prepared = try PreparedMigration(store, versions: try KillableVersions.make())
        let again = try migrator.run(try #require(try prepared.migration()), on: store)
        _ = try migrator.rollback(store, to: try #require(again.backup))
        #expect(try SQLiteShell.run(store, "PRAGMA integrity_check") == "ok\n")
    }

    @Test func `names from a store lead to no file outside of its folder`() throws {
        let library = try BrokenForum(
            """
            INSERT INTO ZFORUM (Z_PK, Z_ENT, Z_OPT, ZNAME, ZICON) VALUES
                (1, 1, 1, 'a', x'02' || CAST('../../../../../../etc/passwd' AS BLOB) || x'00'),
                (2, 1, 1, 'b', x'02' || CAST('/etc/passwd' AS BLOB) || x'00')
            """)
        library.close()
        let audit = try StoreAudit(library.path, model: library.model)
        #expect(audit.findings.contains { $0.code == "external-file-missing" && $0.message.hasPrefix("2 ") })
        let backup = try Migrator().backUp(library.path, version: "../../evil; DROP TABLE")
        #expect(!backup.name.contains("/") && !backup.name.contains(";"))
        #expect(backup.folder.hasPrefix(try POSIXSystem().resolve(library.folder.path)))
        #expect(backup.manifest.externalFiles.isEmpty)
        for name in ["../..", "..", ".", ""] {
            #expect(throws: MigrationError.self) { try Migrator().backups(of: library.path).backup(named: name) }
        }
    }
}

/// A second file system, where there is one.
enum OtherVolume {
    /// A new folder on another volume than the path's; on the same where the machine has only one.
    static func folder(besides path: String) throws -> String {
        let system = POSIXSystem()
        let own = try system.status(of: path)?.device
        let root = try ["/dev/shm", "/tmp", "/var/tmp"].first { root in
            try system.status(of: root).map { $0.device != own } == true && system.isWritable(root)
        }
        if root == nil { print("SKIPPED: this machine has no second volume; the same one is taken") }
        let folder = (root ?? "/tmp") + "/moult-volume-\(UUID().uuidString)"
        try system.makeFolder(folder)
        return folder
    }
}
