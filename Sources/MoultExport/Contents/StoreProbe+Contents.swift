import MoultModel
import MoultPlan
import MoultStore

extension StoreContents {
    /// Reads the contents of a store that a probe has open.
    ///
    /// - Parameter versions: the versions to find the store's among; none for the model inside the store, or no model.
    /// - Throws: `storeUnknown` if the store is of none of the versions that are given.
    package init(_ probe: StoreProbe, in versions: ModelVersions?) throws {
        let snapshot = try StoreSnapshot(probe.connection)
        let recognition = try StoreRecognition(of: snapshot, in: versions ?? ModelVersions(versions: []))
        if let versions, !versions.versions.isEmpty, recognition.position == nil {
            throw MigrationError.storeUnknown(nearest: versions.nearest(to: snapshot.hashes))
        }
        try self.init(snapshot, model: recognition.model, path: probe.path)
    }
}
