import Foundation
import MoultBasics
import MoultModel
import MoultStore
import TestSupport
import Testing

@testable import MoultEngine

/// Every backup that a run has made is named by the history, wherever the process died or the disk failed.
struct NamedBackupTests {
    /// A machine that does nothing more to files from a number of calls after the one that gives a backup its name.
    private final class Dying: ForwardingSystem, @unchecked Sendable {
        private let delay: Int
        private let lock = NSLock()
        private var since: Int?

        init(_ delay: Int) { self.delay = delay }

        private func call(_ path: String, isNaming: Bool = false) throws {
            let isDead = lock.withLock {
                if isNaming, since == nil { since = 0 } else { since = since.map { $0 + 1 } }
                return since.map { $0 >= delay } ?? false
            }
            if isDead { throw MigrationError.system("write", path, error: EIO) }
        }

        func write(_ bytes: [UInt8], to path: String, _ rights: FileRights) throws {
            try call(path)
            try real.write(bytes, to: path, rights)
        }
        func append(_ bytes: [UInt8], to path: String, _ rights: FileRights) throws {
            try call(path)
            try real.append(bytes, to: path, rights)
        }
        func synchronise(_ path: String) throws {
            try call(path)
            try real.synchronise(path)
        }
        func rename(_ path: String, to newPath: String) throws {
            try call(path, isNaming: Path.name(of: Path.folder(of: newPath)) == "backups")
            try real.rename(path, to: newPath)
        }
        func remove(_ path: String) throws -> Bool {
            try call(path)
            return try real.remove(path)
        }
    }

    private static func change(inPlace: Bool) -> Pass {
        Pass(
            StoreScript(
                statements: [
                    .init(
                        .delete, "ZITEM", "DELETE FROM main.ZITEM WHERE Z_PK > 500", "Half of the rows go", rows: 1_000),
                    .init(
                        .metadata, "Z_METADATA", "UPDATE Z_METADATA SET Z_PLIST = \(EngineFixture.metadata(hash: 2))",
                        "The metadata is of version 2"),
                ], isInPlace: inPlace), from: "1", to: "2")
    }

    private func expectNamed(_ store: String, _ note: String) throws {
        let sidecar = StoreRecords(store: try POSIXSystem().resolve(store))
        let named = Set(try RunHistory(sidecar).records().compactMap(\.backup))
        let made = Set(try BackupFolder(sidecar.backups).list().map(\.name))
        #expect(made.isSubset(of: named), "\(note): \(made) \(named)")
        #expect(named.isSubset(of: made), "\(note): \(made) \(named)")
    }

    @Test func `if the last run made no backup, the error names that of an earlier run`() throws {
        let fixture = try EngineFixture()
        _ = try Migrator().run(Self.change(inPlace: false), on: fixture.store)
        let sidecar = StoreRecords(store: try POSIXSystem().resolve(fixture.store))
        let backup = try #require(try BackupFolder(sidecar.backups).list().last)
        #expect(try Migrator().backup(named: nil, of: fixture.store, in: { nil }).name == backup.name)
        // As a repair that has removed files only.
        let now = POSIXSystem().now.iso8601
        try RunHistory(sidecar).append(
            StoreRun(
                run: "files", operation: .repair, result: .done, from: "2", to: "2", startTime: now, endTime: now,
                seconds: 0, backup: nil, backups: nil, rows: 0, bytes: 0, error: nil))
        let error = #expect(throws: MigrationError.self) {
            try Migrator().backup(named: nil, of: fixture.store, in: { nil })
        }
        #expect(error?.code == .backupNotFound && error?.message.contains("The last run (repair) ended") == true)
        #expect(error?.remedy.contains(backup.name) == true, "\(String(describing: error))")
    }

    @Test(arguments: 0..<6, [true, false])
    func `a migration that dies at its backup leaves none that no run names`(delay: Int, inPlace: Bool) throws {
        let fixture = try EngineFixture(rows: 600)
        _ = try? Migrator(system: Dying(delay)).run(Self.change(inPlace: inPlace), on: fixture.store)
        _ = try Migrator().recover(fixture.store)
        try expectNamed(fixture.store, "\(delay)")
    }

    @Test(arguments: 0..<8)
    func `a rollback that dies at its backup leaves none that no run names`(delay: Int) throws {
        let fixture = try EngineFixture(rows: 600)
        let backup = try #require(try Migrator().run(Self.change(inPlace: false), on: fixture.store).backup)
        _ = try? Migrator(system: Dying(delay)).rollback(fixture.store, to: backup, currentVersion: "2")
        _ = try Migrator().recover(fixture.store)
        try expectNamed(fixture.store, "\(delay)")
    }
}
