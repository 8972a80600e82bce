import MoultModel
import MoultReport
import MoultStore

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
        var plan = ResolvedPlan(self)
        if let error = plan.error(countedIn: url) { throw error }
        let snapshot = try StoreProbe.read(url.path) { try StoreSnapshot($0.connection) }
        let part = Self.part(of: snapshot.hashes, in: ModelVersions(versions: plan.versions))
        if let part { plan = ResolvedPlan(self, holding: [part: Set(snapshot.hashes.entities.keys)]) }
        // As a container opens the store.
        var options = RunOptions()
        options.isExperimental = true
        options.configuration = part
        var context = StoreSession.Context(ModelVersions(versions: plan.versions))
        context.registry.add(plan)
        if context.versions.place(of: snapshot.hashes, as: part.map(StorePart.configuration)) == nil {
            context.versions = try UnknownStore(snapshot, configuration: part)
                .versions(adoptedBy: context.versions, of: plan.name)
        }
        try StoreSession(StoreRequest(url.path, .plan, options), context).check()
    }

    /// A name for the configuration of a store that has a part of a version's entities; nil for any other store.
    private static func part(of hashes: VersionHashes, in versions: ModelVersions) -> String? {
        let name = "the store"
        let isPart = versions.place(of: hashes) == nil && versions.place(of: hashes, as: .configuration(name)) != nil
        return isPart ? name : nil
    }
}
