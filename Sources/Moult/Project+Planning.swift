import MoultEngine
import MoultModel
import MoultPlan
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
            try StoreKeeper(store) { try versions(for: store) }.status(aimingAt: version)
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
    ///   refused for another reason has a plan with a `refusal`.
    public func plan(
        for store: String, to version: String? = nil, options: RunOptions = RunOptions(), withSQL: Bool = false
    ) async throws -> StorePlan {
        try await onThread { _ in
            try session(StoreRequest(store, to: version, .plan, options)).plan(withSQL: withSQL)
        }
    }

    // MARK: - Sessions

    /// Looks at the store of a request, and plans.
    ///
    /// - Throws: what the initialiser of ``StoreSession`` throws.
    package func session(
        _ request: StoreRequest, following plan: StorePlan? = nil, started: UInt64? = nil
    ) throws -> StoreSession {
        try StoreSession(request, context(for: request.store), following: plan, started: started)
    }

    /// Everything of this project that a request about a store needs.
    package func context(for store: String) throws -> StoreSession.Context {
        let versions = try versions(for: store)
        return StoreSession.Context(
            versions, answers: try answers(for: versions, store), registered: try stages(in: versions),
            registry: registry)
    }

    /// The recorded answers for these versions; the log says which are left out.
    package func answers(for versions: ModelVersions, _ store: String) throws -> Answers {
        try answers.known(in: versions, ofModelsAt: path) {
            logger?(LogLine(call: "plan", store: store, message: $0))
        }
    }
}
