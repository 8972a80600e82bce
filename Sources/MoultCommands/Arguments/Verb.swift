import Moult
import MoultTools

/// One verb of the command line, with its arguments, its help and its action.
package struct Verb: Sendable {
    package typealias Run = @Sendable (Invocation, Console) async throws -> ExitCode

    package let name: String
    /// One sentence for the list of verbs.
    package let summary: String
    /// The text of the help beyond the summary.
    package let discussion: String
    package let operands: [Operand]
    package let options: [Option]
    /// Complete command lines that work as written, given `forum.sqlite` and `Forum.xcdatamodeld`.
    package let examples: [String]
    /// The verbs below this one, as in `moult backup list`.
    package let subverbs: [Verb]
    /// Whether the verb only groups others. `run` is never called then.
    package let isGroup: Bool
    package let run: Run

    package init(
        _ name: String, _ summary: String, discussion: String = "", operands: [Operand] = [], options: [Option] = [],
        examples: [String], subverbs: [Verb] = [], run: @escaping Run
    ) {
        (self.name, self.summary, self.discussion, self.operands) = (name, summary, discussion, operands)
        // A verb may have its own help for one of these.
        let common: [Option] = Self.printedFile(name) + [.config, .json, .help]
        self.options = options + common.filter { shared in !options.contains { $0.name == shared.name } }
        self.examples = examples
        self.subverbs = subverbs
        isGroup = false
        self.run = run
    }

    /// Creates a verb that only groups others.
    package init(_ name: String, _ summary: String, discussion: String = "", subverbs: [Verb]) {
        (self.name, self.summary, self.discussion) = (name, summary, discussion)
        operands = []
        options = [.help]
        examples = subverbs.flatMap(\.examples)
        self.subverbs = subverbs
        isGroup = true
        run = { _, _ in .wrongUsage }
    }

    /// Whether an operand is a model.
    var takesModel: Bool { operands.contains(.model) || operands.contains(.models) }

    /// The verbs that perform an action, this one or those below it, each as typed.
    package var leaves: [(words: [String], verb: Verb)] {
        (isGroup ? [] : [([name], self)]) + subverbs.map { ([name, $0.name], $0) }
    }

    /// Returns the verb that performs an action, as typed, such as `backup list`; nil if there is none.
    static func typed(_ path: String) -> Verb? { byPath[path] }

    private static let byPath = Dictionary(
        all.flatMap(\.leaves).map { ($0.words.joined(separator: " "), $0.verb) }
    ) { first, _ in first }

    /// Returns the help of this verb. `path` is the verb as typed, such as `backup list`.
    package func help(path: String, style: TextStyle) -> [String] {
        var lines = [summary, "", "\(style.bold("Usage:")) \(usage(path: path))"]
        if !discussion.isEmpty { lines += [""] + Self.paragraphs(Program.named(discussion), style) }
        lines += Self.section("Arguments", shownOperands, style)
        lines += Self.section("Verbs", subverbs.map { ($0.name, $0.summary) }, style)
        lines += Self.section("Options", shownOptions, style)
        if !examples.isEmpty {
            lines +=
                ["", style.bold(examples.count == 1 ? "Example:" : "Examples:")]
                + examples.map { "  " + Program.named($0) }
        }
        return lines
    }

    private func usage(path: String) -> String {
        let tail = isGroup ? ["VERB"] : operands.map(\.usage) + ["[options]"]
        // A store in place of a verb is not repeated.
        return ([Program.name] + (tail.first == path ? [] : [path]) + tail).joined(separator: " ")
    }

    /// Returns the lines of a discussion; for a terminal, each paragraph as one line, which is then wrapped. A line that
    /// ends early is a deliberate break.
    private static func paragraphs(_ text: String, _ style: TextStyle) -> [String] {
        guard style.width != nil else { return text.split(separator: "\n").map(String.init) }
        var paragraphs: [String] = []
        var isOpen = false
        for line in text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init) {
            if line.isEmpty {
                paragraphs.append("")
            } else if isOpen, let last = paragraphs.popLast() {
                paragraphs.append("\(last) \(line)")
            } else {
                paragraphs.append(line)
            }
            isOpen = line.count >= 85
        }
        return paragraphs
    }

    /// The operands with their help, which says for which of them -o stands.
    var shownOperands: [(String, String)] {
        let made = outputOperand
        return operands.map { ($0.usage, $0 == made ? "\($0.help) -o \($0.name) is the same." : $0.help) }
    }

    /// The options with their help; the one for the file or folder that a verb makes has a short form too.
    var shownOptions: [(String, String)] {
        let made = outputOption?.name
        return options.map { option in
            let help = option.help.replacing("; -o for short", with: "").replacing(" -o for short.", with: "")
            return (option.name == made ? "-o, \(option.usage)" : option.usage, help)
        }
    }

    package static func section(_ title: String, _ rows: [(String, String)], _ style: TextStyle) -> [String] {
        if rows.isEmpty { return [] }
        var table = TextTable([.left(""), .left("")])
        for (name, help) in rows { table.add("  " + name, help) }
        return ["", style.bold(title + ":")] + table.lines(style: style)
    }

    /// Every verb, in the order of the help: inspect, decide, change, recover.
    package static let all: [Verb] = [
        status, inspect, browse, dump, diagram, views, query, exportStore, anonymise, importObjects, hash, ddl, create,
        schema,
        compile, decompile, generate, coexist, initialise, lock, reconstruct, lint, cloudKit, diff, changelog, answer,
        plan, migrate, finish, resume, validate, repair, quarantine,
        backup, rollback, salvage, downgrade, move, mirror, fleet, doctor, explain, runs, log, test, fixture, checklist,
        parity,
        completions, manual,
    ]
}

