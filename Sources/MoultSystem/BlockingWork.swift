import Dispatch
import Synchronization

/// Work that blocks, on a thread of its own, for which a task waits.
package enum BlockingWork {
    /// - Parameter body: asks its argument whether the task was cancelled.
    package static func run<Value: Sendable>(
        _ label: String, _ body: @escaping @Sendable (@escaping @Sendable () -> Bool) throws -> Value
    ) async throws -> Value {
        let flag = CancellationFlag()
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Value, any Error>) in
                let work: @Sendable () -> Void = {
                    continuation.resume(with: Result { try body { flag.isSet.load(ordering: .relaxed) } })
                }
                // Where the system starts no thread, Dispatch waits until it does.
                if JoinedThread.start(work) == nil {
                    DispatchQueue(label: label, qos: .userInitiated).async(execute: work)
                }
            }
        } onCancel: {
            flag.isSet.store(true, ordering: .relaxed)
        }
    }
}

private final class CancellationFlag: Sendable {
    let isSet = Atomic(false)
}
