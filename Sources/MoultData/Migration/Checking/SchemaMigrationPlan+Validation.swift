import MoultEngine
import MoultModel
import MoultStore
import MoultTransform

extension SchemaMigrationPlan {
    /// Checks the plan, for a test: all that opening a store would find, before there is one.
    ///
    /// Two versions with one checksum or one identifier, a stage that is missing, twice there or not between
    /// neighbours, a model whose class got another name, a property that comes without a default or takes another type,
    /// what could be a rename and does not say so, and models that are wrong in themselves.
    ///
    /// - Throws: `stagesInvalid` with everything that is wrong.
    public static func validate() throws {
        if let error = ResolvedPlan(self).error { throw error }
    }

    /// Checks the plan, and that a store's own rows fit it, without changing a byte: with counts, values that are missing
    /// where they become required, and duplicates where they become unique.
    ///
    /// What the code of a stage sees to is not known before it has run: rows are checked up to the first such stage.
    /// - Throws: `stagesInvalid` with everything that is wrong with the plan; `storeUnknown`; `dataConflict` with
    ///   everything that does not fit.
    public static func validate(storeAt url: URL) throws {
        let plan = ResolvedPlan(self)
        if let error = plan.error(countedIn: url) { throw error }
        var registry = MoultTransform.MigrationRegistry()
        registry.add(plan)
        let versions = try StoreProbe.read(url.path) { probe in
            let snapshot = try StoreSnapshot(probe.connection)
            let known = ModelVersions(versions: plan.versions)
            let position = known.position(
                matching: snapshot.hashes, identifiers: snapshot.metadata.versionIdentifiers)
            return try position == nil ? UnknownStore(snapshot).versions(adoptedBy: known, of: plan.name) : known
        }
        // As a container opens the store.
        let options = PreparedMigration.Options(registry: registry, isExperimental: true)
        _ = try PreparedMigration(url.path, versions: versions, options: options).migration()
    }
}
