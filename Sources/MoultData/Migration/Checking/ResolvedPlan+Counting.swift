internal import MoultCoreData
import MoultEngine
import MoultModel
import MoultObjects
import MoultPlan
import MoultStore

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
