import Foundation
import Moult
import MoultCare
import MoultTools
import TestSupport
import Testing

// The code blocks of Documentation/Library.md, compiled and run. A test compares the page with this file.

@Suite struct LibraryPageTests {
    private let forum: ForumStore
    private let project: Project
    private var store: String { forum.path }
    private var models: String { forum.models }
    private var rules: String { forum.rules }
    private var folder: String { forum.folder.path }

    init() throws {
        forum = try ForumStore()
        project = try Project(models: forum.models)
    }

    @Test func `a project is opened, and takes rules and what may be lost`() throws {
        var project = try Project(models: models)
        print(project.versionNames, project.currentVersionName ?? "none")
        try project.addRules(contentsOf: rules)
        project.registry.acceptedLosses = ["User.avatar"]
        #expect(project.versionNames == ["Forum", "Forum 2", "Forum 3"])
        #expect(project.currentVersionName == "Forum 3")
        #expect(project.registry.rules.count == 4)
    }

    @Test func `a store is looked at, and a path of versions is checked`() async throws {
        let status = try await project.status(of: store)
        if status.state == .behind { print("\(status.versionsBehind ?? 0) behind \(status.target ?? "")") }
        #expect(status.state == .behind && status.versionsBehind == 2 && status.target == "Forum 3")
        for issue in project.pathIssues(from: "Forum", to: "Forum 3") { print(issue.message, issue.remedy) }
        #expect(project.pathIssues().isEmpty)
        #expect(
            project.pathIssues(from: "Forum 0", to: "Forum 9").map(\.code)
                == ["source-not-supported", "target-not-supported"])
    }

    @Test func `a store is inspected and its objects are read`() async throws {
        let inspection = try await project.inspect(store)
        print(inspection.version ?? "unknown", inspection.uuid, inspection.rowCounts)
        try await project.dump(store, of: "Post") { object in
            print(object.key, object.value(of: "text") ?? .string(""), object.destinations(of: "thread"))
        }
        #expect(inspection.version == "Forum" && inspection.rowCounts["Post"] == 6)
        #expect(try forum.sql("SELECT Z_UUID FROM Z_METADATA") == inspection.uuid)
    }

    @Test func `versions are compared, checked, exported and compiled`() async throws {
        let difference = try project.difference(from: "Forum", to: "Forum 2")
        print(difference.changes, difference.unnoticedChanges, difference.isInferable)
        let lint = try await project.lint(ignoring: ["SHAPE003"], countingObjectsOf: store)
        for finding in lint.findings { print(finding.rule, finding.place, finding.message) }
        print(try lint.text(as: .markdown))
        #expect(difference.isInferable && difference.changes.count == 3)
        try await project.exportSchema(to: folder + "/schema", name: "Forum")
        let compiled = try await Project.compile(models, to: folder + "/Forum.momd")
        for fault in compiled.faults { print(fault) }
        print(compiled.isCompiled, compiled.files)
        for path in [folder + "/schema/Forum.xcdatamodeld", folder + "/Forum.momd"] {
            #expect(try Project(models: path).versionNames == project.versionNames)
        }
    }

    @Test func `objects leave the quarantine`() async throws {
        _ = try forum.sql("UPDATE ZPOST SET ZTEXT = 'bad' WHERE Z_PK = 2")
        let posts = try forum.sql("SELECT Z_PK, ZTEXT, ZTHREAD FROM ZPOST ORDER BY Z_PK")
        let rule = """
            {"format": 1, "rules": [{"name": "noBadPosts", "severity": "warning", "entity": "Post",
            "predicate": "text != 'bad'", "fix": "quarantine"}]}
            """
        try rule.write(toFile: folder + "/bad.rules.json", atomically: true, encoding: .utf8)
        var ruled = project
        try ruled.addRules(contentsOf: folder + "/bad.rules.json")
        #expect(try await ruled.applyFixes(to: store).report.quarantined == 1)
        #expect(try forum.sql("SELECT count(*) FROM ZPOST") == "5")
        for object in try await project.quarantine(of: store) { print(object.id, object.entityName, object.reason) }
        let restoration = try await project.restore(quarantined: .all, of: store).report
        print(restoration.restored.map(\.key), restoration.refused.map(\.reason))
        #expect(restoration.restored.map(\.key) == [2] && restoration.refused.isEmpty)
        #expect(try forum.sql("SELECT Z_PK, ZTEXT, ZTHREAD FROM ZPOST ORDER BY Z_PK") == posts)
    }

    @Test func `a plan is kept, a rehearsal changes nothing, and the kept plan is run`() async throws {
        let before = try forum.bytes()
        let posts = try forum.sql("SELECT count(*), sum(Z_PK), group_concat(ZTEXT) FROM ZPOST")
        let plan = try await project.plan(for: store, to: "Forum 3")
        for edge in plan.edges { print(edge.from, edge.to, edge.sentences) }
        for loss in plan.losses { print(loss.sentence) }
        if let refusal = plan.refusal { print(refusal.message, refusal.remedy) }
        let kept = try StorePlan(json: plan.json)
        print(kept == plan, kept)
        #expect(kept == plan && plan.versionNames == ["Forum", "Forum 2", "Forum 3"])
        let rehearsal = try await project.rehearse(store).report
        print(rehearsal.duration, rehearsal.spaceNeeded, rehearsal.losses)
        #expect(rehearsal.outcome == .rehearsed && rehearsal.rows > 0)
        #expect(try forum.bytes() == before)
        let migration = project.migrate(store, following: kept)
        for await progress in migration.progress {
            print(progress.phase, progress.fraction, progress.timeLeft ?? .zero)
        }
        let report = try await migration.report
        print(report.outcome, report.backup?.name ?? "no backup", report.duration)
        for loss in report.losses { print(loss.sentence) }
        #expect(report.outcome == .migrated && report.backup?.version == "Forum")
        #expect(try forum.sql("SELECT count(*), sum(Z_PK), group_concat(ZBODY) FROM ZPOST") == posts)
    }

    @Test func `a store is migrated into another file`() async throws {
        let before = try forum.bytes()
        let copied = try await project.migrate(store, into: folder + "/newest.sqlite").report
        print(copied.outcome, copied.from, copied.to)
        #expect(try forum.bytes() == before)
        #expect(try SQLiteShell.run(folder + "/newest.sqlite", "SELECT count(*) FROM ZTOPIC") == "6\n")
    }

    @Test func `options say where backups are`() async throws {
        var options = RunOptions()
        options.backupFolder = folder + "/backups"
        options.retention = RetentionPolicy(keepAllDays: 14, keepWeeklyDays: 60, minimumCount: 5)
        options.patience = .seconds(10)
        let report = try await project.migrate(store, options: options).report
        #expect(report.backup?.folder.hasPrefix(folder + "/backups/") == true)
    }

    @Test func `calls with a budget end with the migrated store`() async throws {
        var hurried = RunOptions()
        hurried.budget = .seconds(20)
        var outcome = MigrationReport.Outcome.paused
        while outcome == .paused { outcome = try await project.migrate(store, options: hurried).report.outcome }
        #expect(outcome == .migrated)
        #expect(try await project.status(of: store).state == .current)
    }

    @Test func `what a migration puts off is done later`() async throws {
        var deferring = RunOptions()
        deferring.defersWork = true
        print(try await project.migrate(store, options: deferring).report.deferredWork)
        let finished = try await project.finish(store, within: .seconds(20)).report
        print(finished.done, finished.left, finished.isFinished)
        #expect(finished.isFinished)
        #expect(try await project.status(of: store).pendingWork.isEmpty)
    }

    @Test func `a store is checked`() async throws {
        let validation = try await project.validate(store)
        print(validation.isSound, validation.rowCounts)
        for finding in validation.findings + validation.rules { print(finding.code, finding.place, finding.message) }
        #expect(validation.isSound && validation.version == "Forum" && validation.rowCounts["Post"] == 6)
        let fixes = try await project.applyFixes(to: store, isRehearsal: true).report
        print(fixes.fixed, fixes.quarantined, fixes.left.map(\.code))
        let diagnosis = try await project.diagnose(store)
        for finding in diagnosis.findings { print(finding.message, finding.remedy) }
        #expect(diagnosis.version == "Forum")
        _ = try forum.sql("UPDATE Z_PRIMARYKEY SET Z_MAX = 1 WHERE Z_NAME = 'Post'")
        let repair = try await project.repair(store, only: [.dangling, .keyCounters], isRehearsal: true).report
        for fault in repair.faults { print(fault.place, fault.count, fault.rule.remedy) }
        #expect(repair.faults.map(\.rule) == [.keyCounters] && repair.run == nil)
        #expect(try forum.sql("SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_NAME = 'Post'") == "1")
        let salvage = try await project.salvage(store, into: folder + "/saved.sqlite")
        print(salvage.rows, salvage.isWhole, salvage.notes)
        #expect(try SQLiteShell.run(salvage.store, "SELECT count(*) FROM ZPOST") == "6\n")
    }

    @Test func `a store that SQLite cannot open is salvaged as the version that its metadata say`() async throws {
        _ = try forum.sql("PRAGMA wal_checkpoint(TRUNCATE)")
        let url = URL(fileURLWithPath: store)
        var bytes = try Data(contentsOf: url)
        bytes[100] ^= 0xFF
        try bytes.write(to: url)
        let salvage = try await project.salvage(store, into: folder + "/saved.sqlite")
        #expect(salvage.version == "Forum")
        #expect(salvage.reason == "The store is of version Forum, by its metadata.")
        #expect(try SQLiteShell.run(salvage.store, "SELECT count(*) FROM ZPOST") == "6\n")
    }

    @Test func `a store goes back, and backups are made, carried and restored`() async throws {
        _ = try await project.migrate(store).report
        let rollback = try await project.rollback(store).report
        print(rollback.restored.version, rollback.saved?.name ?? "")
        #expect(rollback.restored.version == "Forum" && rollback.saved?.version == "Forum 3")
        #expect(try forum.sql("SELECT count(*) FROM ZTHREAD") == "6")
        let backup = try await project.backUp(store).report
        try await project.verify(backup)
        try await project.export(backup, to: folder + "/forum.tar")
        _ = try await project.restore(backup, to: store).report
        for backup in try await project.backups(of: store) { print(backup.name, backup.version, backup.createdAt) }
        let imported = try await project.importBackup(folder + "/forum.tar", for: store)
        let removed = try await project.pruneBackups(of: store, keeping: RetentionPolicy(minimumCount: 10))
        print(imported.name, removed.count)
        #expect(FileManager.default.fileExists(atPath: folder + "/forum.tar"))
        #expect(imported.version == "Forum" && removed.isEmpty)
    }

    @Test func `a store is downgraded`() async throws {
        let posts = try forum.sql("SELECT Z_PK, ZTEXT FROM ZPOST ORDER BY Z_PK")
        _ = try await project.migrate(store).report
        let downgrade = try await project.downgrade(store, to: "Forum 2", isRehearsal: true).report
        print(downgrade.way, downgrade.losses, downgrade.backup?.name ?? "no backup")
        #expect(downgrade.way == .mapping && downgrade.run == nil)
        #expect(try await project.status(of: store).version == "Forum 3")
        let back = try await project.downgrade(store, to: "Forum").report
        #expect(back.way == .mapping && back.saved?.version == "Forum 3")
        #expect(try forum.sql("SELECT Z_PK, ZTEXT FROM ZPOST ORDER BY Z_PK") == posts)
    }

    @Test func `a mirror follows, and takes over`() async throws {
        let mirror = try await project.startMirror(of: store, at: folder + "/mirror.sqlite", to: "Forum 2")
        print(try await mirror.sync().updated)
        if try await mirror.verify().isEqual { print(try await mirror.cutOver(acceptingLosses: true)) }
        let current = try await project.mirror(of: store).status()
        print(current.isCutOver, current.isBehind)
        try await mirror.stop()
        #expect(current.primary.hasSuffix("/mirror.sqlite"))
        let error = await #expect(throws: MigrationError.self) { try await mirror.status() }
        #expect(error?.code == .usage)
        #expect(try SQLiteShell.run(folder + "/mirror.sqlite", "SELECT count(*) FROM ZPOST") == "6\n")
    }

    @Test func `history, log and logger tell what was done`() async throws {
        var project = project
        let lines = Lines()
        print(try await project.recover(store))
        project.logger = { line in print(line) }
        project.logger = { line in lines.add(line) }
        _ = try await project.migrate(store).report
        #expect(try await project.history(of: store).map(\.result) == [.done])
        #expect(lines.all.first?.message == "Migrating from version Forum to version Forum 3")
        #expect(lines.all.last?.message == "The store is of version Forum 3")
        #expect(
            try await project.log(of: store).contains { $0.hasSuffix("Forum to Forum 3") || $0.contains("completed") })
        for run in try await project.history(of: store) {
            print(run.operation, run.from, run.to, run.result, run.duration)
        }
        print(try await project.log(of: store).suffix(3))
    }

    @Test func `an error has a code and a remedy`() async throws {
        do {
            _ = try await project.plan(for: store, to: "Forum 4")
        } catch let error as MigrationError where error.code == .noPath {
            print(error.message, error.place, error.remedy)
        }
        await #expect(throws: MigrationError.self) { _ = try await project.plan(for: store, to: "Forum 4") }
    }

    @Test func `the first page of the documentation site migrates a store`() async throws {
        let project = try Project(models: models)
        print(try await project.status(of: store))
        let report = try await project.migrate(store).report
        print("Migrated to \(report.to)")
        #expect(report.to == "Forum 3")
    }

    @Test func `every code block of the pages is in this file`() throws {
        let page = try DocumentationPage("Library.md")
        #expect(page.blocks.count == 30 && page.missingBlocks.isEmpty, "\(page.missingBlocks)")
        let site = try DocumentationPage("../Sources/Moult/Moult.docc/Moult.md")
        #expect(site.blocks.count == 1 && site.missingBlocks.isEmpty, "\(site.missingBlocks)")
    }
}
