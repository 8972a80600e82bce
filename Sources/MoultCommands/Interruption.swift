import Synchronization

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// A wish to stop, by Control-C or a polite kill. The second one ends the process at once, which is safe too: the mark
/// that the first has left says that the run has not died of itself.
enum Interruption {
    private static let flag = Atomic(false)
    /// The address of the mark's path, which stays as long as the process; zero where the verb works on no store.
    private static let address = Atomic<UInt>(0)

    private static var mark: UnsafePointer<CChar>? { UnsafePointer(bitPattern: address.load(ordering: .acquiring)) }

    static var isWished: Bool { flag.load(ordering: .relaxed) }

    /// Whether somebody wishes to stop, for work that asks often; from now on a wish is heard.
    static var heard: @Sendable () -> Bool {
        listen()
        return { isWished }
    }

    /// - Parameter path: where a wish leaves its mark.
    static func mark(at path: String) { address.store(UInt(bitPattern: strdup(path)), ordering: .releasing) }

    private static func listen() {
        // Made here: nothing may be made in a signal handler.
        _ = (isWished, mark)
        var action = sigaction()
        action.__sigaction_handler.sa_handler = { Interruption.note($0) }
        action.sa_flags = SA_RESTART
        for signal in [SIGINT, SIGTERM, SIGHUP] { sigaction(signal, &action, nil) }
    }

    /// Calls only what a signal handler may call (`man 7 signal-safety`).
    private static func note(_ number: Int32) {
        let error = errno
        defer { errno = error }
        leaveMark()
        guard flag.exchange(true, ordering: .relaxed) else { return }
        signal(number, SIG_DFL)
        raise(number)
    }

    private static func leaveMark() {
        guard let path = mark else { return }
        let file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0o600)
        guard file >= 0 else { return }
        // A new time of the file is what counts.
        var byte = UInt8(ascii: "\n")
        _ = write(file, &byte, 1)
        close(file)
    }

    /// Removes the mark of a process that ends by itself.
    static func end() {
        // A later signal leaves none.
        let address = address.exchange(0, ordering: .acquiringAndReleasing)
        guard isWished, let path = UnsafePointer<CChar>(bitPattern: address) else { return }
        unlink(path)
    }
}
