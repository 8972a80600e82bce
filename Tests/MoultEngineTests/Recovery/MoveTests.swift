import Foundation
import Moult
import MoultBasics
import MoultEngine
import MoultStore
import TestSupport
import Testing

/// A store that goes to another path, on one volume or to another, with everything that belongs to it.
struct MoveTests {
    private static let external = "_SUPPORT/_EXTERNAL_DATA/AAAAAAAA"

    /// A store with a file of external data and a backup, and a folder `there`.
    private struct Place {
        let fixture: EngineFixture
        let earlier: StoreBackup
        let there: String
        var old: String { fixture.store }
        var new: String { there + "/Moved.sqlite" }

        init(isWAL: Bool = false) throws {
            fixture = try EngineFixture(isWAL: isWAL)
            there = fixture.folder.path + "/there"
            try FileManager.default.createDirectory(atPath: there, withIntermediateDirectories: true)
            let folder = fixture.folder.path + "/.Forum data_SUPPORT/_EXTERNAL_DATA"
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            try Data("picture".utf8).write(to: URL(fileURLWithPath: folder + "/AAAAAAAA"))
            earlier = try Migrator().backUp(fixture.store, version: "1")
        }

        func exists(_ path: String) -> Bool { FileManager.default.fileExists(atPath: path) }

        /// The sqlite3 shell's hash over all rows of a store, in a copy.
        func hash(_ store: String) throws -> String {
            let copy = try ScratchFolder()
            for suffix in ["", "-wal", "-journal"] where exists(store + suffix) {
                try FileManager.default.copyItem(atPath: store + suffix, toPath: copy.path + "/store" + suffix)
            }
            #expect(try SQLiteShell.run(copy.path + "/store", "PRAGMA integrity_check") == "ok\n")
            return try SQLiteShell.run(copy.path + "/store", ".sha3sum --schema")
        }
    }

    private func move(_ place: Place, on system: any System = POSIXSystem()) throws -> MoveReport {
        try Migrator(options: MigrationOptions(patience: 100), system: system)
            .move(place.old, to: place.new, version: { "1" })
    }

