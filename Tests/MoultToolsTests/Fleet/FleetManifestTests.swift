import Foundation
import MoultBasics
import MoultModel
import TestSupport
import Testing

@testable import MoultTools

@Suite("The manifest of a fleet")
struct FleetManifestTests {
    @Test
    func `every store is read back as planned, in shards of equal work, with the digest that Python computes`() throws {
        let ground = try FleetGround()
        for number in 0..<20 { try ground.store("s/\(number).db", version: number % 3) }
        let (path, summary) = try ground.plan(["\(ground.path)/s"], shards: 4)
        #expect(summary.stores == 20 && summary.files == 20)
        let entries = try ground.entries(path)
        #expect(entries.map(\.number) == Array(1...20))
        #expect(Dictionary(grouping: entries, by: \.shard).mapValues(\.count) == [0: 5, 1: 5, 2: 5, 3: 5])
        #expect(Set(entries.map(\.state)) == [.behind, .current])
        let manifest = try FleetManifest(contentsOf: path) { _, _ in }
        #expect(manifest.stores == 20 && manifest.shards == 4)
        #expect(manifest.groups.map(\.stores).reduce(0, +) == 20)
        let script = """
            import hashlib, json, sys
            lines = open(sys.argv[1], 'rb').read().splitlines(True)
            assert hashlib.sha256(b''.join(lines[:-1])).hexdigest() == json.loads(lines[-1])['end']['sha256']
            """
        let python = try ChildProcess.run("python3", ["-c", script, path])
        #expect(python.exit == 0, "\(python.output)")
    }

    @Test func `a store has the facts that the sqlite3 shell and stat tell`() throws {
        let ground = try FleetGround()
        let store = try ground.store("one")
        _ = try SQLiteShell.run(store, "UPDATE Z_PRIMARYKEY SET Z_MAX = 5 WHERE Z_NAME = 'Post'")
        let entry = try #require(try ground.entries(ground.plan([store]).path).first)
        let stat = try ChildProcess.run("stat", ["-c", "%i %s", store]).output.split { $0 == " " || $0 == "\n" }
        #expect(String(entry.inode) == stat[0] && String(entry.size) == stat[1])
        #expect(entry.uuid + "\n" == (try SQLiteShell.run(store, "SELECT Z_UUID FROM Z_METADATA")))
        #expect(entry.rows == 5 && entry.version == "Forum" && entry.path == store)
    }

    private func edited(_ path: String, _ change: (inout [String]) -> Void) throws -> MigrationError? {
        var lines = try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n").map(String.init)
        change(&lines)
        let other = path + ".edited"
        try (lines.joined(separator: "\n") + "\n").write(toFile: other, atomically: true, encoding: .utf8)
        do {
            _ = try FleetManifest(contentsOf: other) { _, _ in }
            return nil
        } catch {
            return error as? MigrationError
        }
    }

    @Test func `a manifest that was edited, cut off, or made of two is refused, and says what to do`() throws {
        let ground = try FleetGround()
        for number in 0..<5 { try ground.store("s/\(number).db") }
        let (path, _) = try ground.plan(["\(ground.path)/s"])
        #expect(try edited(path) { _ in } == nil)
        let changes: [(inout [String]) -> Void] = [
            { $0.remove(at: 2) }, { $0.swapAt(1, 2) }, { $0.insert($0[1], at: 1) },
            { $0[1] = $0[1].replacingOccurrences(of: "\"rows\":0", with: "\"rows\":1") }, { $0.removeLast() },
            { $0 = Array($0.prefix(3)) }, { $0 += $0 }, { $0 = [] }, { $0[0] = "{}" }, { $0[1] = "{\"n\":" },
            { $0[3] = "{\"n\":1}" },
        ]
        for change in changes {
            let error = try #require(try edited(path, change))
            #expect(error.code == .metadataInvalid && !error.remedy.isEmpty, "\(error)")
        }
        let newer = try edited(path) { $0[0] = $0[0].replacingOccurrences(of: "\"format\":1", with: "\"format\":2") }
        #expect(newer?.message.contains("does not know") == true)
    }

    @Test func `shards get work as equal as greedy sharing makes it`() {
        var shares = ShardShares(3)
        var totals = [Double](repeating: 0, count: 3)
        let seed = SeededGenerator.seedOfRun
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<500 {
            let seconds = Double(generator.next() % 1_000) / 10
            let least = totals.min() ?? 0
            let shard = shares.take(seconds)
            // A slow reference: never more than the least.
            #expect(totals[shard] - least < 0.01, "MOULT_SEED=\(seed)")
            totals[shard] += max(seconds, 1e-3)
        }
    }

    @Test func `a plan that was killed in the middle of a line continues, and is the plan of one call`() throws {
        let ground = try FleetGround()
        for number in 0..<8 { try ground.store("s/\(number).db") }
        let (path, _) = try ground.plan(["\(ground.path)/s"])
        let whole = try Data(contentsOf: URL(fileURLWithPath: path))
        let draft = path + ".part"
        let look = try StoreLook(ground.versions, target: nil)
        for cut in [200, whole.count / 2, whole.count - 900] {
            try whole.prefix(cut).write(to: URL(fileURLWithPath: draft))
            guard let begun = try FleetManifest(beginningOf: draft) else {
                // Not even the first line is whole, or the groups have begun.
                continue
            }
            var bytes = try Data(contentsOf: URL(fileURLWithPath: draft))
            var isFirst = true
            let summary = try FleetPlan(begun, look: look, outlook: { _ in })
                .run(["\(ground.path)/s"], continuing: draft) { line in
                    if !isFirst { bytes += line }
                    isFirst = false
                }
            #expect(summary.stores == 8)
            #expect(bytes == whole)
        }
    }
}
