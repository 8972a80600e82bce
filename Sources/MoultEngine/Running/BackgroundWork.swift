import MoultSystem

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// One piece of work on another thread, or on this one at once, whose result is waited for.
///
/// The thread is not one of Dispatch's: a process that was forked, as for each store of a fleet, has none of those.
final class BackgroundWork<Value: Sendable>: @unchecked Sendable {
    // Written once before the thread ends, read only after it was waited for.
    private var result: Result<Value, any Error>?
    private var thread: JoinedThread?

    init(isSequential: Bool = false, _ body: @escaping @Sendable () throws -> Value) {
        thread = isSequential ? nil : .start { self.result = Result { try body() } }
        if thread == nil { result = Result { try body() } }
    }

    func wait() throws -> Value {
        thread?.wait()
        thread = nil
        guard let result else { throw CancellationError() }
        return try result.get()
    }

    /// Does nothing for a while.
    static func wait(seconds: Double) { usleep(UInt32(min(max(seconds, 0), 1_000) * 1e6)) }
}
