import MoultEngine
import MoultModel
import MoultReport
import MoultStore

extension Project {
    /// Says which version a store is of, and how far it is behind. The store is not changed.
    ///
    /// - Parameters:
    ///   - store: the store's path.
    ///   - version: the name of the version aimed at; nil for the current one.
    /// - Throws: `fileNotFound`, `fileNotReadable`, `storeCorrupted`; `noPath` if there is no version of that name.
    public func status(of store: String, aimingAt version: String? = nil) async throws -> StoreStatus {
        try await onThread { _ in
            StoreStatus(try StatusReport(of: store, in: try versions(for: store), target: version))
        }
    }

    /// Says what a migration of a store will do. The store is not changed.
    ///
    /// - Parameters:
    ///   - store: the store's path.
    ///   - version: the name of the version to end at; nil for the current one.
    ///   - options: those of the migration.
    ///   - withSQL: whether the plan has the statements.
    /// - Throws: `storeAhead`, `storeUnknown`, `noPath`, `question`, `cannotInfer` if there is no way to the version;
    ///   `lockFileMismatch` if a released version has changed; what reading the store throws. A migration that would be
    ///   refused for another reason has a plan with a ``StorePlan/refusal``.
    public func plan(
        for store: String, to version: String? = nil, options: RunOptions = RunOptions(), withSQL: Bool = false
    ) async throws -> StorePlan {
        try await onThread { _ in
            let prepared = try prepared(store, to: version, options)
            let losses = try prepared.foreseenLosses()
            let examined = try prepared.examined()
            let obstacle: MigrationError? = if case .failure(let error) = examined { error } else { nil }
            let needs = try (try? examined.get()).flatMap { $0 }.map {
                try options.migrator().needs(of: $0, on: prepared.store)
            }
            let script = try withSQL && obstacle == nil ? prepared.script() : nil
            let report = PlanReport(
                prepared, script: script, losses: losses,
                refusal: obstacle ?? losses.first { $0.fate == .refused }?.refusal
                    ?? prepared.undeclaredLosses(among: losses), needs: needs)
            return StorePlan(report.document)
        }
    }

    /// Looks at the store and plans.
    func prepared(_ store: String, to version: String?, _ options: RunOptions) throws -> PreparedMigration {
        try options.check()
        let versions = try versions(for: store)
        try versions.checkReleased()
        return try PreparedMigration(
            store, versions: versions, to: version, options: try planOptions(in: versions, options))
    }

    /// The options of a migration between versions, as it is planned, diagnosed and run.
    func planOptions(in versions: ModelVersions, _ options: RunOptions) throws -> PreparedMigration.Options {
        var preparation = try preparation(in: versions, options)
        preparation.part = options.configuration.map(StorePart.configuration)
        preparation.defersWork = options.defersWork
        // A call with a budget can divide the rows that a new table is filled with.
        let rebuilds = options.normalises || options.budget != nil
        preparation.choice = options.isInPlace ? .inPlace : rebuilds ? .normalised : .cheapest
        preparation.comparesStores = options.comparesStores
        preparation.comparesUnwritten = options.comparesUnwrittenTables
        preparation.continuesEarlierCall = options.budget != nil
        return preparation
    }

    /// Returns the options with which this project plans and runs a migration.
    func preparation(in versions: ModelVersions, _ options: RunOptions) throws -> PreparedMigration.Options {
        var registry = registry
        registry.acceptedLosses.formUnion(options.acceptedLosses)
        if options.appliesFixes { registry.appliesFixes = true }
        if options.allowsLargeQuarantine { registry.allowsLargeQuarantine = true }
        return PreparedMigration.Options(
            answers: answers, registered: try stages(in: versions), registry: registry,
            stopsAtEachVersion: options.stopsAtEachVersion, isExperimental: options.isExperimental,
            allowsCloudKit: options.allowsCloudKit)
    }
}
