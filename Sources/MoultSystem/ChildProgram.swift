import MoultModel

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
