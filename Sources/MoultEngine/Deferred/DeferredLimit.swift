import MoultModel
import MoultStore

/// How much of what was deferred is done in one call.
package enum DeferredLimit: Sendable, Hashable {
    case all
    /// The next task.
    case one
    /// As many tasks as there is time for.
    case seconds(Double)

    /// - Parameter longest: seconds of the longest unit that cannot be interrupted, and what it is.
    /// - Throws: `budgetTooSmall` that says this number.
    func check(against longest: (seconds: Double, sentence: String)) throws {
        guard case .seconds(let budget) = self else { return }
        guard budget.isFinite, budget > 0, budget >= longest.seconds else {
            throw MigrationError.budgetTooSmall(budget, longest.seconds, longest.sentence)
        }
    }
}

extension MigrationError {
    static func budgetTooSmall(_ budget: Double, _ longest: Double, _ sentence: String) -> MigrationError {
        let needed = (longest * 1000).rounded(.up) / 1000
        return MigrationError(
            .budgetTooSmall,
            "A budget of \(budget) s is not enough: the longest piece that cannot be interrupted takes about \(needed) s. "
                + sentence, remedy: "Give a budget of \(needed) s or more, or none.")
    }
}
