import MoultModel
import MoultSystem
import MoultTools

extension Option {
    static let config = value(
        "config", "FILE",
        "The configuration; by default moult.json in this folder or one above it. --config none reads no file.",
        completes: .files)
}

extension Invocation {
    /// Takes what the command line leaves out from `MOULT_MODEL` and `moult.json`. A verb takes what it has an option
    /// for.
    ///
    /// - Throws: `usage` for a configuration with errors, or one whose model is not there.
    mutating func configure(_ verb: Verb) throws {
        guard verb.name != Verb.initialise.name else { return }
        let takesModel = verb.operands.contains(.model)
        let names = Set(verb.options.map(\.name))
        let settings: [Option] = [.model, .answers, .rules, .backups, .acceptLosses]
        guard takesModel || settings.contains(where: { names.contains($0.name) }) else { return }
        let found = try ProjectConfiguration.found(self[value: .config])
        configuration = found
        // An app's own tool has its own model.
        if registry.models == nil, try needsModel(verb), let model = try configuredModel(found) {
            if takesModel { give(model, for: Operand.model) }
            if names.contains(Option.model.name) { give(model, for: Option.model) }
        }
        guard let found else { return }
        for (option, value) in [
            (Option.answers, found.answers), (.rules, found.rules), (.backups, found.backups),
        ] where names.contains(option.name) {
            if let value { give(value, for: option) }
        }
    }

    private func needsModel(_ verb: Verb) throws -> Bool {
        verb.operands.contains(.model) ? self[Operand.model] == nil : self[value: .model] == nil
    }

    private func configuredModel(_ configuration: ProjectConfiguration?) throws -> String? {
        if let path = Environment.value("MOULT_MODEL") {
            guard try POSIXSystem().exists(path) else {
                throw MigrationError(
                    .usage, "The environment variable MOULT_MODEL names \(path), where nothing is.", place: path,
                    remedy: "Correct the variable, or unset it.")
            }
            return path
        }
        guard let configuration, let path = configuration.model else { return nil }
        guard try POSIXSystem().exists(path) else {
            throw configuration.wrong("The model \(path) is not there.", at: ["model"])
        }
        return path
    }
}
