import MoultBasics
import Synchronization

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// The name of the program as a person has typed it: `moult`, or an app's own tool.
enum Program {
    static let name: String = {
        let name = CommandLine.arguments.first.map(Path.name(of:)) ?? "moult"
        // SwiftPM builds a plugin's tool under another name than a person types.
        return name == "moult-tool" ? "moult" : name
    }()

    /// A text of help or of an error, with every command as it is typed here.
    static func named(_ text: String, as name: String = name) -> String {
        guard name != "moult", text.contains("moult ") else { return text }
        return Verb.all.reduce(text) { text, verb in
            // A name that ends with moult may stand there already.
            text.replacing("\(name) \(verb.name)", with: "moult \(verb.name)")
                .replacing("moult \(verb.name)", with: "\(name) \(verb.name)")
        }
    }
}

/// The process's environment. Foundation's own would cost several milliseconds at the start.
enum Environment {
    /// The variable's value, or nil if it is not set or empty.
    static func value(_ name: String) -> String? {
        getenv(name).map { String(cString: $0) }.flatMap { $0.isEmpty ? nil : $0 }
    }

    private static let wasDebuggingAsked = Atomic(false)

    /// Whether to say what Core Data says of a migration: `MOULT_MIGRATION_DEBUG=1`, or Core Data's own argument.
    static var isDebuggingMigration: Bool {
        wasDebuggingAsked.load(ordering: .relaxed) || (value("MOULT_MIGRATION_DEBUG") ?? "0") != "0"
    }

    /// Takes `-com.apple.CoreData.MigrationDebug 1` out of the arguments, wherever it stands, as Core Data does.
    static func withoutCoreDataArguments(_ arguments: [String]) -> [String] {
        guard let place = arguments.firstIndex(of: "-com.apple.CoreData.MigrationDebug") else { return arguments }
        let level = arguments.dropFirst(place + 1).first
        if let level, level != "0" { wasDebuggingAsked.store(true, ordering: .relaxed) }
        return Array(arguments[..<place] + arguments[place...].dropFirst(level == nil ? 1 : 2))
    }
}

/// The exit status of the command line (Documentation/CommandLine.md); scripts rely on these numbers.
package struct ExitCode: Sendable, Hashable {
    package let number: Int32

    /// Done, or nothing to do.
    package static let done = ExitCode(number: 0)
    /// Findings; or behind or different where `--check` asks.
    package static let findings = ExitCode(number: 1)
    package static let wrongUsage = ExitCode(number: 2)
    /// Somebody has to decide: a question, a lock, a store ahead or unknown.
    package static let refused = ExitCode(number: 3)
    /// Not a usable store or model.
    package static let unusable = ExitCode(number: 4)
    /// Failed; the store is as it was.
    package static let failed = ExitCode(number: 5)
    /// The budget was used up; called again, it continues. The store is as it was.
    package static let unfinished = ExitCode(number: 6)
    /// Standard output, or the file of --profile, could not be written, such as to a full disk; what the verb did is done.
    package static let unwritten = ExitCode(number: 74)
    /// Standard output has no reader any more, as after `| head`: what a shell says of a program that SIGPIPE has ended.
    package static let unread = ExitCode(number: 128 + SIGPIPE)
}

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
