import Glibc
import Synchronization

/// A wish to stop, by Control-C or a polite kill. The second one ends the process at once, which is safe too.
enum Interruption {
    private static let flag = Atomic(false)

    static var isWished: Bool { flag.load(ordering: .relaxed) }

    static func listen() {
        var action = sigaction()
        action.__sigaction_handler.sa_handler = { _ in Interruption.flag.store(true, ordering: .relaxed) }
        action.sa_flags = Int32(bitPattern: UInt32(SA_RESETHAND)) | SA_RESTART
        for signal in [SIGINT, SIGTERM, SIGHUP] { sigaction(signal, &action, nil) }
    }
}
