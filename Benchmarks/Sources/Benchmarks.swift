import Foundation
import MoultBasics
import MoultModel
import MoultSQLite

/// One run: makes the stores, measures every group in turn, prints the table, writes the figures, judges them.
final class Benchmarks {
    let settings: Settings
    let folder: String
    private let bounds: Bounds
    private let date = String(POSIXSystem().now.iso8601.prefix(10))
    private var figures: [Figure] = []
    private var notes: [String] = []
    private var failed: [String] = []
    /// The groups that were measured whole.
    private var whole: Set<String> = []
    private var hasSkipped = false

    init(_ settings: Settings) throws {
        self.settings = settings
        bounds = try Bounds(contentsOf: settings.bounds)
        folder = settings.scratch + "/moult-benchmarks-\(ProcessInfo.processInfo.processIdentifier)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    }

    /// - Returns: whether every group was measured and every bound kept.
    func run() throws -> Bool {
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
        group("care") { try care() }
        group("deferred") { try deferred(store) }
        group("budget") { try budget(store) }
        group("command") { try commandLine() }
        group("opening") { try opening() }
        group("launch") { try launch(store) }
        group("growth") { try growth() }
        group("objects") { try objects(.objects) }
        group("models") { try objects(.models) }
        group("names") { try objects(.names) }
        group("reading") { try reading() }
        group("transform-closure") { try closure() }
        group("transform-policy") { try policy() }
        group("transform-memory") { try memoryOfTransforming() }
        if settings.only.contains("client") { group("client") { try client() } }
        return try report()
    }

    /// A group that fails takes nothing from the others.
    private func group(_ name: String, _ measure: () throws -> [Figure]) {
        guard settings.only.isEmpty || settings.only.contains(where: name.contains) else { return }
        tell("measuring \(name)")
        hasSkipped = !settings.kind.isEmpty || !settings.verbs.isEmpty || settings.isSmall
        do {
            let before = try ReferenceWork.pace()
            let measured = try measure()
            let pace = try (before + ReferenceWork.pace()) / 2
            figures += measured.map { figure in
                var figure = figure
                (figure.group, figure.date, figure.pace) = (name, date, pace)
                return figure
            }
            if !hasSkipped { whole.insert(name) }
        } catch {
            note("FAILED: \(name): \(error)")
            failed.append(name)
        }
    }

    /// Calls `body` once for each round, told which, with everything written to the disk before.
    func rounds(_ count: Int? = nil, _ body: (Int) throws -> Void) rethrows {
        for round in 0..<(count ?? settings.rounds) {
            sync()
            try body(round)
        }
    }

    /// Removes a store's file with its log.
    func removeStore(_ path: String) {
        for suffix in ["", "-wal", "-shm"] { _ = try? FileManager.default.removeItem(atPath: path + suffix) }
    }

    func note(_ text: String) {
        notes.append(text)
        tell(text)
    }

    /// Says what is not measured, and why.
    func skip(_ text: String) {
        hasSkipped = true
        note("SKIPPED: \(text)")
    }

    private func tell(_ text: String) { FileHandle.standardError.write(Data("\(text)\n".utf8)) }

    // MARK: - What comes out

    private func report() throws -> Bool {
        let judgement = Judgement(figures, by: bounds, isSmall: settings.isSmall, groups: whole)
        print("\n" + notes.joined(separator: "\n") + "\n")
        for line in judgement.table + [""] + judgement.summary(settings.command) { print(line) }
        if !failed.isEmpty { print("FAILED: \(failed.joined(separator: ", "))") }
        var results = Results(isSmall: settings.isSmall)
        try results.add(figures, to: settings.results)
        return judgement.isKept && failed.isEmpty
    }

    /// Judges the figures of the file of results again, without measuring.
    ///
    /// - Returns: whether every bound is kept.
    static func judge(_ settings: Settings) throws -> Bool {
        let results = try Results(contentsOf: settings.results)
        let judgement = Judgement(
            results.figures, by: try Bounds(contentsOf: settings.bounds), isSmall: results.isSmall)
        var again = settings
        again.isSmall = results.isSmall
        for line in judgement.table + [""] + judgement.summary(again.command) { print(line) }
        return judgement.isKept
    }
}
