import Dispatch

/// One piece of work on another thread, or on this one at once, whose result is waited for.
final class BackgroundWork<Value: Sendable>: @unchecked Sendable {
    // Written once before `group` is left, read only after it was waited for.
    private var result: Result<Value, any Error>?
    private let group = DispatchGroup()

    init(isSequential: Bool = false, _ body: @escaping @Sendable () throws -> Value) {
        guard !isSequential else {
            result = Result { try body() }
            return
        }
        // A queue of its own has a thread of its own: the global one starts a thread only now and then while others wait.
        DispatchQueue(label: "BackgroundWork", qos: .userInitiated).async(group: group) {
            self.result = Result { try body() }
        }
    }

    func wait() throws -> Value {
        group.wait()
        guard let result else { throw CancellationError() }
        return try result.get()
    }

    /// Does nothing for a while.
    static func wait(seconds: Double) { _ = DispatchSemaphore(value: 0).wait(timeout: .now() + seconds) }
}
