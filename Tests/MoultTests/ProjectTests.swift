import Dispatch
import Foundation
import Moult
import MoultCare
import Synchronization
import TestSupport
import Testing

@Suite struct ProjectTests {
    private let forum: ForumStore
    private let project: Project

    init() throws {
        forum = try ForumStore()
        project = try Project(models: forum.models)
    }

    @Test func `a registry takes the versions at a URL`() throws {
        let url = URL(fileURLWithPath: forum.models)
        let registry = MigrationRegistry(models: { try ModelVersions(contentsOf: url) })
        let names = try #require(try registry.models?()).versions.map(\.name)
        #expect(names.count > 1 && names == project.versionNames)
        let nowhere = URL(fileURLWithPath: forum.folder.path + "/Nowhere.xcdatamodeld")
        let error = try #require(throws: MigrationError.self) { try ModelVersions(contentsOf: nowhere) }
        #expect(error.code == .modelNotFound)
    }

    @Test func `a run that is cancelled leaves the store as it was`() async throws {
        let before = try forum.bytes()
        var project = project
        // The run waits at its first line until it was cancelled.
        let gate = DispatchSemaphore(value: 0)
        project.logger = { _ in
            gate.wait()
            gate.signal()
        }
        let migration = project.migrate(forum.path)
        migration.cancel()
        gate.signal()
        let error = await #expect(throws: MigrationError.self) { _ = try await migration.report }
        #expect(error?.code == .cancelled)
        #expect(try forum.bytes() == before)
    }

    @Test func `progress never goes back and ends when the run is done`() async throws {
        let migration = project.migrate(forum.path)
        var fractions: [Double] = []
        var last: RunProgress.Phase?
        for await progress in migration.progress {
            fractions.append(progress.fraction)
            last = progress.phase
        }
        #expect(fractions == fractions.sorted() && fractions.last == 1 && last == .done)
        #expect(try await migration.report.outcome == .migrated)
    }

