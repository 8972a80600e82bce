import MoultModel
import MoultReport
import MoultSystem

/// Does work that blocks on a thread of its own, for which a task waits.
///
/// - Parameter body: asks its argument whether the task was cancelled.
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
