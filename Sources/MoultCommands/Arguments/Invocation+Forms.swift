import MoultBasics
import MoultTools

// The forms in which a person may give a model, and the errors for arguments that are missing or have no effect.

extension Invocation {
    /// Returns the arguments with `--model PATH` as the operand MODEL, for a verb that has the operand and not the
    /// option.
    static func withModelAsOperand(_ arguments: [String], of verb: Verb) -> [String] {
        guard verb.operands.first?.name == Operand.model.name,
            !verb.options.contains(where: { $0.name == Option.model.name })
        else { return arguments }
        let name = "--\(Option.model.name)"
        let end = arguments.firstIndex(of: "--") ?? arguments.endIndex
        guard let place = arguments[..<end].firstIndex(where: { $0 == name || $0.hasPrefix(name + "=") }) else {
            return arguments
        }
        var rest = arguments
        let word = rest.remove(at: place)
        if word != name { return [String(word.dropFirst(name.count + 1))] + rest }
        return place < rest.endIndex ? [rest.remove(at: place)] + rest : arguments
    }

    /// Whether an argument after the last operand is the model of a verb that has the option `--model`, as in
    /// `moult status app.sqlite App.xcdatamodeld`.
    static func isModel(_ argument: String, for verb: Verb, after options: some Collection<String>) -> Bool {
        verb.options.contains { $0.name == Option.model.name } && !options.contains(Option.model.name)
            && [".xcdatamodeld", ".xcdatamodel", ".momd", ".mom", ".omo"].contains { ending in
                argument.hasSuffix(ending) || argument.hasSuffix(ending + "/")
            }
    }

    /// Returns what an option that the verb does not have may stand for: an option that is spelt alike, one that begins
    /// with a single letter, the format of that name, or one of another name.
    static func near(_ typed: String, of verb: Verb) -> String? {
        let word = typed.drop { $0 == "-" }
        let names = verb.options.map(\.name)
        if typed.hasPrefix("--"), let format = verb.options.first(where: { $0.takes(String(word)) }) {
            return "--\(format.name) \(word)"
        }
        if word.count == 1 {
            let first = names.first { $0 == Option.model.name && $0.hasPrefix(word) }
            return (first ?? names.first { $0.hasPrefix(word) }).map { "--\($0)" }
        }
        let other = otherOptions[String(word)]?.first(where: names.contains).map { "--\($0)" }
        return other ?? Suggestion.nearest(to: typed, among: names.map { "--\($0)" })
    }

    /// Names of options in other tools, each with those that do the same here.
    private static let otherOptions = [
        "force": ["replace", "again"], "overwrite": ["replace"], "output": ["out"],
        "version": ["to", "version"], "target": ["to"],
    ]

    /// Returns the error for arguments that were left out, with an example of the verb.
    static func missing(_ names: [String], of verb: Verb?, _ path: String) -> MigrationError {
        let needed = names.first
        let example = verb?.examples.first { example in
            needed.map { !$0.hasPrefix("--") || example.contains($0) } ?? true
        }
        let advice = example.map { "For example: `\(Program.named($0))`. " } ?? ""
        return MigrationError(
            .usage, "\(Program.name) \(path) needs \(names.listed()).",
            remedy: advice + "See `\(Program.name) \(path) --help`.")
    }

    /// Returns the error for an option that was left out.
    static func missing(_ option: Option, _ path: String) -> MigrationError {
        let verb = Verb.typed(path)
        // The name of the option comes first, so that the example is one that has it.
        let error = missing(["--\(option.name)"], of: verb, path)
        return MigrationError(
            .usage, "\(Program.name) \(path) needs \(option.usage).", remedy: error.advice)
    }
}

/// An option that has an effect only together with something else.
struct Dependency: Sendable {
    /// The verbs as typed; empty for all that have the option.
    let verbs: Set<String>
    let option: String
    /// The requirement, in words that follow "requires".
    let need: String
    let isMet: @Sendable (Invocation) -> Bool

    /// Creates a dependency on any of several options, each as `name`, or as `name=value`.
    private init(_ verbs: Set<String>, _ option: String, on others: String...) {
        (self.verbs, self.option) = (verbs, option)
        need = others.map { "--\($0.replacing("=", with: " "))" }.listed("or")
        isMet = { invocation in
            others.contains { other in
                let parts = other.split(separator: "=").map(String.init)
                let value = invocation[value: .flag(parts[0], "")]
                return parts.count == 1 ? value != nil : value == parts[1]
            }
        }
    }

    private init(
        _ verbs: Set<String>, _ option: String, _ need: String, _ isMet: @escaping @Sendable (Invocation) -> Bool
    ) {
        (self.verbs, self.option, self.need, self.isMet) = (verbs, option, need, isMet)
    }

    /// The verbs whose model may come from elsewhere: from two paths, or from the record of a mirror.
    private static let withModelsOfTheirOwn: Set = [
        "diff", "cloudkit diff", "mirror sync", "mirror status", "mirror verify", "mirror cutover",
    ]

    private static func needsModel(_ option: String) -> Dependency {
        Dependency([], option, "--model: the model inside a store is a single version") { invocation in
            withModelsOfTheirOwn.contains(invocation.path) || invocation[value: .model] != nil
                || invocation[Operand.model] != nil || invocation.registry.models != nil
        }
    }

    private static func ofModelPicture(_ option: String) -> Dependency {
        Dependency(["diagram"], option, "a picture of a model, without --plan and --history") {
            !$0[.flag("plan", "")] && !$0[.flag("history", "")]
        }
    }

    static let all: [Dependency] = [
        needsModel("order"), needsModel("answers"), needsModel("mapping"),
        Dependency(["doctor", "resume"], "to", on: "model"),
        Dependency(["create"], "seed", on: "fill", "rows"),
        Dependency(["dump"], "with-subentities", on: "entity"),
        Dependency(["query"], "exact", "--format csv") {
            $0[value: .flag("format", "")]?.lowercased() == "csv" || $0[value: .printed]?.hasSuffix(".csv") == true
        },
        Dependency(["export"], "exact", "--format csv") {
            [nil, "csv"].contains($0[value: .flag("format", "")]?.lowercased())
        },
        Dependency(["plan"], "values", on: "sql"),
        Dependency(["validate"], "frugal", on: "fix"),
        Dependency(["validate", "migrate", "resume", "test"], "allow-large-quarantine", on: "fix"),
        Dependency(["migrate", "resume", "test"], "fix", "rules: name their file with --rules") {
            $0[value: .rules] != nil || !$0.registry.rules.isEmpty
        },
        Dependency(["generate"], "name", on: "for=swift-data"),
        Dependency(["generate tests"], "import", on: "registry"),
        Dependency(["test"], "seconds", on: "crash"),
        Dependency(["diagram"], "to", on: "plan"),
        Dependency(["diagram"], "model", "--plan or --history, or no MODEL") {
            $0[.flag("plan", "")] || $0[.flag("history", "")] || $0[Operand.model] == nil
        },
        ofModelPicture("version"), ofModelPicture("entity"), ofModelPicture("depth"),
        Dependency(["diagram"], "answers", on: "difference", "plan"),
        Dependency(["checklist"], "backups", on: "for"),
    ]
}

extension Invocation {
    /// Refuses an option that would have no effect.
    func refuseIdleOptions() throws {
        for dependency in Dependency.all where dependency.verbs.isEmpty || dependency.verbs.contains(path) {
            let option = Option.flag(dependency.option, "")
            guard self[option], !isConfigured(option), !dependency.isMet(self) else { continue }
            throw wrong("--\(dependency.option) requires \(dependency.need).")
        }
    }
}
