import Foundation

/// Work that is put off: how long it takes until the schema is right.
extension Benchmarks {
    /// Two columns leave and one comes, with ten times the rows where the run has them, beside the `DROP COLUMN`s that
    /// the sqlite3 shell has for it.
    func deferred(_ store: BenchmarkStore) throws -> [Figure] {
        let large = settings.hasLargeStore ? try BenchmarkStore(rows: store.rows * 10, in: folder) : store
        defer { if settings.hasLargeStore { _ = try? FileManager.default.removeItem(atPath: large.path) } }
        var (phases, theirs): ([String: [Double]], [Double]) = ([:], [])
        var peaks: [Double] = []
        try rounds { _ in
            let copy = try large.copy("deferred")
            defer { BenchmarkStore.remove(copy) }
            let json = try Command.child("migrate", copy, "deferred", "--deferred").run().json
            for member in json.members ?? [] {
                if case .double(let seconds) = member.value { phases[member.key, default: []].append(seconds) }
            }
            peaks.append(json.number("peak") / 1_048_576)
        }
        // Once: it takes as long as all else together.
        let copy = try large.copy("dropped")
        defer { BenchmarkStore.remove(copy) }
        let script = "BEGIN; ALTER TABLE ZITEM DROP COLUMN ZNOTE; ALTER TABLE ZITEM DROP COLUMN ZPAYLOAD; COMMIT"
        let dropped = try Command.shell(copy, script).run().seconds
        let work = zip(phases["change", default: []], phases["commit", default: []]).map { $0 + $1 }
        theirs = work.map { _ in dropped }
        let name = "deferred, \(large.rows) rows"
        var figures = [
            Figure(name: "\(name): change + commit", ours: work, bound: .atMost(10), unit: .milliseconds)
                .inMilliseconds,
            Figure(
                name: "\(name): the whole run", ours: phases["run", default: []], bound: .atMost(10),
                unit: .milliseconds
            )
            .inMilliseconds,
            Figure(name: "\(name): the same / DROP COLUMN in the shell", ours: work, theirs: theirs, bound: .none),
            Figure(name: "\(name): peak memory", ours: peaks, bound: .atMost(64), unit: .mebibytes),
        ]
        for phase in ["prepare", "change", "verify", "commit"] {
            figures.append(
                Figure(
                    name: "\(name): of which \(phase)", ours: phases[phase, default: []], bound: .none,
                    unit: .milliseconds
                )
                .inMilliseconds)
        }
        return figures
    }
}
