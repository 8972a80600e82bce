import Foundation
import Moult
import MoultBasics
import MoultEngine
import MoultModel
import MoultStore
import TestSupport
import Testing

@testable import MoultCare

/// A disk on which the files of one backup cannot be read.
struct UnreadableBackup: ForwardingSystem {
    let name: String

    func digest(of path: String) throws -> [UInt8] {
        guard !path.contains(name) else { throw MigrationError.system("read", path, error: EIO) }
        return try real.digest(of: path)
    }
}

/// What Moult keeps of a store and cannot be read is never taken for missing.
struct UnreadableRecordTests {
    private let fixture: EngineFixture
    private let system = POSIXSystem()

    init() throws { fixture = try EngineFixture() }

    private func run() throws -> StoreBackup {
        try #require(try Migrator().run(Pass(from: "1", to: "1"), on: fixture.store).backup)
    }

    private func cut(_ path: String, by count: Int) throws {
        var bytes = try system.read(path)
        bytes.removeLast(count)
        try system.write(bytes, to: path)
    }

    private func rollbackError(to name: String? = nil) -> MigrationError? {
        #expect(throws: MigrationError.self) {
            _ = try Migrator().backup(named: name, of: fixture.store) { nil }
        }
    }

    @Test(arguments: ["cut", "gone"])
    func `a backup whose manifest cannot be read is there, and its store can be taken in again`(damage: String) throws {
        let backup = try run()
        let manifest = backup.folder + "/manifest.json"
        if damage == "cut" { try cut(manifest, by: 100) } else { try FileManager.default.removeItem(atPath: manifest) }
        for name in [nil, backup.name] {
            let error = try #require(rollbackError(to: name))
            #expect(error.code == .backupInvalid)
            #expect(error.message.contains(backup.name) && error.message.contains("is there"))
            // What the remedy says.
            let words = error.remedy.split(separator: "\"").map(String.init)
            #expect(words.contains(backup.store), "\(error.remedy)")
        }
        let taken = try Migrator().importBackup(backup.store, for: fixture.store, version: "1", wasClosed: true)
        _ = try Migrator().rollback(fixture.store, to: taken)
        let findings = StoreDiagnosis(fixture.store).findings
        #expect(findings.contains { $0.code == "backup-unreadable" && $0.severity > .note })
    }

    @Test func `a backup that cannot be read is neither called damaged nor passed over`() throws {
        let older = try Migrator().backUp(fixture.store, version: "1")
        let newest = try Migrator().backUp(fixture.store, version: "1")
        let disk = UnreadableBackup(name: newest.name)
        let codes = StoreDiagnosis(fixture.store, on: disk).findings.map(\.code)
        #expect(codes.contains("backup-unreadable") && !codes.contains("backup-damaged"), "\(codes)")
        try system.write([1, 2, 3], to: fixture.store)
        func remedy(on system: any System) throws -> String {
            let findings = StoreDiagnosis(fixture.store, on: system).findings
            return try #require(findings.first { $0.code == "store-unreadable" }).remedy
        }
        #expect(try remedy(on: system).contains(newest.name))
        #expect(try !remedy(on: disk).contains(older.name))
    }

    @Test func `an older backup is not taken for the newest, whose manifest cannot be read`() throws {
        _ = try Migrator().backUp(fixture.store, version: "1")
        let newest = try Migrator().backUp(fixture.store, version: "1")
        try cut(newest.folder + "/manifest.json", by: 100)
        let error = try #require(rollbackError())
        #expect(error.code == .backupInvalid && error.message.contains("The newest backup, \(newest.name), is there"))
    }

    @Test(arguments: [true, false])
    func `a record that cannot be read is told, and the last run is unknown if it is the last`(isLast: Bool) throws {
        _ = try run()
        let runs = fixture.sidecar + "/runs.jsonl"
        if isLast {
            try cut(runs, by: 40)
        } else {
            var bytes = try system.read(runs)
            bytes[3] = 0
            try system.write(bytes, to: runs)
            _ = try run()
        }
        let unreadable = try #require(try Migrator().unreadableRuns(of: fixture.store))
        #expect(unreadable.count == 1 && unreadable.isLast == isLast)
        #expect(try Migrator().runs(of: fixture.store).count == (isLast ? 0 : 1))
        #expect(StoreDiagnosis(fixture.store).findings.contains { $0.code == "history-unreadable" })
        if isLast {
            #expect(rollbackError()?.message.contains("the last run is unknown") == true)
        } else {
            _ = try Migrator().backup(named: nil, of: fixture.store) { nil }
        }
    }

    @Test func `a run reads the last records alone, wherever a line begins`() throws {
        let history = RunHistory(StoreRecords(store: try system.resolve(fixture.store)))
        _ = try run()
        let first = try #require(try history.last())
        for number in 0..<300 {
            var next = first
            next.run = "\(number)"
            next.error = String(repeating: "é", count: number == 150 ? 100_000 : number * 7)
            try history.append(next)
        }
        let all = try history.records()
        for number in ["0", "149", "150", "151", "299", "300", first.run] {
            #expect(try history.last { $0.run == number } == all.last { $0.run == number })
        }
        // No one reads a file of this size as a whole.
        let lines = try system.read(history.sidecar.runs)
        try system.setSize(1 << 30, of: history.sidecar.runs)
        try system.append([10] + lines, to: history.sidecar.runs)
        #expect(throws: MigrationError.self) { try history.records() }
        let backup = try run()
        #expect(try history.last()?.backup == backup.name)
    }

    @Test func `a removal of a backup that died is finished by the next run`() throws {
        let old = ClockSystem(now: Timestamp(seconds: 1_000_000_000))
        let first = try Migrator(system: old).backUp(fixture.store, version: "1")
        let second = try Migrator(system: old).backUp(fixture.store, version: "1")
        // The first removal of a file fails, and nothing is removed from there on.
        let dying = FaultySystem { call in call > 1 ? EIO : nil }
        let folder = BackupFolder(fixture.sidecar + "/backups", dying)
        #expect(throws: MigrationError.self) { try folder.prune(RetentionPolicy(minimumCount: 1)) }
        #expect(try Migrator().backups(of: fixture.store).list() == [second])
        #expect(try system.list(fixture.sidecar + "/backups").count == 2)
        _ = try run()
        #expect(try system.list(fixture.sidecar + "/backups").filter { $0.hasPrefix(".") || $0 == first.name } == [])
    }

    @Test func `a store whose model cannot be read is not called well`() throws {
        let library = try LibraryStore(history: false)
        #expect(StoreDiagnosis(library.path).findings.filter { $0.severity != .note } == [])
        try library.shell("UPDATE Z_MODELCACHE SET Z_CONTENT = substr(Z_CONTENT, 1, length(Z_CONTENT) / 2)")
        let findings = StoreDiagnosis(library.path).findings
        #expect(findings.contains { $0.code == "model-cache" && $0.severity > .note })
        #expect(Set(findings).count == findings.count)
    }
}
