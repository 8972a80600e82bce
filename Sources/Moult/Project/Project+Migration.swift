import MoultBasics
import MoultEngine
import MoultPlan
import MoultSession

extension Project {
    /// Migrates a store: backs it up, changes it, verifies the result, then commits in one transaction. If the process
    /// dies at any moment, the store is completely old or completely new.
    ///
    /// The report's errors: `question`, `cannotInfer`, `noPath`, `storeAhead`, `storeUnknown`, `planStale`, `locked`,
    /// `lossNotAccepted`, `insufficientStorage`, `tooManyAttempts` before any change; `cancelled`, `migrationFailed`,
    /// `verificationFailed`, `policyFailed`, `rulesBroken` with the store unchanged.
    ///
    /// - Parameters:
    ///   - store: the store's path.
    ///   - version: the name of the version to end at; nil for the current one.
    ///   - plan: a saved plan; the migration is refused with `planStale` if the store or the model has changed.
    ///   - options: the options for changing the store.
    public func migrate(
        _ store: String, to version: String? = nil, following plan: StorePlan? = nil, options: RunOptions = RunOptions()
    ) -> StoreTask<MigrationReport> {
        migration("migrate", "Migrating", StoreRequest(store, to: version, .migrate, options), following: plan)
    }

    /// Migrates a store into another file. Does not change the store and its folder. The new store has the state of the
    /// old one at one moment, including its WAL and its external data, and gets its name when it is complete and
    /// verified. If the store already has the version, the new file is a copy of it.
    ///
    /// The report's errors: `usage` if something is at the path; otherwise those of
    /// ``migrate(_:to:following:options:)``. Nothing is made then.
    ///
    /// - Parameters:
    ///   - store: the store's path.
    ///   - path: the new file; nothing may exist there.
    ///   - version: the name of the version to end at; nil for the current one.
    ///   - options: the options; `budget`, `defersWork`, `isInPlace`, `makesRoom` and `stopsAtEachVersion` are refused.
    ///     There is no backup, because the old store is one.
    public func migrate(
        _ store: String, into path: String, to version: String? = nil, options: RunOptions = RunOptions()
    ) -> StoreTask<MigrationReport> {
        migration("migrate", "Migrating", StoreRequest(store, to: version, .migrateInto(path), options))
    }

    /// Runs a whole migration on a copy in a scratch folder and verifies it. Does not change the store and its folder,
    /// and keeps nothing.
    ///
    /// - Parameters:
    ///   - store: the store's path.
    ///   - version: the name of the version to end at; nil for the current one.
    ///   - options: the options of the migration.
    public func rehearse(
        _ store: String, to version: String? = nil, options: RunOptions = RunOptions()
    ) -> StoreTask<MigrationReport> {
        migration("rehearse", "Rehearsing", StoreRequest(store, to: version, .rehearse, options))
    }

    /// Performs the work that a deferred migration has left, each task in one transaction. Tasks that are finished when
    /// a call is interrupted stay finished.
    ///
    /// The report's errors: `budgetTooSmall` if the time is shorter than the longest task; `cancelled`, `locked`,
    /// `insufficientStorage`; `verificationFailed` with the store as it was before the task.
    ///
    /// - Parameters:
    ///   - store: the store's path.
    ///   - time: the time that the call may take; nil for all of the work.
    ///   - options: the options for changing the store.
    public func finish(
        _ store: String, within time: Duration? = nil, options: RunOptions = RunOptions()
    ) -> StoreTask<FinishReport> {
        task("finish", store) { observer, _ in
            let limit = time.map { CallLimit.seconds($0 / .seconds(1)) } ?? .all
            return try keeper(of: store, options).finish(limit, observer)
        }
    }

    /// Finishes a run that has not ended: recovers the store and, if the run was a migration, completes it at its own
    /// target and with its own options. Work of any other kind is undone, or completed if it had committed, and not
    /// begun again; the report says what does it again.
    ///
    /// The report's errors: those of ``migrate(_:to:following:options:)``.
    ///
    /// - Parameters:
    ///   - store: the store's path.
    ///   - options: the options for a run whose journal keeps none, as that of an earlier version of Moult.
    public func resume(_ store: String, options: RunOptions = RunOptions()) -> StoreTask<ResumeReport> {
        task("resume", store) { observer, log in
            let run = try keeper(of: store, options).interrupted()
            guard let run, var request = run.migration, let target = request.target,
                try versions(for: store).position(named: target) != nil
            else { return ResumeReport(try keeper(of: store, options).recover()) }
            if run.request == nil { request.options = options }
            let session = try session(request, started: POSIXSystem().monotonicNanoseconds)
            log("Migrating from version \(session.from) to version \(session.to)")
            return ResumeReport(try session.run(observer))
        }
    }

