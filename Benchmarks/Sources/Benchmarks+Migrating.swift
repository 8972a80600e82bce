import Foundation
import MoultBasics
import MoultModel

/// What every migration has: a backup, versions on the way, memory.
extension Benchmarks {
    /// The copy that a backup is, beside the shell's `.backup`; and the backup as a command, proven, with its digest.
    func backup(_ store: BenchmarkStore) throws -> [Figure] {
        var copies: [Double] = []
        var whole: [Double] = []
        var theirs: [Double] = []
        try rounds { _ in
            let copy = try store.copy("backup")
            let folder = URL(fileURLWithPath: copy).deletingLastPathComponent().path
            theirs.append(try Command.shell(copy, ".backup '\(folder)/shell.sqlite'").run().seconds)
            sync()
            whole.append(try Command.child("backup", copy).run().seconds)
            sync()
            copies.append(try Command.child("migrate", copy, "required").run().json.number("backup"))
            BenchmarkStore.remove(copy)
        }
        return [
            Figure(
                name: "backup within a migration / .backup (speed)", rows: store.rows, ours: copies, theirs: theirs,
                isSpeed: true),
            Figure(
                name: "backup as a command, checked / .backup", rows: store.rows, ours: whole, theirs: theirs),
        ]
    }

    /// Ten versions composed into one pass, beside the mapping from the first to the last.
    func chain(_ store: BenchmarkStore) throws -> [Figure] {
        var composed: [Double] = []
        var direct: [Double] = []
        func measure(_ change: String) throws -> Double {
            let copy = try store.copy(change)
            defer { BenchmarkStore.remove(copy) }
            sync()
            let json = try Command.child("migrate", copy, change).run().json
            return json.number("prepare") + json.number("run")
        }
        try rounds(settings.rounds + 2) { round in
            if round.isMultiple(of: 2) {
                composed.append(try measure("chain"))
                direct.append(try measure("direct"))
            } else {
                direct.append(try measure("direct"))
                composed.append(try measure("chain"))
            }
        }
        return [
            Figure(
                name: "10 versions composed / first to last directly", rows: store.rows, ours: composed,
                theirs: direct)
        ]
    }

    /// The highest resident memory of a whole migration, of the store and of one ten times as large.
    func memory(_ store: BenchmarkStore) throws -> [Figure] {
        var figures = [try peak(store, "required"), try peak(store, "chain")]
        if settings.hasLargeStore {
            let large = try BenchmarkStore(rows: settings.rows * 10, in: folder)
            figures += [try peak(large, "required"), try peak(large, "chain")]
            try FileManager.default.removeItem(atPath: large.path)
        }
        return figures
    }

    private func peak(_ store: BenchmarkStore, _ change: String) throws -> Figure {
        let copy = try store.copy("memory")
        defer { BenchmarkStore.remove(copy) }
        let json = try Command.child("migrate", copy, change).run().json
        return Figure(
            name: "peak memory (\(change))", rows: store.rows,
            ours: [Double(json["peak"]?.integer ?? 0) / 1_048_576], unit: .mebibytes)
    }
}

extension JSONValue {
    /// The number of that name; zero where there is none.
    func number(_ key: String) -> Double {
        switch self[key] {
        case .double(let number): number
        case .integer(let number): Double(number)
        default: 0
        }
    }
}

extension Figure {
    /// The same figure, measured in seconds.
    var inMilliseconds: Figure {
        var figure = self
        figure.ours = ours.map { $0 * 1000 }
        figure.theirs = theirs.map { $0 * 1000 }
        return figure
    }
}
