import Foundation

/// The long tests, each kind run only when `Scripts/test --tier` asks for it.
///
/// A suite of a tier is named `…FaultTests` or `…MatrixTests`, is `.enabled(if: Tier.faults.isAsked)`
/// and ends by itself after `seconds`.
package enum Tier: String, Sendable {
    case faults, matrix, fuzz

    package var isAsked: Bool { ProcessInfo.processInfo.environment["MOULT_TIER"] == rawValue }

    /// How long one test of the tier may go on: what `--seconds` says, else as long as it needs.
    package var seconds: Double {
        ProcessInfo.processInfo.environment["MOULT_TIER_SECONDS"].flatMap(Double.init) ?? .infinity
    }
}
