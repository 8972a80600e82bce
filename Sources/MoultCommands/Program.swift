import Moult
import MoultBasics
import Synchronization

/// The name of the program as typed: `moult`, or an app's own tool.
package enum Program {
    static let name = typedName(of: CommandLine.arguments.first)

    /// Returns the name under which a person types a program with this path.
    package static func typedName(of path: String?) -> String {
        let name = path.map(Path.name(of:)) ?? "moult"
        // SwiftPM builds a plugin's tool under a different name, and the page is a program of its own.
        return ["moult-tool", "moult-browse"].contains(name) ? "moult" : name
    }

    /// Returns a help or error text with every command in the form typed for this program.
    static func named(_ text: String, as name: String = name) -> String {
        guard name != "moult", text.contains("moult ") else { return text }
        return Verb.all.reduce(text) { text, verb in
            // A program name that ends with "moult" may already be there.
            text.replacing("\(name) \(verb.name)", with: "moult \(verb.name)")
                .replacing("moult \(verb.name)", with: "\(name) \(verb.name)")
        }
    }
}

/// The machine that a command line runs on: the files of stores, the clock, and the streams that it prints to.
package struct CommandMachine: Sendable {
    package var system: any System = POSIXSystem()
    /// The descriptors of the streams for the result and for all other messages.
    package var (output, errors) = (STDOUT_FILENO, STDERR_FILENO)
    /// The time to wait for a process that is about to close the store; nil for the usual one.
    package var patience: Duration?
    /// Whether a run makes the same calls in the same order each time, on one thread.
    package var isSequential = false

    package init() {}
}

/// The process's environment. Foundation's own costs several milliseconds at startup.
package enum Environment {
    /// Returns the variable's value, or nil if it is unset or empty.
    package static func value(_ name: String) -> String? {
        getenv(name).map { String(cString: $0) }.flatMap { $0.isEmpty ? nil : $0 }
    }

    private static let wasDebuggingAsked = Atomic(false)

    /// Whether to print Core Data's messages about a migration: `MOULT_MIGRATION_DEBUG=1`, or Core Data's own argument.
    static var isDebuggingMigration: Bool {
        wasDebuggingAsked.load(ordering: .relaxed) || MigrationDebug.isAsked
    }

    /// Returns the arguments without `-com.apple.CoreData.MigrationDebug 1`, at any position, as in Core Data.
    static func withoutCoreDataArguments(_ arguments: [String]) -> [String] {
        guard let place = arguments.firstIndex(of: MigrationDebug.argument) else { return arguments }
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
    /// Findings, or the store is behind or different and `--check` was given.
    package static let findings = ExitCode(number: 1)
    package static let wrongUsage = ExitCode(number: 2)
    /// Needs a decision: a question, a lock, or a store that is ahead or unknown.
    package static let refused = ExitCode(number: 3)
    /// Not a usable store or model.
    package static let unusable = ExitCode(number: 4)
    /// Failed; the store is unchanged.
    package static let failed = ExitCode(number: 5)
    /// The budget was used up; run again to continue. The store is unchanged.
    package static let unfinished = ExitCode(number: 6)
    /// Standard output, or the file of --profile, could not be written, for example to a full disk; the verb's work is
    /// done.
    package static let unwritten = ExitCode(number: 74)
    /// Standard output has no reader any more, as after `| head`. A shell reports this number for a program ended by
    /// SIGPIPE.
    package static let unread = ExitCode(number: 128 + SIGPIPE)
}

/// An interrupt, by Control-C, SIGTERM or SIGHUP. A second one ends the process at once, which is safe too: the file
/// that the first one left shows that the run did not crash.
enum Interruption {
    private static let flag = Atomic(false)
    /// The address of the file's path, valid for the life of the process; zero if the verb works on no store.
    private static let address = Atomic<UInt>(0)

    private static var mark: UnsafePointer<CChar>? { UnsafePointer(bitPattern: address.load(ordering: .acquiring)) }

    static var isWished: Bool { flag.load(ordering: .relaxed) }

    /// A check for interrupts, for work that polls. Reading this property starts listening for them.
    static var heard: @Sendable () -> Bool {
        listen()
        return { isWished }
    }

    /// - Parameter path: the file that an interrupt writes.
    static func mark(at path: String) { address.store(UInt(bitPattern: strdup(path)), ordering: .releasing) }

    private static func listen() {
        // Initialise here, because a signal handler must not allocate.
        _ = (isWished, mark)
        for number in [SIGINT, SIGTERM, SIGHUP] { signal(number) { Interruption.note($0) } }
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
        // Only the new time of the file matters.
        var byte = UInt8(ascii: "\n")
        _ = write(file, &byte, 1)
        close(file)
    }

    /// Removes the file of a process that ends normally.
    static func end() {
        // A later signal writes no file.
        let address = address.exchange(0, ordering: .acquiringAndReleasing)
        guard isWished, let path = UnsafePointer<CChar>(bitPattern: address) else { return }
        unlink(path)
    }
}
