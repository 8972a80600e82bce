import Foundation
import Moult
import MoultBasics
import MoultModel
import TestSupport
import Testing

@testable import MoultCare
@testable import MoultEngine

struct BackupCarryingTests {
    private let system = POSIXSystem()

    private func tar(_ arguments: [String]) throws -> String {
        let tar = try ChildProcess.run("tar", arguments)
        #expect(tar.exit == 0, "\(tar.output)")
        return tar.output
    }

    /// A store with an external file whose name is long, and a backup of it.
    private func fixture() throws -> (EngineFixture, BackupFolder, StoreBackup) {
        let fixture = try EngineFixture(isWAL: true)
        let external = fixture.folder.path + "/.Forum data_SUPPORT/_EXTERNAL_DATA"
        try FileManager.default.createDirectory(atPath: external, withIntermediateDirectories: true)
        try system.write((0..<300_001).map { UInt8(truncatingIfNeeded: $0 &* 7) }, to: external + "/3F2504E0")
        try system.write([1, 2, 3], to: external + "/" + String(repeating: "ä", count: 100))
        let backup = try Migrator().backUp(fixture.store, version: "1")
        return (fixture, try Migrator().backups(of: fixture.store), backup)
    }

    @Test func `the manifest says who made it and why, and reads manifests of before`() throws {
        let (fixture, folder, backup) = try fixture()
        defer { withExtendedLifetime(fixture) {} }
        #expect(backup.manifest.reason == .request && backup.manifest.tool == MoultVersion.number)
        let path = backup.folder + "/manifest.json"
        let json = String(decoding: try system.read(path), as: UTF8.self)
        #expect(json.contains("\"reason\": \"request\""))
        let old = json.split(separator: "\n").filter { line in
            !["reason", "tool", "checksum"].contains { line.contains("\"\($0)\"") }
        }.joined(separator: "\n").replacingOccurrences(of: "],\n}", with: "]\n}")
            .replacingOccurrences(of: "\"format\": 2", with: "\"format\": 1")
        try system.write(Array(old.utf8), to: path)
        let read = try StoreBackup(reading: backup.folder, system)
        #expect(read.manifest.reason == nil && read.manifest.sha256 == backup.manifest.sha256)
        try folder.verify(read)
    }

    @Test func `an archive is one that tar reads, and comes back in`() throws {
        let (fixture, folder, backup) = try fixture()
        let path = fixture.folder.path + "/out.tar"
        try folder.export(backup, to: path)
        let listed = Set(try tar(["--quoting-style=literal", "-tf", path]).split(separator: "\n").map(String.init))
        #expect(listed == Set(try system.files(below: backup.folder)))
        let unpacked = fixture.folder.path + "/unpacked"
        try system.makeFolder(unpacked)
        _ = try tar(["-xf", path, "-C", unpacked])
        for file in try system.files(below: backup.folder) {
            #expect(try system.digest(of: unpacked + "/" + file) == system.digest(of: backup.folder + "/" + file))
        }
        let taken = try folder.take(path)
        #expect(taken.name != backup.name && taken.manifest == backup.manifest)
        // What another tar has packed comes in as well.
        let other = fixture.folder.path + "/other.tar"
        _ = try tar(["--format=pax", "-cf", other, "-C", backup.folder] + system.files(below: backup.folder))
        #expect(try folder.take(other).manifest == backup.manifest)
        // And a folder.
        try folder.export(backup, to: fixture.folder.path + "/copy")
        #expect(try folder.take(fixture.folder.path + "/copy").manifest == backup.manifest)
        #expect(try folder.list().count == 4)
        let names = try system.list(fixture.folder.path)
        #expect(!names.contains { $0.hasSuffix(".part") }, "\(names)")
    }

