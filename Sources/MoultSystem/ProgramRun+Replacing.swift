import MoultModel

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

extension ProgramRun {
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
