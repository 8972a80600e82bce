#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

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
    /// A fault of Moult's own.
    package static let fault = ExitCode(number: 70)
}
