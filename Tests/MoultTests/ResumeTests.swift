import Foundation
import Moult
import MoultBasics
import TestSupport
import Testing

/// A run that has died is ended as what it was, by its own request.
@Suite("A program resumes a run")
struct ResumeTests {
    private let forum: ForumStore

    init() throws { forum = try ForumStore() }

    /// Leaves the journal of a run that has died before its commit.
    private func leave(_ operation: String, _ request: StoreRequest?) throws {
        let folder = forum.path + ".moult"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let request = try request?.document.compact ?? "null"
        let journal = """
            {"format": 1, "run": "r1", "operation": "\(operation)", "state": "started", "from": "Forum", "to": "Forum 2",
            "startedAt": "2026-01-02T03:04:05Z", "schemaVersion": 1, "oldChecksum": "x", "newChecksum": null,
            "backup": null, "backups": "\(folder)/backups", "newExternalFiles": [], "request": \(request),
            "of a later version": [1]}
            """
        try Data(journal.utf8).write(to: URL(fileURLWithPath: folder + "/journal.json"))
    }

    private var project: Project { get throws { try Project(models: forum.models) } }

    @Test func `a migration is finished at its own target and with its own options`() async throws {
        var options = RunOptions()
        options.keepsBackup = false
        try leave("migrate", StoreRequest(forum.path, to: "Forum 2", .migrate, options))
        let status = try await project.status(of: forum.path).description
        #expect(status.contains("Project.resume(_:options:) finishes the migration to Forum 2."), "\(status)")
        let report = try await project.resume(forum.path).report
        #expect(report.recovery == .undone && report.migration?.recovery == .undone)
        #expect(report.migration?.to == "Forum 2" && report.migration?.outcome == .migrated)
        #expect(report.migration?.backup == nil)
        #expect(try await project.status(of: forum.path).version == "Forum 2")
        let runs = try await project.history(of: forum.path)
        #expect(runs.map(\.result) == [.undone, .done])
    }

    @Test func `other work is named and not begun again`() async throws {
        let before = try forum.sql(".sha3sum")
        try leave("repair", StoreRequest(forum.path, .repair(["dangling"], before: nil)))
        let report = try await project.resume(forum.path).report
        #expect(report.recovery == .undone && report.migration == nil)
        #expect(report.description.contains("The repair had not committed."), "\(report)")
        #expect(report.description.contains("Project.repair(") && report.description.contains("only: [.dangling]"))
        #expect(try forum.sql(".sha3sum") == before)
        #expect(try await project.resume(forum.path).report.recovery == .nothing)
    }

    @Test func `a journal without a request, or with another's, leads to its own target with the given options`()
        async throws
    {
        for request in [nil, StoreRequest("/elsewhere.sqlite", to: "Forum 2", .migrate)] {
            let forum = try ResumeTests()
            try forum.leave("migrate", request)
            let report = try await forum.project.resume(forum.forum.path).report
            #expect(report.migration?.to == "Forum 2" && report.migration?.backup != nil)
        }
    }

    @Test func `a project without the target only recovers`() async throws {
        try leave("migrate", StoreRequest(forum.path, to: "Forum 9", .migrate))
        let report = try await project.resume(forum.path).report
        #expect(report.recovery == .undone && report.migration == nil)
        #expect(try await project.status(of: forum.path).version == "Forum")
    }

    @Test func `a request is read as it was kept, and options replace only what they set`() throws {
        var options = RunOptions()
        (options.keepsBackup, options.backupFolder, options.budget) = (false, "/b", .seconds(30))
        options.acceptedLosses = ["Post.text"]
        let request = StoreRequest("/s", to: "2", .migrate, options, rules: "/r.json", plan: "/p.json")
        #expect(try StoreRequest(request.document, place: "/s") == request)
        let works: [StoreRequest.Work] = [
            .repair(["space"], before: "2024-01-01"), .applyFixes, .putBack([7], run: nil), .putBack(nil, run: "r"),
            .downgrade,
        ]
        for work in works {
            let request = StoreRequest("/s", work)
            #expect(try StoreRequest(request.document, place: "/s") == request)
        }
        var others = RunOptions()
        (others.isExperimental, others.backupFolder) = (true, "/c")
        var expected = options
        (expected.isExperimental, expected.backupFolder) = (true, "/c")
        #expect(try options.replacing(with: others) == expected)
        #expect(try options.replacing(with: RunOptions()) == options)
    }
}
