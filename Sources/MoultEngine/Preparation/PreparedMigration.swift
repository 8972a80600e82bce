import MoultBasics
import MoultModel
import MoultObjects
import MoultPlan
import MoultSQLite
import MoultStore
import MoultVerify

/// A store with its migration plan, before any change.
///
/// The plan covers all versions. Its first pass is bound to the rows of the store here. Each later pass is bound to the
/// working copy once the previous pass has run.
package struct PreparedMigration: Sendable {
    package struct Options: Sendable {
        package var answers: Answers
        /// Mapping models and stages that replace inferred ones.
        package var registered: [RegisteredStage]
        /// The code that stages and mapping models name; its own stages are used too.
        package var registry: MigrationRegistry
        /// The losses that the migration is refused for.
        package var losses: LossPolicy
        /// The number of source objects that a migration policy receives before its results are written.
        package var batchSize = 1_000
        /// Whether to stop at each version on the way. Each stop has its own backup and commit, and an interrupted
        /// chain continues from the last one. Otherwise the whole path is one commit, all or nothing.
        package var stopsAtEachVersion: Bool
        /// Whether to change the store in place at once and leave slow work to
        /// ``Migrator/finishDeferred(_:versions:_:_:)``, if no row has to be written; otherwise all is done at once.
        package var defersWork = false
        package var choice = StoreScript.Choice.cheapest
        /// Whether to write version hashes that are not certain.
        package var isExperimental: Bool
        /// Whether to migrate a store that is mirrored to CloudKit.
        package var allowsCloudKit: Bool
        /// Whether the new store is compared with the old one; if not, only its pages are checked for soundness.
        package var comparesStores = true
        /// Whether to compare the rows even of tables with no written page.
        package var comparesUnwritten = false
        /// Additional metadata entries that the new store gets in the commit of the migration.
        package var metadataEntries: [String: PropertyList] = [:]
        /// The schema in CloudKit's Production environment; nil if it is not known.
        package var cloudKitProduction: CloudKitProduction?
        /// Whether this is one of several commits on the way to a version.
        var isStop = false
        /// Whether to use the facts that an earlier call with a budget found in the rows, if no process has written to
        /// the store since.
        package var continuesEarlierCall = false
        /// The part of the version that the store will hold, if the caller knows it; nil for the store's present
        /// configuration.
        package var part: StorePart?
        /// The highest keys of entities that a rollback or a downgrade has taken out of the store.
        var keptKeys: [String: Int64] = [:]

        package init(
            answers: Answers = .none, registered: [RegisteredStage] = [],
            registry: MigrationRegistry = MigrationRegistry(), losses: LossPolicy = .refuseUndeclared,
            stopsAtEachVersion: Bool = false, isExperimental: Bool = false, allowsCloudKit: Bool = false
        ) {
            self.answers = answers
            self.registered = registered
            self.registry = registry
            self.losses = losses
            self.stopsAtEachVersion = stopsAtEachVersion
            self.isExperimental = isExperimental
            self.allowsCloudKit = allowsCloudKit
        }
    }

    /// The store's path without symbolic links.
    package let store: String
    package let plan: MigrationPlan
    /// The first pass, bound; nil if the store already has the target version.
    package let bound: BoundPlan?
    /// The findings about the store.
    package let storeFindings: [Finding]
    /// The warnings about values whose files are not there, one for each attribute. None are looked for if work is
    /// deferred or the call has a budget: the rows are not read then.
    package let missingFiles: [Finding]
    /// The size of the store in bytes.
    package let size: Int64
    /// Whether the store's commits go through a WAL.
    let usesWAL: Bool
    /// Whether each version on the way has a backup and a commit of its own.
    package var stopsAtEachVersion: Bool { options.stopsAtEachVersion && plan.edges.count > 1 }
    /// Whether the rows were not read, because an earlier call read them (``Options/continuesEarlierCall``).
    let continuesEarlierCall: Bool
    package private(set) var options: Options
    let versions: ModelVersions
    let system: any System
    let ruleLog = RuleLog()

    /// Examines the store without changing a byte, and plans the migration.
    ///
    /// - Parameter target: the version to end at; nil for the current one, or the last.
    /// - Throws: `storeAhead`, `storeUnknown`, `noPath`, `question`, `cannotInfer` from planning; `cloudKit`,
    ///   `deferredWork` if the store's state forbids a migration; what reading a damaged store throws.
    package init(
        _ store: String, versions: ModelVersions, to target: String? = nil, options: Options = Options(),
        system: any System = POSIXSystem()
    ) throws {
        // Read the file before any connection is open: reading it later would drop the connection's locks.
        let header = try? system.read(store, prefix: 100)
        let look = try ReadOnlyStore.read(store, system: system) {
            try Look($0.connection, at: $0.path, header: header, versions, to: target, options, system)
        }
        self.init(look, versions, options, system)
    }

    /// Creates the same for a store that nothing is known about yet; returns nil if `recognise` returns nil.
    ///
    /// - Parameter recognise: receives the connection to the store, and returns the versions, target and options.
    package init?(
        _ store: String, on system: any System,
        recognising recognise: (Connection) throws -> (versions: ModelVersions, target: String?, options: Options)?
    ) throws {
        let header = try? system.read(store, prefix: 100)
        let read = try ReadOnlyStore.read(store, system: system) { probe in
            try recognise(probe.connection).map { asked in
                let look = try Look(
                    probe.connection, at: probe.path, header: header, asked.versions, to: asked.target, asked.options,
                    system)
                return (look: look, asked: asked)
            }
        }
        guard let read else { return nil }
        self.init(read.look, read.asked.versions, read.asked.options, system)
    }

    /// Creates the same for a store that this process has open, over a connection: a probe would drop the locks of the
    /// other connections.
    package init(
        overOpen connection: Connection, versions: ModelVersions, to target: String? = nil,
        options: Options = Options(),
        system: any System = POSIXSystem()
    ) throws {
        self.init(
            try Look(connection, at: connection.path, header: nil, versions, to: target, options, system), versions,
            options, system)
    }

    private init(_ look: Look, _ versions: ModelVersions, _ options: Options, _ system: any System) {
        (store, plan, bound) = (look.path, look.plan, look.bound)
        storeFindings = look.snapshot.findings + look.plan.configurationNotes(options) + look.syncFindings
        missingFiles = look.missingFiles
        (size, usesWAL) = (look.snapshot.file.size, look.snapshot.file.journalMode == .wal)
        continuesEarlierCall = look.continuesEarlierCall
        self.options = options
        self.options.keptKeys = look.keptKeys
        self.versions = versions
        self.system = system
    }

    /// The state of the store as seen by a connection, with the plan for it.
    private struct Look {
        let path: String
        let snapshot: StoreSnapshot
        let plan: MigrationPlan
        let bound: BoundPlan?
        let continuesEarlierCall: Bool
        let keptKeys: [String: Int64]
        /// The findings about the sync of a mirrored store.
        let syncFindings: [Finding]
        /// The warnings about values whose files are not there.
        let missingFiles: [Finding]

        init(
            _ connection: Connection, at path: String, header: [UInt8]?, _ versions: ModelVersions,
            to target: String?, _ options: Options, _ system: any System
        ) throws {
            self.path = path
            let snapshot = try StoreSnapshot(connection, header: header)
            func planned() throws -> MigrationPlan {
                try MigrationPlan(
                    versions, from: snapshot.metadata.hashes ?? VersionHashes(read: [:]),
                    identifiers: snapshot.metadata.versionIdentifiers, to: target, answers: options.answers,
                    registered: options.registered + (try options.registry.stages(in: versions)),
                    stops: options.stopsAtEachVersion, as: options.part)
            }
            do {
                try PreparedMigration.refuse(snapshot, options)
            } catch var error as MigrationError where error.code == .cloudKit {
                // In this case the app cannot migrate it either.
                if let rename = try? planned().cloudKitRenames(in: versions).first {
                    error.message += " \(rename.message)"
                    error.advice =
                        "\(rename.advice) Otherwise \(permit: .cloudKit), and open the store without "
                        + "mirroring."
                }
                throw error
            }
            let plan = try planned()
            syncFindings =
                snapshot.cloudKitTables.isEmpty ? [] : plan.cloudKitFindings(in: versions, options.cloudKitProduction)
            var options = options
            options.keptKeys = try KeptKeys.read(StoreRecords(store: path), of: snapshot.metadata.uuid, system)
            keptKeys = options.keptKeys
            let known = options.continuesEarlierCall ? try MigrationCheckpoint.rowFacts(of: path, plan, system) : nil
            bound = try plan.passes.first.map { pass in
                try PreparedMigration.bind(
                    pass, of: plan, over: snapshot, connection, options,
                    deferring: options.defersWork
                        && PreparedMigration.reasonsAgainstDeferring(plan, options).isEmpty, known)
            }
            (self.snapshot, self.plan, continuesEarlierCall) = (snapshot, plan, known != nil)
            missingFiles =
                options.defersWork || options.continuesEarlierCall
                ? [] : bound.map { Self.missingFiles($0.source, connection, of: path, system) } ?? []
        }

        private static func missingFiles(
            _ layout: StoreLayout, _ connection: Connection, of store: String, _ system: any System
        ) -> [Finding] {
            let shape = StoreShape(layout, withObjects: false)
            guard !shape.external.isEmpty else { return [] }
            let external = ExternalStorage(store: store)
            // The migration itself reports rows that cannot be read.
            let found = try? StoreVerifier(connection, shape: shape).rows(.external) { name in
                try StoreVerification.isPlainName(name) && external.holds(name, on: system)
            }
            return (found ?? []).map { fault in
                var finding = Finding(
                    code: fault.finding.code, severity: .warning, place: fault.finding.place,
                    message: fault.finding.message, remedy: "\(fault.finding.advice) \(.diagnose) lists the objects.")
                finding.keys = fault.finding.keys
                return finding
            }
        }
    }

    /// Binds a pass to a store. A pass without a schema change is bound with the identity mapping.
    static func bind(
        _ pass: MigrationPass, of plan: MigrationPlan, over snapshot: StoreSnapshot, _ connection: Connection,
        _ options: Options, deferring: Bool = false, _ known: BoundPlan.RowFacts? = nil
    ) throws -> BoundPlan {
        switch pass.work {
        case .mapping(let mapping):
            return try BoundPlan(
                mapping, from: pass.older, to: pass.newer, over: snapshot, connection: connection,
                experimental: options.isExperimental, defersWork: deferring, known: known,
                keptKeys: options.keptKeys, as: plan.part(after: pass))
        case .none:
            let version = try pass.older.held(by: snapshot.hashes)
            // This pass writes no hash.
            return try BoundPlan(
                ResolvedMapping(identityOf: version.model), from: version, to: version, over: snapshot,
                connection: connection, experimental: true, known: known, as: .whole)
        }
    }

    /// Refuses a store that is mirrored, or half migrated in an unknown way, before anything is planned.
    package static func refuse(_ snapshot: StoreSnapshot, _ options: Options) throws {
        try snapshot.checkDeferredWork()
        guard let table = snapshot.cloudKitTables.first, !options.allowsCloudKit else { return }
        throw MigrationError(
            .cloudKit,
            "The store is mirrored to CloudKit: its \(Quantity.count(snapshot.cloudKitTables.count, "table")) such as \(table) contain "
                + "the identity of every record on the server, and a record that loses it is uploaded again.",
            place: snapshot.path,
            remedy:
                "Let the app migrate it, or \(permit: .cloudKit) to renumber these records and touch "
                + "nothing else.")
    }

    /// Refuses the same stores for a change of objects within a version, which the mirror would not upload.
    package static func refuseToChangeObjects(_ snapshot: StoreSnapshot) throws {
        do {
            try refuse(snapshot, .init())
        } catch var error as MigrationError where error.code == .cloudKit {
            error.remedy = "Change the objects in the app, which uploads what it changes."
            throw error
        }
    }

    /// Returns the migration that the engine runs: the first pass, with each later one bound to the previous result. A
    /// run of it is refused for losses that ``Options/losses`` does not permit; a rehearsal is not.
    ///
    /// - Throws: `codeMissing` if the plan names code that is not registered; `dataConflict` if the rows do not fit the
    ///   new version; `unsupported` if the plan cannot run in place.
    package func migration() throws -> Pass? {
        guard let bound, !plan.passes.isEmpty else { return nil }
        try checkCode()
        try checkRules()
        let inPlace = options.choice == .inPlace
        // A budgeted migration that has begun had no such row, and a change in place writes no row.
        if !continuesEarlierCall, !inPlace, bound.hasStrangers { try checkEntityNumbers(bound) }
        if inPlace || bound.isDeferred { try checkInPlace() }
        let ledger = LossAccounting()
        let lossRefusal = undeclaredLosses(among: try foreseenLosses())
        // Fixes may repair rows that do not fit the new version, so the migration is bound to their result.
        if var mending = mendingBefore(bound, ledger) {
            mending.lossRefusal = lossRefusal
            return mending
        }
        var migration = try migration(bound, 0, ledger)
        migration.from = plan.from.name
        migration.to = plan.to.name
        migration.rowFacts = bound.rowFacts
        migration.lossRefusal = lossRefusal
        migration.span = span(of: 0)
        migration.keptCopies = keptCopies
        migration.next = next(after: 0)
        addRules(to: &migration, of: bound, isLast: plan.passes.count == 1)
        return withRulesBefore(migration, bound)
    }

    /// Returns the same migration with another choice. A run with a budget rebuilds every changed table: filling rows
    /// can be divided into pieces, dropping a column in SQLite cannot.
    package func choosing(_ choice: StoreScript.Choice) -> PreparedMigration {
        var prepared = self
        prepared.options.choice = choice
        return prepared
    }

    /// The way in which each table is migrated in the first pass; empty if there is nothing to do, or it is deferred.
    package var tableWays: [TableStrategy] {
        get throws { try bound?.tableWays(options.choice) ?? [] }
    }

    /// The statements of the first pass; nil if there is nothing to do.
    package func script() throws -> StoreScript? { try bound.map { try StoreScript($0, options.choice) } }

    /// The warnings about the store that do not prevent the migration.
    package var warnings: [Finding] { (storeFindings + (bound?.rowFindings ?? [])).filter { $0.severity == .warning } }

    /// Returns ``migration()``, or the error that it throws before any change.
    package func examined() throws -> Result<Pass?, MigrationError> {
        do {
            // Damage explains other errors. An earlier call has already checked for it.
            if bound != nil, !continuesEarlierCall {
                try ReadOnlyStore.read(store, system: system) { try $0.connection.checkSoundness(place: $0.path) }
            }
            return .success(try migration())
        } catch let error as MigrationError {
            return .failure(error)
        }
    }

    /// Returns the error that ``migration()`` throws before any change; nil if the migration can begin.
    package func refusal() throws -> MigrationError? {
        if case .failure(let error) = try examined() { error } else { nil }
    }

    /// The number of copies kept until the end, because steps may have to be undone on them.
    var keptCopies: Int {
        plan.passes.dropLast().count { pass in
            pass.steps.contains { options.registry.steps[$0.name]?.undo != nil }
        }
    }

    /// The pass after the one at `position`; nil after the last.
    func next(after position: Int) -> NextPass? {
        plan.passes.indices.contains(position + 1) ? .planned(position + 1, of: self) : nil
    }

    /// Returns the pass at a position, bound to the working copy that the previous pass has made.
    func pass(at position: Int, over connection: Connection, _ ledger: LossAccounting) throws -> Pass {
        let pass = plan.passes[position]
        let bound = try Self.bind(pass, of: plan, over: StoreSnapshot(connection), connection, options)
        var migration = try migration(bound, position, ledger, workingCopy: connection.path)
        migration.lossRefusal = undeclaredLosses(
            among: foreseen(try bound.losses(options.choice), of: pass, hasCodeBefore: runsCode(before: position)))
        migration.span = span(of: position)
        migration.next = next(after: position)
        addRules(to: &migration, of: bound, isLast: position + 1 == plan.passes.count)
        return migration
    }

    private func migration(
        _ bound: BoundPlan, _ position: Int, _ ledger: LossAccounting, workingCopy: String? = nil
    ) throws -> Pass {
        let pass = plan.passes[position]
        let losses = LossCheck(
            try bound.losses(options.choice), of: pass, at: position, from: bound.source.model,
            accepting: options.registry.acceptedLosses)
        try losses.refuse(unlessReadIn: ledger.reads(forPass: position))
        var migration = try Pass(
            bound, on: store, from: pass.older.name, workingCopy: workingCopy,
            followsCode: workingCopy != nil && (position == 0 || runsCode(before: position)),
            options.choice,
            system: system)
        if case .none = pass.work { migration.leavesSchema() }
        if options.comparesUnwritten { migration.verification.comparesUnwritten = true }
        if !options.comparesStores { migration.verification = .soundness }
        migration.metadataEntries = options.metadataEntries
        let registry = options.registry
        migration.ledger = ledger
        migration.policies = PassPolicies(
            of: bound, registry, batchSize: options.batchSize, pass: position, ledger)
        migration.losses = losses
        // Reading values after a change does not save what the change has dropped.
        let reading = if case .none = pass.work { position + 1 } else { plan.passes.count + position }
        migration.steps = pass.steps.map { step in
            Pass.Step(
                name: step.name, stage: pass.stage ?? "", sentence: step.sentence,
                action: RegisteredCode(
                    name: step.name, registry: registry, model: bound.target.model, position: reading, ledger: ledger))
        }
        return migration
    }

    /// Whether steps or policies of earlier passes run before a pass. Fixes of rules before the first pass do not
    /// count.
    private func runsCode(before position: Int) -> Bool {
        plan.passes.prefix(position).contains { pass in
            !pass.steps.isEmpty || pass.mapping?.entityMappings.contains { $0.policy != nil } == true
        }
    }

    /// Returns the part of all work that a pass does: a mapping counts as much as a step.
    private func span(of position: Int) -> ClosedRange<Double> {
        let weights = plan.passes.map { Double(1 + $0.steps.count) }
        let all = weights.reduce(0, +)
        let before = weights.prefix(position).reduce(0, +)
        return before / all...min((before + weights[position]) / all, 1)
    }
}

