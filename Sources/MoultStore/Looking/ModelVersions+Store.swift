import MoultModel
import MoultPlan

extension ModelVersions {
    /// The version of a store, known by its hashes.
    ///
    /// - Throws: `storeUnknown` for a store of no version that is here; what reading the store throws.
    package func version(ofStore store: String) throws -> ModelVersion {
        let hashes = try StoreProbe.read(store) { try StoreSnapshot($0.connection).hashes }
        guard let place = place(of: hashes) else {
            throw MigrationError.storeUnknown(nearest: nearest(to: hashes))
        }
        return place.version
    }

    /// The versions of the model at a path, with the one inside a store first where the model is another store: the
    /// store may have come from it.
    package func onTheWay(of store: String, to path: String) throws -> ModelVersions {
        guard try StoreProbe.isDatabase(path),
            var own = try? ModelVersion(ownOfStore: store), position(matching: own.hashes) == nil
        else { return self }
        // A store of another app has no way to this model: a migration would delete everything.
        let entities = Set(own.model.entities.map(\.name))
        guard versions.contains(where: { !entities.isDisjoint(with: $0.model.entities.map(\.name)) }) else {
            return self
        }
        if position(named: own.name) != nil { own = own.calledTheStoresOwn }
        var joined = self
        joined.versions.insert(own, at: 0)
        return joined
    }
}