    @Test func `a kept plan is refused when the store has changed`() async throws {
        let plan = try await project.plan(for: forum.path, to: "Forum 3")
        _ = try await project.migrate(forum.path, to: "Forum 2").report
        let error = await #expect(throws: MigrationError.self) {
            _ = try await project.migrate(forum.path, following: plan).report
        }
        #expect(error?.code == .planStale)
        let other = try await project.plan(for: forum.path, to: "Forum 3")
        #expect(other != plan)
        #expect(other.versionNames == ["Forum 2", "Forum 3"])
    }

    @Test(arguments: [false, true])
    func `a plan that was kept says what it said, and is equal`(defers: Bool) async throws {
        var options = RunOptions()
        options.defersWork = defers
        let plan = try await project.plan(for: forum.path, options: options, withSQL: true)
        let kept = try StorePlan(json: plan.json)
        #expect(kept == plan && kept.json == plan.json && kept.description == plan.description)
        let coded = try JSONDecoder().decode([StorePlan].self, from: JSONEncoder().encode([plan]))
        #expect(coded == [plan])
        #expect(plan.longestUnit != nil && kept.longestUnit == plan.longestUnit)
        // SQLite reads the members.
        let quoted = "'\(plan.json.replacingOccurrences(of: "'", with: "''"))'"
        let read = try SQLiteShell.run(
            ":memory:",
            """
            SELECT \(quoted) ->> 'from', \(quoted) ->> 'to', json_array_length(\(quoted), '$.statements'),
                (SELECT sum(value ->> 'rows') FROM json_each(\(quoted), '$.entities'))
            """)
        let rows = plan.rowCounts.values.reduce(0, +)
        #expect(read == "\(plan.from)|\(plan.to)|\(plan.sql.count)|\(rows)\n")
    }

    @Test func `a mirror is not begun with options that a migration into another file does not take`() async throws {
        let second = forum.folder.path + "/second.sqlite"
        for (name, change) in [
            ("isInPlace", { (options: inout RunOptions) in options.isInPlace = true }),
            ("stopsAtEachVersion", { $0.stopsAtEachVersion = true }), ("budget", { $0.budget = .seconds(5) }),
        ] {
            var options = RunOptions()
            change(&options)
            do {
                _ = try await project.startMirror(of: forum.path, at: second, options: options)
                Issue.record("\(name)")
            } catch let error as MigrationError {
                #expect(error.code == .usage && error.message.contains(name), "\(error)")
            }
            #expect(!FileManager.default.fileExists(atPath: second))
        }
    }

    @Test func `a text that is no plan is refused`() {
        for text in ["", "{}", "{\"format\": 1}", "[1]"] {
            let error = #expect(throws: MigrationError.self) { try StorePlan(json: text) }
            #expect(error?.code == .usage)
        }
    }

    @Test func `the plan has the statements and the losses that the store shows`() async throws {
        let plan = try await project.plan(for: forum.path, withSQL: true)
        #expect(plan.sql.contains { $0.contains("ZTOPIC") })
        #expect(plan.rowCounts["Post"] == 6 && plan.passes == 1 && plan.refusal == nil)
        #expect(plan.description.hasPrefix("Forum → Forum 2 → Forum 3\n"))
    }

    @Test func `options that exclude each other are refused before anything is done`() async throws {
        var options = RunOptions()
        options.budget = .seconds(5)
        options.stopsAtEachVersion = true
        let before = try forum.bytes()
        let error = await #expect(throws: MigrationError.self) {
            _ = try await project.migrate(forum.path, options: options).report
        }
        #expect(error?.code == .usage)
        #expect(try forum.bytes() == before)
    }

    @Test func `each version can be a commit of its own, and a backup of each is listed`() async throws {
        var options = RunOptions()
        options.stopsAtEachVersion = true
        let report = try await project.migrate(forum.path, options: options).report
        #expect(report.from == "Forum" && report.to == "Forum 3")
        #expect(try await project.backups(of: forum.path).map(\.version) == ["Forum", "Forum 2"])
        _ = try await project.rollback(forum.path, to: "Forum").report
        #expect(try forum.sql("SELECT count(*) FROM ZTHREAD") == "6")
        #expect(try await project.history(of: forum.path).map(\.operation) == [.migrate, .migrate, .rollback])
    }

    @Test func `a backup whose manifest cannot be read is listed with its error, and is not used`() async throws {
        let first = try await project.backUp(forum.path).report
        let second = try await project.backUp(forum.path).report
        try Data([1]).write(to: URL(fileURLWithPath: second.folder + "/manifest.json"))
        let listed = try await project.backups(of: forum.path)
        #expect(listed.map(\.name) == [first.name, second.name])
        #expect(listed.map { $0.error?.code } == [nil, .backupInvalid])
        #expect(listed[1].store == second.store && listed[1].folder == second.folder)
        // To the second, as its name has it.
        #expect(abs(listed[1].createdAt.timeIntervalSince(second.createdAt)) < 1)
        for use in [
            { try await project.verify(listed[1]) },
            { try await project.export(listed[1], to: forum.folder.path + "/out") },
            { _ = try await project.restore(listed[1], to: forum.path).report },
        ] {
            let error = await #expect(throws: MigrationError.self) { try await use() }
            #expect(error?.code == .backupInvalid)
        }
    }

    @Test func `records of the history that cannot be read are counted in the log of the call`() async throws {
        _ = try await project.migrate(forum.path).report
        let runs = URL(fileURLWithPath: forum.path + ".moult/runs.jsonl")
        try (try Data(contentsOf: runs) + Data("{\"format\": 1, \"run".utf8)).write(to: runs)
        let lines = Mutex<[String]>([])
        var project = project
        project.logger = { line in lines.withLock { $0.append(line.description) } }
        #expect(try await project.history(of: forum.path).map(\.operation) == [.migrate])
        #expect(lines.withLock { $0 }.first?.contains("1 record of the history of runs cannot be read") == true)
    }

    @Test func `a repair of tables says that the rows are left for the next one`() async throws {
        _ = try forum.sql("ALTER TABLE ZPOST DROP COLUMN ZTEXT")
        let rehearsal = try await project.repair(forum.path, isRehearsal: true).report
        #expect(rehearsal.leavesRows && rehearsal.run == nil && rehearsal.faults.map(\.rule) == [.columns])
        #expect(try await project.repair(forum.path).report.leavesRows)
        #expect(try await !project.repair(forum.path).report.leavesRows)
    }

    @Test func `a store without a file is an error with its code`() async throws {
        let error = await #expect(throws: MigrationError.self) {
            _ = try await project.migrate(forum.folder.path + "/none.sqlite").report
        }
        #expect(error?.code == .fileNotFound)
    }

    @Test func `rules of the app are findings with the rule's name`() async throws {
        var project = project
        try project.addRules(contentsOf: forum.rules)
        _ = try forum.sql("UPDATE ZUSER SET ZNAME = '' WHERE Z_PK = 2")
        let report = try await project.validate(forum.path)
        let broken = try #require(report.rules.first { $0.code == "namelessUser" })
        #expect(broken.severity == .warning && broken.place == "User" && broken.keys == [2])
        let rehearsal = try await project.applyFixes(to: forum.path, isRehearsal: true).report
        #expect(rehearsal.fixed == 1 && rehearsal.run == nil)
        #expect(try forum.sql("SELECT ZNAME FROM ZUSER WHERE Z_PK = 2") == "")
        let fixed = try await project.applyFixes(to: forum.path).report
        #expect(fixed.fixed == 1 && fixed.backup != nil && !fixed.left.contains { $0.code == "namelessUser" })
        #expect(try forum.sql("SELECT ZNAME FROM ZUSER WHERE Z_PK = 2") == "(unknown)")
    }

    // MARK: - Into another file

    private var newest: String { forum.folder.path + "/newest.sqlite" }

    @Test func `what another program has in the log is in the new store, and the old one is as it was`() async throws {
        let app = try SQLiteProcess(forum.path)
        defer { app.end() }
        try app.run("PRAGMA journal_mode = WAL; UPDATE ZPOST SET ZTEXT = 'in the log' WHERE Z_PK = 1;")
        let files = ["", "-wal"].map { URL(fileURLWithPath: forum.path + $0) }
        let before = try files.map { try Data(contentsOf: $0) }
        try #require(!before[1].isEmpty)
        let report = try await project.migrate(forum.path, into: newest).report
        #expect(report.outcome == .migrated && report.to == "Forum 3" && report.backup == nil)
        #expect(try files.map { try Data(contentsOf: $0) } == before)
        #expect(!FileManager.default.fileExists(atPath: forum.path + ".moult"))
        #expect(try SQLiteShell.run(newest, "SELECT ZBODY FROM ZPOST WHERE Z_PK = 1") == "in the log\n")
        #expect(try SQLiteShell.run(newest, "PRAGMA integrity_check") == "ok\n")
        #expect(try await project.validate(newest).isSound)
        #expect(try await project.history(of: newest).map(\.id) == [report.run])
    }

    @Test func `external data comes along, and what is there is not replaced`() async throws {
        let file = "/.forum_SUPPORT/_EXTERNAL_DATA/AAAAAAAA"
        let folder = forum.folder.path
        let parent = URL(fileURLWithPath: folder + file).deletingLastPathComponent()
        try FileManager.default.createDirectory(at: parent, withIntermediateDirectories: true)
        try Data("picture".utf8).write(to: URL(fileURLWithPath: folder + file))
        let report = try await project.migrate(forum.path, into: newest, to: "Forum 2").report
        #expect(report.to == "Forum 2")
        let copied = folder + "/.newest_SUPPORT/_EXTERNAL_DATA/AAAAAAAA"
        #expect(try String(contentsOfFile: copied, encoding: .utf8) == "picture")
        let made = try Data(contentsOf: URL(fileURLWithPath: newest))
        for path in [newest, forum.path] {
            let error = await #expect(throws: MigrationError.self) {
                _ = try await project.migrate(forum.path, into: path).report
            }
            #expect(error?.code == .usage)
        }
        #expect(try Data(contentsOf: URL(fileURLWithPath: newest)) == made)
    }

    @Test func `a log that lies at the new path is not taken for the new store's`() async throws {
        try Data("stale".utf8).write(to: URL(fileURLWithPath: newest + "-wal"))
        let error = await #expect(throws: MigrationError.self) {
            _ = try await project.migrate(forum.path, into: newest).report
        }
        #expect(error?.code == .usage)
        #expect(!FileManager.default.fileExists(atPath: newest))
    }

    @Test(arguments: [true, false])
    func `what a dead process left of a new store is removed`(byRecovery: Bool) async throws {
        let folder = forum.folder.path
        // A process that died when the external data had their name, and the store had not.
        let part = folder + "/newest.sqlite.99999-00000000-abcdefgh.part"
        for made in [part, folder + "/.newest_SUPPORT/_EXTERNAL_DATA"] {
            try FileManager.default.createDirectory(atPath: made, withIntermediateDirectories: true)
        }
        try Data("support".utf8).write(to: URL(fileURLWithPath: part + "/moving"))
        if byRecovery {
            #expect(try await project.recover(newest) == .undone)
            let names = try FileManager.default.contentsOfDirectory(atPath: folder)
            #expect(names.filter { $0.contains("newest") } == [])
        } else {
            #expect(try await project.migrate(forum.path, into: newest).report.outcome == .migrated)
            #expect(!FileManager.default.fileExists(atPath: part))
        }
    }

    @Test func `a store of the version already is copied`() async throws {
        let report = try await project.migrate(forum.path, into: newest, to: "Forum").report
        #expect(report.outcome == .nothingToDo)
        let query = ".sha3sum --schema"
        #expect(try SQLiteShell.run(newest, query) == SQLiteShell.run(forum.path, query))
    }
}
