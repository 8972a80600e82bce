import Moult
import MoultBasics
import MoultTools

extension Verb {
    /// The verbs whose result is what they print.
    private static let printing: Set = [
        "diagram", "query", "ddl", "changelog", "dump", "lint", "completions", "checklist", "hash", "plan", "diff",
        "log",
    ]

    /// The option to add to a verb whose result is what it prints.
    static func printedFile(_ name: String) -> [Option] { printing.contains(name) ? [.printed] : [] }

    /// Whether the verb prints its result if no file is named, so that -o - means the standard output.
    var printsWithoutFile: Bool { options.contains(.printed) || name == "export" && outputOption?.name == "out" }

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

extension Invocation {
    /// The store whose contents the verb may print, also one that is named as a model; nil if no database is named.
    var storeThatIsRead: String? {
        if let store = self[Operand.store], (try? system.exists(store)) == true { return store }
        return [self[Operand.model], self[value: .model]].compactMap(\.self).first {
            (try? ReadOnlyStore.isDatabase($0)) == true
        }
    }

    /// Returns the path of the new file that an option names; nil without one, and for `-`, the standard output.
    func newFile(_ option: Option) -> String? { self[value: option].flatMap { $0 == "-" ? nil : $0 } }

    /// Returns the format that an option names, or else the one that the extension of the new file implies.
    ///
    /// - Throws: `usage` if the option names none of the formats, or another one than the extension does, or if only the
    ///   extension names one, and it is none of them.
    func format(_ option: Option, of formats: [String], at path: String?) throws -> String? {
        let named = self[value: option]?.lowercased()
        if let named, !formats.contains(named) {
            throw wrong("--\(option.name) takes \(formats.listed("or")), not \(self[value: option] ?? named).")
        }
        let other = [
            "ndjson": "jsonl", "db": "sqlite", "sqlite3": "sqlite", "gv": "dot", "mmd": "mermaid", "htm": "html",
        ]
        let end = path.map(Path.name(of:))?.split(separator: ".").dropFirst().last?.lowercased()
        guard let end, let implied = [end, other[end] ?? ""].first(where: { formats.contains($0) }) else {
            let isDocument = end == "json" && self[.json]
            guard named == nil, !isDocument, let end, Self.otherFormats.contains(end) else { return named }
            throw wrong(
                "\(Program.name) \(self.path) writes \(formats.listed("or")), and no .\(end)."
                    + Suggestion.sentence(for: end, among: formats))
        }
        guard named == nil || named == implied else {
            throw wrong("--\(option.name) \(named ?? "") contradicts the extension .\(end) of \(path ?? "").")
        }
        return implied
    }

    /// The extensions of files that a person expects to be of the format, and that are of no verb.
    private static let otherFormats: Set = [
        "json", "xml", "plist", "tsv", "xls", "xlsx", "ods", "png", "jpg", "jpeg", "gif", "webp", "tiff", "pdf",
    ]

    /// Refuses `-` for a file that only a path can name.
    func refuseOutputToStream(_ verb: Verb) throws {
        let path = verb.outputOption.flatMap { self[value: $0] } ?? verb.outputOperand.flatMap { self[$0] }
        guard path == "-", !verb.printsWithoutFile else { return }
        throw wrong("-o takes a path here: what \(Program.name) \(self.path) makes cannot be printed.")
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
    private let system: any System

    /// - Parameter store: the store that the output is of, whose permissions the file gets; nil without one.
    /// - Throws: `usage` if the path is that of a folder or a store; what writing throws.
    init(_ path: String, like store: String?, on system: any System) throws {
        self.system = system
        if try system.status(of: path)?.kind == .folder || ReadOnlyStore.isDatabase(path) {
            throw MigrationError(
                .usage, "\(path) is a folder or a database, which the output would replace.", place: path,
                remedy: "Name another file.")
        }
        (self.path, part) = (path, StagedPath.make(for: path, system))
        try StagedPath.removeAbandoned(for: path, system)
        try system.write([], to: part, store.map { .like($0) } ?? .byUmask)
    }

    /// Runs a verb whose output goes to the file.
    ///
    /// - Throws: what the verb throws, and what writing the file throws; then there is no new file.
    func write(like console: Console, _ body: (Console) async throws -> ExitCode) async throws -> ExitCode {
        defer { _ = try? system.remove(part) }
        let descriptor = open(part, O_WRONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw fault(errno) }
        let file = Console(
            isJSON: console.isJSON, tellsEvents: console.tellsEvents, output: descriptor,
            errors: console.errors.descriptor)
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
