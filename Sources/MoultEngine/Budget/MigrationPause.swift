import MoultModel

/// A migration that used up the budget of a call and continues at the next. The store is unchanged.
package struct MigrationPause: Error, Sendable, Equatable {
    package var run: String
    package var from: String
    package var to: String
    /// Of the whole, 0 to 1.
    package var fraction: Double
    /// Calls so far that ended on their budget.
    package var calls: Int
    /// Seconds that this call took.
    package var seconds: Double
    /// The work that the next call begins with.
    package var next: String
    /// The reason why the work of earlier calls was discarded; nil if it was not.
    package var startedOver: String?
}

/// The result of a call with a budget.
package enum BudgetOutcome: Sendable {
    /// The store was of the target version already.
    case nothingToDo
    case finished(MigrationOutcome, startedOver: String?)
    case paused(MigrationPause)
}
