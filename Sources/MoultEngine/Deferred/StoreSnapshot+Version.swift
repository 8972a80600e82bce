import MoultModel
import MoultStore

extension StoreSnapshot {
    /// The version of the store: one of `versions`, otherwise the model that it carries.
    ///
    /// - Throws: `storeUnknown` if nothing says what model the store has.
    package func version(in versions: ModelVersions?) throws -> ModelVersion {
        if let place = versions?.place(of: hashes, identifiers: metadata.versionIdentifiers) { return place.version }
        guard let own = try? ownVersion().calledTheStoresOwn else {
            throw MigrationError.storeUnknown(nearest: versions?.nearest(to: hashes))
        }
        return own
    }
}
