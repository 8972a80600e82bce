import Foundation
import MoultCoreData
import TestSupport
import Testing

/// A migration that an app waits for in a task, which is cancelled at one instant after the other.
@Suite struct TaskCancellationTests {  // tier: long
    private static func registry() throws -> VersionRegistry {
        try VersionRegistry(
            [
                RegisteredVersion(SemanticVersion(1, 0), model: Library.first(), description: "Books."),
                RegisteredVersion(SemanticVersion(1, 1), model: Library.second(), description: "Ratings."),
            ], migrations: [])
    }

    @Test func `a migration whose task is cancelled has done nothing, or all, and is done when it is asked for again`()
        async throws
    {
        let registry = try Self.registry()
        let ground = try TestStore()
        try ground.populate(300)
        let before = try SQLiteShell.run(ground.url.path, ".dump")
        var (cancelled, done) = (0, 0)
        for round in Tier.faults.rounds(quick: 10, full: 120) {
            let folder = try ScratchFolder()
            let url = URL(fileURLWithPath: try folder.copyStore(ground.url.path))
            let task = Task { try await registry.migrate(storeAt: url) }
            try await Task.sleep(for: .microseconds((round * 3_701) % 90_000))
            task.cancel()
            do {
                _ = try await task.value
                done += 1
                #expect(try registry.status(ofStoreAt: url).versionsBehind == 0)
            } catch let error as MigrationError where error.code == .cancelled {
                cancelled += 1
                #expect(try SQLiteShell.run(url.path, ".dump") == before)
                let names = try FileManager.default.subpathsOfDirectory(atPath: folder.path).map {
                    $0.replacing("Library.sqlite.moult/", with: "")
                }
                let allowed = ["Library.sqlite", "Library.sqlite.moult", "lock", "log.txt", "runs.jsonl", "backups"]
                #expect(Set(names).isSubset(of: allowed), "\(names)")
            }
            try await registry.migrate(storeAt: url)
            #expect(try registry.status(ofStoreAt: url).versionsBehind == 0)
            #expect(try SQLiteShell.run(url.path, "SELECT count(*), sum(ZRATING) FROM ZBOOK") == "300|900\n")
        }
        if Tier.faults.isAsked { print("a task: cancelled \(cancelled) times, done by then \(done) times") }
        #expect(cancelled > 0)
    }
}
