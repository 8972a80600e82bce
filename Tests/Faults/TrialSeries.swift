import MoultTesting

/// Trials of one kind on one kind of migration.
protocol TrialSeries {
    var name: String { get }
    func trial(at number: Int, seed: UInt64) throws -> RecoveryCheck.Outcome
    func run(after earlier: FaultRow?, seconds: Double) throws -> FaultRow
}

extension FaultSeries: TrialSeries {
    var name: String { "\(ground.faultCase.name) × \(kind.rawValue)" }

    func trial(at number: Int, seed: UInt64) throws -> RecoveryCheck.Outcome {
        try FaultTrial(ground, Fault(kind, at: number, seed: seed)).run()
    }

    func run(after earlier: FaultRow?, seconds: Double) throws -> FaultRow {
        try run(after: earlier, seconds: seconds, limit: 3)
    }
}
