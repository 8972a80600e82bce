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

    /// Whether the tier's tests are to end before they have done all.
    package var isBounded: Bool { isAsked && seconds < .infinity }

    /// The rounds of a test that is quick, or long in the tier: there they end with the time that it has.
    ///
    /// - Parameter tests: how many share the time of one.
    package func rounds(quick: Int, full: Int, sharedBy tests: Int = 1) -> some Sequence<Int> {
        let (begun, share) = (Date(), isAsked ? seconds / Double(tests) : .infinity)
        return (0..<(isAsked ? full : quick)).lazy.prefix { $0 == 0 || Date().timeIntervalSince(begun) < share }
    }
}
