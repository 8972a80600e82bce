import Moult
import MoultBasics
internal import MoultCoreData
import MoultModel
import MoultObjects
import MoultPlan
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

extension ResolvedPlan {
    /// The error of the plan, which says of each value that becomes required how many objects of a store have none.
    ///
    /// - Parameter url: a store; where it is none, of no version of the plan, or open in this process, nothing is
    ///   counted.
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
        try StoreProbe.read(url.path) { probe in
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

    /// - Parameter place: `Entity.property`, as the version after calls it.
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