    /// Recovers a run whose process died: completes it if it had committed, and undoes it otherwise. Every run does
    /// this first; this call does nothing else.
    ///
    /// - Throws: `locked` if another process holds the store; `readOnly`, `storeCorrupted`.
    public func recover(_ store: String, options: RunOptions = RunOptions()) async throws -> RecoveryOutcome {
        try await onThread { _ in try keeper(of: store, options).recover().outcome }
    }

    private func migration(
        _ call: String, _ doing: String, _ request: StoreRequest, following plan: StorePlan? = nil
    ) -> StoreTask<MigrationReport> {
        var request = request
        request.models = models
        return task(call, request.store) { [request] observer, log in
            let session = try session(request, following: plan, started: POSIXSystem().monotonicNanoseconds)
            log("\(doing) from version \(session.from) to version \(session.to)")
            let report = try session.run(observer)
            report.spaceMade.forEach(log)
            return report
        }
    }

    /// Starts a run of this project on a store.
    ///
    /// - Parameter body: receives the observer to report to, and a function that logs a sentence.
    package func task<Report: Sendable>(
        _ call: String, _ store: String,
        _ body: @escaping @Sendable (MigrationObserver, @Sendable (String) -> Void) throws -> Report
    ) -> StoreTask<Report> {
        let log: @Sendable (String) -> Void = { [logger] in
            logger?(LogLine(call: call, store: store, message: $0))
        }
        return StoreTask(log: log) { try body($0, log) }
    }

    /// Returns the version of a store, and how far it is behind. Does not change the store.
    ///
    /// - Parameters:
    ///   - store: the store's path.
    ///   - version: the name of the target version; nil for the current one.
    /// - Throws: `fileNotFound`, `fileNotReadable`, `storeCorrupted`; `noPath` if there is no version of that name.
    public func status(of store: String, aimingAt version: String? = nil) async throws -> StoreStatus {
        try await onThread { _ in
            try StoreKeeper(store) { try versions(for: store) }.status(aimingAt: version)
        }
    }

    /// Returns the plan of a store's migration. Does not change the store.
    ///
    /// - Parameters:
    ///   - store: the store's path.
    ///   - version: the name of the version to end at; nil for the current one.
    ///   - options: the options of the migration.
    ///   - withSQL: whether the plan includes the statements.
    /// - Throws: `storeAhead`, `storeUnknown`, `noPath`, `question`, `cannotInfer` if no migration leads to the
    ///   version; `lockFileMismatch` if a released version has changed; what reading the store throws. A migration that
    ///   would be refused for another reason has a plan with a `refusal`.
    public func plan(
        for store: String, to version: String? = nil, options: RunOptions = RunOptions(), withSQL: Bool = false
    ) async throws -> StorePlan {
        try await onThread { _ in
            try session(StoreRequest(store, to: version, .plan, options)).plan(withSQL: withSQL)
        }
    }

    // MARK: - Sessions

    /// Examines the store of a request, and plans.
    ///
    /// - Throws: what the initialiser of ``StoreSession`` throws.
    package func session(
        _ request: StoreRequest, following plan: StorePlan? = nil, started: UInt64? = nil
    ) throws -> StoreSession {
        try StoreSession(request, context(for: request.store), following: plan, started: started)
    }

    /// Returns everything in this project that a request about a store needs.
    package func context(for store: String) throws -> StoreSession.Context {
        let versions = try versions(for: store)
        return StoreSession.Context(
            versions, answers: try answers(for: versions, store), registered: try stages(in: versions),
            registry: registry)
    }

    /// Returns the recorded answers for these versions; logs those that are left out.
    package func answers(for versions: ModelVersions, _ store: String) throws -> Answers {
        try answers.known(in: versions, ofModelsAt: path) {
            logger?(LogLine(call: "plan", store: store, message: $0))
        }
    }
}

extension StoreLaunch.Models {
    /// The versions of a project.
    public static func project(_ project: Project) -> StoreLaunch.Models {
        StoreLaunch.Models(currentHashes: { try project.versions.currentHashes }, context: project.context)
    }
}
