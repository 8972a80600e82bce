import Moult
import MoultBasics
import MoultModel
import MoultTools

extension Invocation {
    /// Reads the versions of a model, or the one inside a store, in the order given by `--order`, and prints findings
    /// on standard error.
    package func versions(at path: String, _ console: Console) throws -> ModelVersions {
        let order = list(.order)
        if let known = KnownModels.versions(at: path, order) { return known }
        do {
            let versions = ModelVersions(try ModelBundle(modelOrStoreAt: path, order: order))
            console.say(versions.findings)
            return versions
        } catch var error as MigrationError where error.code == .storeCorrupted && path != self[Operand.store] {
            // This is not the store that the verb works on.
            error.advice = "Name another model, or a sound copy of this store."
            throw error
        }
    }

    /// Returns the versions of the model that `--model` names, or else of the tool's own app; nil if neither has a
    /// model.
    package func versionsIfKnown(_ console: Console) throws -> ModelVersions? {
        if let path = self[value: .model] { return try versions(at: path, console) }
        return try ownVersions(console)
    }

    /// Returns the versions of the tool's own app; nil if it has none.
    private func ownVersions(_ console: Console) throws -> ModelVersions? {
        guard let models = registry.models else { return nil }
        guard self[value: .order] == nil else {
            throw wrong("--order requires --model. The app has given its versions in their order.")
        }
        let versions = try models()
        console.say(versions.findings)
        return versions
    }

    /// Returns the versions of the model that the operand names, or else of the tool's own app.
    ///
    /// - Throws: `usage` if neither names a model.
    package func operandVersions(_ console: Console) throws -> ModelVersions {
        if self[Operand.model] == nil, let versions = try ownVersions(console) { return versions }
        try refuseSeveralModels()
        return try versions(at: try requiredModel(), console)
    }

    /// Returns the same versions with their files and the lock file; an app's own tool uses the lock file in its
    /// folder.
    package func operandBundle(_ console: Console) throws -> ModelBundle {
        if self[Operand.model] == nil, let versions = try ownVersions(console) { return try ModelBundle(versions) }
        try refuseSeveralModels()
        let path = try requiredModel()
        do {
            return try ModelBundle(modelOrStoreAt: path, order: list(.order))
        } catch var error as MigrationError where error.code == .modelNotFound {
            if let advice = Self.modelsBelow(path) { error.advice = advice }
            throw error
        }
    }

    private func requiredModel() throws -> String {
        if let path = self[Operand.model] { return path }
        let verb = Verb.typed(path)
        var error = Self.missing([Operand.model.name], of: verb, path)
        guard nearbyModels.paths.isEmpty else { throw modelMissing(error.message) }
        if let advice = Self.modelsBelow(".") { error.advice = advice }
        throw error
    }

    /// Returns a remedy that names the models below a folder; nil if there are none.
    private static func modelsBelow(_ folder: String) -> Remedy? {
        let found = ((try? NewProject.models(in: folder)) ?? []).prefix(3)
        guard !found.isEmpty else { return nil }
        return """
            Name \(Array(found).map(\.shellQuoted).listed("or")). \(.initialise, with: found.map { .path($0) }) writes \
            moult.json, and then no model need be named.
            """
    }

    /// Returns the versions of the model that `--model` names, or else of the tool's own app, or else the one inside
    /// the store that the verb works on.
    ///
    /// - Throws: `modelNotFound` if the store contains no model, `modelInvalid` if it cannot be read or does not match
    ///   the store's version hashes; `usage` for a verb without a store.
    package func versions(_ console: Console) throws -> ModelVersions {
        if let versions = try versionsIfKnown(console) { return versions }
        guard let store = self[Operand.store] else { return try namedVersions(console) }
        let own: ModelVersion
        do {
            own = try ModelVersion(ownOfStore: store)
        } catch let error as MigrationError where error.code == .modelNotFound {
            guard isWriting, !nearbyModels.paths.isEmpty else { throw error }
            throw modelMissing("\(Program.name) \(path) needs --model: \(error.message.lowercasedFirst)", at: store)
        }
        console.say("No model is named: the model inside \(store.printable) is used.")
        return ModelVersions(versions: [own], currentName: own.name)
    }

