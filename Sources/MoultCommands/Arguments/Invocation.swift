import Moult
import MoultBasics
import MoultModel
import MoultTools

/// The parsed arguments of one verb.
package struct Invocation: Sendable {
    /// The verb as it was typed, such as `backup list`.
    package let path: String
    /// The code of the tool's own app.
    package let registry: MigrationRegistry
    /// The machine that the verb runs on.
    let machine: CommandMachine
    private var operands: [String: String]
    /// The further values of an operand that may be repeated, after its first.
    private var furtherOperands: [String] = []
    private var values: [String: [String]]
    /// The models of `moult.json`, if it names several and the command line names none.
    private(set) var configuredModels: [String] = []
    /// The contents of `moult.json`; nil if there is none, or if the verb uses nothing in it.
    var configuration: ProjectConfiguration?
    /// The names of options and operands that are not from the command line.
    private var configured: Set<String> = []
    /// The arguments after the verb, as typed.
    let typed: [String]
    /// Whether an operand names the verb's model.
    let takesModelOperand: Bool
    /// The sentences about arguments that were found rather than given.
    var notices: [String] = []

    /// Parses the arguments after a verb.
    ///
    /// - Throws: `MigrationError` with code `usage` for an unknown option, or a missing or surplus argument.
    package init(
        _ verb: Verb, path: String, arguments: [String], registry: MigrationRegistry = MigrationRegistry(),
        on machine: CommandMachine = CommandMachine()
    ) throws {
        (self.path, self.registry, self.machine, typed) = (path, registry, machine, arguments)
        takesModelOperand = verb.takesModel
        var places = verb.operands[...]
        var operands: [String: String] = [:]
        var values: [String: [String]] = [:]
        var rest = Self.withModelAsOperand(arguments, of: verb)[...]
        var onlyOperands = false
        while let argument = rest.popFirst() {
            if argument == "--", !onlyOperands {
                onlyOperands = true
            } else if let made = verb.outputOperand, !onlyOperands, let output = try Self.output(argument, path, &rest)
            {
                guard operands[made.name] == nil else {
                    throw Self.wrong("\(made.name) is named twice: \(operands[made.name] ?? ""), \(output).", path)
                }
                operands[made.name] = output
                places.removeAll { $0.name == made.name }
            } else if argument.hasPrefix("-"), argument != "-", !onlyOperands {
                let (option, value) = try Self.option(argument, of: verb, path: path, rest: &rest)
                values[option.name, default: []].append(value)
            } else if let place = places.popFirst() {
                operands[place.name] = argument
            } else if verb.operands.last?.isRepeated == true {
                furtherOperands.append(argument)
            } else if Self.isModel(argument, for: verb, after: values.keys) {
                values[Option.model.name] = [argument]
            } else {
                var error = Self.wrong("\(Program.name) \(path) takes no further argument: \(argument).", path)
                if let model = operands[Operand.store.name], Self.isModel(model, for: verb, after: values.keys) {
                    error.advice =
                        "The store comes first: `\(Program.name) \(path) \(argument.shellQuoted) \(model.shellQuoted)`"
                }
                if let store = operands[Operand.store.name], path == Verb.overview.name,
                    Verb.all.contains(where: { $0.name == argument })
                {
                    error.advice = "The verb comes first: `\(Program.name) \(argument) \(store.shellQuoted)`"
                }
                throw error
            }
        }
        self.operands = operands
        self.values = values
        if self[.help] { return }
        let missing = places.filter { !$0.isOptional }.map(\.name)
        if !missing.isEmpty { throw Self.missing(missing, of: verb, path) }
        try configure(verb)
        try refuseIdleOptions()
        try refuseOutputToStream(verb)
    }

    /// The files of stores, and the clock.
    var system: any System { machine.system }

    /// Sets an option that was left out.
    mutating func give(_ value: String, for option: Option) {
        guard values[option.name] == nil else { return }
        values[option.name] = [value]
        configured.insert(option.name)
    }

    /// Sets an option that was not typed to the values of a kept request, or to none.
    mutating func settle(_ option: Option, _ value: [String]?) {
        guard values[option.name] == nil || isConfigured(option) else { return }
        values[option.name] = value
        configured.insert(option.name)
    }

    /// The same invocation with nothing but what was typed.
    var withoutConfigured: Invocation {
        var typed = self
        typed.values = values.filter { !configured.contains($0.key) }
        return typed
    }

    /// Sets an operand that was left out.
    mutating func give(_ value: String, for operand: Operand) {
        guard operands[operand.name] == nil else { return }
        operands[operand.name] = value
        configured.insert(operand.name)
    }

    /// Whether an option got its value from the environment or from `moult.json`.
    func isConfigured(_ option: Option) -> Bool { configured.contains(option.name) }

    /// Whether a flag was given.
    package subscript(flag: Option) -> Bool { values[flag.name] != nil }

    /// The value of an option; the last one if it was given several times.
    package subscript(value option: Option) -> String? { values[option.name]?.last }

    /// Returns every value of an option that may be given several times.
    package func all(_ option: Option) -> [String] { values[option.name] ?? [] }

    package subscript(operand: Operand) -> String? { operands[operand.name] }

    /// Returns every value of an operand that may be repeated.
    package func all(_ operand: Operand) -> [String] { (self[operand].map { [$0] } ?? []) + furtherOperands }

    /// Returns this invocation for each of its models; itself if no model is named.
    package var forEachModel: [Invocation] {
        let typed = all(Operand.model)
        let models = typed.isEmpty ? configuredModels : typed
        guard models.count > 1 else { return [self] }
        return models.map { model in
            var one = self
            one.operands[Operand.model.name] = model
            one.furtherOperands = []
            return one
        }
    }

    /// Returns an operand that the verb requires.
    package func required(_ operand: Operand) throws -> String {
        guard let text = operands[operand.name] else { throw Self.wrong("\(operand.name) is missing.", path) }
        return text
    }

    /// Returns the value of an option that this verb requires.
    package func required(_ option: Option) throws -> String {
        guard let text = self[value: option] else {
            let error = Self.missing(option, path)
            throw option.name == Option.model.name && !nearbyModels.paths.isEmpty ? modelMissing(error.message) : error
        }
        return text
    }

    /// Returns the value of an option as a number of at least `least`, if it was given.
    package func number(_ option: Option, atLeast least: Int = 0) throws -> Int? {
        guard let text = self[value: option] else { return nil }
        guard let number = Int(text), number >= least else {
            throw Self.wrong("--\(option.name) takes a number of at least \(least), not \(text).", path)
        }
        return number
    }

    /// Returns the value of an option as a list of words separated by commas, if it was given.
    package func list(_ option: Option) -> [String]? { self[value: option]?.split(separator: ",").map { $0.trimmed } }

    /// Returns the error for arguments that do not fit this verb.
    package func wrong(_ message: String) -> MigrationError { Self.wrong(message, path) }

    private static func wrong(_ message: String, _ path: String) -> MigrationError {
        MigrationError(.usage, message, remedy: "See `\(Program.name) \(path) --help`.")
    }

    /// Returns the value of -o; nil for another argument.
    private static func output(
        _ argument: String, _ path: String, _ rest: inout ArraySlice<String>
    ) throws -> String? {
        for name in ["-o", "--out"] {
            if argument.hasPrefix(name + "=") { return String(argument.dropFirst(name.count + 1)) }
            guard argument == name else { continue }
            guard let value = rest.popFirst() else { throw wrong("\(name) needs a value.", path) }
            return value
        }
        return nil
    }

    private static func option(
        _ argument: String, of verb: Verb, path: String, rest: inout ArraySlice<String>
    ) throws -> (Option, String) {
        let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        let typed = parts.first ?? argument
        let name = typed == "-h" ? "help" : typed.hasPrefix("--") ? String(typed.dropFirst(2)) : ""
        let isOutput = ["-o", "--out"].contains(typed)
        let found = verb.options.first { $0.name == name } ?? (isOutput ? verb.outputOption : nil)
        guard let option = found else {
            let hint = Suggestion.sentence(Self.near(typed, of: verb))
            throw wrong("\(Program.name) \(path) has no option \(typed).\(hint)", path)
        }
        let given = parts.count > 1 ? parts[1] : nil
        guard option.value != nil else {
            if given != nil { throw wrong("--\(option.name) takes no value.", path) }
            return (option, "")
        }
        guard let value = given ?? rest.popFirst() else {
            throw wrong("--\(option.name) needs a value: \(option.usage).", path)
        }
        return (option, value)
    }
}

