import Dispatch
import Synchronization

/// A thread that runs one closure and can be joined.
///
/// Its stack has the usual size of a main thread's stack. The default for other threads can be much smaller (512 kB on
/// macOS, 128 kB with musl).
package final class JoinedThread: @unchecked Sendable {
    private let thread: pthread_t
    // Used only by the thread that waits.
    private var wasWaitedFor = false

    private init(_ thread: pthread_t) { self.thread = thread }

    /// Returns nil if the system cannot start another thread.
    package static func start(_ body: @escaping @Sendable () -> Void) -> JoinedThread? {
        let work = Unmanaged.passRetained(Work(body))
        guard let thread = thread(doing: work.toOpaque()) else {
            work.release()
            return nil
        }
        return JoinedThread(thread)
    }

    private static let stackSize = 8 << 20

    private static func thread(doing work: UnsafeMutableRawPointer) -> pthread_t? {
        var attributes = pthread_attr_t()
        guard pthread_attr_init(&attributes) == 0 else { return nil }
        defer { pthread_attr_destroy(&attributes) }
        guard pthread_attr_setstacksize(&attributes, stackSize) == 0 else { return nil }
        #if canImport(Darwin)
            var thread: pthread_t?
            return pthread_create(&thread, &attributes, perform, work) == 0 ? thread : nil
        #else
            var thread = pthread_t()
            return pthread_create(&thread, &attributes, perform, work) == 0 ? thread : nil
        #endif
    }

    /// Calls `body` with each number below `count`, on as many threads as there are processors, and waits for all.
    package static func iterate(_ count: Int, _ body: @Sendable (Int) -> Void) {
        let counter = Counter()
        withoutActuallyEscaping(body) { body in
            let work: @Sendable () -> Void = {
                while case let number = counter.next.wrappingAdd(1, ordering: .relaxed).oldValue, number < count {
                    body(number)
                }
            }
            let others = (1..<max(1, min(count, sysconf(Int32(_SC_NPROCESSORS_ONLN))))).compactMap { _ in start(work) }
            work()
            for thread in others { thread.wait() }
        }
    }

    deinit { if !wasWaitedFor { pthread_detach(thread) } }

    /// Waits until the thread has ended.
    package func wait() {
        guard !wasWaitedFor else { return }
        wasWaitedFor = true
        pthread_join(thread, nil)
    }
}

private final class Counter: Sendable {
    let next = Atomic(0)
}

private final class Work: Sendable {
    let body: @Sendable () -> Void
    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
}

#if canImport(Darwin)
    private func perform(_ work: UnsafeMutableRawPointer) -> UnsafeMutableRawPointer? {
        Unmanaged<Work>.fromOpaque(work).takeRetainedValue().body()
        return nil
    }
#else
    private func perform(_ work: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
        if let work { Unmanaged<Work>.fromOpaque(work).takeRetainedValue().body() }
        return nil
    }
#endif

/// Blocking work that runs on its own thread while a task awaits it.
package enum BlockingWork {
    /// - Parameter body: the work; its argument returns whether the task was cancelled.
    package static func run<Value: Sendable>(
        _ label: String, _ body: @escaping @Sendable (@escaping @Sendable () -> Bool) throws -> Value
    ) async throws -> Value {
        let (flag, meter) = (CancellationFlag(), WorkMeter.current)
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Value, any Error>) in
                let work: @Sendable () -> Void = {
                    continuation.resume(
                        with: Result {
                            try WorkMeter.$current.withValue(meter) {
                                try body { flag.isSet.load(ordering: .relaxed) }
                            }
                        })
                }
                // If the system cannot start a thread, Dispatch waits until one is available.
                if JoinedThread.start(work) == nil {
                    DispatchQueue(label: label, qos: .userInitiated).async(execute: work)
                }
            }
        } onCancel: {
            flag.isSet.store(true, ordering: .relaxed)
        }
    }
}

/// A request to end work soon, which any thread may make.
package final class CancellationFlag: Sendable {
    package let isSet = Atomic(false)

    package init() {}
}
