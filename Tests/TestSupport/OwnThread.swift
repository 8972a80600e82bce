import Dispatch

/// Runs what waits for asynchronous work on a thread of its own.
///
/// The pool that runs the tests has a thread for each core, and what is waited for stands in line behind all of them.
package func onThreadOfItsOwn<Value: Sendable>(
    _ body: @escaping @Sendable () throws -> Value
) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
        // A queue of one's own has a thread of its own.
        DispatchQueue(label: "test").async { continuation.resume(with: Result { try body() }) }
    }
}
