import Foundation
import MoultBasics
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

    /// The model that a store was made with: of several versions the one, of several models the ones together, whose
    /// version hashes the store's metadata name.
    ///
    /// - Parameter metadata: those of the store.
    /// - Throws: `modelNotFound` if the models do not have every entity of the store in the store's version;
    ///   `modelInvalid` if two models that the store was made with do not fit together.
    public init(byMerging models: [ManagedObjectModel], forStoreMetadata metadata: [String: Any]) throws {
        func fits(_ model: ManagedObjectModel) -> Bool {
            model.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata)
        }
        if let whole = models.first(where: fits) {
            self = whole
            return
        }
        let stored = metadata[StoreMetadataKey.modelVersionHashes] as? [String: Data] ?? [:]
        var found: Set<String> = []
        let parts = models.filter { model in
            let hashes = model.entityVersionHashesByName
            guard found.isDisjoint(with: hashes.keys), hashes.allSatisfy({ stored[$0.key] == $0.value }) else {
                return false
            }
            found.formUnion(hashes.keys)
            return true
        }
        let merged = try ManagedObjectModel(byMerging: parts)
        guard fits(merged) else {
            let missing = stored.keys.filter { !found.contains($0) }.sorted()
            throw MigrationError(
                .modelNotFound,
                missing.isEmpty
                    ? "The metadata name no entity of a store."
                    : "No model has the store's version of \(missing.joined(separator: ", ")).",
                remedy: "Keep every version of the model that was released among the resources of the app.")
        }
        self = merged
    }
}
