import Dispatch
import MoultModel
import Synchronization

/// Runs asynchronous work to its end on the thread that waits for it.
///
/// The thread is the executor of the work: no thread of the pool has to be free, so any number may wait at once. What
/// the work hands to an actor runs where that actor runs. It never ends where it needs an actor whose thread is the one
/// that waits, such as the main actor on the main thread.
package enum BlockingTask {
    /// - Parameter timeLimit: after which the work is cancelled and given up; nil waits for as long as it takes. Work
    ///   that never suspends has to end by itself.
    /// - Throws: what the work throws; `policyFailed` if it has taken too long.
    package static func run<Result>(
        timeLimit: Duration? = nil, _ work: sending @escaping () async throws -> sending Result
    ) throws -> sending Result {
        let executor = WaitingExecutor()
        let outcome = Outcome<Result>()
        let body = Unchecked(work)
        let task = Task.detached(executorPreference: executor) {
            do { outcome.set(.success(Unchecked(try await body.value()))) } catch { outcome.set(.failure(error)) }
            executor.end()
        }
        if let timeLimit, !executor.runJobs(for: timeLimit) {
            task.cancel()
            // Most work ends when it hears of that; what does not is left alone, and its result dropped.
            _ = executor.runJobs(for: .seconds(1))
            throw MigrationError(
                .policyFailed, "It did not end within \(timeLimit).",
                remedy: "Make it faster, or give it a longer time limit.")
        }
        if timeLimit == nil { _ = executor.runJobs(for: nil) }
        return try outcome.take()
    }

    /// Handed from one thread to another, and used by one at a time.
    private struct Unchecked<Value>: @unchecked Sendable {
        let value: Value
        init(_ value: Value) { self.value = value }
    }

    private final class Outcome<Value>: @unchecked Sendable {
        private var result: Swift.Result<Unchecked<Value>, any Error>?
        func set(_ new: Swift.Result<Unchecked<Value>, any Error>) { result = new }
        func take() throws -> sending Value {
            guard let result else { throw CancellationError() }
            return try result.get().value
        }
    }
}

/// Runs jobs on the one thread that has called ``runJobs()``.
private final class WaitingExecutor: TaskExecutor, Sendable {
    /// Nil ends the run.
    private let jobs = Mutex<[UnownedJob?]>([])
    private let count = DispatchSemaphore(value: 0)

    func enqueue(_ job: consuming ExecutorJob) { add(UnownedJob(job)) }
    func end() { add(nil) }

    private func add(_ job: UnownedJob?) {
        jobs.withLock { $0.append(job) }
        count.signal()
    }

    /// Runs jobs until the work has ended; false where the time is up before.
    func runJobs(for limit: Duration?) -> Bool {
        let end = limit.map { DispatchTime.now() + $0 / .seconds(1) } ?? .distantFuture
        while count.wait(timeout: end) == .success {
            guard let job = jobs.withLock({ $0.removeFirst() }) else { return true }
            job.runSynchronously(on: asUnownedTaskExecutor())
        }
        return false
    }
}
