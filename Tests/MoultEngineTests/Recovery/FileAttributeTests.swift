import Foundation
import Moult
import MoultBasics
import MoultEngine
import MoultModel
import MoultSQLite
import MoultStore
import TestSupport
import Testing

/// What Moult makes beside or in place of a store has the store's permissions, group and extended attributes.
struct FileAttributeTests {
    private static let name = "user.moult.test"

    /// A store with external data, an attribute, and permissions that a group shares.
    private struct Place {
        let folder: ScratchFolder
        let group: UInt32
        var store: String { folder.path + "/store.sqlite" }

        /// Returns nil where the file system has no such attributes.
        init?() throws {
            folder = try ScratchFolder()
            let path = folder.path + "/store.sqlite"
            try FlightVersions.makeStore(at: path, count: 6, external: 1)
            // Root may give a file any group.
            if geteuid() == 0 { #expect(chown(path, uid_t.max, 12_345) == 0) }
            #expect(chmod(path, 0o640) == 0)
            group = try POSIXSystem().status(of: path)?.group ?? 0
            guard try FileAttributes.set(FileAttributeTests.name, "of the store", of: path) else { return nil }
        }

        /// Expects that every one of these files is as the store is.
        func expectSame(_ paths: [String]) throws {
            for path in paths {
                let status = try #require(try POSIXSystem().status(of: path), "\(path)")
                #expect(status.mode == 0o640 && status.group == group, "\(path)")
                #expect(try FileAttributes.value(FileAttributeTests.name, of: path) == "of the store", "\(path)")
            }
        }

        /// The files of external data of a store.
        func external(_ store: String) throws -> [String] {
            let folder = ExternalStorage(store: store).folder
            let names = try FileManager.default.contentsOfDirectory(atPath: folder)
            #expect(!names.isEmpty)
            return names.map { "\(folder)/\($0)" }
        }
    }

    @Test func `a migration keeps them, and so do its backup and a store that is made anew from that`() throws {
        guard let place = try Place() else { return }
        let versions = try FlightVersions.make()
        let prepared = try PreparedMigration(place.store, versions: versions, to: "V2")
        let backup = try #require(try Migrator().run(prepared).first?.backup)
        let sidecar = StoreRecords(store: place.store)
        try place.expectSame([place.store, backup.store, sidecar.runs, sidecar.log, sidecar.lock])
        try place.expectSame(place.external(backup.store))
        try FileManager.default.removeItem(atPath: place.store)
        _ = try Migrator().rollback(place.store, to: backup)
        try place.expectSame([place.store])
    }

    @Test func `a migration into another file keeps them, and so does a move to another volume`() throws {
        guard let place = try Place() else { return }
        let versions = try FlightVersions.make()
        let prepared = try PreparedMigration(place.store, versions: versions, to: "V2")
        let new = place.folder.path + "/new.sqlite"
        _ = try Migrator().run(prepared, into: new)
        try place.expectSame([new] + place.external(new))
        let there = place.folder.path + "/there"
        try FileManager.default.createDirectory(atPath: there, withIntermediateDirectories: true)
        let report = try Migrator(system: TwoVolumes(at: there)).move(place.store, to: there, version: { "V1" })
        let backup = try #require(report.backup)
        try place.expectSame([report.destination, backup.store])
        try place.expectSame(place.external(report.destination) + place.external(backup.store))
    }

    @Test func `the log that SQLite makes beside it is for the same users`() throws {
        let folder = try ScratchFolder()
        let path = folder.path + "/store.sqlite"
        try FlightVersions.makeStore(at: path, count: 2, external: 0)
        #expect(chmod(path, 0o640) == 0)
        let writer = try SQLiteProcess(path)
        _ = try writer.run("PRAGMA journal_mode = WAL; UPDATE ZAIRCRAFT SET ZNAME = 'changed'")
        writer.kill()
        #expect(try POSIXSystem().status(of: path + "-wal")?.mode == 0o640)
        _ = try Migrator().backUp(path, version: "V1")
        #expect(try POSIXSystem().status(of: path + "-wal")?.mode ?? 0o640 == 0o640)
        #expect(try POSIXSystem().status(of: path)?.mode == 0o640)
    }

    @Test func `the copies that are set aside of a damaged store are for the same users`() throws {
        guard let place = try Place() else { return }
        let backup = try Migrator().backUp(place.store, version: "V1")
        var bytes = try POSIXSystem().read(place.store)
        for position in 0..<4_096 { bytes[position] = 0xEE }
        try POSIXSystem().write(bytes, to: place.store)
        let report = try Migrator().rollback(place.store, to: backup)
        let aside = try #require(report.setAside)
        try place.expectSame([aside + "/store.sqlite", place.store])
    }
}

/// A store that the system does not open yet, as before the first unlock of a device.
struct ProtectedDataTests {
    /// Opens no file of the folder for reading.
    private struct LockedDevice: ForwardingSystem {
        let folder: String

        private func check(_ path: String) throws {
            if path.hasPrefix(folder + "/") { throw MigrationError.system("read", path, error: EPERM) }
        }
        func read(_ path: String, prefix count: Int) throws -> [UInt8] {
            try check(path)
            return try real.read(path, prefix: count)
        }
        func digest(of path: String) throws -> [UInt8] {
            try check(path)
            return try real.digest(of: path)
        }
    }

    private func names(in folder: String) throws -> [String] {
        try FileManager.default.subpathsOfDirectory(atPath: folder).sorted()
    }

    @Test func `it is an outcome of its own, and nothing is touched`() throws {
        let fixture = try EngineFixture()
        let folder = try POSIXSystem().resolve(fixture.folder.path)
        let device = LockedDevice(folder: folder)
        let (bytes, before) = (try POSIXSystem().read(fixture.store), try names(in: folder))
        let migrator = Migrator(system: device)
        let calls: [(String, () throws -> Void)] = [
            ("read", { try ReadOnlyStore.read(fixture.store, system: device) { _ in } }),
            ("back up", { _ = try migrator.backUp(fixture.store, version: "1") }),
            ("recover", { _ = try migrator.recover(fixture.store) }),
            ("move", { _ = try migrator.move(fixture.store, to: folder + "/new.sqlite", version: { "1" }) }),
        ]
        for (name, call) in calls {
            let error = #expect(throws: MigrationError.self, "\(name)") { try call() }
            #expect(error?.code == .protectedData && error?.exitCode == 3, "\(name): \(String(describing: error))")
            #expect(error?.place == fixture.store && error?.coreData?.number == 257, "\(name)")
            #expect(error?.remedy.contains("protectedDataDidBecomeAvailable") == true, "\(name)")
        }
        #expect(try POSIXSystem().read(fixture.store) == bytes)
        #expect(try names(in: folder) == before)
    }

    @Test func `a file that this user may not read is another error, and so is one that may not be written`() {
        #expect(MigrationError.system("read", "/a", error: EACCES).code == .fileNotReadable)
        #expect(MigrationError.system("rename", "/a", error: EPERM).code == .readOnly)
        #expect(MigrationError.system("read", "/a", error: EPERM).code == .protectedData)
        // SQLITE_CANTOPEN and SQLITE_IOERR_READ.
        #expect(MigrationError.sqlite(14, "", place: "/a", system: EPERM).code == .protectedData)
        #expect(MigrationError.sqlite(266, "", place: "/a", system: EPERM).code == .protectedData)
        #expect(MigrationError.sqlite(14, "", place: "/a", system: EACCES).code == .fileNotReadable)
    }
}
