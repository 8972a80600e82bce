import Foundation
import Moult
import MoultEngine
import MoultStore
import TestSupport
import Testing

@testable import MoultObjects

/// Processes that save into one store at the same time lose nothing of each other.
struct SharedStoreTests {
    @Test(arguments: [false, true])
    func `no acknowledged save of three processes is lost, and no key is given twice`(history: Bool) throws {
        try SharedStoreTrial(history: history).run(times: 25)
    }

    @Test func `what a killed process had saved stays, and what it had not is not half there`() throws {
        try SharedStoreTrial(history: true).kill(after: 0.15)
    }
}

@Suite(
    .enabled(if: Tier.faults.isAsked),
    .compactMapIssues { issue in
        var issue = issue
        issue.comments.append("MOULT_SEED=\(TestSupport.SeededGenerator.seedOfRun)")
        return issue
    })
struct SharedStoreFaultTests {
    @Test func `no acknowledged save of three processes is lost in many saves`() throws {
        try SharedStoreTrial(history: true).run(times: Tier.faults.seconds < 300 ? 250 : 1_000)
    }

    @Test func `what a killed process had saved stays, whenever it is killed`() throws {
        var random = TestSupport.SeededGenerator.ofRun("kills")
        for kill in Tier.faults.rounds(quick: 1, full: 100, sharedBy: 2) {
            try SharedStoreTrial(history: kill % 2 == 0).kill(after: .random(in: 0...0.4, using: &random))
        }
    }
}

private struct SharedStoreTrial {
    private let folder: ScratchFolder
    private let store: String
    private let hasHistory: Bool

    init(history: Bool) throws {
        folder = try ScratchFolder()
        store = folder.path + "/Journal.sqlite"
        hasHistory = history
        try SharedJournal.make(at: store, history: history)
    }

    /// This process and two children write at the same time.
    func run(times: Int) throws {
        let children = try ["first", "second"].map { try WritingChild(store, $0, times: times) }
        for child in children { try child.waitUntilReady() }
        var acknowledged: [String: Int64] = [:]
        try SharedJournal.write("parent", times: times, to: store) { acknowledged[$0] = $1 }
        for child in children {
            #expect(child.end() == 0)
            acknowledged.merge(try child.acknowledged()) { _, second in second }
        }
        #expect(acknowledged.count == 3 * 2 * times)
        try check(acknowledged, isComplete: true)
    }

    /// A child is killed while it and this process write.
    ///
    /// It dies at its time even while a save of ours meets a newer one of it again and again.
    func kill(after seconds: Double) throws {
        let child = try WritingChild(store, "child", times: 1_000_000)
        try child.waitUntilReady()
        var acknowledged: [String: Int64] = [:]
        let end = Date().addingTimeInterval(seconds)
        let identifier = child.identifier
        DispatchQueue.global().asyncAfter(deadline: .now() + seconds) { Foundation.kill(identifier, SIGKILL) }
        var round = 0
        while Date() < end {
            try SharedJournal.write("parent\(round)", times: 1, to: store) { acknowledged[$0] = $1 }
            round += 1
        }
        child.kill()
        acknowledged.merge(try child.acknowledged()) { _, second in second }
        try check(acknowledged, isComplete: false)
        try SharedJournal.write("after", times: 1, to: store) { _, _ in }
    }

    /// What the shell finds, beside what was acknowledged.
    private func check(_ acknowledged: [String: Int64], isComplete: Bool) throws {
        let rows = try SQLiteShell.run(store, "SELECT ZREF, Z_PK FROM ZENTRY").split(separator: "\n")
        let stored = Dictionary(
            rows.map { row in
                let parts = row.split(separator: "|")
                return (String(parts[0]), Int64(parts[1]) ?? 0)
            }, uniquingKeysWith: { first, _ in first })
        #expect(stored.count == rows.count, "no text was saved twice")
        let lost = acknowledged.filter { stored[$0.key] != $0.value }
        #expect(lost.isEmpty, "lost: \(lost.keys.sorted().prefix(5))")
        // A save that nobody could acknowledge any more may be there: the last of a killed process, whole.
        let unheard = stored.keys.filter { acknowledged[$0] == nil }
        #expect(unheard.count <= (isComplete ? 0 : 2), "unheard: \(unheard)")
        #expect(
            try SQLiteShell.run(
                store,
                """
                SELECT count(*) * 2 = (SELECT count(*) FROM ZENTRY), (SELECT ZCOUNT FROM ZJOURNAL) = count(*),
                    count(ZJOURNAL) = count(*), count(DISTINCT Z_FOK_JOURNAL) = count(*),
                    (SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_NAME = 'Entry') >= max(Z_PK)
                    FROM ZENTRY WHERE Z_ENT = (SELECT Z_ENT FROM Z_PRIMARYKEY WHERE Z_NAME = 'Entry')
                """) == "1|1|1|1|1\n")
        if hasHistory { try checkHistory() }
        let audit = try StoreAudit(store, model: SharedJournal.model(), full: true)
        #expect(audit.findings.filter { $0.severity > .note }.isEmpty)
    }

    /// Every insertion is told once, each transaction is whole, and none has changes of two saves.
    private func checkHistory() throws {
        #expect(
            try SQLiteShell.run(
                store,
                """
                SELECT (SELECT count(*) FROM ACHANGE WHERE ZCHANGETYPE = 0) = (SELECT count(*) + 1 FROM ZENTRY),
                    (SELECT count(DISTINCT ZENTITYPK) FROM ACHANGE WHERE ZCHANGETYPE = 0 AND ZENTITY IN
                        (SELECT Z_ENT FROM ZENTRY)) = (SELECT count(*) FROM ZENTRY),
                    (SELECT count(*) FROM ATRANSACTION) = (SELECT count(*) / 2 + 1 FROM ZENTRY),
                    NOT EXISTS (SELECT 1 FROM ACHANGE WHERE ZTRANSACTIONID NOT IN (SELECT Z_PK FROM ATRANSACTION))
                """) == "1|1|1|1\n")
    }
}

/// Another process that writes into the store; what it prints goes to a file, so that it never waits for us.
private final class WritingChild {
    private let process: ChildProcess
    private let output: String

    init(_ store: String, _ writer: String, times: Int) throws {
        output = store + "-\(writer)"
        _ = FileManager.default.createFile(atPath: output, contents: nil)
        let folder = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
        process = try ChildProcess(
            folder.appendingPathComponent("objects-child").path, [store, writer, String(times)],
            output: .files(output: output, errors: nil))
    }

    var identifier: Int32 { process.identifier }

    func waitUntilReady() throws {
        while try text().isEmpty, process.isRunning { Thread.sleep(forTimeInterval: 0.002) }
    }

    func kill() { process.kill() }

    func end() -> Int32 { process.wait() }

    /// The keys by the texts of the objects that it was told are saved; a line that was cut off is none.
    func acknowledged() throws -> [String: Int64] {
        let lines = try text().split(separator: "\n", omittingEmptySubsequences: false).dropLast().dropFirst()
        return Dictionary(
            lines.map { line in
                let parts = line.split(separator: " ")
                return (String(parts[0]), Int64(parts[1]) ?? 0)
            }, uniquingKeysWith: { first, _ in first })
    }

    private func text() throws -> String { try String(contentsOfFile: output, encoding: .utf8) }
}
