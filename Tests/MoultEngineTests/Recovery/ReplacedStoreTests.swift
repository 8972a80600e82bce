import Foundation
import Moult
import MoultBasics
import MoultModel
import TestSupport
import Testing

@testable import MoultCare
@testable import MoultEngine

/// A backup over a store that is damaged or gone: the file stays the same, and what died is known afterwards.
struct ReplacedStoreTests {
    private let system = POSIXSystem()

    /// Ends with an error at its n-th change of a file.
    private final class Failing: ForwardingSystem, @unchecked Sendable {
        var calls = 0
        var failing: Int

        init(at failing: Int) { self.failing = failing }

        private func count(_ path: String) throws {
            calls += 1
            if calls == failing { throw MigrationError.system("change", path, error: 5) }
        }

        func rename(_ path: String, to newPath: String) throws {
            try count(path)
            try real.rename(path, to: newPath)
        }

        func rename(_ path: String, toUnused newPath: String) throws {
            try count(path)
            try real.rename(path, toUnused: newPath)
        }

        func copy(_ path: String, to copy: String) throws {
            try count(path)
            try real.copy(path, to: copy)
        }
    }

    private func damaged() throws -> (EngineFixture, StoreBackup, [UInt8]) {
        let fixture = try EngineFixture()
        let backup = try Migrator().backUp(fixture.store, version: "1")
        let bytes =
            try [UInt8](repeating: 0xEE, count: 4_096) + system.read(fixture.store).dropFirst(4_096).dropLast(77)
        try system.write(bytes, to: fixture.store)
        return (fixture, backup, bytes)
    }

    @Test func `a restore keeps the file, so that who has it open sees the restored store`() throws {
        let (fixture, backup, _) = try damaged()
        let before = try #require(try system.status(of: fixture.store)).inode
        _ = try Migrator().rollback(fixture.store, to: backup)
        #expect(try system.status(of: fixture.store)?.inode == before)
        #expect(try SQLiteShell.run(fixture.store, "PRAGMA integrity_check") == "ok\n")
        // The backup's own journal mode, and no log beside it.
        #expect(try SQLiteShell.run(fixture.store, "PRAGMA journal_mode") == "delete\n")
        #expect(try !system.exists(fixture.store + "-wal"))
    }

    @Test(arguments: 1...3)
    func `a restore that fails leaves every byte of the damaged store, and no run behind`(failing: Int) throws {
        let (fixture, backup, bytes) = try damaged()
        let failingSystem = Failing(at: failing)
        do {
            _ = try Migrator(system: failingSystem).rollback(fixture.store, to: backup)
            // What failed came after the commit.
            #expect(try SQLiteShell.run(fixture.store, "PRAGMA integrity_check") == "ok\n")
            #expect(failing > 1)
        } catch is MigrationError {
            #expect(try system.read(fixture.store) == bytes)
            #expect(try !system.exists(fixture.store + "-wal"))
            #expect(try !Migrator().isUnfinished(fixture.store))
        }
    }

