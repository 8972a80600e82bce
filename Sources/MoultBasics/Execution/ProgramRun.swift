#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The result of another program that ran to its end, with its output.
package struct ProgramRun: Sendable {
    /// The exit code, or 128 plus the signal that ended the program.
    package let exit: Int32
    package let output: [UInt8]
    /// The text of its standard error, without the last line break.
    package let errorText: String

    /// The first line of its output; nil if there is no output.
    package var line: String? {
        output.split(separator: UInt8(ascii: "\n"), maxSplits: 1).first.map { String(decoding: $0, as: UTF8.self) }
    }

    /// Runs a program found in `PATH`. Its streams are files, so no pipe can fill up.
    ///
    /// - Parameters:
    ///   - input: the bytes of its standard input.
    ///   - settings: environment variables to add to those of this process; nil removes one.
    /// - Returns: nil if there is no such program.
    /// - Throws: `inputOutput` if it cannot be started for another reason.
    package init?(
        _ program: String, _ arguments: [String], input: [UInt8] = [], settings: [String: String?] = [:]
    ) throws {
        let system = POSIXSystem()
        let folder = try TemporaryFolder("program", system)
        defer { folder.remove() }
        let paths = ["in", "out", "err"].map { Path.join(folder.path, $0) }
        try system.write(input, to: paths[0])
        let child = try ChildProgram(
            program, arguments, input: paths[0], output: paths[1], errors: paths[2], settings: settings)
        guard let child else { return nil }
        exit = try child.wait()
        output = try system.read(paths[1])
        let errors = String(decoding: try system.read(paths[2]), as: UTF8.self)
        errorText = errors.hasSuffix("\n") ? String(errors.dropLast()) : errors
    }

    /// Replaces this program by another. The process keeps its streams and its terminal.
    ///
    /// - Parameter program: a path, or a name to find in `PATH`.
    /// - Returns: only if there is no such program.
    /// - Throws: `inputOutput` if it cannot be started for another reason.
    package static func replace(by program: String, _ arguments: [String]) throws {
        let words: [UnsafeMutablePointer<CChar>?] = ([program] + arguments).map { strdup($0) } + [nil]
        defer { for word in words { free(word) } }
        execvp(program, words)
        guard errno == ENOENT else { throw MigrationError.system("start", program) }
    }
}

/// Another program that runs in parallel with this one. Its streams are files.
package struct ChildProgram: Sendable {
    private let identifier: pid_t

    /// - Parameters:
    ///   - program: a path, or a name to find in `PATH`.
    ///   - settings: environment variables to add to those of this process; nil removes one.
    /// - Returns: nil if there is no such program.
    /// - Throws: `inputOutput` if it cannot be started for another reason.
    package init?(
        _ program: String, _ arguments: [String], input: String = "/dev/null", output: String = "/dev/null",
        errors: String = "/dev/null", settings: [String: String?] = [:]
    ) throws {
        #if canImport(Darwin)
            var actions: posix_spawn_file_actions_t?
        #else
            var actions = posix_spawn_file_actions_t()
        #endif
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, input, O_RDONLY, 0)
        for (descriptor, path) in [(STDOUT_FILENO, output), (STDERR_FILENO, errors)] {
            posix_spawn_file_actions_addopen(&actions, descriptor, path, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        }
        var words: [UnsafeMutablePointer<CChar>?] = ([program] + arguments).map { strdup($0) } + [nil]
        var variables = ProcessInfo.processInfo.environment
        for (name, value) in settings { variables[name] = value }
        var environment: [UnsafeMutablePointer<CChar>?] = variables.map { strdup("\($0.key)=\($0.value)") } + [nil]
        defer { for word in words + environment { free(word) } }
        var child: pid_t = 0
        let number = posix_spawnp(&child, program, &actions, nil, &words, &environment)
        if number == ENOENT { return nil }
        guard number == 0 else { throw MigrationError.system("start", program, error: number) }
        identifier = child
    }

    /// Waits until the program has ended, and returns its exit code, or 128 plus the signal that ended it.
    package func wait() throws -> Int32 {
        var status: Int32 = 0
        while waitpid(identifier, &status, 0) < 0 {
            if errno != EINTR { throw MigrationError.system("wait for", "the process \(identifier)") }
        }
        let signal = status & 0x7f
        return signal == 0 ? status >> 8 & 0xff : 128 + signal
    }

    /// Kills the program and waits for its end.
    ///
    /// - Returns: false if it had already ended.
    package func kill() -> Bool {
        // A process that has ended keeps its identifier until it is waited for.
        sendKill(identifier)
        return (try? wait()) == 128 + SIGKILL
    }
}

private func sendKill(_ identifier: pid_t) { _ = kill(identifier, SIGKILL) }
