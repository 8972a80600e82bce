import MoultModel
import MoultPlan

/// A mapping model that an app has made in code, for the way from one version to another.
package struct RegisteredMapping: Sendable {
    package var name: String
    package var from: String
    package var to: String
    package var mapping: MappingModel
}

extension MigrationRegistry {
    /// Registers a mapping model to follow between two versions, instead of what would be inferred.
    ///
    /// What it leaves out is completed as Core Data would (``MoultModel/MappingModel/completed(from:to:)``): a mapping
    /// with its default expression for each property that an entity mapping does not name.
    ///
    /// - Parameters:
    ///   - from: the version's name, and `to` likewise.
    ///   - name: what plans and errors call it; `from to to` where it is nil.
    public mutating func register(mapping: MappingModel, from: String, to: String, named name: String? = nil) {
        mappings.append(RegisteredMapping(name: name ?? "\(from) to \(to)", from: from, to: to, mapping: mapping))
    }

    /// Everything that is to be taken instead of what is inferred, for the versions given.
    ///
    /// - Throws: `noPath` if a mapping model is registered for a version that there is not.
    package func stages(in versions: ModelVersions) throws(MigrationError) -> [RegisteredStage] {
        var stages = stages
        for registered in mappings {
            let (from, to) = (
                try versions.version(registered.from, of: registered),
                try versions.version(registered.to, of: registered)
            )
            stages.append(
                RegisteredStage(
                    registered.mapping.completed(from: from, to: to), named: registered.name, from: from, to: to,
                    policies: Set(policies.keys)))
        }
        return stages
    }
}

extension ModelVersions {
    fileprivate func version(_ name: String, of registered: RegisteredMapping) throws(MigrationError) -> ModelVersion {
        if let position = position(named: name) { return versions[position] }
        throw MigrationError(
            .noPath,
            "The mapping model \(registered.name) is registered for a version \(name), which the model does not have.",
            place: registered.name,
            remedy: "The versions are: \(self.versions.flatMap(\.names).joined(separator: ", ")).")
    }
}