    @Test func `another program that has a transaction open is not run over`() throws {
        let (fixture, backup, bytes) = try damaged()
        let sound = fixture.folder.path + "/sound.sqlite"
        try system.copy(backup.store, to: sound)
        // The shell locks a file before it finds out that it is no database.
        try system.write(try system.read(sound), to: fixture.store)
        let other = try SQLiteProcess(fixture.store)
        _ = try other.run("BEGIN IMMEDIATE; SELECT count(*) FROM ZITEM")
        try system.remove(sound)
        let descriptor = try FileHandle(forWritingTo: URL(fileURLWithPath: fixture.store))
        try descriptor.write(contentsOf: Data(bytes.prefix(4_096)))
        try descriptor.close()
        var options = MigrationOptions()
        options.patience = 0
        let error = #expect(throws: MigrationError.self) {
            try Migrator(options: options).rollback(fixture.store, to: backup)
        }
        #expect(error?.code == .locked)
        other.kill()
        _ = try Migrator().rollback(fixture.store, to: backup)
        #expect(try SQLiteShell.run(fixture.store, "PRAGMA integrity_check") == "ok\n")
    }

    @Test func `a store that was made in the place of a lost one is not taken for the restored one`() throws {
        let fixture = try EngineFixture()
        let backup = try Migrator().backUp(fixture.store, version: "1")
        let sidecar = StoreRecords(store: try system.resolve(fixture.store))
        try system.remove(fixture.store)
        // A restore that died before it gave the store its name.
        var journal = Journal(
            run: "r", operation: .rollback, state: .committing, from: "", to: "1", startedAt: "", schemaVersion: 0,
            oldChecksum: "", newChecksum: nil, backup: backup.name, backups: sidecar.backups, newExternalFiles: [])
        journal.restoredUUID = backup.manifest.uuid
        try journal.write(sidecar, system)
        let doctor = StoreDiagnosis(fixture.store).findings.first { $0.code == "run-unfinished" }
        #expect(doctor?.remedy.hasPrefix("Project.resume(") == true)
        // The app makes a new one.
        let other = try EngineFixture(rows: 3)
        _ = try SQLiteShell.run(other.store, "UPDATE Z_METADATA SET Z_UUID = 'another'")
        try system.copy(other.store, to: fixture.store)
        #expect(try Migrator().recover(fixture.store) == .replaced)
        #expect(try SQLiteShell.run(fixture.store, "SELECT count(*) FROM ZITEM") == "3\n")
        #expect(try RunHistory(sidecar).records().last?.result == .undone)
        #expect(try Migrator().recover(fixture.store) == .nothing)
    }

    @Test func `what a dead export left is removed by the next one, and what a living one is at is not`() throws {
        let fixture = try EngineFixture()
        let backup = try Migrator().backUp(fixture.store, version: "1")
        let path = fixture.folder.path + "/out.tar"
        // A process that has ended, and one that goes on.
        let dead = try ChildProcess("sleep", ["0"])
        let number = dead.identifier
        _ = dead.wait()
        try system.write([1], to: "\(path).\(number)-0a0b0c0d-12345678.part")
        try system.write([1], to: "\(path).12345678.part")
        #expect(
            StoreDiagnosis(fixture.store).findings.contains { $0.code == "leftovers" && $0.message.contains("out.tar") }
        )
        try Migrator().backups(of: fixture.store).export(backup, to: path)
        let names = try system.list(fixture.folder.path)
        #expect(!names.contains { $0.contains("-0a0b0c0d-") })
        // It is nobody's by its name: it stays.
        #expect(names.contains("out.tar.12345678.part"))
    }

    @Test func `a cancelled run is no death`() throws {
        let fixture = try EngineFixture()
        let sidecar = StoreRecords(store: try system.resolve(fixture.store))
        try sidecar.make(system)
        for result in [StoreRun.Result.undone, .cancelled, .cancelled, .cancelled, .undone] {
            try RunHistory(sidecar).append(
                StoreRun(
                    run: "r", operation: .migrate, result: result, from: "1", to: "2", startTime: "", endTime: "",
                    seconds: 0, backup: nil, rows: 0, bytes: 0, error: nil))
        }
        #expect(!StoreDiagnosis(fixture.store).findings.contains { $0.code == "never-completes" })
        for _ in 0..<3 {
            try RunHistory(sidecar).append(
                StoreRun(
                    run: "r", operation: .migrate, result: .undone, from: "1", to: "2", startTime: "", endTime: "",
                    seconds: 0, backup: nil, rows: 0, bytes: 0, error: nil))
        }
        // The advice must not be refused itself.
        let finding = StoreDiagnosis(fixture.store).findings.first { $0.code == "never-completes" }
        #expect(finding?.remedy.hasSuffix("RunOptions.maximumAttempts") == true)
    }
}
