import MoultModel

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
}
