import MoultBasics

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

// An app of the other systems cannot start a program.
#if os(macOS) || os(Linux)
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
            _ = systemKill(identifier, SIGKILL)
            return (try? wait()) == 128 + SIGKILL
        }
    }
#endif
