import Foundation
import MoultModel

extension ManagedObjectModel {
    /// Reads the model at `url`; of a bundle of versions (`.momd`, `.xcdatamodeld`) the current one.
    ///
    /// - Throws: `modelNotFound` if there is no model, `modelInvalid` and `fileNotReadable` if it cannot be read.
    public init(contentsOf url: URL) throws {
        guard let current = try ModelVersions(contentsOf: url).current else {
            throw MigrationError.modelNotFound(at: url)
        }
        self = current.model
    }

    /// One model of the current versions of all models in the bundles; nil stands for the main bundle.
    ///
    /// - Throws: `modelNotFound` if none of them holds a model, `modelInvalid` if two do not fit together.
    public static func mergedModel(from bundles: [Bundle]?) throws -> ManagedObjectModel {
        let bundles = bundles ?? [.main]
        let folders = bundles.flatMap { [$0.resourceURL, $0.bundleURL].compactMap(\.self) }
        let models = try ModelLocation.models(in: folders).map(ManagedObjectModel.init(contentsOf:))
        guard !models.isEmpty else {
            throw MigrationError(
                .modelNotFound, "None of the bundles contains a model.",
                place: folders.map(\.path).joined(separator: ", "),
                remedy: "Put a .momd or .xcdatamodeld among the resources, or give the model's own path.")
        }
        return try ManagedObjectModel(byMerging: models)
    }
}
