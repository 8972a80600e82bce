import Dispatch

extension ManagedObjectContext {
    /// Runs `body` in the context's turn, off the caller's thread. Objects cannot leave it; identities can.
    public func perform<Result: Sendable>(
        _ body: @escaping @Sendable () throws -> Result
    ) async throws -> Result {
        try await withCheckedThrowingContinuation { continuation in
            queue.async { continuation.resume(with: Swift.Result { try self.performAndWait(body) }) }
        }
    }

    /// Runs `body` in the context's turn, later and on another thread.
    public func perform(_ body: @escaping @Sendable () -> Void) {
        queue.async { self.performAndWait(body) }
    }

    /// Runs `body` in the context's turn, on this thread, and returns when it is done. It may be called inside another.
    public func performAndWait<Result, Failure: Error>(
        _ body: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try turn.withLock(body)
    }
}
