import MoultModel
import MoultStore

/// The amount of deferred work that is done in one call.
package enum DeferredLimit: Sendable, Hashable {
    case all
    /// The next task.
    case one
    /// As many tasks as there is time for.
    case seconds(Double)

    /// - Parameters:
    ///   - longest: the longest unit that cannot be interrupted.
    ///   - begun: seconds of the call that have passed, beyond those that every call needs.
    /// - Throws: `budgetTooSmall` that says these numbers.
    func check(against longest: MigrationUnit, after begun: Double = 0) throws {
        guard case .seconds(let budget) = self else { return }
        guard budget.isFinite, budget > 0, budget >= longest.seconds + begun else {
            throw MigrationError.budgetTooSmall(budget, longest.seconds, longest.sentence, after: begun)
        }
    }
}

extension MigrationError {
    /// - Parameters:
    ///   - longest: seconds of the longest unit, as far as is known.
    ///   - begun: seconds of the call that had passed before it.
    static func budgetTooSmall(
        _ budget: Double, _ longest: Double, _ sentence: String, after begun: Double = 0
    ) -> MigrationError {
        func seconds(_ number: Double) -> Double { (number * 1000).rounded(.up) / 1000 }
        // The next call may take a little longer to get there.
        let needed = seconds(longest + begun * 1.2)
        let before = begun > 0.01 ? "\(seconds(begun)) s had passed before the piece that is next, and " : ""
        return MigrationError(
            .budgetTooSmall,
            "A budget of \((budget * 1e6).rounded() / 1e6) s is not enough: \(before)the longest piece that cannot be "
                + "interrupted takes about \(seconds(longest)) s: " + sentence,
            remedy: "Give a budget of \(needed) s or more, or none.")
    }
}
