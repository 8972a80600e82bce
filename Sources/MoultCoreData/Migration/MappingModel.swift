import Foundation
import MoultModel
import MoultModelFiles
import MoultPlan

extension MappingModel {
    /// The mapping that Moult would migrate by, without migrating anything.
    ///
    /// - Throws: `cannotInfer` (134190) with every change that cannot be inferred, each with its place and remedy;
    ///   `question` if the models leave open what a thing is, with every question and its answers.
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
    /// - Throws: `fileNotFound`, `fileNotReadable`, `modelNotFound` for a file that is no mapping model, `modelInvalid`
    ///   for one that is empty or damaged.
    public init(contentsOf url: URL) throws {
        self = try MappingModelFile(contentsOf: url.path).mapping
    }

    /// The mapping model in the bundles that was made for the two models; nil stands for the main bundle.
    ///
    /// - Returns: nil if none fits.
    /// - Throws: what reading throws.
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

    /// By name, which the expressions of other mappings use.
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
