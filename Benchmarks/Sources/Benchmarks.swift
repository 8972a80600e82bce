import Foundation
import Moult
import MoultBasics
import MoultModel
import MoultSQLite

/// One run: makes the stores, measures every group in turn, prints the table, writes the figures.
final class Benchmarks {
    let settings: Settings
    let folder: String
    private var figures: [Figure] = []
    private var notes: [String] = []
    private var failure: (any Error)?

    init(_ settings: Settings) throws {
        self.settings = settings
        folder = settings.scratch + "/moult-benchmarks-\(ProcessInfo.processInfo.processIdentifier)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    }

    func run() throws {
        defer { _ = try? FileManager.default.removeItem(atPath: folder) }
        let begun = Clock.now
        let store = try BenchmarkStore(rows: settings.rows, in: folder)
        note(
            "\(settings.rows) rows, \(store.size / 1_000_000) MB, made in \((Clock.now - begun).decimals(1)) s; "
                + "\(settings.rounds) rounds; sqlite3 \(Connection.version); "
                + "\(ProcessInfo.processInfo.activeProcessorCount) cores")
        group("changes") { try changes(store) }
        group("peers") { try peers(store) }
        group("backup") { try backup(store) }
        group("chain") { try chain(store) }
        group("planning") { try planning() }
        group("compiling") { try compiling() }
        group("memory") { try memory(store) }
        group("export") { try exporting(store) }
        group("deferred") { try deferred(store) }
        group("budget") { try budget(store) }
        group("command") { try commandLine() }
        group("opening") { try opening() }
        group("launch") { try launch(store) }
        group("growth") { try growth() }
        group("objects") { try objects(.objects) }
        group("models") { try objects(.models) }
        group("transform-closure") { try closure() }
        group("transform-policy") { try policy() }
        group("transform-memory") { try memoryOfTransforming() }
        report()
        try write()
        if let failure { throw failure }
    }

    /// A group that fails takes nothing from the others.
    private func group(_ name: String, _ measure: () throws -> [Figure]) {
        guard settings.only.isEmpty || name.contains(settings.only) else { return }
        tell("measuring \(name)")
        do {
            figures += try measure()
        } catch {
            note("FAILED: \(name): \(error)")
            failure = error
        }
    }

    /// Calls `body` once for each round, told which, with everything written to the disk before.
    func rounds(_ count: Int? = nil, _ body: (Int) throws -> Void) rethrows {
        for round in 0..<(count ?? settings.rounds) {
            sync()
            try body(round)
        }
    }

    func note(_ text: String) {
        notes.append(text)
        tell(text)
    }

    private func tell(_ text: String) { FileHandle.standardError.write(Data("\(text)\n".utf8)) }

    // MARK: - What comes out

    private func report() {
        var table = TextTable([
            .left("figure"), .right("moult"), .right("other"), .right("ratio"), .right("spread"), .right("bound"),
            .left(""),
        ])
        for figure in figures {
            let cells = figure.cells
            table.add(cells[0], cells[1], cells[2], cells[3], cells[4], cells[5], cells[6])
        }
        print("\n" + notes.joined(separator: "\n") + "\n")
        for line in table.lines() { print(line) }
        let missed = figures.filter { $0.isKept == false }.count
        let judged = figures.filter { $0.isKept != nil }.count
        print("\n\(judged - missed) of \(judged) bounds kept.")
    }

    private func write() throws {
        let json = JSONValue.object([
            .init("format", 1), .init("rows", JSONValue(settings.rows)), .init("rounds", JSONValue(settings.rounds)),
            .init("notes", JSONValue(notes)), .init("figures", .array(figures.map(\.json))),
        ])
        try (json.indented + "\n").write(toFile: settings.results, atomically: true, encoding: .utf8)
    }
}