// MARK: - Deferred work

extension PreparedMigration {
    /// The work that can be deferred, or the reasons why none can; nil if that was not requested, or there is nothing
    /// to do.
    package var deferral: Deferral? {
        guard options.defersWork, let bound else { return nil }
        let reasons = Self.reasonsAgainstDeferring(plan, options)
        return reasons.isEmpty ? bound.deferral : Deferral(impossible: reasons)
    }

    /// Returns the reasons, from the plan and the options alone, against changing the store in place.
    fileprivate static func reasonsAgainstDeferring(_ plan: MigrationPlan, _ options: Options) -> [String] {
        var reasons: [String] = []
        if plan.passes.count > 1 { reasons.append("the migration takes \(plan.passes.count) passes") }
        reasons += plan.passes.flatMap(\.steps).map { "the step \($0.name) has to run" }
        if !options.registry.rules.isEmpty { reasons.append("rules are checked on a copy") }
        return reasons
    }
}

// MARK: - Checks

extension PreparedMigration {
    private func checkInPlace() throws {
        guard options.registry.rules.isEmpty else {
            throw MigrationError(
                .unsupported, "Rules are checked on a copy, and a run in place makes none.",
                place: store, remedy: "Omit \(option: .inPlace); then Moult works on a copy.")
        }
        let steps = plan.passes.flatMap(\.steps)
        guard plan.passes.count > 1 || !steps.isEmpty else { return }
        throw MigrationError(
            .unsupported,
            steps.isEmpty
                ? "This migration takes \(plan.passes.count) passes, which cannot run in place."
                : "This migration runs the step \(steps[0].name), which cannot be done in place.",
            place: store, remedy: "Omit \(option: .inPlace); then Moult works on a copy.")
    }

