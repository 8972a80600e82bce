import Dispatch
import MoultBasics
import MoultModel
import Synchronization

/// Runs asynchronous work to completion on the calling thread.
///
/// The calling thread is the executor of the work, so no thread of the pool needs to be free, and any number of calls
/// may wait at once. Work that belongs to an actor runs on that actor's executor. The call never returns if that
/// executor needs the waiting thread, such as the main actor on the main thread.
package enum BlockingTask {
    /// - Parameter timeLimit: the time after which the work is cancelled and abandoned; nil waits for as long as it
    ///   takes. Work that never suspends is not interrupted.
    /// - Throws: any error of the work; `policyFailed` if the time limit passes.
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
            // Most work ends on cancellation. Work that does not is abandoned, and its result is dropped.
            _ = executor.runJobs(for: .seconds(1))
            throw MigrationError(
                .policyFailed, "It did not end within \(timeLimit).",
                remedy: "Make it faster, or give it a longer time limit.")
        }
        if timeLimit == nil { _ = executor.runJobs(for: nil) }
        return try outcome.take()
    }

    /// A value handed from one thread to another and used by one at a time.
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

/// Runs jobs on the one thread that calls ``runJobs()``.
private final class WaitingExecutor: TaskExecutor, Sendable {
    /// The queue of jobs; nil ends the run.
    private let jobs = Mutex<[UnownedJob?]>([])
    private let count = DispatchSemaphore(value: 0)

    func enqueue(_ job: consuming ExecutorJob) { add(UnownedJob(job)) }
    func end() { add(nil) }

    private func add(_ job: UnownedJob?) {
        jobs.withLock { $0.append(job) }
        count.signal()
    }

    /// Runs jobs until the work ends. Returns false if the time limit passes first.
    func runJobs(for limit: Duration?) -> Bool {
        let end = limit.map { DispatchTime.now() + $0 / .seconds(1) } ?? .distantFuture
        while count.wait(timeout: end) == .success {
            guard let job = jobs.withLock({ $0.removeFirst() }) else { return true }
            job.runSynchronously(on: asUnownedTaskExecutor())
        }
        return false
    }
}

// Closures that wait for an actor, a file or a server. Each call is a task of its own and blocks the statement until it
// ends, so a million rows wait a million times, one after another. If one request can answer for many values, make it
// before the migration, or in a policy.

extension ValueTransform {
    /// A closure that may wait.
    ///
    /// - Parameters:
    ///   - timeLimit: the longest that one call may wait; after it, the task is cancelled and the migration fails.
    ///   - body: receives one value for each argument, nil for no value. It must not need the waiting thread, such as
    ///     the main actor in a migration that runs on the main thread.
    public convenience init(
        _ name: String, timeLimit: Duration = .seconds(60),
        _ body: @escaping @Sendable ([AttributeValue?]) async throws -> AttributeValue?
    ) {
        self.init(name) { values in
            try BlockingTask.run(timeLimit: timeLimit) { try await body(values) }
        }
    }
}

extension PropertyMapping {
    /// Computes the attribute from one value of each row with a closure that may wait.
    ///
    /// ```swift
    /// PropertyMapping("city", from: "postcode") { (postcode: String?) in try await directory.city(postcode) }
    /// ```
    ///
    /// - Parameters:
    ///   - name: the destination's attribute.
    ///   - source: an attribute of the source, or a key path over to-one relationships.
    ///   - timeLimit: the longest that one call may wait; after it, the task is cancelled and the migration fails.
    ///   - transform: called for one row after another; nil is no value. An error that it throws ends the migration
    ///     with an error that names the entity, the key, the property and the value.
    public init<Value: AttributeConvertible & Sendable, Result: AttributeConvertible>(
        _ name: String, from source: String, timeLimit: Duration = .seconds(60),
        _ transform: @escaping @Sendable (Value?) async throws -> Result?
    ) {
        self.init(
            name, from: [source],
            ValueTransform(name, timeLimit: timeLimit) { values in
                let value: Value? = try Self.converted(values, 0, source)
                return try await transform(value)?.attributeValue
            })
    }

    /// Computes the attribute from two values of each row with a closure that may wait.
    public init<
        First: AttributeConvertible & Sendable, Second: AttributeConvertible & Sendable, Result: AttributeConvertible
    >(
        _ name: String, from first: String, _ second: String, timeLimit: Duration = .seconds(60),
        _ transform: @escaping @Sendable (First?, Second?) async throws -> Result?
    ) {
        self.init(
            name, from: [first, second],
            ValueTransform(name, timeLimit: timeLimit) { values in
                let one: First? = try Self.converted(values, 0, first)
                let two: Second? = try Self.converted(values, 1, second)
                return try await transform(one, two)?.attributeValue
            })
    }

    private static func converted<Value: AttributeConvertible>(
        _ values: [AttributeValue?], _ position: Int, _ source: String
    ) throws -> Value? {
        guard let value = values[position] else { return nil }
        if let converted = Value(value) { return converted }
        throw MigrationError(
            .wrongType, "\(source) holds \(value.kindPhrase), which is not of type \(Value.self).", place: source,
            remedy: "Declare the type that it has in the model.")
    }
}
