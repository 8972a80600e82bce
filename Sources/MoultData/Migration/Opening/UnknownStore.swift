import MoultModel
import MoultPlan
import MoultStore

/// A store of none of a plan's versions: of a release before the plan, or of a build in between two versions.
struct UnknownStore {
    private let snapshot: StoreSnapshot
    private let part: StorePart

    /// - Parameter configuration: the one that the store is opened with; nil for none.
    init(_ snapshot: StoreSnapshot, configuration: String?) {
        self.snapshot = snapshot
        part = configuration.map(StorePart.configuration) ?? .whole
    }

    /// The versions to go through: the model that the store carries stands before the last version that has just its
    /// models and properties, whatever else the two differ in.
    ///
    /// - Throws: `storeUnknown` with the nearest version and all that differs, where there is no such version.
    func versions(adoptedBy versions: ModelVersions, of plan: String) throws -> ModelVersions {
        guard let carried = snapshot.cachedModel,
            let own = try? ModelVersion(names: [""], model: carried).held(by: snapshot.hashes).model,
            let position = versions.versions.lastIndex(where: { version in
                (try? version.restricted(to: part).model.hasStructure(of: own)) == true
            })
        else { throw unknown(versions, plan) }
        var list = versions.versions
        list.insert(ModelVersion(names: ["before \(list[position].name)"], model: carried), at: position)
        return ModelVersions(versions: list)
    }

    private func unknown(_ versions: ModelVersions, _ plan: String) -> MigrationError {
        let nearest = versions.nearest(to: snapshot.hashes)
        var error = MigrationError.storeUnknown(nearest: nearest)
        error.message =
            "The store is of no version of \(plan). \(nearest.map(\.sentence) ?? "")\(differences(nearest, versions))"
        error.place = snapshot.path
        error.remedy =
            "If the store is another app's, give the ModelConfiguration a name or a URL of its own. Otherwise every build "
            + "that reached users needs its version: add the models that made this store to the plan as a separate "
            + "VersionedSchema, with a stage from the version before and one to the version after."
        return error
    }

    private func differences(_ nearest: VersionStatus.Nearest?, _ versions: ModelVersions) -> String {
        guard let nearest, let carried = snapshot.cachedModel,
            let correspondence = try? Correspondence(
                from: versions.versions[nearest.position], to: ModelVersion(names: ["the store"], model: carried))
        else { return "" }
        return " Since then: " + ModelDiff(correspondence).changes.map(\.sentence).joined(separator: " ")
    }
}

extension ManagedObjectModel {
    /// Whether the tables of the two have the same columns of the same types.
    fileprivate func hasStructure(of other: ManagedObjectModel) -> Bool {
        entities.count == other.entities.count
            && entities.allSatisfy { entity in
                guard let theirs = other.entity(entity.name) else { return false }
                return entity.superentityName == theirs.superentityName
                    && entity.attributes.flatMap(\.leaves).map(\.structure)
                        == theirs.attributes.flatMap(\.leaves).map(\.structure)
                    && entity.relationships.map(\.structure) == theirs.relationships.map(\.structure)
            }
    }
}

extension AttributeDescription {
    fileprivate var structure: [String] { [name, type.name, "\(isTransient)", "\(allowsExternalBinaryDataStorage)"] }
}

extension RelationshipDescription {
    fileprivate var structure: [String] {
        [name, destinationEntityName, inverseName ?? "", "\(isToMany)", "\(isOrdered)"]
    }
}