    /// Refuses a row whose entity number is not one of its table's: it is an object of no entity, and its new entity is
    /// unknown.
    ///
    /// - Throws: `dataConflict`.
    private func checkEntityNumbers(_ bound: BoundPlan) throws {
        let shape = StoreShape(bound.source, withObjects: false)
        let found = try ReadOnlyStore.read(store, system: system) { probe in
            let found = try StoreVerifier(probe.connection, shape: shape).rows(.strangers)
            // Damage would explain them.
            if !found.isEmpty { try probe.connection.checkSoundness(place: probe.path) }
            return found
        }
        guard let fault = found.first?.finding else { return }
        let keys = fault.keys.map(String.init).joined(separator: ", ")
        throw MigrationError(
            .dataConflict, "\(fault.message) The first keys: \(keys).", place: fault.place,
            remedy: "The store is unchanged. \(fault.advice) Then migrate again.")
    }

    /// - Throws: `codeMissing` with every name in the plan that is not registered.
    private func checkCode() throws {
        let missing = plan.passes.flatMap(\.steps).map(\.name).filter { options.registry.steps[$0] == nil }
        if !missing.isEmpty { throw MigrationError.codeMissing(missing) }
    }
}

extension MigrationPlan {
    /// Returns a warning for each other configuration with which the app might open the store.
    fileprivate func configurationNotes(_ options: PreparedMigration.Options) -> [Finding] {
        alternatives.map { name in
            var taken = "the whole of \(from.name)"
            if case .configuration(let chosen) = part { taken = "the configuration \(chosen)" }
            return Finding(
                code: "configuration-open", severity: .warning, place: name,
                message: "The store has the entities of \(taken), and of the configuration \(name) too. It gets those "
                    + "that \(to.name) has for \(taken).",
                remedy: "If the app opens it with the configuration \(name), \(permit: .configuration(name)).")
        }
    }
}
