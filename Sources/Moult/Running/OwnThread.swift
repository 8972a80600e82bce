import Dispatch
import Synchronization

/// A wish to stop, which a run asks for often.
final class Wish: Sendable {
    private let flag = Atomic(false)

    var isMade: Bool { flag.load(ordering: .relaxed) }
    func make() { flag.store(true, ordering: .relaxed) }
}

/// Work that blocks, on a thread of its own, for which a task waits.
enum OwnThread {
    /// - Parameter wish: made when the task that waits is cancelled.
    /// - Throws: `MigrationError` only.
    static func run<Value: Sendable>(
        _ wish: Wish = Wish(), _ body: @escaping @Sendable () throws -> Value
    ) async throws -> Value {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Value, any Error>) in
                DispatchQueue(label: "Moult", qos: .userInitiated).async {
                    continuation.resume(with: Result { try body() }.mapError { MigrationError(any: $0) as any Error })
                }
            }
        } onCancel: {
            wish.make()
        }
    }
}
