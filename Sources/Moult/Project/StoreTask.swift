import MoultBasics
import MoultEngine
import Synchronization

/// A run on a store that has begun: its progress, and its report when it has ended.
///
///     let migration = project.migrate("app.sqlite")
///     for await progress in migration.progress { print(progress.fraction) }
///     let report = try await migration.report
///
/// The run continues if it is not awaited, as a `Task` does.
public struct StoreTask<Report: Sendable>: Sendable {
    /// The progress of the run, from now to its end. It can be iterated once. A reader that falls behind misses what is
    /// older than the last 256 elements.
    public let progress: AsyncStream<RunProgress>
    private let task: Task<Report, any Error>

    /// - Parameters:
    ///   - log: called with each sentence that the run says.
    ///   - body: does the work on a thread of its own.
    init(log: @escaping @Sendable (String) -> Void, _ body: @escaping @Sendable (MigrationObserver) throws -> Report) {
        let (stream, continuation) = AsyncStream.makeStream(
            of: RunProgress.self, bufferingPolicy: .bufferingNewest(256))
        // A check that runs next to the run reports from its own thread.
        let reached = Reached()
        progress = stream
        task = Task {
            defer { continuation.finish() }
            return try await onThread { isCancelled in
                let observer = MigrationObserver(
                    onProgress: { progress in
                        if let message = progress.message { log(message) }
                        reached.pass(progress) { continuation.yield($0) }
                    }, isCancelled: isCancelled)
                do {
                    return try body(observer)
                } catch {
                    log("Failed: \(MigrationError(any: error).message)")
                    throw error
                }
            }
        }
    }

    /// The report of what the run has done, once it has ended. If the task that waits is cancelled, the run is too.
    ///
    /// - Throws: ``MigrationError``. The store is then as it was, unless the call says otherwise.
    public var report: Report {
        get async throws {
            try await withTaskCancellationHandler {
                try await task.value
            } onCancel: {
                task.cancel()
            }
        }
    }

    /// Asks the run to stop. It ends with the error `cancelled` and the store as it was, unless its commit has begun.
    public func cancel() { task.cancel() }
}

/// Passes progress on in one order, in which no fraction is less than one before.
private final class Reached: Sendable {
    private let fraction = Mutex(0.0)

    func pass(_ progress: MigrationProgress, _ body: (MigrationProgress) -> Void) {
        fraction.withLock { reached in
            var progress = progress
            reached = max(reached, progress.fraction)
            progress.fraction = reached
            body(progress)
        }
    }
}

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

/// One line of the log of a call.
public struct LogLine: Sendable, Hashable, CustomStringConvertible {
    /// The name of the call, such as `migrate`.
    public let call: String
    /// The store's path.
    public let store: String
    /// A sentence that says what has happened.
    public let message: String

    /// `migrate app.sqlite: The new store is verified`
    public var description: String { "\(call) \(store): \(message)" }
}