    @Test(arguments: [false, true], [false, true])
    func `a store is at the new path with all that belongs to it, and a backup is at the old one`(
        isWAL: Bool, isOtherVolume: Bool
    ) throws {
        let place = try Place(isWAL: isWAL)
        let before = try place.hash(place.old)
        let file = try #require(try POSIXSystem().status(of: place.old))
        let report = try move(place, on: isOtherVolume ? TwoVolumes(at: place.there) : POSIXSystem())
        #expect(report.outcome == .moved && report.destination == place.new && report.untidied == nil)
        #expect(try place.hash(place.new) == before)
        #expect(try SQLiteShell.run(place.new, "PRAGMA journal_mode") == (isWAL ? "wal\n" : "delete\n"))
        #expect(try POSIXSystem().status(of: place.new)?.isSameFile(as: file) == !isOtherVolume)
        let bytes = try Data(contentsOf: URL(fileURLWithPath: place.there + "/.Moved" + Self.external))
        #expect(bytes == Data("picture".utf8))
        // Nothing of the store is left at the old path but the records.
        #expect(!place.exists(place.old))
        #expect(try place.fixture.namesBeside() == ["there"])
        let (old, new) = (StoreRecords(store: place.old), StoreRecords(store: place.new))
        #expect(try RunHistory(old).records().map(\.operation) == [.move])
        #expect(try RunHistory(new).records().map(\.backup) == [nil])
        #expect(!place.exists(place.old + ".moult/journal.json") && !place.exists(new.arrival))
        // The earlier backup went along.
        let kept = try #require(report.backup)
        #expect(try BackupFolder(old.backups).list().map(\.name) == [kept.name])
        let carried = try #require(try BackupFolder(new.backups).list().first)
        #expect(carried.name == place.earlier.name)
        try BackupFolder(new.backups).verify(carried)
        // The old path says where the store is; the same call again has nothing to do.
        let error = #expect(throws: MigrationError.self) {
            _ = try ReadOnlyStore.checkFile(place.old, POSIXSystem())
        }
        #expect(error?.code == .fileNotFound && error?.message.contains("was moved to \(place.new)") == true)
        #expect(try move(place).outcome == .nothingToDo)
        // And the backup there is a way back.
        let backup = try Migrator().backup(named: nil, of: place.old, in: { nil })
        #expect(backup.name == kept.name)
        _ = try Migrator().rollback(place.old, to: backup)
        let restored = try place.hash(place.old)
        #expect(restored.isEmpty == false && place.exists(place.new))
    }

    @Test func `a call during which another one moves the store has nothing to do`() throws {
        let place = try Place()
        let before = try place.hash(place.old)
        let report = try Migrator().move(
            place.old, to: place.new,
            version: {
                let first = try move(place)
                #expect(first.outcome == .moved)
                return "1"
            })
        #expect(report.outcome == .nothingToDo && report.destination == place.new)
        #expect(try place.hash(place.new) == before)
        // A call with another path gets an error that names the move.
        let other = #expect(throws: MigrationError.self) {
            _ = try Migrator().move(place.old, to: place.there + "/Other.sqlite", version: { "1" })
        }
        #expect(other?.code == .fileNotFound && other?.message.contains("was moved to \(place.new)") == true)
    }

    @Test func `a folder stands for the store's own name in it`() throws {
        let place = try Place()
        let report = try Migrator().move(place.old, to: place.there, version: { "1" })
        #expect(report.destination == place.there + "/Forum data.sqlite")
        #expect(place.exists(report.destination) && !place.exists(place.old))
    }

    @Test(arguments: ["Moved.sqlite", "Moved.sqlite-wal", "Moved.sqlite.moult", ".Moved_SUPPORT"])
    func `a path that is taken is refused, and nothing is changed`(name: String) throws {
        let place = try Place()
        let bytes = try POSIXSystem().read(place.old)
        try POSIXSystem().write([1], to: place.there + "/" + name)
        let error = #expect(throws: MigrationError.self) { _ = try move(place) }
        #expect(error?.code == .usage && error?.exitCode == 2)
        #expect(try POSIXSystem().read(place.old) == bytes)
        #expect(try FileManager.default.contentsOfDirectory(atPath: place.there) == [name])
        #expect(!place.exists(place.old + ".moult/journal.json"))
    }

    @Test func `a missing folder is refused, and so is a path that shares the external data`() throws {
        let place = try Place()
        let missing = #expect(throws: MigrationError.self) {
            _ = try Migrator().move(place.old, to: place.there + "/none/Moved.sqlite", version: { "1" })
        }
        #expect(missing?.code == .fileNotFound)
        let shared = #expect(throws: MigrationError.self) {
            _ = try Migrator().move(place.old, to: place.fixture.folder.path + "/Forum data.store", version: { "1" })
        }
        #expect(shared?.code == .usage)
        #expect(place.exists(place.old))
    }

    @Test(arguments: [false, true])
    func `a store that another process has open stays where it is`(isWAL: Bool) throws {
        let place = try Place(isWAL: isWAL)
        let app = try SQLiteProcess(place.old)
        try app.run("BEGIN; SELECT count(*) FROM ZITEM")
        let error = #expect(throws: MigrationError.self) { _ = try move(place) }
        #expect(error?.code == .locked && error?.message.contains("(\(app.identifier))") == true)
        app.end()
        #expect(place.exists(place.old))
        #expect(try FileManager.default.contentsOfDirectory(atPath: place.there) == [])
    }

    @Test(arguments: [false, true])
    func `a cancelled move leaves nothing at the new place, and no backup`(isOtherVolume: Bool) throws {
        let place = try Place()
        let hasBackup = Flag()
        let observer = MigrationObserver(
            onProgress: { if $0.message?.hasPrefix("Made the backup") == true { hasBackup.raise() } },
            isCancelled: { hasBackup.isRaised })
        let system: any System = isOtherVolume ? TwoVolumes(at: place.there) : POSIXSystem()
        let error = #expect(throws: MigrationError.self) {
            _ = try Migrator(system: system).move(place.old, to: place.new, version: { "1" }, observer)
        }
        #expect(error?.code == .cancelled && hasBackup.isRaised)
        #expect(place.exists(place.old))
        #expect(try FileManager.default.contentsOfDirectory(atPath: place.there) == [])
        let records = StoreRecords(store: place.old)
        #expect(try FileManager.default.contentsOfDirectory(atPath: records.backups) == [place.earlier.name])
        #expect(!place.exists(records.journal) && !place.exists(records.work("probe")))
        #expect(try RunHistory(records).records().map(\.result) == [.cancelled])
    }

    private final class Flag: @unchecked Sendable {
        private let lock = NSLock()
        private var value = false
        var isRaised: Bool { lock.withLock { value } }
        func raise() { lock.withLock { value = true } }
    }

    // MARK: - A cleanup that fails

    /// Fails once: the first time that a path is synchronised, or removed, that meets a condition.
    private final class FailingOnce: ForwardingSystem, @unchecked Sendable {
        private let isMeant: @Sendable (_ path: String) -> Bool
        private let hasFailed = Flag()

        init(_ isMeant: @escaping @Sendable (_ path: String) -> Bool) { self.isMeant = isMeant }

        private func check(_ path: String) throws {
            guard isMeant(path), !hasFailed.isRaised else { return }
            hasFailed.raise()
            throw MigrationError.system("change", path, error: EIO)
        }

        func synchronise(_ path: String) throws {
            try check(path)
            try real.synchronise(path)
        }
        func remove(_ path: String) throws -> Bool {
            try check(path)
            return try real.remove(path)
        }
    }

    @Test func `a backup that came along is removed as a whole`() throws {
        let place = try Place()
        let folder = place.old + ".moult/backups"
        let report = try move(place, on: FailingOnce { $0.hasPrefix(folder) && $0.hasSuffix("/manifest.json") })
        #expect(report.untidied?.code == .inputOutput)
        let kept = try #require(report.backup)
        // The rest of the other one no longer has its name.
        #expect(try BackupFolder(folder).list().map(\.name) == [kept.name])
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder).count == 2)
        #expect(try move(place).outcome == .moved)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == [kept.name])
        try BackupFolder(folder).verify(kept)
        #expect(kept.externalFiles == 1)
    }

    @Test(arguments: [false, true])
    func `nothing at the old place is removed before the new path is durable`(isOtherVolume: Bool) throws {
        let place = try Place()
        let (new, there) = (place.new, place.there)
        let failing = FailingOnce { $0 == there && FileManager.default.fileExists(atPath: new) }
        let report = try move(place, on: isOtherVolume ? TwoVolumes(failing, at: there) : failing)
        #expect(report.outcome == .moved && report.untidied?.code == .inputOutput)
        let external = place.fixture.folder.path + "/.Forum data" + Self.external
        #expect(place.exists(external) && place.exists(place.old) == isOtherVolume)
        #expect(try Migrator().recover(place.new) == .completed)
        #expect(!place.exists(external) && !place.exists(place.old))
        #expect(try FileManager.default.contentsOfDirectory(atPath: there).allSatisfy { !$0.hasSuffix(".part") })
    }

    // MARK: - A process that dies

    /// Dies when the new store has its path: nothing is changed after that. Another process starts later.
    private final class Dying: ForwardingSystem, @unchecked Sendable {
        let volumes: any System
        let end: String
        private let lock = NSLock()
        private var isDead = false

        init(_ there: String, after end: String, isOtherVolume: Bool = true) {
            (volumes, self.end) = (isOtherVolume ? TwoVolumes(at: there) : POSIXSystem(), end)
        }

        private func check(_ path: String) throws {
            if lock.withLock({ isDead }) { throw MigrationError.system("write", path, error: EIO) }
        }

        func startTime(ofProcess identifier: Int32) -> String? { "an earlier process" }
        func rename(_ path: String, to newPath: String) throws {
            try check(path)
            try volumes.rename(path, to: newPath)
        }
        func rename(_ path: String, toUnused newPath: String) throws {
            try check(path)
            try volumes.rename(path, toUnused: newPath)
            if newPath == end { lock.withLock { isDead = true } }
        }
        func write(_ bytes: [UInt8], to path: String, _ rights: FileRights) throws {
            try check(path)
            try real.write(bytes, to: path, rights)
        }
        func append(_ bytes: [UInt8], to path: String, _ rights: FileRights) throws {
            try check(path)
            try real.append(bytes, to: path, rights)
        }
        func remove(_ path: String) throws -> Bool {
            try check(path)
            return try real.remove(path)
        }
    }

    private static let write = "UPDATE ZITEM SET ZNAME = 'written later' WHERE Z_PK = 7"
    private static let written = "SELECT count(*) FROM ZITEM WHERE ZNAME = 'written later'"

    @Test(arguments: ["neither", "old", "new", "both"], [false, true])
    func `the next run at either path leaves one store, with what was written since`(
        writes: String, isFromOld: Bool
    ) throws {
        let place = try Place()
        let report = try move(place, on: Dying(place.there, after: place.new))
        #expect(report.untidied != nil)
        // Both are there, and the same.
        #expect(try place.hash(place.old) == place.hash(place.new))
        if ["old", "both"].contains(writes) { _ = try SQLiteShell.run(place.old, Self.write) }
        if ["new", "both"].contains(writes) { _ = try SQLiteShell.run(place.new, Self.write) }
        let outcome = try Migrator().recover(isFromOld ? place.old : place.new)
        let isBack = writes == "old"
        #expect(outcome == (isBack ? .undone : .completed))
        #expect(place.exists(place.old) == isBack && place.exists(place.new) == !isBack)
        let store = isBack ? place.old : place.new
        #expect(try SQLiteShell.run(store, Self.written) == (writes == "neither" ? "0\n" : "1\n"))
        // What both were written to is in a backup too.
        let backups = try BackupFolder(StoreRecords(store: place.old).backups).list()
        let later = try backups.filter { try SQLiteShell.run($0.store, Self.written, immutable: true) == "1\n" }
        #expect(later.count == (writes == "both" ? 1 : 0))
        let support = (isBack ? place.fixture.folder.path + "/.Forum data" : place.there + "/.Moved") + Self.external
        #expect(place.exists(support))
        let names = try FileManager.default.contentsOfDirectory(atPath: place.there)
        #expect(names.allSatisfy { !$0.hasSuffix(".part") } && names.isEmpty == isBack, "\(names)")
        #expect(try Migrator().recoverIfNeeded(store) == .nothing)
        // The same call again.
        #expect(try move(place).outcome == (isBack ? .moved : .nothingToDo))
        #expect(place.exists(place.new) && !place.exists(place.old))
    }

    /// A disk on which the manifests of backups cannot be read.
    private struct UnreadableManifests: ForwardingSystem {
        func read(_ path: String, prefix count: Int) throws -> [UInt8] {
            guard !path.hasSuffix("/manifest.json") else { throw MigrationError.system("read", path, error: EIO) }
            return try real.read(path, prefix: count)
        }
    }

    @Test func `the old store is not taken for another one while its backup cannot be read`() throws {
        let place = try Place()
        _ = try move(place, on: Dying(place.there, after: place.new))
        _ = try SQLiteShell.run(place.old, Self.write)
        let error = #expect(throws: MigrationError.self) {
            try Migrator(system: UnreadableManifests()).recover(place.old)
        }
        #expect(error?.code == .inputOutput)
        #expect(try Migrator().recover(place.old) == .undone)
        #expect(try SQLiteShell.run(place.old, Self.written) == "1\n")
    }

    @Test(arguments: [false, true])
    func `another store that was made at the old path stays, and so does the moved one`(isOtherVolume: Bool) throws {
        let place = try Place()
        let before = try place.hash(place.old)
        _ = try move(place, on: Dying(place.there, after: place.new, isOtherVolume: isOtherVolume))
        let other = try EngineFixture(rows: 3)
        #expect(place.exists(place.old) == isOtherVolume)
        if isOtherVolume { try FileManager.default.removeItem(atPath: place.old) }
        try FileManager.default.copyItem(atPath: other.store, toPath: place.old)
        _ = try SQLiteShell.run(place.old, "UPDATE Z_METADATA SET Z_UUID = '00000000-2D16-4A0A-8AD4-4C8A4D9D6F36'")
        #expect(try Migrator().recover(place.new) == .completed)
        #expect(try SQLiteShell.run(place.old, "SELECT count(*) FROM ZITEM") == "3\n")
        #expect(try place.hash(place.new) == before)
        #expect(place.exists(place.there + "/.Moved" + Self.external))
        #expect(try BackupFolder(StoreRecords(store: place.new).backups).list().map(\.name) == [place.earlier.name])
        let names = try FileManager.default.contentsOfDirectory(atPath: place.there)
        #expect(names.allSatisfy { !$0.hasSuffix(".part") }, "\(names)")
    }

    @Test(arguments: [false, true])
    func `another store that was made at the new path before the moved one stays, with its files`(
        isOtherVolume: Bool
    ) throws {
        let place = try Place()
        let before = try place.hash(place.old)
        // Only the store itself is not renamed yet.
        let dying = Dying(place.there, after: place.new + ".moult", isOtherVolume: isOtherVolume)
        #expect(throws: MigrationError.self) { _ = try move(place, on: dying) }
        let other = try EngineFixture(rows: 3)
        try FileManager.default.copyItem(atPath: other.store, toPath: place.new)
        _ = try SQLiteShell.run(place.new, "UPDATE Z_METADATA SET Z_UUID = '00000000-2D16-4A0A-8AD4-4C8A4D9D6F36'")
        let own = place.there + "/.Moved_SUPPORT/_EXTERNAL_DATA/BBBBBBBB"
        try Data("its own".utf8).write(to: URL(fileURLWithPath: own))
        #expect(try Migrator().recover(place.old) == .undone)
        #expect(place.exists(own))
        #expect(try SQLiteShell.run(place.new, "SELECT count(*) FROM ZITEM") == "3\n")
        #expect(try place.hash(place.old) == before)
        #expect(place.exists(place.fixture.folder.path + "/.Forum data" + Self.external))
        #expect(!place.exists(place.old + ".moult/journal.json"))
    }

    @Test func `a file at the old path that is no store does not stop the end of a move`() throws {
        let place = try Place()
        _ = try move(place, on: Dying(place.there, after: place.new, isOtherVolume: false))
        try POSIXSystem().write(Array(repeating: 0x41, count: 8_192), to: place.old)
        #expect(try Migrator().recover(place.new) == .completed)
        #expect(place.exists(place.old) && !place.exists(place.old + ".moult/journal.json"))
        #expect(try SQLiteShell.run(place.new, "SELECT count(*) FROM ZITEM") == "1000\n")
    }
}