    /// Refuses a verb that needs a target version if no model is named. The store's own model has only the store's
    /// version, so there would never be anything to do.
    ///
    /// - Throws: `usage`, which names the models next to the store; the errors of reading the store's own model.
    func requireModel() throws {
        if self[value: .model] == nil, registry.models == nil { try refuseSeveralModels() }
        guard self[value: .model] == nil, registry.models == nil, let store = self[Operand.store] else { return }
        do {
            // Report faults of the store itself first.
            _ = try ModelVersion(ownOfStore: store)
        } catch let error as MigrationError where [.modelNotFound, .modelInvalid].contains(error.code) {
            throw modelMissing("\(Program.name) \(path) needs --model: \(error.message.lowercasedFirst)", at: store)
        }
        throw modelMissing(
            "\(Program.name) \(path) needs --model: the model inside the store has no version but the store's own.",
            at: store)
    }

    /// Returns the versions that a store may have come through. If `--model` names another store, the version inside
    /// the verb's own store comes first, so that there is a way from it.
    package func versionsOnTheWay(_ console: Console) throws -> ModelVersions {
        let versions = try versions(console)
        guard let path = self[value: .model], let store = self[Operand.store] else { return versions }
        return try versions.onTheWay(of: store, to: path)
    }

    /// Returns the same as ``versionsIfKnown(_:)``, for a verb that cannot work without versions.
    ///
    /// - Throws: `usage` if neither the command line nor the app names a model.
    package func namedVersions(_ console: Console) throws -> ModelVersions {
        if let versions = try versionsIfKnown(console) { return versions }
        try refuseSeveralModels()
        return try versions(at: try required(Option.model), console)
    }

    /// Refuses a verb that needs one of the several models of `moult.json`.
    private func refuseSeveralModels() throws {
        guard !configuredModels.isEmpty, self[Operand.model] == nil else { return }
        throw MigrationError(
            .usage, "\(Program.name) \(path) works on one model, and moult.json names several.",
            place: configuration?.path ?? "",
            remedy: "Name one of them: "
                + configuredModels.map { "--\(Option.model.name) \($0.shellQuoted)" }.joined(separator: " or "))
    }

    /// Returns the version called `name`.
    ///
    /// - Throws: `MigrationError` with code `usage` that lists the known names.
    package func version(named name: String, in versions: ModelVersions) throws -> ModelVersion {
        guard let position = versions.position(named: name) else {
            let names = versions.versions.flatMap(\.names)
            throw MigrationError(
                .usage, "The model has no version \(name).\(Suggestion.sentence(for: name, among: names))",
                remedy: "Its versions are: \(names.joined(separator: ", ")).")
        }
        return versions.versions[position].named(name)
    }

    /// Returns the version that `option` names; without the option, the bundle's current version, or else the newest.
    package func version(_ option: Option, in versions: ModelVersions) throws -> ModelVersion {
        if let name = self[value: option] { return try version(named: name, in: versions) }
        guard !versions.versions.isEmpty else {
            throw MigrationError(.modelNotFound, "The model has no versions.", remedy: "Name another model.")
        }
        return versions.versions[try versions.target(named: nil)]
    }

    /// The path of the answers file: the one that `--answers` names, or else the one next to the model, or in the
    /// folder of an app's own tool. Nil if there is no model.
    var answersPath: String? {
        if let path = self[value: .answers] { return path }
        if let model = self[value: .model] ?? self[Operand.model] { return AnswersFile.path(besideModelAt: model) }
        return registry.models == nil ? nil : AnswersFile.nameInFolder
    }

    /// Returns the recorded answers from the file that `--answers` names, or else from the configured one or the one
    /// next to the model, if there is one.
    ///
    /// - Throws: `fileNotFound` if the file that `--answers` names is missing; `usage` for a file that holds no
    ///   answers.
    func answers() throws -> Answers {
        guard let path = answersPath else { return .none }
        let isNamed = self[value: .answers] != nil && !isConfigured(.answers)
        // A dangling link is not the same as no file.
        if !isNamed, try !system.exists(path), try !system.isLink(path) { return .none }
        return try Answers(json: try system.read(path), place: path)
    }

    /// Returns the recorded answers for these versions, and prints on standard error which ones do not apply.
    func answers(for versions: ModelVersions, _ console: Console) throws -> Answers {
        try answers().known(
            in: versions, ofModelsAt: self[value: .model] ?? self[Operand.model], console.say as (String) -> Void)
    }
}
