import Dispatch
import Synchronization

/// Runs asynchronous work to its end on the thread that waits for it.
///
/// The thread is the executor of the work: no thread of the pool has to be free, so any number may wait at once. What
/// the work hands to an actor runs where that actor runs. It never ends where it needs an actor whose thread is the one
/// that waits, such as the main actor on the main thread.
package enum BlockingTask {
    package static func run<Result>(_ work: sending @escaping () async throws -> sending Result) throws
        -> sending Result
    {
        let executor = WaitingExecutor()
        let outcome = Outcome<Result>()
        let body = Unchecked(work)
        Task.detached(executorPreference: executor) {
            do { outcome.set(.success(Unchecked(try await body.value()))) } catch { outcome.set(.failure(error)) }
            executor.end()
        }
        executor.runJobs()
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

    func runJobs() {
        while let job = next() { job.runSynchronously(on: asUnownedTaskExecutor()) }
    }

    private func next() -> UnownedJob? {
        count.wait()
        return jobs.withLock { $0.removeFirst() }
    }
}
