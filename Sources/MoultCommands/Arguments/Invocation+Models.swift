import Moult
import MoultBasics
import MoultModel
import MoultTools

extension Invocation {
    /// Reads the versions of a model, or the one inside a store, in the order that `--order` gives, and says on standard
    /// error what was noticed.
    package func versions(at path: String, _ console: Console) throws -> ModelVersions {
        let order = list(.order)
        if let known = KnownModels.versions(at: path, order) { return known }
        do {
            let versions = ModelVersions(try ModelBundle(modelOrStoreAt: path, order: order))
            console.say(versions.findings)
            return versions
        } catch var error as MigrationError where error.code == .storeCorrupted && path != self[Operand.store] {
            // The store that the verb works on is another one.
            error.advice = "Name another model, or a sound copy of this store."
            throw error
        }
    }

    /// The versions of the model that `--model` names, otherwise of the app whose tool this is; nil if neither has one.
    package func versionsIfKnown(_ console: Console) throws -> ModelVersions? {
        if let path = self[value: .model] { return try versions(at: path, console) }
        return try ownVersions(console)
    }

    /// The versions of the app whose tool this is; nil if it has none.
    private func ownVersions(_ console: Console) throws -> ModelVersions? {
        guard let models = registry.models else { return nil }
        guard self[value: .order] == nil else {
            throw wrong("--order requires --model. The app has given its versions in their order.")
        }
        let versions = try models()
        console.say(versions.findings)
        return versions
    }

    /// The versions of the model that the operand names, otherwise of the app whose tool this is.
    ///
    /// - Throws: `usage` if neither names a model.
    package func operandVersions(_ console: Console) throws -> ModelVersions {
        if self[Operand.model] == nil, let versions = try ownVersions(console) { return versions }
        return try versions(at: try requiredModel(), console)
    }

    /// The same, file by file and with the lock file: that of the folder where an app's own tool runs.
    package func operandBundle(_ console: Console) throws -> ModelBundle {
        if self[Operand.model] == nil, let versions = try ownVersions(console) { return try ModelBundle(versions) }
        return try ModelBundle(modelOrStoreAt: try requiredModel(), order: list(.order))
    }

    private func requiredModel() throws -> String {
        if let path = self[Operand.model] { return path }
        throw wrong("\(Program.name) \(path) needs \(Operand.model.name): \(Operand.model.help.lowercasedFirst)")
    }

    /// The versions of the model that `--model` names, otherwise of the app whose tool this is, otherwise the one
    /// inside the store that the verb works on.
    ///
    /// - Throws: `modelNotFound` if the store carries none, `modelInvalid` if it cannot be read or is not the one of
    ///   the store's version hashes; `usage` for a verb that works on no store.
    package func versions(_ console: Console) throws -> ModelVersions {
        if let versions = try versionsIfKnown(console) { return versions }
        guard let store = self[Operand.store] else { return try namedVersions(console) }
        let own = try ModelVersion(ownOfStore: store)
        console.say("No model is named: the model inside \(store.printable) is used.")
        return ModelVersions(versions: [own], currentName: own.name)
    }

    /// Refuses a verb whose goal is a version, where no model says which versions there are: the store's own model has no
    /// version but the store's, so that nothing would ever be left to do.
    ///
    /// - Throws: `usage`, which names the models next to the store; what reading its own model throws.
    func requireModel() throws {
        guard self[value: .model] == nil, registry.models == nil, let store = self[Operand.store] else { return }
        // What is wrong with the store itself comes first.
        _ = try ModelVersion(ownOfStore: store)
        let folders = Set([Path.folder(of: store), "."]).sorted()
        let found = folders.flatMap { folder in
            ModelBundle.paths(in: folder).map { folder == "." ? $0 : Path.join(folder, $0) }
        }
        let command = "\(Program.name) \(path) \(store.shellQuoted)"
        throw MigrationError(
            .usage,
            "\(Program.name) \(path) needs --model: the model inside the store has no version but the store's own.",
            place: store,
            remedy: found.count == 1
                ? "Name the model next to the store: \(command) --model \(found[0].shellQuoted)"
                : "Name the model with all its versions: "
                    + (found.isEmpty
                        ? "\(command) --model PATH"
                        : found.map { "--model \($0.shellQuoted)" }.joined(separator: " or ")))
    }

    /// The versions that a store may have come through: where `--model` names another store, the one inside the verb's
    /// own store comes first, so that there is a way from it.
    package func versionsOnTheWay(_ console: Console) throws -> ModelVersions {
        let versions = try versions(console)
        guard let path = self[value: .model], let store = self[Operand.store] else { return versions }
        return try versions.onTheWay(of: store, to: path)
    }

    /// The same as ``versionsIfKnown(_:)``, for a verb that has nothing to work with without them.
    ///
    /// - Throws: `usage` if neither the command line nor the app names a model.
    package func namedVersions(_ console: Console) throws -> ModelVersions {
        if let versions = try versionsIfKnown(console) { return versions }
        return try versions(at: try required(Option.model), console)
    }

    /// The version that goes by `name`.
    ///
    /// - Throws: `MigrationError` with code `usage` that lists the names there are.
    package func version(named name: String, in versions: ModelVersions) throws -> ModelVersion {
        guard let position = versions.position(named: name) else {
            let names = versions.versions.flatMap(\.names)
            let near = Suggestion.nearest(to: name, among: names).map { " Did you mean \($0)?" } ?? ""
            throw MigrationError(
                .usage, "The model has no version \(name).\(near)",
                remedy: "Its versions are: \(names.joined(separator: ", ")).")
        }
        return versions.versions[position].named(name)
    }

    /// The version that `option` names; the bundle's current version, otherwise the newest, where it was not given.
    package func version(_ option: Option, in versions: ModelVersions) throws -> ModelVersion {
        if let name = self[value: option] { return try version(named: name, in: versions) }
        guard !versions.versions.isEmpty else {
            throw MigrationError(.modelNotFound, "The model has no versions.", remedy: "Name another model.")
        }
        return versions.versions[try versions.target(named: nil)]
    }

    /// The file of answers: the one that `--answers` names, otherwise the one next to the model, or in the folder where
    /// an app's own tool runs. Nil if there is no model.
    var answersPath: String? {
        if let path = self[value: .answers] { return path }
        if let model = self[value: .model] ?? self[Operand.model] { return AnswersFile.path(besideModelAt: model) }
        return registry.models == nil ? nil : AnswersFile.nameInFolder
    }

    /// The recorded answers: of the file that `--answers` names, otherwise of the one that is configured or next to the
    /// model, where there is one.
    ///
    /// - Throws: `fileNotFound` where `--answers` names nothing; `usage` for a file that holds no answers.
    func answers() throws -> Answers {
        guard let path = answersPath else { return .none }
        let isNamed = self[value: .answers] != nil && !isConfigured(.answers)
        // A link to nothing is not the same as no file.
        if !isNamed, try !POSIXSystem().exists(path), try !POSIXSystem().isLink(path) { return .none }
        return try Answers(json: try POSIXSystem().read(path), place: path)
    }

    /// The recorded answers, for these versions; those that are left out are named on standard error.
    func answers(for versions: ModelVersions, _ console: Console) throws -> Answers {
        try answers().known(
            in: versions, ofModelsAt: self[value: .model] ?? self[Operand.model], console.say as (String) -> Void)
    }
}
