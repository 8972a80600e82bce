import MoultModel
import MoultSystem

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

/// A program that runs next to this one, with nothing to read, whose output is not read.
struct ChildProgram {
    private let identifier: pid_t

    init(_ program: String, _ arguments: [String]) throws {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        for (descriptor, flags) in [(STDIN_FILENO, O_RDONLY), (STDOUT_FILENO, O_WRONLY), (STDERR_FILENO, O_WRONLY)] {
            posix_spawn_file_actions_addopen(&actions, descriptor, "/dev/null", flags, 0)
        }
        var words: [UnsafeMutablePointer<CChar>?] = ([program] + arguments).map { strdup($0) } + [nil]
        let variables = ProcessInfo.processInfo.environment.map { "\($0.key)=\($0.value)" }
        var environment: [UnsafeMutablePointer<CChar>?] = variables.map { strdup($0) } + [nil]
        defer { for word in words + environment { free(word) } }
        var child: pid_t = 0
        let number = posix_spawn(&child, program, &actions, nil, &words, &environment)
        guard number == 0 else { throw MigrationError.system("start", program, error: number) }
        identifier = child
    }

    /// Waits until it has ended; its exit code, or 128 and the signal that ended it.
    func wait() throws -> Int32 {
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
    func kill() -> Bool {
        // What has ended and was not waited for keeps its number.
        sendKill(identifier)
        return (try? wait()) == 128 + SIGKILL
    }
}

private func sendKill(_ identifier: pid_t) { _ = kill(identifier, SIGKILL) }
