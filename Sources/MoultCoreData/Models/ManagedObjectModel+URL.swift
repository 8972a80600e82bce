import Foundation
import MoultBasics
import MoultModel

extension ManagedObjectModel {
    /// Reads the model at `url`; of a bundle of versions (`.momd`, `.xcdatamodeld`) the current one.
    ///
    /// - Throws: `modelNotFound` if there is no model, `modelInvalid` and `fileNotReadable` if it cannot be read.
    public init(contentsOf url: URL) throws {
        let versions = try ModelVersions(contentsOf: url)
        if let fault = versions.currentFault { throw fault }
        guard let current = versions.current else {
            throw MigrationError.modelNotFound(at: url)
        }
        self = current.model
    }

    /// One model of the current versions of all models in the bundles; nil stands for the main bundle.
    ///
    /// - Throws: `modelNotFound` if none of them holds a model, `modelInvalid` if two do not fit together.
    public static func mergedModel(from bundles: [Bundle]?) throws -> ManagedObjectModel {
        try ManagedObjectModel(byMerging: try models(in: bundles).map(ManagedObjectModel.init(contentsOf:)))
    }

    /// The model that a store was made with, among all versions of all models in the bundles; nil stands for the main
    /// bundle.
    ///
    /// - Parameter metadata: those of the store.
    /// - Throws: `modelNotFound` if the bundles hold no model, or not the version of the store; `modelInvalid` if two
    ///   models that the store was made with do not fit together.
    public static func mergedModel(
        from bundles: [Bundle]?, forStoreMetadata metadata: [String: Any]
    ) throws -> ManagedObjectModel {
        let versions = try models(in: bundles).flatMap { try ModelVersions(contentsOf: $0).versions }
        return try ManagedObjectModel(byMerging: versions.map(\.model), forStoreMetadata: metadata)
    }

    private static func models(in bundles: [Bundle]?) throws -> [URL] {
        let folders = (bundles ?? [.main]).flatMap { [$0.resourceURL, $0.bundleURL].compactMap(\.self) }
        let models = ModelLocation.models(in: folders)
        guard !models.isEmpty else {
            throw MigrationError(
                .modelNotFound, "None of the bundles contains a model.",
                place: folders.map(\.path).joined(separator: ", "),
                remedy: "Put a .momd or .xcdatamodeld among the resources, or give the model's own path.")
        }
        return models
    }
}