/// A positional argument.
package struct Operand: Sendable, Hashable {
    package let name: String
    package let help: String
    package let isOptional: Bool
    /// Whether it may be repeated. Such an operand comes last.
    package let isRepeated: Bool
    package let completion: Option.Completion

    package init(
        _ name: String, _ help: String, isOptional: Bool = false, isRepeated: Bool = false,
        completes completion: Option.Completion = .files
    ) {
        (self.name, self.help, self.isOptional) = (name, help, isOptional)
        (self.isRepeated, self.completion) = (isRepeated, completion)
    }

    package static let store = Operand("STORE", "The path of a Core Data or SwiftData store.")
    /// Optional only in the tool of an app that has its own model, see ``Invocation/operandVersions(_:)``.
    package static let model = Operand(
        "MODEL",
        "The model: an .xcdatamodeld or .momd, a folder of versions, a single version (.xcdatamodel, .mom, .omo or "
            + "JSON), an .app or .ipa, a folder of stores, or a store, whose own model is then used. In an app's own tool, the default is the app's model.",
        isOptional: true)

    /// The models of a verb that works on several.
    package static let models = Operand(
        model.name, model.help + " May be repeated. Without it, all models of moult.json are meant.", isOptional: true,
        isRepeated: true)

    package var usage: String {
        let name = isRepeated ? "\(name)…" : name
        return isOptional ? "[\(name)]" : name
    }
}

/// An option of the command line: `--name`, with a value or without.
package struct Option: Sendable, Hashable {
    /// The completions that a shell may offer for the value.
    package enum Completion: Sendable, Hashable {
        case nothing, files, folders
        case words([String])
        /// The codes of ``Explanation``, and those of lint's rules: made only when they are asked for.
        case codes, rules

        /// The words, if the value is one of a few.
        var choices: [String]? {
            switch self {
            case .nothing, .files, .folders: nil
            case .words(let words): words
            case .codes: Explanation.all.map(\.code)
            case .rules: LintRule.all.map(\.code)
            }
        }
    }

    package let name: String
    /// The placeholder for the value in help, or nil for a flag.
    package let value: String?
    package let help: String
    package let completion: Completion

    package static func flag(_ name: String, _ help: String) -> Option {
        Option(name: name, value: nil, help: help, completion: .nothing)
    }

    package static func value(
        _ name: String, _ value: String, _ help: String, completes completion: Completion = .nothing
    ) -> Option {
        Option(name: name, value: value, help: help, completion: completion)
    }

    /// The option as typed: `--model PATH`.
    package var usage: String { "--\(name)" + (value.map { " \($0)" } ?? "") }

    /// Whether the value is one of a few words, and this is one of them.
    func takes(_ word: String) -> Bool { completion.choices?.contains(word) ?? false }
}

/// Options that several verbs share.
extension Option {
    package static let json = flag("json", "Print one JSON document, for scripts.")
    package static let help = flag("help", "Show this help.")
    package static let model = value(
        "model", "PATH",
        "The model: an .xcdatamodeld or .momd, a folder of versions, a single version (.xcdatamodel, .mom, .omo or "
            + "JSON), an .app or .ipa, a folder of stores, or a store, whose own model is then used.",
        completes: .files)
    package static let order = value("order", "NAMES", "The order of the versions, oldest first, separated by commas.")
    package static let answers = value(
        "answers", "FILE",
        "The file in which moult answer records answers about the model, such as renames; by default the one next to "
            + "the model.",
        completes: .files)
    package static let framework = value(
        "framework", "N",
        "The framework level (NSPersistenceFrameworkVersion) of a new store; by default the newest known.")
    package static let experimental = flag(
        "experimental", "Allow what is not verified against Apple's own files, such as an enum with associated values.")
}
