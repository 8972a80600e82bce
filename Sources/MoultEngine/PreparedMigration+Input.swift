import MoultModel
import MoultModelFiles
import MoultPlan
import MoultTransform

extension ModelVersions {
    /// - Throws: `lockFileMismatch` if a version that was released has changed since.
    package func checkReleased() throws {
        guard let change = findings.first(where: { $0.code == "released-version-changed" }) else { return }
        throw MigrationError(.lockFileMismatch, change.message, place: change.place, remedy: change.advice)
    }
}

extension [RegisteredStage] {
    /// The mapping models at a path, for the versions that they fit.
    ///
    /// - Parameters:
    ///   - path: a mapping model, or a folder of them.
    ///   - registry: has the migration policies that they may name.
    /// - Throws: `modelNotFound` for a folder without any; `noPath` and `question` if one does not fit just two
    ///   versions; what reading them throws.
    package init(mappingsAt path: String, in versions: ModelVersions, _ registry: MigrationRegistry) throws {
        let mappings = try MappingModelFile.all(at: path)
        guard !mappings.isEmpty else {
            throw MigrationError(
                .modelNotFound, "The folder contains no mapping model.", place: path,
                remedy: "Give an .xcmappingmodel folder, a compiled .cdm, or a folder of them.")
        }
        self = try mappings.map {
            try RegisteredStage(
                $0.mapping, named: $0.name, held: $0.versions, in: versions, policies: Set(registry.policies.keys))
        }
    }
}
