import MoultBasics

/// The command-line form of remedies. Each command runs as printed: with the store, the model and the files that the
/// user has named.
package struct CommandWords: Sendable, RemedyWords {
    /// The paths as typed, each quoted as one word for a shell.
    private let store: String?
    private let model: String?
    /// The other given options that affect a command, by the option's name.
    private let named: [(option: String, text: String)]
    /// Whether the tool's own app has a model.
    private let hasOwnModel: Bool
    /// Whether `moult.json` names several models, all of which a verb without a model works on.
    private let hasSeveralModels: Bool
    /// The losses that `moult.json` declares already.
    private let declared: [String]

    /// Creates the words for output before a command is known, or outside of any.
    package init(store: String? = nil, model: String? = nil) {
        (self.store, self.model) = (store?.pathTyped, model?.pathTyped)
        (named, hasOwnModel, hasSeveralModels, declared, way, answering) = ([], false, false, [], "", "")
    }

    package init(_ invocation: Invocation) {
        store = invocation[Operand.store]?.pathTyped
        model = (invocation[value: .model] ?? invocation[Operand.model])?.pathTyped
        hasOwnModel = invocation.registry.models != nil
        hasSeveralModels = !invocation.configuredModels.isEmpty
        declared = invocation.configuration?.acceptedLosses ?? []
        named = [Option.backups, .order].compactMap { option in
            invocation[value: option].map { (option.name, "--\(option.name) \($0.pathTyped)") }
        }
        func typed(_ option: Option) -> String {
            invocation[value: option].map { " --\(option.name) \($0.pathTyped)" } ?? ""
        }
        way = (store.map { " --for \($0)" } ?? "") + typed(.target)
        answering = typed(.order) + typed(.answers)
    }

    package func text(_ words: String) -> String { words }

    /// The options to repeat in a command so that it finds the questions on the store's way.
    private let way: String
    /// The options to repeat in a command so that it finds the model and the answers file.
    private let answering: String

    /// The paths of new files that a verb makes, if the advice names none.
    private static let newPlaces = ["salvage": "SAVED.sqlite"]

    // MARK: - The words

    package func text(_ action: Remedy.Action) -> String {
        let words = action.use.command
        let operands = action.settings.filter(\.isOperand).map { " \(text($0))" }.joined()
        var settings = action.settings.filter { !$0.isOperand }.map(text).filter { !$0.isEmpty }.map { " \($0)" }
        func isSet(_ option: String) -> Bool { settings.contains { $0.hasPrefix(" --\(option)") } }
        guard let verb = Verb.typed(words) else { return "\(Program.name) \(words)" }
        var command = "\(Program.name) \(words)"
        switch verb.operands.first {
        case Operand.store:
            guard let store else { return command + operands + settings.joined() }
            let paths = action.settings.compactMap { if case .path(let path) = $0 { path.pathTyped } else { nil } }
            let named = action.settings.compactMap { if case .store(let path) = $0 { path.pathTyped } else { nil } }
            command += " \(named.first ?? store)"
            if let place = paths.first ?? Self.newPlaces[words] { command += " \(place)" }
        case Operand.model, Operand.models:
            if hasSeveralModels, operands.isEmpty || action.settings.first == .anyModel,
                verb.operands.first == .models
            {
                return command + settings.joined()
            }
            if !operands.isEmpty, action.settings.first != .anyModel { return command + operands + settings.joined() }
            if let model { command += " \(model)" } else if !hasOwnModel { command += " MODEL" }
            if action.use == .answer { settings.insert((isSet("set") ? way : "") + answering, at: 0) }
            return command + settings.joined()
        default: return command + operands + settings.joined()
        }
        // A run that is resumed has a model and options of its own.
        if action.use == .recover { return command + settings.joined() }
        if verb.has(.model), let model, !isSet("model") { command += " --model \(model)" }
        for (option, text) in named where verb.options.contains(where: { $0.name == option }) && !isSet(option) {
            command += " \(text)"
        }
        return command + settings.joined()
    }

    package func quoted(_ use: String) -> String { "`\(use)`" }

    package func text(_ setting: Remedy.Setting) -> String {
        switch setting {
        case .anyStore: return "STORE"
        case .anyModel: return model ?? "MODEL"
        case .store(let path), .path(let path): return path.pathTyped
        case .file(let path): return "-o \(path.pathTyped)"
        case .mirroredConfiguration(let name):
            return "--configuration \(name?.shellQuoted ?? "NAME"), or configuration of cloudkit in moult.json"
        case .model("MODEL"): return model.map { "--model \($0)" } ?? (hasOwnModel ? "" : "--model MODEL")
        default:
            let (option, value) = setting.option
            return "--" + option + (value.map { " \($0.shellQuoted)" } ?? "")
        }
    }

    package func text(_ permission: Remedy.Permission) -> String {
        switch permission {
        case .cloudKit: "pass --cloudkit"
        case .configuration(let name): "pass --store-configuration \(name)"
        case .loss(let place):
            "\"acceptedLosses\": \((declared + [place]).unique().swiftLiteral) in moult.json, or --accept-losses"
        case .clearing: "--accept-losses"
        case .losses(let places):
            "To declare it in moult.json: \"acceptedLosses\": \((declared + places).unique().swiftLiteral). To accept every loss of this "
                + "migration: --accept-losses."
        case .code(let name):
            """
             The program that holds the code is an executable target of three lines, with the products MoultCommands and \
            MoultCoreData; it has every verb of moult:

                import MoultCommands
                import MoultCoreData
                await MoultCommand.main(registry)   // a MigrationRegistry with \(name)
            """
        }
    }
}

