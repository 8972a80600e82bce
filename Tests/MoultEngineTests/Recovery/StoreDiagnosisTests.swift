import Foundation
import Moult
import MoultBasics
import MoultModel
import MoultStore
import TestSupport
import Testing

@testable import MoultCare
@testable import MoultEngine

/// Each symptom is made, and the diagnosis names it with a command that helps.
struct StoreDiagnosisTests {
    private func codes(_ store: String, _ versions: ModelVersions? = nil, to target: String? = nil) -> [String] {
        StoreDiagnosis(store, versions: versions, to: target).findings.map(\.code)
    }

    @Test func `a store that is well has nothing wrong, and is not touched`() throws {
        let library = try LibraryStore()
        let before = try POSIXSystem().digest(of: library.path)
        let names = try POSIXSystem().list(library.folder.path)
        let diagnosis = StoreDiagnosis(library.path, versions: ModelVersions(versions: [library.version]))
        #expect(diagnosis.isWell, "\(diagnosis.findings)")
        #expect(diagnosis.version == "1")
        #expect(try POSIXSystem().digest(of: library.path) == before)
        #expect(try POSIXSystem().list(library.folder.path) == names)
    }

    @Test func `faults of rows lead to a repair`() throws {
        let library = try LibraryStore()
        try library.shell(
            "UPDATE ZSHELF SET ZPARENT = 77 WHERE Z_PK = 10; UPDATE Z_PRIMARYKEY SET Z_MAX = 3 WHERE Z_NAME = 'Book'")
        let findings = StoreDiagnosis(library.path, versions: ModelVersions(versions: [library.version])).findings
        #expect(Set(findings.filter { $0.severity == .error }.map(\.code)) == ["rows-dangling", "rows-key-counters"])
        #expect(findings.first?.remedy.hasPrefix("Project.repair(") == true)
    }

    @Test func `damage leads to the newest good backup, else to a salvage`() throws {
        let library = try LibraryStore()
        let damage = {
            var bytes = try POSIXSystem().read(library.path)
            for offset in (bytes.count / 2)..<(bytes.count / 2 + 9000) { bytes[offset] = 0xA5 }
            try POSIXSystem().write(bytes, to: library.path)
        }
        let backup = try Migrator().backUp(library.path, version: "1")
        try damage()
        let first = try #require(StoreDiagnosis(library.path).findings.first)
        #expect(["damaged-page", "store-unreadable"].contains(first.code))
        #expect(first.remedy.contains("Project.rollback(") && first.remedy.contains(backup.name))
        try POSIXSystem().append([0], to: backup.store)
        let second = StoreDiagnosis(library.path).findings
        #expect(second.first?.remedy.contains("Project.salvage(") == true)
        #expect(second.contains { $0.code == "backup-damaged" && $0.severity == .error })
    }

