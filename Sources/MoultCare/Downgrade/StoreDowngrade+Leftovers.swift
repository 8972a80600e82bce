import MoultEngine
import MoultModel
import MoultPlan
import MoultSQLite
import MoultStore
import MoultSystem
import MoultVerify

extension StoreDowngrade {
    /// The way back while the work of a deferred migration is pending: its mapping the other way round, with what it
    /// has left; nil if nothing is pending, or something is gone already.
    ///
    /// Destinations that were deleted since are cleared, objects that were made since get default values; what has none
    /// and is required stands in the way when the migration runs.
    static func undoing(
        _ store: String, from source: ModelVersion, to goal: ModelVersion, _ versions: ModelVersions,
        _ answers: Answers, _ system: any System
    ) throws -> Migration? {
        guard versions.position(named: source.name) != nil,
            let plan = try? MigrationPlan(versions, from: goal.name, to: source.name, answers: answers),
            plan.passes.count == 1, let pass = plan.passes.first, pass.steps.isEmpty,
            case .mapping(let mapping) = pass.work, let back = mapping.inverse(to: goal.model)
        else { return nil }
        let (bound, path) = try StoreProbe.read(store, system: system) { probe -> (BoundPlan?, String) in
            let snapshot = try StoreSnapshot(probe.connection)
            guard snapshot.metadata.hasDeferredWork else { return (nil, probe.path) }
            try snapshot.checkDeferredWork()
            let bound = try BoundPlan(
                back, from: source, to: goal, over: snapshot, connection: probe.connection, experimental: true,
                defersWork: true, isUndoing: true)
            return (bound.isDeferred ? bound : nil, probe.path)
        }
        guard let bound else { return nil }
        var migration = try Migration(bound, on: path, from: source.name, system: system)
        migration.verification.append("Verify what was written since the migration.") { try requireSound($0, goal) }
        return migration
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
            place: first.finding.place, remedy: "The store is unchanged. \(first.finding.remedy)")
    }
}
