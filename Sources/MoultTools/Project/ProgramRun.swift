import MoultBasics
import MoultTesting

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