extension Remedy.Use {
    /// The verb as typed.
    package var command: String {
        switch self {
        case .migrate, .plan, .finish, .rollback, .downgrade, .status, .inspect, .validate, .repair, .salvage, .dump,
            .log, .runs, .views, .query, .export, .answer, .lock, .lint, .changelog, .fixture, .hash, .compile,
            .decompile, .reconstruct:
            "\(self)"
        case .initialise: "init"
        case .checkCloudKit: "cloudkit check"
        case .recover: "resume"
        case .diagnose: "doctor"
        case .difference: "diff"
        case .makeBackup: "backup create"
        case .listBackups: "backup list"
        case .verifyBackups: "backup verify"
        case .pruneBackups: "backup prune"
        case .importBackup: "backup import"
        case .restoreBackup: "backup restore"
        case .listQuarantine: "quarantine list"
        case .showQuarantine: "quarantine show"
        case .restoreQuarantined: "quarantine restore"
        case .startMirror: "mirror start"
        case .syncMirror: "mirror sync"
        case .verifyMirror: "mirror verify"
        case .cutOverMirror: "mirror cutover"
        case .stopMirror: "mirror stop"
        case .planFleet: "fleet plan"
        case .runFleet: "fleet run"
        case .fleetStatus: "fleet status"
        case .rollbackFleet: "fleet rollback"
        }
    }
}

extension Remedy.Setting {
    fileprivate var isOperand: Bool {
        switch self {
        case .anyStore, .store, .path, .anyModel: true
        default: false
        }
    }

    /// The option's name and its value.
    fileprivate var option: (name: String, value: String?) {
        switch self {
        case .anyStore, .store, .path, .file, .anyModel, .mirroredConfiguration: ("", nil)
        case .model(let path): ("model", path)
        case .to(let name): ("to", name)
        case .from(let name): ("from", name)
        case .version(let name): ("version", name)
        case .into(let path): ("into", path)
        case .at(let path): ("at", path)
        case .set(let answer): ("set", answer)
        case .forget(let place): ("forget", place)
        case .answers(let path): ("answers", path)
        case .only(let rules): ("only", rules.isEmpty ? nil : rules.joined(separator: ","))
        case .rules(let path): ("rules", path)
        case .mapping(let path): ("mapping", path)
        case .order(let names): ("order", names)
        case .plan(let path): ("plan", path)
        case .configuration(let name): ("store-configuration", name)
        case .before(let date): ("before", date)
        case .budget(let time): ("budget", time)
        case .backups(let folder): ("backups", folder)
        case .run(let run): ("run", run)
        case .entity(let name): ("entity", name)
        case .matching(let predicate): ("where", predicate)
        case .format(let name): ("format", name)
        case .profile(let name): ("profile", name)
        case .config(let path): ("config", path)
        case .since(let revision): ("since", revision)
        case .shard(let index): ("shard", index)
        case .shards(let count): ("shards", count)
        case .retry(let kind): ("retry", kind)
        case .wait(let time): ("wait", time)
        case .output: ("out", nil)
        case .deferred: ("deferred", nil)
        case .normalise, .frugal, .again, .experimental, .sql, .values, .overwrite, .undo, .restore,
            .seed, .replace, .results, .time, .memory, .approve, .partition, .sbatch, .canary, .limit, .fix, .write,
            .json:
            ("\(self)", nil)
        case .inPlace: ("in-place", nil)
        case .makeRoom: ("make-room", nil)
        case .cloudKit: ("cloudkit", nil)
        case .fullVerify: ("verify", "full")
        case .stopAtEachVersion: ("stop-at-each-version", nil)
        case .dryRun: ("dry-run", nil)
        case .wasClosed: ("was-closed", nil)
        case .allowLargeQuarantine: ("allow-large-quarantine", nil)
        case .acceptLosses: ("accept-losses", nil)
        case .everything: ("all", nil)
        }
    }
}

extension Verb {
    fileprivate func has(_ option: Option) -> Bool { options.contains { $0.name == option.name } }
}

extension String {
    /// The path as one shell word that no program takes for an option.
    fileprivate var pathTyped: String { (hasPrefix("-") ? "./" + self : self).shellQuoted }
}
