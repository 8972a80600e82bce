import Foundation
import MoultModel

/// Migrations beside what the sqlite3 shell needs for the same change of the same data.
extension Benchmarks {
    /// The transaction in place, beside the same ALTERs alone; then the same on a hundredth of the rows.
    func inPlace(_ store: BenchmarkStore) throws -> [Figure] {
        let small = try BenchmarkStore(rows: max(settings.rows / 100, 100), in: folder)
        var large: (ours: [Double], theirs: [Double]) = ([], [])
        var little: [Double] = []
        try rounds(settings.rounds * 2 + 1) { _ in
            large.ours.append(try transaction(store))
            let copy = try store.copy("alter")
            large.theirs.append(try Command.child("alter", copy).run().json.number("run"))
            BenchmarkStore.remove(copy)
            little.append(try transaction(small))
        }
        return [
            Figure(
                name: "add and rename in place: transaction / ALTERs", ours: large.ours, theirs: large.theirs,
                bound: .ratioAtMost(2), unit: .milliseconds
            ).inMilliseconds,
            Figure(
                name: "the same, \(settings.rows) rows / \(small.rows)", ours: large.ours, theirs: little,
                bound: .ratioAtMost(1.5), unit: .milliseconds
            ).inMilliseconds,
        ]
    }

    private func transaction(_ store: BenchmarkStore) throws -> Double {
        let copy = try store.copy("in-place")
        defer { BenchmarkStore.remove(copy) }
        let json = try Command.child("migrate", copy, "in-place", "--in-place").run().json
        return json.number("change") + json.number("commit")
    }

    /// A table's rebuild: phases and whole, beside SQLite's documented way in the shell.
    func rebuild(_ store: BenchmarkStore, _ change: String) throws -> [Figure] {
        let script = try RebuildScript(store.path)
        var phases: [String: [Double]] = [:]
        var whole: [Double] = []
        var theirs: [Double] = []
        try rounds { round in
            let moult = {
                let copy = try store.copy("moult")
                let result = try Command.child("migrate", copy, change, "--normalise").run()
                whole.append(result.seconds)
                for member in try result.json.members ?? [] {
                    if case .double(let seconds) = member.value { phases[member.key, default: []].append(seconds) }
                }
                BenchmarkStore.remove(copy)
            }
            let shell = { [self] in
                let copy = try store.copy("shell")
                theirs.append(try Command.shell(copy, script.sql(for: change)).run().seconds)
                try check(copy, store)
                BenchmarkStore.remove(copy)
            }
            // Who comes second finds the disk as the first left it: they take turns.
            for part in round.isMultiple(of: 2) ? [moult, shell] : [shell, moult] {
                try part()
                sync()
            }
        }
        let work = zip(phases["change", default: []], phases["commit", default: []]).map { $0 + $1 }
        var figures = [
            Figure(
                name: "rebuild (\(change)): change + commit / shell", ours: work, theirs: theirs,
                bound: .ratioAtMost(1)),
            Figure(
                name: "rebuild (\(change)): whole command / shell", ours: whole, theirs: theirs,
                bound: .ratioAtMost(1.7)),
            Figure(
                name: "rebuild (\(change)): verification / shell", ours: phases["verify", default: []], theirs: theirs,
                bound: .ratioAtMost(1)),
        ]
        for phase in ["prepare", "backup", "copy", "change", "commit"] {
            figures.append(
                Figure(
                    name: "rebuild (\(change)): of which \(phase)", ours: phases[phase, default: []], theirs: theirs,
                    bound: .none))
        }
        return figures
    }

    private func check(_ copy: String, _ store: BenchmarkStore) throws {
        let count = try Command.shell(copy, "SELECT count(*) FROM ZITEM").run().output
        guard count == "\(store.rows)\n" else {
            throw MigrationError(.internal, "The shell's rebuild has \(count) rows.", remedy: "Look at the script.")
        }
    }

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
                name: "backup within a migration / .backup (speed)", ours: copies, theirs: theirs,
                bound: .speedAtLeast(0.8)),
            Figure(
                name: "backup as a command, proven / .backup", ours: whole, theirs: theirs, bound: .none),
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
                name: "10 versions composed / first to last directly", ours: composed, theirs: direct,
                bound: .ratioAtMost(1.05))
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
            name: "peak memory, \(store.rows) rows (\(change))",
            ours: [Double(json["peak"]?.integer ?? 0) / 1_048_576], bound: .atMost(64), unit: .mebibytes)
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
    /// Bounds stay as they are.
    var inMilliseconds: Figure {
        var figure = self
        figure.ours = ours.map { $0 * 1000 }
        figure.theirs = theirs.map { $0 * 1000 }
        return figure
    }
}
