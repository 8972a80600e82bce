import Foundation
import Moult
import MoultBasics
import MoultModel
import MoultPlan
import MoultStore
import TestSupport
import Testing

@testable import MoultCare
@testable import MoultEngine

/// The situations of Tests/Scenarios: models, rows, the sentences of the plan, the losses, and what the sqlite3 shell finds
/// afterwards.
struct ScenarioTests {
    @Test func `there are situations`() { #expect(Scenario.names.count > 17) }

    @Test(arguments: Scenario.names)
    func `what is written of a situation is so`(file: String) throws {
        var run = try ScenarioRun(Scenario(named: file))
        for step in run.scenario.steps { try run.take(step) }
    }
}

/// A situation on a store of its own.
private struct ScenarioRun {
    let scenario: Scenario
    private let folder: ScratchFolder
    private let path: String
    private var answers = Answers.none
    private var losses: [String] = []
    private var findings: [Finding] = []
    private var hasMigrated = false

    init(_ scenario: Scenario) throws {
        self.scenario = scenario
        folder = try ScratchFolder()
        path = folder.path + "/Store.sqlite"
        try StoreCreator(scenario.versions.versions[0], history: scenario.hasHistory).make(at: path)
    }

    mutating func take(_ step: Scenario.Step) throws {
        let note: Comment = "\(scenario.title) \(step.verb) \(step.argument)"
        switch step.verb {
        case .sql: _ = try SQLiteShell.run(path, step.lines.joined(separator: "\n"))
        case .answers:
            answers = try Answers(
                json: Array("{\"format\": 1, \"answers\": [\(step.lines.joined(separator: ","))]}".utf8))
        case .migrate: try migrate(step, note)
        case .refused:
            let error = #expect(throws: MigrationError.self, note) { try prepared().migration() }
            #expect(error?.code.description == step.argument, note)
            for line in step.lines { #expect(error?.message.contains(line) == true, note) }
        case .lost: #expect(losses == step.lines, note)
        case .finding: #expect(findings.filter { $0.code == step.argument }.map(\.place).sorted() == step.lines, note)
        case .back: try goBack(step, note)
        case .expect:
            let found = try SQLiteShell.run(path, step.argument).split(
                separator: "\n", omittingEmptySubsequences: false)
            #expect(found.dropLast().map(String.init) == step.lines, note)
        }
    }

    private func prepared(to target: String = "") throws -> PreparedMigration {
        try PreparedMigration(
            path, versions: scenario.versions, to: target.isEmpty ? nil : target,
            options: .init(answers: answers, losses: .asTheVersionsSay()))
    }

    /// Migrates, after a rehearsal; the run, its record and its log tell of the same losses, and it has a backup.
    private mutating func migrate(_ step: Scenario.Step, _ note: Comment) throws {
        let prepared = try prepared(to: step.argument)
        #expect(step.lines.isEmpty || prepared.plan.edges.flatMap(\.sentences) == step.lines, note)
        findings = prepared.bound?.findings ?? []
        let migration = try #require(try prepared.migration())
        let rehearsal = try Migrator().rehearse(migration, on: path)
        let outcome = try Migrator().run(migration, on: path)
        losses = outcome.losses.map(\.sentence)
        #expect(rehearsal.losses == outcome.losses, note)
        #expect(try RunHistory(StoreRecords(store: path)).records().last?.losses.map(\.sentence) == losses, note)
        let log = try MigrationLog(StoreRecords(store: path)).read()
        for loss in losses { #expect(log.contains(loss), note) }
        let backups = try Migrator().backups(of: path).list().map(\.name)
        #expect(backups.contains { $0 == outcome.backup?.name } && (hasMigrated || backups.count == 1), note)
        #expect(try SQLiteShell.run(path, "PRAGMA integrity_check") == "ok\n", note)
        hasMigrated = true
    }

    private mutating func goBack(_ step: Scenario.Step, _ note: Comment) throws {
        let downgrade = try StoreDowngrade(path, versions: scenario.versions, to: step.argument, answers: answers)
        findings = downgrade.findings
        guard step.lines.isEmpty, case .mapping(let migration) = downgrade.way else {
            #expect(!step.lines.isEmpty && downgrade.losses.count == step.lines.count, "\(note) \(downgrade.losses)")
            for (loss, line) in zip(downgrade.losses, step.lines) { #expect(loss.contains(line), note) }
            return
        }
        #expect(downgrade.losses.isEmpty, note)
        _ = try Migrator().run(migration, on: path)
        let version = try #require(scenario.versions.versions.first { $0.name == step.argument })
        let audit = try StoreAudit(path, model: version.model)
        #expect(audit.isSound, "\(note) \(audit.findings)")
    }
}
