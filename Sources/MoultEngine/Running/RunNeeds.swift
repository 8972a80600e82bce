import MoultStore

/// The expected needs of a run of a migration, before it begins.
package struct RunNeeds: Sendable, Equatable {
    /// The time of all of it, from bytes and rows.
    package var seconds: Double
    /// The room that the run will ask for.
    package var space: SpaceRequirement
    /// The same by volume.
    package var volumes: [SpaceRequirement.Volume]
}

extension Migrator {
    /// - Throws: what reading a damaged store throws.
    package func needs(of migration: Migration, on store: String) throws -> RunNeeds {
        try StoreProbe.read(store, system: system) { probe in
            let state = try StoreState(probe.connection)
            let estimate = RunEstimate(
                migration, try migration.script.costs(over: probe.connection), size: state.size)
            let space = try SpaceRequirement(
                migration, on: state, Sidecar(store: probe.path), options, backups: backups(of: probe.path).folder,
                system)
            return RunNeeds(seconds: estimate.total, space: space, volumes: try space.volumes(system))
        }
    }
}
