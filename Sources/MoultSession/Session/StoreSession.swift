import MoultBasics
import MoultEngine
import MoultModel
import MoultModelFiles
import MoultObjects
import MoultPlan
import MoultSQLite
import MoultStore

/// A store with a request. The session recovers the store if the request will change it, examines it once, and plans;
/// then it runs the migration, or prints the plan.
///
/// This is the only caller of the engine for everything that migrates a store. The command line, the library, the
/// containers, the mirror and the fleet make requests.
package final class StoreSession: Sendable {
    /// The in-memory parts that a request needs: the contents of its files, and an app's code.
    package struct Context: Sendable {
        /// The versions that the store may have, oldest first.
        package var versions: ModelVersions
        /// Answers to the questions that the models leave open.
        package var answers: Answers
        /// Mapping models and stages that replace inferred ones.
        package var registered: [RegisteredStage]
        /// The code of the app.
        package var registry: MigrationRegistry
        /// The losses that the migration is refused for.
        package var losses: LossPolicy
        /// The part of the version that the store will hold, if the options name no configuration; nil for the present
        /// one.
        package var part: StorePart?
        /// Additional metadata entries that the new store gets in the commit.
        package var metadataEntries: [String: PropertyList] = [:]
        /// The schema in CloudKit's Production environment; nil if it is not known.
        package var cloudKitProduction: CloudKitProduction?
        /// Whether everything runs on one thread, so that a run makes the same calls in the same order each time.
        package var isSequential = false

        package init(
            _ versions: ModelVersions, answers: Answers = .none, registered: [RegisteredStage] = [],
            registry: MigrationRegistry = MigrationRegistry(), losses: LossPolicy = .refuseUndeclared
        ) {
            (self.versions, self.answers, self.registered, self.registry) = (versions, answers, registered, registry)
            self.losses = losses
        }
    }

    package let request: StoreRequest
    /// The examined store with the plan, for callers that need more detail than the answers have.
    package let prepared: PreparedMigration
    private let migrator: Migrator
    /// The outcome of recovering an earlier run when the session began.
    private let recovery: RecoveryOutcome
    /// The start of the call on the system's monotonic clock.
    private let started: UInt64

    /// - Parameters:
    ///   - kept: a saved plan that the migration must follow.
    ///   - started: the start of the call; nil for now.
    /// - Throws: `usage` for options that exclude each other; `lockFileMismatch` if a released version has changed;
    ///   `codeMissing` and `planStale` for a saved plan that does not fit; `storeAhead`, `storeUnknown`, `noPath`,
    ///   `question`, `cannotInfer`, `cloudKit`, `deferredWork` for the store; what reading a damaged store throws.
    package init(
        _ request: StoreRequest, _ context: Context, following kept: StorePlan? = nil, started: UInt64? = nil,
        on system: any System = POSIXSystem()
    ) throws {
        self.request = request
        self.started = started ?? system.monotonicNanoseconds
        migrator = request.options.migrator(on: system, isSequential: context.isSequential)
        try request.check()
        try kept?.checkCode(context.registry)
        // A call with a budget recovers what it cannot continue from.
        let recovers = request.work == .migrate && request.options.budget == nil
        recovery = try recovers ? migrator.recoverIfNeeded(request.store) : .nothing
        try context.versions.checkReleased()
        prepared = try PreparedMigration(
            request.store, versions: context.versions, to: request.target ?? kept?.to,
            options: PreparedMigration.Options(request.options, context), system: system)
        try kept?.check(prepared)
    }

    /// Creates a session for a store that nothing is known about: it recovers and examines the store once, and makes
    /// the request from the result; returns nil if there is nothing to do.
    ///
    /// - Parameters:
    ///   - options: the options for recovery; the request has its own.
    ///   - isReadOnly: whether to skip recovery.
    ///   - isSequential: whether everything runs on one thread, as in ``Context/isSequential``.
    ///   - isCurrent: returns whether the metadata alone shows that there is nothing to do; nil if it cannot. A store next
    ///     to which an app has left its log need not be copied then.
    ///   - recognise: receives the connection to the store, and returns the request.
    /// - Throws: what recovering, `recognise` and planning throw.
    package init?(
        at store: String, _ options: RunOptions, isReadOnly: Bool = false, isSequential: Bool = false,
        on system: any System = POSIXSystem(),
        isCurrent: ((StoreMetadata) throws -> Bool)? = nil,
        recognising recognise: (Connection) throws -> (request: StoreRequest, context: Context)?
    ) throws {
        started = system.monotonicNanoseconds
        let first = options.migrator(on: system, isSequential: isSequential)
        // A call with a budget recovers what it cannot continue from.
        let recovers = !isReadOnly && options.budget == nil
        if recovers {
            recovery = try first.isUnfinished(store) ? first.recover(store) : first.recoverIfNeeded(store)
        } else {
            recovery = .nothing
        }
        if !isReadOnly, let isCurrent, let metadata = ReadOnlyStore.metadata(besideLogOf: store, system: system),
            try isCurrent(metadata)
        {
            return nil
        }
        var asked: StoreRequest?
        let prepared = try PreparedMigration(store, on: system) { connection in
            guard let (request, context) = try recognise(connection) else { return nil }
            asked = request
            try request.check()
            return (context.versions, request.target, PreparedMigration.Options(request.options, context))
        }
        guard let prepared, let asked else { return nil }
        (self.prepared, request) = (prepared, asked)
        migrator = asked.options.migrator(on: system, isSequential: isSequential)
    }

    /// Creates a session for a store that this process has open, over its connection: another connection would drop the
    /// locks of the others. The session only checks whether it could run.
    package init(
        overOpen connection: Connection, _ request: StoreRequest, _ context: Context, on system: any System
    ) throws {
        (self.request, started, recovery) = (request, system.monotonicNanoseconds, .nothing)
        migrator = request.options.migrator(on: system)
        prepared = try PreparedMigration(
            overOpen: connection, versions: context.versions, to: request.target,
            options: PreparedMigration.Options(request.options, context), system: system)
    }

    /// Checks for errors that the migration throws before any change, except for losses.
    ///
    /// - Throws: `codeMissing`, `dataConflict`, `unsupported`.
    package func check() throws { _ = try prepared.migration() }

    /// Returns the bytes that the fullest volume lacks for the migration; 0 if there is enough space.
    package func missingSpace() throws -> Int64 {
        guard let migration = try prepared.migration() else { return 0 }
        let volumes = try migrator.needs(of: migration, on: prepared.store).volumes
        return max(0, volumes.map { $0.needed - $0.available }.max() ?? 0)
    }

    /// Checks for losses of the first pass that are neither declared nor permitted by the policy.
    ///
    /// - Throws: `lossNotAccepted`.
    package func checkFirstLosses() throws {
        if let refusal = try prepared.undeclaredFirstLosses() { throw refusal }
    }

    /// The name of the store's version.
    package var from: String { prepared.plan.from.name }
    /// The name of the version to end at.
    package var to: String { prepared.plan.to.name }
    /// Whether the store already has the target version.
    package var isEmpty: Bool { prepared.plan.isEmpty }
    /// The warnings about the store that do not prevent the migration.
    package var warnings: [Finding] { prepared.warnings }
    /// Returns the plan of the migration.
    ///
    /// - Parameters:
    ///   - withSQL: whether the plan includes the statements.
    ///   - withValues: whether these include the store's metadata, and the literals of the app's own objects.
    /// - Throws: what reading a damaged store throws. A migration that would be refused has a plan with
    ///   ``StorePlan/refusal``.
    package func plan(withSQL: Bool = false, withValues: Bool = false) throws -> StorePlan {
        try StorePlan(
            prepared, needs: { try migrator.needs(of: $0, on: prepared.store) }, withSQL: withSQL,
            withValues: withValues)
    }

    /// Does the requested work.
    ///
    /// - Throws: `codeMissing`, `dataConflict`, `unsupported` if the migration cannot begin; what
    ///   ``Migrator/run(_:on:_:)`` throws; `usage` for a request that is only for a plan.
    package func run(_ observer: MigrationObserver = .none) throws -> MigrationReport {
        var report = try perform(observer)
        if report.recovery == .nothing { report.recovery = recovery }
        return report
    }

    /// The request as the journal keeps it: with everything that would otherwise be looked up again, and might then be
    /// something else.
    private var kept: StoreRequest {
        var kept = request
        kept.target = to
        kept.options.acceptedLosses = prepared.options.registry.acceptedLosses
        if case .configuration(let name)? = prepared.options.part { kept.options.configuration = name }
        // Permission for one more attempt is not given for all that follow.
        if kept.options.maximumAttempts == .max { kept.options.maximumAttempts = RunOptions().maximumAttempts }
        return kept
    }

    private func perform(_ observer: MigrationObserver) throws -> MigrationReport {
        switch request.work {
        case .plan, .repair, .applyFixes, .putBack, .downgrade:
            throw MigrationError(
                .usage, "The request does not ask for a migration.", place: request.store,
                remedy: "Ask for the migration.")
        case .rehearse:
            guard let migration = try prepared.migration() else {
                return MigrationReport(prepared, MigrationOutcome?.none)
            }
            return MigrationReport(prepared, try migrator.rehearse(migration, on: prepared.store, observer))
        case .migrateInto(let path):
            return MigrationReport(prepared, try migrator.run(prepared, into: path, observer), into: path)
        case .migrate:
            let migrator = kept.keeping(self.migrator)
            if let budget = request.options.budget {
                return MigrationReport(
                    prepared,
                    try migrator.run(
                        prepared, within: .seconds(budget / .seconds(1)), since: started, observer))
            }
            guard request.options.makesRoom else {
                return MigrationReport(prepared, MigrationOutcome(joining: try migrator.run(prepared, observer)))
            }
            let (outcomes, made) = try migrator.freeingSpace(for: prepared.store) { try $0.run(prepared, observer) }
            return MigrationReport(prepared, MigrationOutcome(joining: outcomes), made)
        }
    }
}

