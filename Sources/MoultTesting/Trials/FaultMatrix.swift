import MoultBasics
import MoultSQLite

/// The results by kind of migration and kind of fault: the moments, the trials, and the broken promises.
package struct FaultMatrix: Sendable {
    package var rows: [FaultRow]
    /// The columns that an app's code fills anew in each run, and that were not compared.
    package var changing: Set<ChangingColumn> = []

    package init(_ rows: [FaultRow] = []) { self.rows = rows }

    package var broken: [String] { rows.flatMap(\.broken) }
    package var tried: Int { rows.reduce(0) { $0 + $1.tried } }

    private var cases: [String] { rows.map(\.faultCase).reduce(into: []) { if !$0.contains($1) { $0.append($1) } } }
    private var faults: [String] { rows.map(\.fault).reduce(into: []) { if !$0.contains($1) { $0.append($1) } } }

    private func row(_ faultCase: String, _ fault: String) -> FaultRow? {
        rows.first { $0.faultCase == faultCase && $0.fault == fault }
    }

    /// Returns `tried` if every moment was tried, otherwise `tried of moments`; then the number of broken promises.
    private static func cell(_ row: FaultRow?) -> String {
        guard let row else { return "" }
        let count = row.isWhole ? "\(row.taken)" : "\(row.taken) of \(row.moments)"
        return row.broken.isEmpty ? count : "\(count), **\(row.broken.count) broken**"
    }

    /// A table with a line for each kind of migration and a column for each kind of fault.
    package var table: [[String]] {
        let head = ["migration"] + faults + ["old / new", "broken"]
        let body = cases.map { name in
            let own = rows.filter { $0.faultCase == name }
            let ends = "\(own.reduce(0) { $0 + $1.old }) / \(own.reduce(0) { $0 + $1.new })"
            return [name] + faults.map { Self.cell(row(name, $0)) } + [
                ends, "\(own.reduce(0) { $0 + $1.broken.count })",
            ]
        }
        return [head] + body
    }

    package var markdown: String {
        let lines = table.map { "| " + $0.joined(separator: " | ") + " |" }
        let rule = "|" + String(repeating: " --- |", count: table.first?.count ?? 0)
        return ([lines.first ?? "", rule] + lines.dropFirst()).joined(separator: "\n")
    }

    /// The same table as CSV. No cell contains a quotation mark.
    package var csv: String {
        table.map { row in row.map { $0.contains(",") ? "\"\($0)\"" : $0 }.joined(separator: ",") + "\n" }.joined()
    }
}

/// The results of the trials of one kind of fault on one kind of migration.
package struct FaultRow: Sendable, Hashable, Codable {
    package let faultCase: String
    /// The kind of fault, as in a column of the table.
    package let fault: String
    /// The number of possible faults.
    package var moments = 0
    /// The number of faults that were tried and hit the run.
    package var tried = 0
    /// The number of faults that the run never reached, because its calls differed from those of the undisturbed run.
    package var untouched = 0
    /// The number of faults that left the old store, or an intermediate one; the others left the new one.
    package var old = 0
    /// The broken promises, each with its fault.
    package var broken: [String] = []
    package var seconds = 0.0

    package init(faultCase: String, fault: String) { (self.faultCase, self.fault) = (faultCase, fault) }

    package var new: Int { tried - old - broken.count }
    /// The number of faults with a known outcome.
    package var taken: Int { tried + untouched }
    /// Whether every possible fault has a known outcome.
    package var isWhole: Bool { taken >= moments }

    /// - Parameter last: the position of the new store among the states that a store may be in.
    package mutating func add(_ outcome: RecoveryCheck.Outcome, at number: Int, seed: UInt64, last: Int) {
        switch outcome {
        case .untouched: untouched += 1
        case .kept(let state):
            tried += 1
            if state < last { old += 1 }
        case .broken(let words):
            tried += 1
            broken.append("\(faultCase), \(fault) at \(number), seed \(seed): \(words)")
        }
    }
}

