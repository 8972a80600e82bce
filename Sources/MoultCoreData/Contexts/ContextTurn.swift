import Dispatch
import MoultBasics

/// The turns of a context's callers: one at a time, and blocks in the order of the calls.
///
/// Take the lock before the lock of the whole context tree, never after it.
package final class ContextTurn: @unchecked Sendable {
    private let lock = RecursiveLock()
    /// The number of times that the holder of the lock has acquired it; guarded by the lock.
    private var depth = 0
    private let queue = DispatchQueue(label: "ManagedObjectContext")

    /// Runs `body` as soon as no other thread has its turn.
    package func withLock<Result, Failure: Error>(_ body: () throws(Failure) -> Result) throws(Failure) -> Result {
        try lock.withLock { () throws(Failure) -> Result in
            depth += 1
            defer { depth -= 1 }
            return try body()
        }
    }

    /// Runs a block on another thread, after those that were added before.
    func add(_ block: @escaping @Sendable () -> Void) {
        queue.async { self.withLock(block) }
    }

    /// Runs `body` on this thread, after the blocks that were added before. If this thread has its turn, `body` is part
    /// of it and runs at once: waiting would never end.
    func inOrder<Result, Failure: Error>(_ body: () throws(Failure) -> Result) throws(Failure) -> Result {
        if lock.withLockIfAvailable({ depth > 0 }) ?? false { return try withLock(body) }
        return try queue.sync { () -> Swift.Result<Result, Failure> in
            do throws(Failure) {
                return .success(try withLock(body))
            } catch {
                return .failure(error)
            }
        }.get()
    }
}
