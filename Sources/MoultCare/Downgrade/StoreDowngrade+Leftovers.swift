import MoultEngine
import MoultModel
import MoultPlan
import MoultSQLite
import MoultStore
import MoultSystem
import MoultVerify

extension StoreDowngrade {
    /// The way back while the work of a deferred migration is pending: its mapping the other way round, with what it
    /// has left; nil if nothing is pending, or something is gone already. What only the newer version has is lost then,
    /// as on any other way back: when the work that is left after it is done.
    ///
    /// Destinations that were deleted since are cleared, objects that were made since get default values; what has none
    /// and is required stands in the way when the migration runs.
    static func undoing(
        _ store: String, from source: ModelVersion, to goal: ModelVersion, _ versions: ModelVersions,
        _ answers: Answers, _ system: any System
    ) throws -> (migration: Migration, losses: [String])? {
        guard versions.position(named: source.name) != nil,
            let plan = try? MigrationPlan(versions, from: goal.name, to: source.name, answers: answers),
            plan.passes.count == 1, let pass = plan.passes.first, pass.steps.isEmpty,
            case .mapping(let mapping) = pass.work, let back = mapping.inverse(to: goal.model)
        else { return nil }
        let found = try StoreProbe.read(store, system: system) {
            probe -> (bound: BoundPlan, losses: [MigrationLoss], path: String)? in
            let snapshot = try StoreSnapshot(probe.connection)
            guard snapshot.metadata.hasDeferredWork else { return nil }
            try snapshot.checkDeferredWork()
            func bound(isUndoing: Bool) throws -> BoundPlan {
                try BoundPlan(
                    back, from: source, to: goal, over: snapshot, connection: probe.connection, experimental: true,
                    defersWork: isUndoing, isUndoing: isUndoing)
            }
            let undoing = try bound(isUndoing: true)
            guard undoing.isDeferred else { return nil }
            // The older version gets these columns and tables back; no property of the newer one explains them.
            let counted = try bound(isUndoing: false).losses.filter {
                $0.reason != .unexplained && $0.reason != .conflict
            }
            return (undoing, counted + undoing.losses.filter { $0.reason == .conflict }, probe.path)
        }
        guard let (bound, losses, path) = found else { return nil }
        var migration = try Migration(bound, on: path, from: source.name, system: system)
        migration.operation = .downgrade
        migration.verification.append("Verify what was written since the migration.") { try requireSound($0, goal) }
        return (migration, try sentences(of: losses, in: bound.source, path, answers, system))
    }

    /// - Throws: `dataConflict` if what was written since has no place in the older version.
    private static func requireSound(_ connection: Connection, _ goal: ModelVersion) throws {
        let snapshot = try StoreSnapshot(connection)
        let layout = try StoreLayout(actual: snapshot, model: goal.held(by: snapshot.hashes).model)
        let verifier = StoreVerifier(connection, shape: StoreShape(layout, withObjects: false))
        guard let first = try verifier.rows().first(where: { $0.finding.severity == .error }) else { return }
        throw MigrationError(
            .dataConflict,
            "What was written since the migration has no place in \(goal.name). \(first.finding.message)",
            place: first.finding.place, remedy: "The store is unchanged. \(first.finding.advice)")
    }
}