    @Test func `a damaged store is not told to be backed up, nor is a file without a page to be salvaged`() throws {
        let library = try LibraryStore()
        _ = try SQLiteShell.run(library.path, "PRAGMA wal_checkpoint(TRUNCATE)")
        let bytes = try POSIXSystem().read(library.path)
        for (length, isLeft) in [(50, false), (3_000, false), (8_192, true)] {
            try POSIXSystem().write(Array(bytes.prefix(length)), to: library.path)
            let remedies = StoreDiagnosis(library.path).findings.map(\.remedy)
            #expect(remedies.first?.contains("Project.salvage(") == isLeft, "\(length): \(remedies)")
            let saved = "\(library.folder.path)/\(length).sqlite"
            let error = Result { try StoreSalvage(library.version).run(library.path, into: saved) }.failure
            #expect(
                (error as? MigrationError)?.code == (isLeft ? nil : .notAStore),
                "\(length): \(String(describing: error))")
        }
        try POSIXSystem().write(bytes, to: library.path)
        try library.overwritePage(of: "ZLOAN", with: "ZTAG")
        #expect(!codes(library.path).contains("no-backup"))
    }

    @Test func `a rollback without a backup names the run that has not ended, and a backup undoes it`() throws {
        let fixture = try EngineFixture()
        let sidecar = StoreRecords(store: try POSIXSystem().resolve(fixture.store))
        try sidecar.make(POSIXSystem())
        let state = try ReadOnlyStore.read(fixture.store) { try StoreState($0.connection) }
        try Journal(
            run: "r", operation: .migrate, state: .started, from: "1", to: "2", startedAt: POSIXSystem().now.iso8601,
            schemaVersion: state.schemaVersion, oldChecksum: state.checksum, newChecksum: nil, backup: nil,
            backups: sidecar.backups, newExternalFiles: []
        ).write(sidecar, POSIXSystem())
        let error = #expect(throws: MigrationError.self) { try StoreKeeper(fixture.store).rollback() }
        #expect(error?.code == .backupNotFound && error?.message.hasSuffix("A run has not ended.") == true)
        #expect(error?.remedy.contains("Project.resume(") == true, "\(error?.remedy ?? "")")
        let before = try fixture.logicalHash()
        _ = try Migrator().backUp(fixture.store, version: "1")
        #expect(try Journal.read(sidecar, POSIXSystem()) == nil && fixture.logicalHash() == before)
    }

    @Test func `a version that has only the name of the file is said to have no name`() throws {
        let library = try LibraryStore()
        let own = try ModelVersion(ownOfStore: library.path)
        let versions = ModelVersions(versions: [own], currentName: own.name)
        let keeper = StoreKeeper(library.path) { versions }
        let saved = try StoreSalvage().run(library.path, into: library.folder.path + "/saved.sqlite")
        let lines = [
            try keeper.validate(RulesToCheck([])).lines(style: .plain), try keeper.status().lines(style: .plain),
            saved.lines(model: nil, style: .plain),
        ]
        for text in lines.map({ $0.joined(separator: "\n") }) {
            #expect(text.contains("a version without a name") && !text.contains("version Library"), "\(text)")
        }
        // Nothing says that there is no newer one.
        #expect(lines[1].first?.hasPrefix("The store is of a version without a name") == true, "\(lines[1])")
    }

    @Test func `versions and plans are told apart`() throws {
        let fixture = try EngineFixture(killable: 20, isWAL: false)
        let versions = try KillableVersions.make()
        #expect(codes(fixture.store) == ["no-model", "no-backup"])
        #expect(Set(codes(fixture.store, versions)).isSuperset(of: ["behind", "can-migrate"]))
        let prepared = try PreparedMigration(fixture.store, versions: versions)
        _ = try Migrator().run(try #require(try prepared.migration()), on: fixture.store)
        #expect(codes(fixture.store, versions, to: "1").first == "ahead")
        #expect(codes(fixture.store, ModelVersions(versions: [versions.versions[0]])).first == "unknown-version")
        #expect(codes(fixture.folder.path + "/nothing.sqlite").first == "store-unreadable")
    }

    @Test func `runs that come to nothing again and again are noticed`() throws {
        let fixture = try EngineFixture(killable: 20, isWAL: false)
        let sidecar = StoreRecords(store: try POSIXSystem().resolve(fixture.store))
        try sidecar.make(POSIXSystem())
        let history = RunHistory(sidecar)
        func record(_ result: StoreRun.Result) throws {
            try history.append(
                StoreRun(
                    run: "r", operation: .migrate, result: result, from: "1", to: "2", startTime: "", endTime: "",
                    seconds: 0, backup: nil, rows: 0, bytes: 0, error: nil))
        }
        try record(.done)
        #expect(!codes(fixture.store).contains("never-completes"))
        for _ in 0..<3 { try record(.undone) }
        let finding = try #require(StoreDiagnosis(fixture.store).findings.first { $0.code == "never-completes" })
        #expect(finding.remedy.contains("RunOptions.stopsAtEachVersion"))
        try record(.done)
        #expect(!codes(fixture.store).contains("never-completes"))
    }

    @Test func `a bundle holds what a report needs, and nothing that a user wrote`() throws {
        let library = try LibraryStore()
        try library.shell(
            "UPDATE ZBOOK SET ZTITLE = 'my secret diary' WHERE Z_PK = 3; DELETE FROM ZSHELF WHERE Z_PK = 2")
        let sidecar = StoreRecords(store: try POSIXSystem().resolve(library.path))
        let repair = try StoreRepair(library.path, at: library.version)
        _ = try Migrator().run(try #require(repair.migration), on: library.path)
        MigrationLog(sidecar).append("A title was \"my secret diary\".")
        let path = library.folder.path + "/report.tar"
        let versions = ModelVersions(versions: [library.version])
        let diagnosis = StoreDiagnosis(library.path, versions: versions)
        let names = try BugReportBundle(library.path).write(to: path, diagnosis: diagnosis)
        #expect(
            Set(names).isSuperset(of: [
                "diagnosis.txt", "system.json", "schema.sql", "metadata.json", "counts.json", "runs.jsonl", "log.txt",
                "backups.txt",
            ]))
        let text = String(decoding: try POSIXSystem().read(path), as: UTF8.self)
        #expect(text.contains("CREATE TABLE ZBOOK") && text.contains("\"ZBOOK\": 90"))
        #expect(!text.contains("secret") && !text.contains("It's \"") && !text.contains(library.folder.path))
        let whole = library.folder.path + "/whole.tar"
        let more = try BugReportBundle(library.path, withValues: true).write(to: whole, diagnosis: diagnosis)
        #expect(more.contains("quarantine.sqlite"))
        #expect(String(decoding: try POSIXSystem().read(whole), as: UTF8.self).contains("secret"))
    }

    @Test func `what cannot be examined is reported, and is never well`() throws {
        let folder = try ScratchFolder()
        try FileManager.default.createSymbolicLink(atPath: folder.path + "/a", withDestinationPath: folder.path + "/b")
        try FileManager.default.createSymbolicLink(atPath: folder.path + "/b", withDestinationPath: folder.path + "/a")
        let circle = StoreDiagnosis(folder.path + "/a")
        #expect(!circle.isWell)
        #expect(circle.findings.first?.code == "store-unreadable")
        // A folder that may not be entered, whoever runs the test.
        let library = try LibraryStore()
        for refused in [library.folder.path, library.path + ".moult"] {
            let closed = StoreDiagnosis(
                library.path, versions: ModelVersions(versions: [library.version]),
                on: ClosedFolder(path: refused))
            #expect(!closed.isWell, "\(refused)")
            #expect(closed.findings.contains { ["store-unreadable", "not-examined"].contains($0.code) })
            #expect(closed.findings.contains { $0.message.contains("may not") }, "\(closed.findings)")
        }
    }

    @Test(
        arguments: ["Z_ENT", "Z_PK", "Z_OPT"])
    func `a table without one of Core Data's own columns is not well`(column: String) throws {
        let library = try LibraryStore()
        _ = try SQLiteShell.run(library.path, "ALTER TABLE ZTAG RENAME COLUMN \(column) TO ZGONE")
        let diagnosis = StoreDiagnosis(library.path, versions: ModelVersions(versions: [library.version]))
        #expect(!diagnosis.isWell)
        let finding = try #require(diagnosis.findings.first { $0.message.contains(column) })
        #expect(finding.severity == .error && !finding.remedy.isEmpty, "\(finding)")
    }
}

/// A machine on which one folder may not be entered.
private struct ClosedFolder: ForwardingSystem {
    let path: String

    private func check(_ other: String) throws {
        guard other.hasPrefix(path + "/") else { return }
        throw MigrationError.system("look at", other, error: EACCES)
    }

    func status(of path: String) throws -> FileStatus? {
        try check(path)
        return try real.status(of: path)
    }
}
