#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// A thread of its own that does one thing, and can be waited for.
package final class JoinedThread: @unchecked Sendable {
    private let thread: pthread_t
    // Used by the one thread that waits.
    private var wasWaitedFor = false

    private init(_ thread: pthread_t) { self.thread = thread }

    /// Nil if the system starts no further thread.
    package static func start(_ body: @escaping @Sendable () -> Void) -> JoinedThread? {
        let work = Unmanaged.passRetained(Work(body))
        guard let thread = thread(doing: work.toOpaque()) else {
            work.release()
            return nil
        }
        return JoinedThread(thread)
    }

    private static func thread(doing work: UnsafeMutableRawPointer) -> pthread_t? {
        #if canImport(Glibc)
            var thread = pthread_t()
            return pthread_create(&thread, nil, perform, work) == 0 ? thread : nil
        #else
            var thread: pthread_t?
            return pthread_create(&thread, nil, perform, work) == 0 ? thread : nil
        #endif
    }

    deinit { if !wasWaitedFor { pthread_detach(thread) } }

    /// Waits for its end.
    package func wait() {
        guard !wasWaitedFor else { return }
        wasWaitedFor = true
        pthread_join(thread, nil)
    }
}

private final class Work: Sendable {
    let body: @Sendable () -> Void
    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
}

#if canImport(Glibc)
    private func perform(_ work: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
        if let work { Unmanaged<Work>.fromOpaque(work).takeRetainedValue().body() }
        return nil
    }
#else
    private func perform(_ work: UnsafeMutableRawPointer) -> UnsafeMutableRawPointer? {
        Unmanaged<Work>.fromOpaque(work).takeRetainedValue().body()
        return nil
    }
#endif