    @Test func `an archive that is cut, changed or hostile is refused, and nothing lands outside`() throws {
        let (fixture, folder, backup) = try fixture()
        let path = fixture.folder.path + "/out.tar"
        try folder.export(backup, to: path)
        let whole = try system.read(path)
        let bad = fixture.folder.path + "/bad.tar"
        func refusal(_ bytes: [UInt8]) throws -> MigrationError.Code? {
            try system.write(bytes, to: bad)
            return #expect(throws: MigrationError.self) { try folder.take(bad) }?.code
        }
        for count in [0, 100, 512, 700, whole.count / 2, whole.count - 1024] {
            #expect(try refusal(Array(whole.prefix(count))) == .backupInvalid, "\(count)")
        }
        let seed = SeededGenerator.seedOfRun
        var generator = SeededGenerator(seed: seed)
        var (tried, refused) = (0, 0)
        for _ in Tier.faults.rounds(quick: 40, full: 2_000, sharedBy: 4) {
            var bytes = whole
            let place = Int.random(in: 0..<bytes.count, using: &generator)
            bytes[place] ^= UInt8(1 << Int.random(in: 0..<8, using: &generator))
            try system.write(bytes, to: bad)
            // Padding, and what the manifest says that no file proves (its date, its reason), may change; the files not.
            tried += 1
            guard let taken = try? folder.take(bad) else {
                refused += 1
                continue
            }
            let (new, old) = (taken.manifest, backup.manifest)
            let isSame = new.sha256 == old.sha256 && new.externalFiles == old.externalFiles
            #expect(isSame, "byte \(place), MOULT_SEED=\(seed)")
        }
        #expect(refused > tried / 2, "MOULT_SEED=\(seed)")
        for name in ["../escaped", "/tmp/moult-escaped", "a/../../escaped", "."] {
            let archive = try TapeArchive.Writer(fixture.folder.path + "/evil-\(UUID().uuidString).tar", system)
            try archive.add([1], as: name)
            try archive.finish()
        }
        for evil in try system.list(fixture.folder.path) where evil.hasPrefix("evil") {
            let error = #expect(throws: MigrationError.self) { try folder.take(fixture.folder.path + "/" + evil) }
            #expect(error?.code == .backupInvalid)
        }
        #expect(try !system.exists(fixture.folder.path + "/escaped"))
        #expect(try !system.exists("/tmp/moult-escaped"))
        // A manifest whose names lead out is none.
        let manifest = backup.folder + "/manifest.json"
        let text = String(decoding: try system.read(manifest), as: UTF8.self)
        for name in ["../x", "..", "", "a/b"] {
            let changed = text.replacingOccurrences(of: "\"Forum data.sqlite\"", with: "\"\(name)\"")
            try system.write(Array(changed.utf8), to: manifest)
            #expect(throws: MigrationError.self) { try StoreBackup(reading: backup.folder, system) }
        }
    }

    @Test func `a copy of the main file alone is refused, with its WAL it is taken`() throws {
        let fixture = try EngineFixture(isWAL: true)
        let folder = try Migrator().backups(of: fixture.store)
        let copy = fixture.folder.path + "/copy"
        try system.makeFolder(copy)
        try system.copy(fixture.store, to: copy + "/Forum data.sqlite")
        // SQLite itself finds nothing wrong with it, and next to nothing in it.
        let error = #expect(throws: MigrationError.self) { try folder.take(copy + "/Forum data.sqlite") }
        #expect([.backupInvalid, .notAStore].contains(error?.code))
        try system.copy(fixture.store + "-wal", to: copy + "/Forum data.sqlite-wal")
        let taken = try folder.take(copy + "/Forum data.sqlite", version: "1")
        #expect(taken.manifest.rows["ZITEM"] == 1_000 && taken.manifest.reason == .imported)
        try folder.verify(taken)
        // An app that closes its store leaves no WAL behind.
        _ = try fixture.shell("PRAGMA wal_checkpoint(TRUNCATE)")
        try system.copy(fixture.store, to: copy + "/closed.sqlite")
        let open = #expect(throws: MigrationError.self) { try folder.take(copy + "/closed.sqlite") }
        #expect(open?.code == .backupInvalid && open?.message.contains("-wal") == true)
        #expect(try folder.take(copy + "/closed.sqlite", wasClosed: true).manifest.rows["ZITEM"] == 1_000)
    }

