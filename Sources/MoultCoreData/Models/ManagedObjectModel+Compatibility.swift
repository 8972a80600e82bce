import Foundation
import MoultModel

extension ManagedObjectModel {
    /// The version hash of each entity, 32 bytes, as Core Data computes it.
    public var entityVersionHashesByName: [String: Data] {
        VersionHashes(of: self).entities.mapValues { Data($0) }
    }

    /// Base64 of the SHA-256 over all version hashes: what Xcode prints as the version checksum.
    public var versionChecksum: String { VersionHashes(of: self).checksum.base64 }

    /// Whether a store with this metadata opens with the model: its entities' version hashes are equal.
    ///
    /// - Parameter name: of the configuration that the store is opened with; nil for the whole model. False where the
    ///   model has none of that name.
    public func isConfiguration(withName name: String?, compatibleWithStoreMetadata metadata: [String: Any]) -> Bool {
        guard let entities = entities(forConfigurationName: name),
            let stored = metadata[StoreMetadataKey.modelVersionHashes] as? [String: Data]
        else { return false }
        let names = Set(entities.map(\.name))
        return entityVersionHashesByName.filter { names.contains($0.key) } == stored
    }
}
