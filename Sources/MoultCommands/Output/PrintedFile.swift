import Moult
import MoultBasics
import MoultTools

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

extension Verb {
    /// The verbs whose result is what they print.
    private static let printing: Set = [
        "diagram", "query", "ddl", "changelog", "dump", "lint", "completions", "checklist", "hash", "plan", "diff",
        "log",
    ]

    /// The option to add to a verb whose result is what it prints.
    static func printedFile(_ name: String, _ options: [Option]) -> [Option] {
        printing.contains(name) && !options.contains { $0.name == Option.printed.name } ? [.printed] : []
    }

    /// The option that names the file or folder that the verb makes; -o stands for it. Nil if there is none.
    var outputOption: Option? {
        let names = name == "start" ? ["out", "into", "at"] : ["out", "into", "bundle"]
        return names.lazy.compactMap { name in options.first { $0.name == name } }.first
    }

    /// The operand that names the file or folder that the verb makes, for which -o stands if it has no such option.
    var outputOperand: Operand? {
        guard outputOption == nil else { return nil }
        return operands.last { operand in
            ["NEW", "FOLDER"].contains(operand.name) || operand.name == "PATH" && name == "export"
                || operand.name == Operand.store.name && name == "create"
        }
    }
}

extension Option {
    static let printed = value(
        "out", "FILE", "Write the output to this file instead; a file that exists is replaced.", completes: .files)
}

/// A file that gets what a verb prints. It gets its name when the verb has ended.
struct PrintedFile {
    private let path: String
    private let part: String
    private let system = POSIXSystem()

    /// - Throws: `usage` if the path is that of a folder or a store; what writing throws.
    init(_ path: String) throws {
        if try system.status(of: path)?.kind == .folder || ReadOnlyStore.isDatabase(path) {
            throw MigrationError(
                .usage, "\(path) is a folder or a database, which the output would replace.", place: path,
                remedy: "Name another file.")
        }
        (self.path, part) = (path, StagedPath.make(for: path, system))
        try StagedPath.removeAbandoned(for: path, system)
        try system.write([], to: part, .byUmask)
    }

    /// Runs a verb whose output goes to the file.
    ///
    /// - Throws: what the verb throws, and what writing the file throws; then there is no new file.
    func write(like console: Console, _ body: (Console) async throws -> ExitCode) async throws -> ExitCode {
        defer { _ = try? system.remove(part) }
        let descriptor = open(part, O_WRONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw fault(errno) }
        let file = Console(isJSON: console.isJSON, tellsEvents: console.tellsEvents, output: descriptor)
        let result: Result<ExitCode, any Error>
        do { result = .success(try await body(file)) } catch { result = .failure(error) }
        file.flush()
        close(descriptor)
        let code = try result.get()
        if let number = file.outputError { throw fault(number) }
        try system.synchronise(part)
        try system.rename(part, to: path)
        return code
    }

    private func fault(_ number: Int32) -> MigrationError {
        MigrationError(
            .inputOutput, "The output could not be written: \(String(cString: strerror(number))).", place: path,
            remedy: "Make room, or name a file on another volume.")
    }
}