extension PreparedMigration.Options {
    /// Creates the options of a migration, for planning, diagnosing, mirroring and running it.
    package init(_ options: RunOptions, _ context: StoreSession.Context) {
        var registry = context.registry
        registry.acceptedLosses.formUnion(options.acceptedLosses)
        if options.appliesFixes { registry.appliesFixes = true }
        if options.allowsLargeQuarantine { registry.allowsLargeQuarantine = true }
        self.init(
            answers: context.answers, registered: context.registered, registry: registry, losses: context.losses,
            stopsAtEachVersion: options.stopsAtEachVersion, isExperimental: options.isExperimental,
            allowsCloudKit: options.allowsCloudKit)
        part = options.configuration.map(StorePart.configuration) ?? context.part
        metadataEntries = context.metadataEntries
        cloudKitProduction = context.cloudKitProduction
        defersWork = options.defersWork
        // A call with a budget can divide the rows that fill a new table.
        let rebuilds = options.normalises || options.budget != nil
        choice = options.isInPlace ? .inPlace : rebuilds ? .normalised : .cheapest
        comparesStores = options.comparesStores
        comparesUnwritten = options.comparesUnwrittenTables
        continuesEarlierCall = options.budget != nil
    }
}

extension Answers {
    /// Reads the answers recorded next to the models at a path; none if there is no file of answers.
    package init(recordedNextTo path: String) throws {
        let (file, system) = (AnswersFile.path(besideModelAt: path), POSIXSystem())
        // A dangling link is not the same as a missing file.
        guard try system.exists(file) || system.isLink(file) else {
            self = .none
            return
        }
        try self.init(Answers(json: try system.read(file), place: file).list)
    }

    /// Returns the answers for the versions of the models at a path. If the path is a store, the versions are those
    /// that the two stores have now, and answers about other versions are left out. If it is a model, answers about
    /// missing versions are refused when they are used.
    ///
    /// - Parameters:
    ///   - path: the path of the models; nil for versions that a program has created.
    ///   - say: called with a sentence for each answer that is left out.
    package func known(
        in versions: ModelVersions, ofModelsAt path: String?, _ say: (String) -> Void
    ) throws -> Answers {
        guard !list.isEmpty, let path, try ReadOnlyStore.isDatabase(path) else { return self }
        func isKnown(_ answer: Answer) -> Bool { versions.positions(of: answer) != nil }
        for answer in list where !isKnown(answer) {
            say("Ignored, because neither store is of such a version: the answer \(answer.json).")
        }
        return removing { !isKnown($0) }
    }
}