    @Test(arguments: [true, false])
    func `what is taken in is no more readable than the store, whatever its source is`(isThere: Bool) throws {
        let (fixture, _, backup) = try fixture()
        _ = try fixture.shell("PRAGMA wal_checkpoint(TRUNCATE)")
        let wide = fixture.folder.path + "/wide"
        try system.makeFolder(wide, .byUmask)
        try system.copy(fixture.store, to: wide + "/closed.sqlite", .byUmask)
        try Migrator().backups(of: fixture.store).export(backup, to: wide + "/whole")
        try Migrator().backups(of: fixture.store).export(backup, to: wide + "/whole.tar")
        for path in [wide] + (try system.files(below: wide)).map({ wide + "/" + $0 }) {
            try system.setMode(path.hasSuffix("wide") ? 0o755 : 0o644, of: path)
        }
        try system.setMode(0o600, of: fixture.store)
        let store = isThere ? fixture.store : fixture.folder.path + "/gone.sqlite"
        for source in ["closed.sqlite", "whole", "whole.tar"] {
            let taken = try Migrator().importBackup(wide + "/" + source, for: store, version: "1", wasClosed: true)
            let paths = try [""] + FileManager.default.subpathsOfDirectory(atPath: taken.folder).map { "/" + $0 }
            let modes = try paths.map { try system.status(of: taken.folder + $0)?.mode ?? 0o777 }
            #expect(modes.count > 2 && modes.allSatisfy { $0 & 0o077 == 0 }, "\(source): \(modes)")
        }
    }

    @Test func `a WAL of another state beside a file is told`() throws {
        let fixture = try EngineFixture(isWAL: true)
        let folder = try Migrator().backups(of: fixture.store)
        let old = try Migrator().backUp(fixture.store, version: "1")
        // The app goes on, and dies; then somebody copies the backup over the store and forgets the WAL.
        let app = try SQLiteProcess(fixture.store)
        try app.run("PRAGMA wal_autocheckpoint = 0; UPDATE ZITEM SET ZNAME = 'later', Z_OPT = 9")
        app.kill()
        #expect(try WriteAheadLog(beside: fixture.store, system)?.strangeness() == nil)
        Thread.sleep(forTimeInterval: 0.02)
        try system.remove(fixture.store)
        try system.write(try system.read(old.store), to: fixture.store)
        #expect(try SQLiteShell.run(fixture.store, "PRAGMA integrity_check", immutable: true) == "ok\n")
        let error = #expect(throws: MigrationError.self) { try folder.take(fixture.store) }
        #expect(error?.code == .backupInvalid && error?.message.contains("belongs to another file") == true)
        let diagnosis = StoreDiagnosis(fixture.store)
        #expect(diagnosis.findings.contains { $0.code == "stale-wal" })
    }

    /// Whether the log's transactions make the store larger.
    @Test(arguments: [true, false])
    func `a WAL that was copied before its store is the store's own`(grows: Bool) throws {
        let fixture = try EngineFixture()
        let app = try SQLiteProcess(fixture.store)
        let sql = grows ? "UPDATE ZITEM SET ZDATA = zeroblob(9000) WHERE Z_PK < 9" : "UPDATE ZITEM SET Z_OPT = 7"
        try app.run("PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0; \(sql)")
        app.kill()
        let copy = fixture.folder.path + "/copied.sqlite"
        try system.write(try system.read(fixture.store + "-wal"), to: copy + "-wal")
        try system.write(try system.read(fixture.store), to: copy)
        for (path, seconds) in [(copy + "-wal", 1_000.0), (copy, 2_000.0)] {
            let date = Date(timeIntervalSince1970: 1_700_000_000 + seconds)
            try FileManager.default.setAttributes([.modificationDate: date], ofItemAtPath: path)
        }
        let log = try #require(try WriteAheadLog(beside: copy, system))
        #expect(try log.strangeness() == nil)
        #expect(!StoreDiagnosis(copy).findings.contains { $0.code == "stale-wal" })
        #expect(try SQLiteShell.run(copy, "PRAGMA integrity_check") == "ok\n")
        #expect(try SQLiteShell.run(copy, "SELECT count(*) FROM ZITEM WHERE Z_OPT = 7") == (grows ? "0\n" : "1000\n"))
    }

    @Test func `a rollback to where only a stale WAL lies sets it aside`() throws {
        let fixture = try EngineFixture(isWAL: true)
        let old = try fixture.logicalHash()
        let backup = try Migrator().backUp(fixture.store, version: "1")
        let wal = try system.read(fixture.store + "-wal")
        try system.remove(fixture.store)
        let outcome = try Migrator().rollback(fixture.store, to: backup)
        #expect(try fixture.logicalHash() == old)
        let aside = try #require(outcome.setAside)
        #expect(try system.read(aside + "/Forum data.sqlite-wal") == wal)
    }
}
