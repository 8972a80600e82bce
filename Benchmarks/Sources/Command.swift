import Foundation
import MoultBasics
import MoultModel

/// Another program, run and timed from its start to its end.
struct Command {
    struct Result {
        /// From the start of the process to its end.
        var seconds: Double
        /// Of all its threads, in the program and in the system for it: what else the machine does counts little.
        var processorSeconds: Double
        /// What the process gave the system to write to a disk (`man 2 getrusage`, in blocks of 512 bytes).
        var bytesWritten: Int64
        var output: String

        /// The line of JSON that a child prints.
        var json: JSONValue {
            get throws { try JSONValue(parsing: Array(output.utf8), place: "child", code: .internal) }
        }
    }

    let program: String
    let arguments: [String]

    init(_ program: String, _ arguments: [String]) {
        self.program = program
        self.arguments = arguments
    }

    /// This program again, for one piece of work.
    static func child(_ arguments: String...) -> Command {
        Command("/proc/self/exe", ["child"] + arguments)
    }

    static func shell(_ store: String, _ statements: String...) -> Command {
        Command("/usr/bin/sqlite3", ["-bail", store] + statements)
    }

    /// - Throws: `internal` with what the program wrote to its standard error, where it does not end with 0 or 1.
    @discardableResult
    func run() throws -> Result {
        let output = try temporaryFile()
        let errors = try temporaryFile()
        defer { for file in [output, errors] { close(file) } }
        #if canImport(Darwin)
            var actions: posix_spawn_file_actions_t?
        #else
            var actions = posix_spawn_file_actions_t()
        #endif
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, output, 1)
        posix_spawn_file_actions_adddup2(&actions, errors, 2)
        let path = program == "/proc/self/exe" ? CommandLine.arguments[0] : program
        var words: [UnsafeMutablePointer<CChar>?] = ([path] + arguments).map { strdup($0) } + [nil]
        defer { for word in words { free(word) } }
        var process: pid_t = 0
        let begun = Clock.now
        guard posix_spawnp(&process, path, &actions, nil, &words, environ) == 0 else { throw failure("cannot start") }
        var status: Int32 = 0
        var usage = rusage()
        while wait4(process, &status, 0, &usage) < 0 && errno == EINTR {}
        let seconds = Clock.now - begun
        guard status & 0x7f == 0, status >> 8 & 0xff <= 1 else { throw failure(try text(errors)) }
        return Result(
            seconds: seconds, processorSeconds: usage.ru_utime.seconds + usage.ru_stime.seconds,
            bytesWritten: Int64(usage.ru_oublock) * 512, output: try text(output))
    }

    private func failure(_ message: String) -> MigrationError {
        MigrationError(
            .internal, "\(program) \(arguments.prefix(3).joined(separator: " ")): \(message)",
            remedy: "Run it by hand.")
    }

    /// A file without a name, which is gone when it is closed.
    private func temporaryFile() throws -> Int32 {
        var template = Array("/tmp/moult-benchmark-XXXXXX".utf8CString)
        let descriptor = mkstemp(&template)
        guard descriptor >= 0 else { throw failure("no temporary file") }
        unlink(template)
        return descriptor
    }

    private func text(_ descriptor: Int32) throws -> String {
        lseek(descriptor, 0, SEEK_SET)
        let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: false)
        return String(decoding: try handle.readToEnd() ?? Data(), as: UTF8.self)
    }
}

extension timeval {
    fileprivate var seconds: Double { Double(tv_sec) + Double(tv_usec) / 1e6 }
}
