import MoultEngine
import MoultModel

/// One thing that a diagnosis looks at.
struct DiagnosisCheck: Sendable {
    let run: @Sendable (DiagnosisSite) throws -> [Finding]

    /// In the order in which a person should read them, where they are equally bad.
    static let all: [DiagnosisCheck] = [
        unreadable, sideFiles, surroundings, neighbours, unfinishedRun, leftovers, records, failingRuns, damagedPages,
        version,
        plan, space,
        rows, fewerRows, backups, quarantine, slowness,
    ]
}