extension Option {
    static let config = value(
        "config", "FILE",
        "The configuration; by default moult.json in this folder or one above it. --config none reads no file.",
        completes: .files)
}

extension Invocation {
    /// Sets arguments that the command line leaves out from `MOULT_MODEL` and `moult.json`, if the verb has an option
    /// for them.
    ///
    /// - Throws: `usage` for a configuration with errors, or one whose model is missing.
    mutating func configure(_ verb: Verb) throws {
        guard verb.name != Verb.initialise.name else { return }
        defer { findModel(for: verb) }
        let takesModel = verb.takesModel
        let names = Set(verb.options.map(\.name))
        let settings: [Option] = [.model, .answers, .rules, .backups, .acceptLosses]
        guard takesModel || settings.contains(where: { names.contains($0.name) }) else { return }
        let found = try ProjectConfiguration.found(self[value: .config])
        configuration = found
        // An app's own tool has its own model.
        if registry.models == nil, try needsModel(verb) {
            let models = try configuredModels(found)
            let model =
                models.count > 1
                ? self[Operand.store].flatMap { NearbyModels(paths: models).choice(for: $0, .reading).path }
                : models.first
            if let model {
                if takesModel { give(model, for: Operand.model) }
                if names.contains(Option.model.name) { give(model, for: Option.model) }
            } else {
                configuredModels = models
            }
        }
        guard let found else { return }
        for (option, value) in [
            (Option.answers, found.answers), (.rules, found.rules), (.backups, found.backups),
        ] where names.contains(option.name) {
            if let value { give(value, for: option) }
        }
    }

    private func needsModel(_ verb: Verb) throws -> Bool {
        verb.takesModel ? self[Operand.model] == nil : self[value: .model] == nil
    }

    private func configuredModels(_ configuration: ProjectConfiguration?) throws -> [String] {
        if let path = Environment.value("MOULT_MODEL") {
            guard try system.exists(path) else {
                throw MigrationError(
                    .usage, "The environment variable MOULT_MODEL names \(path), where nothing is.", place: path,
                    remedy: "Correct the variable, or unset it.")
            }
            return [path]
        }
        guard let configuration else { return [] }
        for (position, path) in configuration.models.enumerated() where try !system.exists(path) {
            throw configuration.wrong(
                "The model \(path) is not there.",
                at: configuration.hasOneModel ? ["model"] : ["models", String(position)])
        }
        return configuration.models
    }
}
