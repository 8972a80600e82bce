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

/// Another program that was run to its end, with what it printed.
package struct ProgramRun: Sendable {
    /// Its exit code, or 128 and the signal that ended it.
    package let exit: Int32
    package let output: [UInt8]
    /// The text that it wrote to standard error, without the last line break.
    package let errorText: String

    /// The first line of what it printed; nil if it printed nothing.
    package var line: String? {
        output.split(separator: UInt8(ascii: "\n"), maxSplits: 1).first.map { String(decoding: $0, as: UTF8.self) }
    }

    /// Runs a program that is found by `PATH`. Its streams are files, so that none of them can fill up.
    ///
    /// - Parameters:
    ///   - input: what it reads.
    ///   - settings: variables of its environment, besides those of this process; nil leaves one out.
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

    /// Runs another program in place of this one: the process stays, with its streams and its terminal.
    ///
    /// - Parameter program: a path, or a name that is found by `PATH`.
    /// - Returns: only if there is no such program.
    /// - Throws: `inputOutput` if it cannot be started for another reason.
    package static func replace(by program: String, _ arguments: [String]) throws {
        let words: [UnsafeMutablePointer<CChar>?] = ([program] + arguments).map { strdup($0) } + [nil]
        defer { for word in words { free(word) } }
        execvp(program, words)
        guard errno == ENOENT else { throw MigrationError.system("start", program) }
    }
}

/// Another program that runs next to this one, whose streams are files.
package struct ChildProgram: Sendable {
    private let identifier: pid_t

    /// - Parameters:
    ///   - program: a path, or a name that is found by `PATH`.
    ///   - settings: variables of its environment, besides those of this process; nil leaves one out.
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

    /// Waits until it has ended; its exit code, or 128 and the signal that ended it.
    package func wait() throws -> Int32 {
        var status: Int32 = 0
        while waitpid(identifier, &status, 0) < 0 {
            if errno != EINTR { throw MigrationError.system("wait for", "the process \(identifier)") }
        }
        let signal = status & 0x7f
        return signal == 0 ? status >> 8 & 0xff : 128 + signal
    }

    /// Kills it and waits.
    ///
    /// - Returns: false where it had ended by itself.
    package func kill() -> Bool {
        // What has ended and was not waited for keeps its number.
        sendKill(identifier)
        return (try? wait()) == 128 + SIGKILL
    }
}

private func sendKill(_ identifier: pid_t) { _ = kill(identifier, SIGKILL) }
