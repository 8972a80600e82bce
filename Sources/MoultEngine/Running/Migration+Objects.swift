import MoultModel
import MoultPlan
import MoultSQLite
import MoultStore
import MoultSystem

extension Migration {
    /// A pass that leaves the version as it is and changes objects by one step of code.
    ///
    /// - Parameters:
    ///   - store: the resolved path of the store.
    ///   - name: what errors call the step.
    ///   - sentence: what it does.
    ///   - code: verifies by itself that it has changed what it was to change and nothing else.
    init(
        at version: ModelVersion, of store: String, _ name: String, _ sentence: String, _ system: any System,
        code: @escaping @Sendable (MigrationSite, ManagedObjectModel) throws -> Void
    ) {
        @Sendable func bound(_ connection: Connection) throws -> BoundPlan {
            let snapshot = try StoreSnapshot(connection)
            let version = try version.held(by: snapshot.hashes)
            return try BoundPlan(
                ResolvedMapping(identityOf: version.model), from: version, to: version, over: snapshot,
                connection: connection, experimental: true, makesHistory: false, as: .whole)
        }
        self.init(from: version.name, to: version.name, verification: .none)
        reason = .repair
        steps = [
            Step(name: name, sentence: sentence) { try code($0, bound($0.connection).target.model) }
        ]
        verifySteps = { connection, digest in
            let verification = StoreVerification(try bound(connection), store: store, system: system)
            try verification.verifySteps(connection, catalogueDigest: digest)
        }
    }
}
