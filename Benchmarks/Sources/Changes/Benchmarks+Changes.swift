import Foundation
import MoultBasics
import MoultModel

/// Each kind of change by the default way, beside the statements alone and beside a copy of the file.
extension Benchmarks {
    func changes(_ store: BenchmarkStore) throws -> [Figure] {
        // With few rows a ratio is that of the starts alone.
        let small = settings.isSmall ? [] : [try BenchmarkStore(rows: max(settings.rows / 100, 100), in: folder)]
        var figures = try (small + [store]).flatMap { store in try measured().flatMap { try self.figures($0, store) } }
        if settings.hasLargeStore {
            let large = try BenchmarkStore(rows: settings.rows * 10, in: folder)
            defer { _ = try? FileManager.default.removeItem(atPath: large.path) }
            figures += try measured().flatMap { try self.figures($0, large, rounds: 1) }
        }
        return figures
    }

    /// All kinds, or the one that is asked for.
    func measured() throws -> [ChangeKind] {
        try ChangeKind.all().filter { settings.kind.isEmpty || $0.name == settings.kind }
    }

    private func figures(_ kind: ChangeKind, _ store: BenchmarkStore, rounds count: Int? = nil) throws -> [Figure] {
        let model = try bundle(kind)
        let statements = try kind.statements ?? RebuildScript(store.path).statements
        var (works, bare, wholes, copies): ([Double], [Double], [Double], [Double]) = ([], [], [], [])
        var (written, bareWritten): ([Double], [Double]) = ([], [])
        try rounds(count) { round in
            let moult = {
                let run = try self.migrate(try store.copy("moult"), model, kind.options)
                wholes.append(run.seconds)
                works.append(try ["change", "commit"].reduce(0) { $0 + (try run.json.seconds(ofPhase: $1)) })
                written.append(Double(run.bytesWritten - store.size) / Double(store.rows))
            }
            let shell = {
                let run = try Command.child("statements", try store.copy("bare"), statements).run()
                bare.append(try run.json.number("run"))
                bareWritten.append(Double(run.bytesWritten) / Double(store.rows))
            }
            // Who comes second finds the disk as the first left it: they take turns.
            for part in round.isMultiple(of: 2) ? [moult, shell] : [shell, moult] {
                try part()
                sync()
            }
            let copy = "\(self.folder)/copied.sqlite"
            copies.append(
                try Command("/bin/sh", ["-c", "cp '\(store.path)' '\(copy)' && sync '\(copy)'"]).run().seconds)
            for name in ["moult", "bare", "copied.sqlite"] {
                _ = try? FileManager.default.removeItem(atPath: "\(self.folder)/\(name)")
            }
        }
        func figure(_ what: String, _ ours: [Double], _ theirs: [Double], _ unit: Figure.Unit) -> Figure {
            Figure(
                name: "\(kind.name): \(what)", rows: store.rows, ours: ours, theirs: theirs, unit: unit,
                options: ["--kind", kind.name])
        }
        // The start of a process takes longer on a slower machine.
        let start = try 0.03 * ReferenceWork.pace()
        return [
            figure("change + commit / statements", works, bare, .milliseconds).inMilliseconds,
            kind.statements == nil
                ? figure("whole command / SQLite's documented way", wholes, bare, .milliseconds).inMilliseconds
                : figure(
                    "whole command / cp, fsync and 30 ms", wholes, copies.map { $0 + start }, .milliseconds
                ).inMilliseconds,
            figure("written per row, without the backup / statements", written, bareWritten, .bytes),
        ]
    }

    /// `moult migrate`, by the default way where no options are given.
    func migrate(_ store: String, _ model: String, _ options: [String] = []) throws -> Command.Result {
        try Command(
            moult,
            ["migrate", store, "--model", model, "--order", "V1,V2", "--json", "--accept-losses", "--config", "none"]
                + options
        ).run()
    }

    /// Both versions as an `.xcdatamodeld`, with the answers next to it.
    func bundle(_ kind: ChangeKind) throws -> String {
        let stem = "\(folder)/\(kind.name.filter(\.isLetter))"
        let first = [EntityDescription(name: BenchmarkModel.entity, attributes: BenchmarkModel.attributes)]
        for (version, entities) in [("V1", first), ("V2", kind.entities)] {
            let source = "\(stem).xcdatamodeld/\(version).xcdatamodel"
            try FileManager.default.createDirectory(atPath: source, withIntermediateDirectories: true)
            try ManagedObjectModel(entities: entities).xmlContents()
                .write(toFile: source + "/contents", atomically: true, encoding: .utf8)
        }
        try Data(kind.answers.json).write(to: URL(fileURLWithPath: "\(stem).answers.json"))
        return "\(stem).xcdatamodeld"
    }
}

extension JSONValue {
    /// How long a phase took, in the result of `moult migrate --json`.
    fileprivate func seconds(ofPhase name: String) -> Double {
        self["phases"]?.array?.first { $0["phase"]?.string == name }?.number("seconds") ?? 0
    }
}
