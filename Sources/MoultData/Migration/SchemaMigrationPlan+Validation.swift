import MoultBasics
internal import MoultCoreData
import MoultModel
import MoultObjects
import MoultPlan
import MoultSession
import MoultStore

extension SchemaMigrationPlan {
    /// Checks the plan for every fault that opening a store would find, without a store. Call it in a test.
    ///
    /// The faults include two versions with the same checksum or identifier; a stage that is missing, duplicate or not
    /// between neighbours; a model whose class was renamed; a property that is added without a default or changes its
    /// type; a possible rename without an answer; and invalid models. A plan without any stage is a fault too, although
    /// a container with such a plan opens a store of the newest version.
    ///
    /// - Throws: `stagesInvalid` with all faults.
    public static func validate() throws {
        if let error = ResolvedPlan(self).error { throw error }
    }

    /// Checks the plan and the rows of a store, without changing the store. Counts values that are missing where they
    /// become required, and duplicates where they become unique.
    ///
    /// The effects of a stage's code are unknown before it runs, so rows are checked only up to the first stage with
    /// code.
    /// - Throws: `stagesInvalid` with all faults of the plan; `storeUnknown`; `incompatibleVersion` for a store of a later
    ///   version; `dataConflict` with all rows that do not fit.
    public static func validate(storeAt url: URL) throws {
        try ConfigurationWords().speaking { try check(storeAt: url) }
    }

    private static func check(storeAt url: URL) throws {
        var plan = ResolvedPlan(self)
        if let error = plan.error(countedIn: url) { throw error }
        let snapshot = try ReadOnlyStore.read(url.path) { try StoreSnapshot($0.connection) }
        let part = Self.part(of: snapshot.hashes, in: ModelVersions(versions: plan.versions))
        if let part { plan = ResolvedPlan(self, holding: [part: Set(snapshot.hashes.entities.keys)]) }
        // Use the options that a container uses to open the store.
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

    /// Returns a name for the configuration of a store that has only some entities of a version; nil for any other
    /// store.
    private static func part(of hashes: VersionHashes, in versions: ModelVersions) -> String? {
        let name = "the store"
        let isPart = versions.place(of: hashes) == nil && versions.place(of: hashes, as: .configuration(name)) != nil
        return isPart ? name : nil
    }
}

extension ResolvedPlan {
    /// Returns the error of the plan, with a count of the objects that lack a value for each property that becomes
    /// required.
    ///
    /// - Parameter url: the store; nothing is counted if it is not a store, matches no version of the plan, or is open
    ///   in this process.
    func error(countedIn url: URL) -> MigrationError? {
        var counted = self
        try? counted.count(in: url)
        return counted.error
    }

    private mutating func count(in url: URL) throws {
        let places = faults.indices.filter { faults[$0].code == Refusal.Reason.requiredWithoutDefault.rawValue }
        guard !places.isEmpty, versions.count == schemas.count, try !PersistentStoreCoordinator.isOpen(url) else {
            return
        }
        try ReadOnlyStore.read(url.path) { probe in
            let snapshot = try StoreSnapshot(probe.connection)
            let known = ModelVersions(versions: versions)
            guard
                let position = known.position(
                    matching: snapshot.hashes, identifiers: snapshot.metadata.versionIdentifiers)
            else { return }
            let model = versions[position].model
            let store = try ObjectStore(
                over: probe.connection, model: model, external: ExternalStorage(store: probe.path), isReadOnly: true,
                keepsHistory: false)
            for place in places {
                if let sentence = try Self.sentence(about: faults[place].place, model, store) {
                    faults[place].message += " \(sentence)"
                }
            }
        }
    }

    /// - Parameter place: `Entity.property`, as the later version names it.
    private static func sentence(
        about place: String, _ model: MoultModel.ManagedObjectModel, _ store: ObjectStore
    ) throws -> String? {
        let parts = place.split(separator: ".", maxSplits: 1).map(String.init)
        guard parts.count == 2, let entity = model.entity(parts[0]) else { return nil }
        let all = try store.count(ObjectFetch(entityName: entity.name))
        let objects = "\(Quantity.count(all, "object")) of \(entity.name)"
        guard let attribute = model.attributes(of: entity).first(where: { $0.name == parts[1] }) else {
            return "The store has \(objects), which would be without it."
        }
        let empty = try store.count(
            ObjectFetch(
                entityName: entity.name, predicate: .and(attribute.paths.map { .isNull(.keyPath($0)) })))
        return "Of \(objects) in the store, \(Quantity.count(empty)) \(empty == 1 ? "has" : "have") no value."
    }
}