/// All trials of one kind of fault on one kind of migration.
package struct FaultSeries {
    package let ground: FaultFixture
    package let kind: Fault.Kind
    private let seeds: [UInt64]

    /// - Parameter seeds: the seeds with which to try each moment, for faults that involve chance.
    package init(_ ground: FaultFixture, _ kind: Fault.Kind, seeds: [UInt64] = [0]) {
        (self.ground, self.kind) = (ground, kind)
        self.seeds = [.powerLoss, .tornSector, .clock].contains(kind) ? seeds : [0]
    }

    /// Every possible fault, in the order of the run.
    package var faults: [Fault] {
        let moments: [Int] =
            switch kind {
            case .memoryOnce, .memoryOn: Array(1..<(ground.allocations + 1))
            case .clock: Array(1..<(ground.clockLooks + 1))
            default: ground.operations.indices.filter { kind.meets(ground.operations[$0]) }.map { $0 + 1 }
            }
        return moments.flatMap { moment in seeds.map { Fault(kind, at: moment, seed: $0) } }
    }

    /// Tries the moments in a scattered order that is the same each time.
    ///
    /// - Parameters:
    ///   - earlier: the results of earlier runs with the same seeds, which ended early; this run continues there.
    ///   - seconds: the time limit, after which the series ends with its results so far, but never without a trial.
    ///   - limit: the number of broken promises after which the series ends.
    package func run(after earlier: FaultRow? = nil, seconds: Double = .infinity, limit: Int = 3) throws -> FaultRow {
        var row = earlier ?? FaultRow(faultCase: ground.faultCase.name, fault: kind.rawValue)
        let all = Self.scattered(faults)
        row.moments = all.count
        let clock = POSIXSystem()
        let start = clock.monotonicNanoseconds
        for (number, fault) in all.dropFirst(row.taken).enumerated() {
            if number > 0 && clock.seconds(since: start) > seconds || row.broken.count >= limit { break }
            let outcome = try FaultTrial(ground, fault).run()
            row.add(outcome, at: fault.number, seed: fault.seed, last: ground.last)
        }
        row.seconds += clock.seconds(since: start)
        return row
    }

    /// Returns the faults in the order of the golden ratio, which visits every part of the run early.
    private static func scattered(_ faults: [Fault]) -> [Fault] {
        faults.enumerated().sorted {
            (Double($0.offset) * 0.618_033_988_75).truncatingRemainder(dividingBy: 1)
                < (Double($1.offset) * 0.618_033_988_75).truncatingRemainder(dividingBy: 1)
        }.map(\.element)
    }
}

/// One run with one fault, and all checks after it.
package struct FaultTrial {
    private let ground: FaultFixture
    private let fault: Fault

    package init(_ ground: FaultFixture, _ fault: Fault) { (self.ground, self.fault) = (ground, fault) }

    package func run() throws -> RecoveryCheck.Outcome {
        try ground.reset()
        // A year back, or ten years ahead.
        let jump: Int64 = fault.seed % 2 == 0 ? -31_536_000 : 315_360_000
        let clock = fault.kind == .clock ? TrialClock(jump: (look: fault.number, seconds: jump)) : TrialClock()
        let disk = try ground.disk(fault, clock: clock)
        if fault.kind.isOfMemory { AllocationFaults.begin(failing: fault.number, staysOut: fault.kind == .memoryOn) }
        let result = try disk.run { try ground.faultCase.run(ground.store, $0) }
        let allocations = fault.kind.isOfMemory ? AllocationFaults.end() : 0
        let hasMet =
            fault.kind.isOfMemory
            ? allocations >= fault.number : fault.kind == .clock ? clock.count >= fault.number : disk.hasMet
        guard hasMet else { return .untouched }
        if disk.filesLeftOpen != 0 { return .broken("\(disk.filesLeftOpen) files stay open") }
        let ending = fault.kind.isDeath ? .died : RecoveryCheck.Ending(result)
        return try RecoveryCheck(ground, faultPersists: fault.kind.persists).outcome(of: ending)
    }
}
