import Synchronization

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// A wish to stop, by Control-C or a polite kill.
enum Interruption {
    /// The end of the pipe that a wish is written to.
    private static let end = Atomic<Int32>(-1)

    /// Hears wishes from now on.
    ///
    /// - Returns: waits for the first.
    static func heard() -> () -> Void {
        var ends: [Int32] = [-1, -1]
        _ = pipe(&ends)
        end.store(ends[1], ordering: .releasing)
        var action = sigaction()
        action.__sigaction_handler.sa_handler = { _ in
            // Nothing else may be called in a signal handler (`man 7 signal-safety`).
            let number = errno
            var byte = UInt8(0)
            _ = write(Interruption.end.load(ordering: .acquiring), &byte, 1)
            errno = number
        }
        for signal in [SIGINT, SIGTERM, SIGHUP] { sigaction(signal, &action, nil) }
        return { [reader = ends[0]] in
            var byte = UInt8(0)
            while read(reader, &byte, 1) < 0, errno == EINTR {}
        }
    }
}
