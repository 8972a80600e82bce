import Foundation
import MoultBasics

/// A program that runs beside the tests.
///
/// Foundation's `Process` is not used here: its children inherit one another's pipes when several threads start them,
/// so that a reader waits for the end of a process that has nothing to do with it.
package final class ChildProcess: @unchecked Sendable {
    package enum Output: Sendable {
        /// The streams of the tests themselves.
        case inherited
        /// Read here, both streams as one.
        case read
        /// Read here, without what goes to standard error.
        case readOutputOnly
        /// Added to files, which may be the same; errors go where the tests' own go where there is none for them.
        case files(output: String, errors: String?)
    }

    package struct Failure: Error, CustomStringConvertible { package let description: String }

    /// Whether Graphviz is installed; a line says so where it is not.
    package static let hasGraphviz: Bool = {
        let isThere = (try? run("dot", ["-V"]).exit) == 0
        if !isThere { print("SKIPPED: no dot for the pictures; Scripts/prerequisites installs Graphviz") }
        return isThere
    }()

    package let identifier: pid_t
    /// Nothing is started between the making of a pipe and the mark that keeps it from other children.
    private static let starting = NSLock()
    private let lock = NSLock()
    private var input: Int32
    private var output: Int32
    private var status: Int32?

    /// - Parameters:
    ///   - program: a path, or a name that is looked for in PATH.
    ///   - feeds: whether `write` will be used; else the input is empty.
    ///   - environment: what differs from that of the tests.
    ///   - folder: where it runs; that of the tests where it is nil.
    package init(
        _ program: String, _ arguments: [String] = [], output kind: Output = .inherited, feeds: Bool = false,
        environment: [String: String] = [:], folder: String? = nil
    ) throws {
        #if canImport(Darwin)
            var (plan, attributes): (posix_spawn_file_actions_t?, posix_spawnattr_t?)
        #else
            var (plan, attributes) = (posix_spawn_file_actions_t(), posix_spawnattr_t())
        #endif
        posix_spawn_file_actions_init(&plan)
        posix_spawnattr_init(&attributes)
        defer {
            posix_spawn_file_actions_destroy(&plan)
            posix_spawnattr_destroy(&attributes)
        }
        // The runner blocks signals in its threads, and here a pipe without a reader is an error, not a signal: a child
        // begins without both.
        signal(SIGPIPE, SIG_IGN)
        var signals = sigset_t()
        sigemptyset(&signals)
        posix_spawnattr_setsigmask(&attributes, &signals)
        sigaddset(&signals, SIGPIPE)
        posix_spawnattr_setsigdefault(&attributes, &signals)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))

        Self.starting.lock()
        defer { Self.starting.unlock() }
        let inputs = try feeds ? Self.pipe() : nil
        let outputs = try kind.isRead ? Self.pipe() : nil
        defer { for end in [inputs?.reads, outputs?.writes].compactMap({ $0 }) { close(end) } }
        if let inputs {
            posix_spawn_file_actions_adddup2(&plan, inputs.reads, 0)
        } else {
            posix_spawn_file_actions_addopen(&plan, 0, "/dev/null", O_RDONLY, 0)
        }
        if let outputs { posix_spawn_file_actions_adddup2(&plan, outputs.writes, 1) }
        switch kind {
        case .inherited, .readOutputOnly: break
        case .read: posix_spawn_file_actions_adddup2(&plan, 1, 2)
        case .files(let output, let errors):
            posix_spawn_file_actions_addopen(&plan, 1, output, O_WRONLY | O_CREAT | O_APPEND, 0o644)
            if let errors {
                posix_spawn_file_actions_addopen(&plan, 2, errors, O_WRONLY | O_CREAT | O_APPEND, 0o644)
            }
        }

        let all = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        var child: pid_t = 0
        let command = folder.map { ["env", "-C", $0, program] } ?? [program]
        let error = withCStrings(command + arguments) { words in
            withCStrings(all.map { "\($0.key)=\($0.value)" }) {
                posix_spawnp(&child, command[0], &plan, &attributes, words, $0)
            }
        }
        (identifier, input, output) = (child, inputs?.writes ?? -1, outputs?.reads ?? -1)
        guard error == 0 else {
            status = 127
            closeEnds()
            throw Failure(description: "\(program): \(String(cString: strerror(error)))")
        }
    }

    deinit {
        closeEnds()
        if status == nil { wait() }
    }

    private func closeEnds() {
        if input >= 0 { close(input) }
        if output >= 0 { close(output) }
        (input, output) = (-1, -1)
    }

    /// Both ends are closed in every child: it has copies of those that are meant for it.
    private static func pipe() throws -> (reads: Int32, writes: Int32) {
        var ends: [Int32] = [0, 0]
        guard systemPipe(&ends) == 0 else { throw Failure(description: String(cString: strerror(errno))) }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        return (ends[0], ends[1])
    }
}

// MARK: - Talking

extension ChildProcess {
    package func write(_ text: String) throws {
        var bytes = Array(text.utf8)[...]
        while !bytes.isEmpty {
            let count = bytes.withUnsafeBytes { systemWrite(input, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw Failure(description: "process \(identifier) reads no more") }
            bytes = bytes.dropFirst(count)
        }
    }

    package func endInput() {
        if input >= 0 { close(input) }
        input = -1
    }

    /// What it has printed since, waiting for some; empty at its end.
    package func readSome() -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = bytes.withUnsafeMutableBytes { read(output, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            return Array(bytes.prefix(max(count, 0)))
        }
    }

    /// All that it prints until its end.
    package func readToEnd() -> String {
        var all: [UInt8] = []
        while true {
            let some = readSome()
            if some.isEmpty { return String(decoding: all, as: UTF8.self) }
            all += some
        }
    }
}

// MARK: - Ending

extension ChildProcess {
    package var isRunning: Bool { ended(waiting: false) == nil }

    /// Waits for its end.
    ///
    /// - Returns: its exit code; for a signal 128 and its number.
    @discardableResult
    package func wait() -> Int32 { ended(waiting: true) ?? 127 }

    /// Ends it without a chance to tidy up.
    package func kill() {
        if isRunning { _ = systemKill(identifier, SIGKILL) }
        wait()
    }

    private func ended(waiting: Bool) -> Int32? {
        lock.withLock {
            if let status { return status }
            var word: Int32 = 0
            var found: pid_t
            repeat { found = waitpid(identifier, &word, waiting ? 0 : WNOHANG) } while found < 0 && errno == EINTR
            guard found == identifier else { return nil }
            status = word & 0x7f == 0 ? (word >> 8) & 0xff : 128 + word & 0x7f
            return status
        }
    }

    /// Runs a program to its end.
    ///
    /// - Returns: its exit code, and what it printed on both streams.
    package static func run(
        _ program: String, _ arguments: [String], environment: [String: String] = [:], folder: String? = nil
    ) throws -> (exit: Int32, output: String) {
        let child = try ChildProcess(
            program, arguments, output: .read, environment: environment, folder: folder)
        let output = child.readToEnd()
        return (child.wait(), output)
    }
}

extension ChildProcess.Output {
    fileprivate var isRead: Bool {
        switch self {
        case .read, .readOutputOnly: true
        case .inherited, .files: false
        }
    }
}

/// An array of C strings that ends with nil, for the time of the call.
private func withCStrings<Result>(
    _ texts: [String], _ body: ([UnsafeMutablePointer<CChar>?]) -> Result
) -> Result {
    let copies = texts.map { strdup($0) }
    defer { for copy in copies { free(copy) } }
    return body(copies + [nil])
}
