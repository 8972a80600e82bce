import FaultCases
import Foundation
import MoultBasics
import MoultTesting
import Synchronization
import TestSupport

/// One line, at once.
func say(_ line: String) { FileHandle.standardOutput.write(Data("\(line)\n".utf8)) }

/// All series of trials that the options ask for, each in a process of its own, several side by side.
///
/// The row of a series is kept, under the digest of this program: what was interrupted goes on where it was, and what
/// another build has shown counts for nothing.
struct FaultCampaign {
    private struct Series {
        let faultCase: String
        let kind: TrialKind
        /// The file of its row.
        let path: String
    }

    private static let isStopWished = Atomic<Bool>(false)
    private let options: FaultOptions
    private let program: String
    private let series: [Series]

    init(_ options: FaultOptions, countsAllocations: Bool) throws {
        self.options = options
        program = try POSIXSystem.ownProgram()
        if !countsAllocations { say("SKIPPED: SQLite's allocations cannot be counted here") }
        let build = try POSIXSystem().digest(of: program).prefix(8).map { String(format: "%02x", $0) }.joined()
        let folder = "\(options.results ?? "")/\(build)-\(options.seeds)"
        if options.results != nil {
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        }
        let cases = try FaultCases.all.filter { options.takes($0) }
        let kinds = TrialKind.all.filter { options.takes($0) && (countsAllocations || !$0.isOfMemory) }
        // By kinds of fault, so that a run that is interrupted has whole columns.
        series = kinds.flatMap { kind in
            cases.filter { kind.befalls($0) }.map { faultCase in
                let word = "\(faultCase.name)-\(kind.name)".map { $0.isLetter || $0.isNumber ? $0 : "-" }
                return Series(faultCase: faultCase.name, kind: kind, path: "\(folder)/\(String(word)).json")
            }
        }
    }

    /// - Returns: the rows of the two tables; nil when the run was interrupted.
    func run() throws -> (faults: FaultMatrix, real: FaultMatrix)? {
        for number in [SIGINT, SIGTERM, SIGHUP] {
            signal(number) { _ in FaultCampaign.isStopWished.store(true, ordering: .relaxed) }
        }
        try ScratchTree.removeAbandoned("moult-faults")
        let rows = try ScratchTree.with("moult-faults") { try runAll(in: $0) }
        guard !Self.isStopWished.load(ordering: .relaxed) else { return nil }
        let found = series.compactMap { series in rows[series.path].map { (series.kind.isReal, $0) } }
        return (FaultMatrix(found.filter { !$0.0 }.map(\.1)), FaultMatrix(found.filter(\.0).map(\.1)))
    }

    private func runAll(in scratch: String) throws -> [String: FaultRow] {
        var rows: [String: FaultRow] = [:]
        var running: [(Series, ChildProcess, row: String)] = []
        var waiting: [Series] = []
        for series in series {
            if options.results != nil, let row = FaultRow(keptAt: series.path), row.isWhole {
                rows[series.path] = row
            } else {
                waiting.append(series)
            }
        }
        if !rows.isEmpty { say("\(rows.count) series were tried before by this build") }
        while !waiting.isEmpty || !running.isEmpty {
            if Self.isStopWished.load(ordering: .relaxed) {
                for (_, child, _) in running { child.kill() }
                break
            }
            while running.count < options.jobs, !waiting.isEmpty {
                let next = waiting.removeFirst()
                let folder = "\(scratch)/\(waiting.count)"
                try POSIXSystem().makeFolder(folder, .byUmask)
                if options.results != nil, let row = FaultRow(keptAt: next.path) {
                    try row.keep(at: folder + "/row.json")
                }
                running.append((next, try start(next, in: folder), folder + "/row.json"))
            }
            usleep(20_000)
            let split = running.partition { $0.1.isRunning }
            for (series, child, path) in running[..<split] {
                if let row = try end(series, child, path) { rows[series.path] = row }
                try ScratchTree.remove(Path.folder(of: path))
            }
            running.removeFirst(split)
        }
        return rows
    }

    private func start(_ series: Series, in folder: String) throws -> ChildProcess {
        let bounded = options.seconds < .infinity ? ["--seconds", "\(options.seconds)"] : []
        return try ChildProcess(
            program,
            ["--case", "=" + series.faultCase, "--fault", "=" + series.kind.name, "--seeds", "\(options.seeds)"]
                + bounded
                + ["--row", folder + "/row.json"], feeds: true, environment: ["TMPDIR": folder])
    }

    /// - Returns: the row of a series that has ended; nil where this machine cannot try it.
    private func end(_ series: Series, _ child: ChildProcess, _ path: String) throws -> FaultRow? {
        let code = child.wait()
        guard code == 0 else {
            var row = FaultRow(faultCase: series.faultCase, fault: series.kind.name)
            (row.moments, row.tried) = (1, 1)
            row.broken = ["\(series.faultCase), \(series.kind.name): the program of the trials ended with \(code)"]
            tell(row)
            return row
        }
        guard let row = FaultRow(keptAt: path) else { return nil }
        tell(row)
        if options.results != nil, row.broken.isEmpty { try row.keep(at: series.path) }
        return row
    }

    private func tell(_ row: FaultRow) {
        let count = "\(row.tried) of \(row.moments), \(row.untouched) untouched"
        let each = row.seconds * 1_000 / Double(max(row.taken, 1))
        let ends = "\(row.old) old, \(row.new) new, \(row.broken.count) broken"
        say("\(row.faultCase) × \(row.fault): \(count), \(ends), \(Int(row.seconds)) s, \(Int(each)) ms each")
        for words in row.broken { say("  BROKEN: \(words)") }
    }
}
