import Foundation
import MoultModel
import MoultModelFiles
import MoultPlan

extension MappingModel {
    /// Returns the mapping by which Moult would migrate, without migrating anything.
    ///
    /// - Throws: `cannotInfer` (134190), listing every change that cannot be inferred, each with its place and remedy;
    ///   `question` if the models are ambiguous, with every question and its answers.
    public static func inferredMappingModel(
        forSourceModel source: ManagedObjectModel, destinationModel destination: ManagedObjectModel
    ) throws -> MappingModel {
        let mapping = try ResolvedMapping(
            inferring: ModelVersion(names: ["the source model"], model: source),
            to: ModelVersion(names: ["the destination model"], model: destination))
        return MappingModel(mapping, from: source, to: destination)
    }

    /// Reads a mapping model: an `.xcmappingmodel` folder, or a compiled `.cdm`.
    ///
    /// - Throws: `fileNotFound`, `fileNotReadable`, `modelNotFound` for a file that is not a mapping model,
    ///   `modelInvalid` for an empty or damaged one.
    public init(contentsOf url: URL) throws {
        self = try MappingModelFile(contentsOf: url.path).mapping
    }

    /// Finds the mapping model in the bundles that was made for the two models. If `bundles` is nil, searches the main
    /// bundle.
    ///
    /// - Returns: nil if there is none.
    /// - Throws: an error if a mapping model cannot be read.
    public init?(
        from bundles: [Bundle]?, forSourceModel source: ManagedObjectModel,
        destinationModel destination: ManagedObjectModel
    ) throws {
        let versions = ModelVersions(versions: [
            ModelVersion(names: ["the source model"], model: source),
            ModelVersion(names: ["the destination model"], model: destination),
        ])
        let folders = (bundles ?? [.main]).flatMap { [$0.resourceURL, $0.bundleURL].compactMap(\.self) }
        for folder in folders {
            for file in try MappingModelFile.all(at: folder.path) {
                let match = try? MappingMatch(of: file.mapping, named: file.name, held: file.versions, in: versions)
                guard let match, match.source == 0, match.destination == 1 else { continue }
                self = file.mapping
                return
            }
        }
        return nil
    }

    /// The entity mappings by name. Expressions of other mappings use these names.
    public var entityMappingsByName: [String: EntityMapping] {
        Dictionary(entityMappings.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    }
}

extension EntityMapping {
    /// Core Data's name for ``type``.
    public var mappingType: EntityMappingType {
        get { type }
        set { type = newValue }
    }
}
