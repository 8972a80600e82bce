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
        func figure(_ name: String, _ ours: [Double], _ unit: Figure.Unit = .milliseconds) -> Figure {
            Figure(name: name, rows: large.rows, ours: ours, unit: unit)
        }
        return [
            figure("change + commit", work).inMilliseconds,
            figure("the whole run", phases["run", default: []]).inMilliseconds,
            Figure(name: "the same / DROP COLUMN in the shell", rows: large.rows, ours: work, theirs: theirs),
            figure("peak memory", peaks, .mebibytes),
        ]
            + ["prepare", "change", "verify", "commit"].map {
                figure("of which \($0)", phases[$0, default: []]).inMilliseconds
            }
    }
}
