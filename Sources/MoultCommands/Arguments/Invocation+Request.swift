import Moult
import MoultBasics
import MoultModel
import MoultTools

extension Invocation {
    /// Returns the project of the command line: the versions of the model that `--model` names, or else of the app or
    /// inside the store, with the named answers, mapping models and rules.
    func project(_ console: Console) throws -> Project { try project(try versions(console), console) }

    /// Returns the same project for versions that were already read.
    func project(_ versions: ModelVersions, _ console: Console) throws -> Project {
        var registry = registryWithDeclaredLosses
        if let path = self[value: .rules] {
            registry.rules += try RulesFile(json: try system.read(path), place: path).rules
        }
        var project = Project(
            versions, path: self[value: .model], order: list(.order), registry: registry, answers: try answers(),
            mappings: mappings)
        project.logger = { console.say($0.message) }
        return project
    }

    /// The named mapping models: the last one that was typed, or all of a kept request.
    private var mappings: [String] { Array(isConfigured(.mapping) ? all(.mapping) : all(.mapping).suffix(1)) }

    /// The named model files; nil if there are none.
    var models: StoreRequest.Models? {
        self[value: .model].map { path in
            StoreRequest.Models(
                path: path, order: list(.order), answers: self[value: .answers], mappings: mappings)
        }
    }

    /// Takes the files of a kept request for those that were not typed.
    ///
    /// - Throws: `fileNotFound` if its answers are gone: without them, the migration would be another one.
    mutating func settle(filesOf request: StoreRequest) throws {
        settle(.rules, request.rules.map { [$0] })
        settle(.plan, request.plan.map { [$0] })
        guard let models = request.models else { return }
        settle(.model, [models.path])
        settle(.order, models.order.map { [$0.joined(separator: ",")] })
        settle(.answers, models.answers.map { [$0] })
        if let answers = models.answers, self[value: .answers] == answers { _ = try system.read(answers) }
        settle(.mapping, models.mappings)
    }

    /// Returns the options of a run that were typed; the others have their defaults.
    ///
    /// - Throws: `usage` for an invalid value.
    func typedRunOptions() throws -> RunOptions { try withoutConfigured.runOptions() }

    /// Returns the options of a run, from those that the verb has.
    ///
    /// - Throws: `usage` for an invalid value.
    func runOptions() throws -> RunOptions {
        var options = RunOptions()
        options.backupFolder = self[value: .backups]
        options.keepsBackup = !self[.frugal]
        options.makesRoom = self[.makeRoom]
        if self[.again] { options.maximumAttempts = .max }
        options.stopsAtEachVersion = self[.stops]
        options.isInPlace = self[.inPlace]
        options.normalises = self[.normalise]
        options.defersWork = self[.deferred]
        options.budget = try seconds(.budget).map(RunOptions.budget)
        if self[.acceptLosses] { options.acceptedLosses = .all }
        switch self[value: .verify] {
        case nil, "changed": options.comparesUnwrittenTables = false
        case "full": options.comparesUnwrittenTables = true
        case let other?: throw wrong("--verify is changed or full, not \(other).")
        }
        options.allowsCloudKit = self[.cloudKit]
        options.configuration = self[value: .storeConfiguration]
        options.isExperimental = self[.experimental]
        options.appliesFixes = self[.fix]
        options.allowsLargeQuarantine = self[.allowLargeQuarantine]
        if let patience = machine.patience { options.patience = patience }
        return options
    }

    /// Returns the request that the arguments make.
    ///
    /// - Parameter store: the path of the store; nil for the verb's own.
    /// - Throws: `usage` for options that exclude each other.
    package func request(_ work: StoreRequest.Work, for store: String? = nil) throws -> StoreRequest {
        let request = StoreRequest(
            try store ?? required(Operand.store), to: self[value: .target], work, try runOptions(), models: models,
            rules: self[value: .rules], plan: self[value: .plan])
        if let (one, other) = request.conflict {
            throw wrong("--\(Self.names[one] ?? one) and --\(Self.names[other] ?? other) exclude each other.")
        }
        return request
    }

    /// The command-line options, by member name of ``RunOptions``.
    private static let names = [
        "budget": Option.budget, "isInPlace": .inPlace, "defersWork": .deferred, "makesRoom": .makeRoom,
        "stopsAtEachVersion": .stops, "normalises": .normalise, "into": .into,
    ].mapValues(\.name)

    /// Examines the store and plans, and prints findings about the model on standard error. An open question is asked
    /// if a person can answer, and the answer is saved.
    ///
    /// - Throws: the errors of the initialiser of ``StoreSession``; `question`, which explains how to answer, if there
    ///   is no terminal.
    func session(_ work: StoreRequest.Work, _ console: Console) throws -> StoreSession {
        try session(request(work), console)
    }

    /// Does the same for a request.
    func session(_ request: StoreRequest, _ console: Console, started: UInt64? = nil) throws -> StoreSession {
        let kept = try self[value: .plan].map { try StorePlan(json: try system.read($0), place: $0) }
        let project = try project(console)
        var context = try project.context(for: request.store)
        context.cloudKitProduction = try configuration?.cloudKitProduction
        context.isSequential = machine.isSequential
        do {
            return try StoreSession(request, context, following: kept, started: started, on: system)
        } catch let error as MigrationError where error.code == .question {
            guard AnswerSession.canAsk(console), let answers = try ask(request, context, console) else { throw error }
            context.answers = answers
            return try StoreSession(request, context, following: kept, started: started, on: system)
        }
    }

    /// Asks a person the questions on the store's way, saves the answers and returns them; nil if there are no
    /// questions, or if no answer is recorded.
    private func ask(_ request: StoreRequest, _ context: StoreSession.Context, _ console: Console) throws -> Answers? {
        let versions = context.versions
        guard let start = try versions.position(ofStore: request.store) else { return nil }
        var session = try AnswerSession(
            versions.taking(request.target), from: start, to: try versions.target(named: request.target),
            answers: try answers(), path: answersPath,
            registered: context.registered + (try context.registry.stages(in: versions)))
        guard !session.questions.isEmpty else { return nil }
        try session.ask(console)
        guard !session.recorded.isEmpty else { return nil }
        try session.save()
        if let path = session.path { console.say("Recorded in \(path.printable).") }
        return session.answers
    }

    /// The app's code, with the losses that `moult.json` declares.
    var registryWithDeclaredLosses: MigrationRegistry {
        var registry = registry
        registry.acceptedLosses.formUnion(AcceptedLosses(configuration?.acceptedLosses ?? []))
        return registry
    }

    /// Returns the keeper of a store: its backups, records, checks and repairs.
    ///
    /// - Parameters:
    ///   - store: the path of the store; nil for the verb's own.
    ///   - versions: called only if the versions of the model are needed.
    func keeper(
        of store: String? = nil, _ versions: @escaping @Sendable () throws -> ModelVersions? = { nil }
    ) throws -> StoreKeeper {
        var keeper = StoreKeeper(
            try store ?? required(Operand.store), try runOptions(), on: system, versions: versions)
        (keeper.models, keeper.isSequential) = (models, machine.isSequential)
        return keeper
    }
}
