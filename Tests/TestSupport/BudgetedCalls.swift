/// Calls with ever longer budgets, from one that is too short for anything, until a call finishes the work.
///
/// - Parameter call: returns whether the work is finished; nil where the budget was refused.
/// - Returns: how many calls left work to the next one.
package func budgetedCalls(_ call: (_ seconds: Double) throws -> Bool?) rethrows -> Int {
    var (seconds, paused) = (0.005, 0)
    for _ in 0..<200 {
        switch try call(seconds) {
        case true?: return paused
        case false?: paused += 1
        case nil: seconds *= 1.2
        }
    }
    return 0
}
