import MoultBasics
import MoultEngine
import MoultSession
import Synchronization

/// A run on a store that has begun: its progress, and its report at the end.
///
///     let migration = project.migrate("app.sqlite")
///     for await progress in migration.progress { print(progress.fraction) }
///     let report = try await migration.report
///
/// The run continues if it is not awaited, as a `Task` does.
public struct StoreTask<Report: Sendable>: Sendable {
    /// The progress of the run, from now to its end. It can be iterated once. A slow reader gets only the latest 256
    /// elements.
    public let progress: AsyncStream<RunProgress>
    private let task: Task<Report, any Error>

    /// - Parameters:
    ///   - log: called with each sentence that the run reports.
    ///   - body: does the work on a separate thread.
    init(log: @escaping @Sendable (String) -> Void, _ body: @escaping @Sendable (MigrationObserver) throws -> Report) {
        let (stream, continuation) = AsyncStream.makeStream(
            of: RunProgress.self, bufferingPolicy: .bufferingNewest(256))
        // A check in parallel with the run reports from its own thread.
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

    /// The report of the run, once it has ended. If the waiting task is cancelled, the run is too.
    ///
    /// - Throws: ``MigrationError``. The store is unchanged then, unless the call says otherwise.
    public var report: Report {
        get async throws {
            try await withTaskCancellationHandler {
                try await task.value
            } onCancel: {
                task.cancel()
            }
        }
    }

    /// Asks the run to stop. It ends with the error `cancelled` and leaves the store unchanged, unless its commit has
    /// begun.
    public func cancel() { task.cancel() }
}

/// Forwards progress in one order, with fractions that never decrease.
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

/// One line of the log of a call.
public struct LogLine: Sendable, Hashable, CustomStringConvertible {
    /// The name of the call, such as `migrate`.
    public let call: String
    /// The store's path.
    public let store: String
    /// A sentence about the event.
    public let message: String

    /// The line, such as `migrate app.sqlite: The new store is verified`.
    public var description: String { "\(call) \(store): \(message)" }
}
