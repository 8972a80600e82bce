import MoultBasics
import MoultObjects

/// Runs blocking work on a separate thread, for which a task waits.
///
/// - Parameter body: calls its argument to check whether the task was cancelled.
/// - Throws: `MigrationError` only.
package func onThread<Value: Sendable>(
    _ body: @escaping @Sendable (_ isCancelled: @escaping @Sendable () -> Bool) throws -> Value
) async throws -> Value {
    do {
        return try await BlockingWork.run("Moult", body)
    } catch {
        throw MigrationError(any: error)
    }
}
