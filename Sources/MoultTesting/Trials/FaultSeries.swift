import MoultSystem

/// All trials of one kind of fault on one kind of migration: at moment 1, 2, 3 … until a run passes untouched.
package struct FaultSeries {
    package let ground: FaultGround
    package let kind: Fault.Kind
    private let seeds: [UInt64]

    /// - Parameter seeds: for faults that leave something to chance, each moment is tried with each of them.
    package init(_ ground: FaultGround, _ kind: Fault.Kind, seeds: [UInt64] = [0]) {
        (self.ground, self.kind) = (ground, kind)
        self.seeds = [.powerLoss, .tornSector, .clock].contains(kind) ? seeds : [0]
    }

    /// Every fault there is to try, in the order of the run.
    package var faults: [Fault] {
        let moments: [Int] =
            switch kind {
            case .memoryOnce, .memoryOn: Array(1..<(ground.allocations + 1))
            case .clock: Array(1..<(ground.clockLooks + 1))
            default: ground.operations.indices.filter { kind.meets(ground.operations[$0]) }.map { $0 + 1 }
            }
        return moments.flatMap { moment in seeds.map { Fault(kind, at: moment, seed: $0) } }
    }

    /// Tries the moments in a scattered order, the same each time.
    ///
    /// - Parameters:
    ///   - earlier: what runs that ended early have tried, with the same seeds; this one continues there.
    ///   - seconds: when they are over the series ends with what it has, but not without a trial.
    ///   - limit: of broken promises, after which the series ends.
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

    /// The golden section visits every part early.
    private static func scattered(_ faults: [Fault]) -> [Fault] {
        faults.enumerated().sorted {
            (Double($0.offset) * 0.618_033_988_75).truncatingRemainder(dividingBy: 1)
                < (Double($1.offset) * 0.618_033_988_75).truncatingRemainder(dividingBy: 1)
        }.map(\.element)
    }
}
