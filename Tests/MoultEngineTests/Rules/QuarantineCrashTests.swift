import Foundation
import MoultBasics
import MoultEngine
import MoultModel
import MoultObjects
import MoultStore
import TestSupport
import Testing

/// What lies on the disk at each moment around the commit, taken over by the next run as if the process had died there.
struct QuarantineCrashTests {
    @Test func `at every moment around the commit an object is in one place`() throws {
        let forum = try BrokenForum.closed()
        let moments = try MomentsSystem(of: forum.folder.path)
        let audit = try RuleAudit(forum.path, [ForumRules.homeless()], version: ForumRules.version)
        let outcome = try Migrator(system: moments).run(try #require(try audit.mending()), on: forum.path)
        #expect(outcome.quarantined == 10)
        var ends: [String] = []
        for moment in moments.folders {
            let store = moment.path + "/Forum.sqlite"
            let sidecar = StoreRecords(store: store)
            // Nobody sees the objects of a run before it is known what became of it.
            let isKept =
                try FileManager.default.fileExists(atPath: sidecar.quarantine)
                ? SQLiteShell.run(sidecar.quarantine, "SELECT count(*) FROM quarantine") : "0\n"
            #expect(try count(sidecar) == 0 || !FileManager.default.fileExists(atPath: sidecar.journal))
            let healed = try Migrator().recover(store)
            let left = try SQLiteShell.run(store, "SELECT count(*) FROM ZTOPIC")
            let end = "\(moment.name) \(isKept.dropLast()) \(healed) \(left.dropLast())+\(try count(sidecar))"
            ends.append(end)
            #expect(["100\n": 0, "90\n": 10][left] == (try count(sidecar)), "\(end)")
        }
        #expect(
            ends == [
                "started 0 undone 100+0", "started 0 undone 100+0", "quarantined 10 undone 100+0",
                "committing 10 undone 100+0",
                "committed 10 completed 90+10",
            ])
    }

    private func count(_ sidecar: StoreRecords) throws -> Int {
        var count = 0
        try Quarantine(sidecar).forEachEntry { _ in count += 1 }
        return count
    }
}

/// Copies the store's folder at the moments that matter, by a process of its own: this one would lose its locks.
private final class MomentsSystem: ForwardingSystem, @unchecked Sendable {
    private let folder: String
    private(set) var folders: [(name: String, path: String)] = []
    private let scratch: ScratchFolder

    init(of folder: String) throws {
        self.folder = folder
        scratch = try ScratchFolder()
    }

    func rename(_ path: String, to newPath: String) throws {
        try real.rename(path, to: newPath)
        guard newPath.hasSuffix("journal.json") else { return }
        let isCommitting = try String(decoding: real.read(newPath), as: UTF8.self).contains("\"committing\"")
        try take(isCommitting ? "committing" : "started")
    }

    func synchronise(_ path: String) throws {
        try real.synchronise(path)
        if path.hasSuffix("quarantine.sqlite") { try take("quarantined") }
    }

    func append(_ bytes: [UInt8], to path: String, _ rights: FileRights) throws {
        if path.hasSuffix("runs.jsonl") { try take("committed") }
        try real.append(bytes, to: path, rights)
    }

    private func take(_ name: String) throws {
        let path = "\(scratch.path)/\(folders.count)"
        _ = try ChildProcess.run("cp", ["-R", folder, path])
        folders.append((name, path))
    }
}
