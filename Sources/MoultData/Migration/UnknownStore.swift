import MoultBasics
import MoultModel
import MoultPlan
import MoultStore

/// A store that matches no version of a plan: from a release before the plan, from a later release, from a build between
/// two versions, or from another app.
struct UnknownStore {
    private let snapshot: StoreSnapshot
    private let part: StorePart
    /// The version in the store's metadata; nil if there is none of a schema.
    private let version: Schema.Version?

    /// - Parameter configuration: the configuration to open the store with; nil for none.
    init(_ snapshot: StoreSnapshot, configuration: String?) {
        self.snapshot = snapshot
        part = configuration.map(StorePart.configuration) ?? .whole
        version = snapshot.metadata.versionIdentifiers.compactMap { Schema.Version($0) }.max()
    }

    /// Returns the versions of the migration: those of the plan, with the store's own model inserted before the last
    /// version that has the same models and properties, regardless of other differences.
    ///
    /// - Throws: `incompatibleVersion` if the store's metadata names a version later than those of the plan;
    ///   `storeUnknown`, with the nearest version and all differences, if no version has the store's tables.
    func versions(adoptedBy versions: ModelVersions, of plan: String) throws -> ModelVersions {
        let nearest = versions.nearest(to: snapshot.hashes)
        if nearest?.isOfAnotherApp != true, let error = later(versions, plan) { throw error }
        guard let carried = snapshot.cachedModel,
            let own = try? ModelVersion(names: [""], model: carried).held(by: snapshot.hashes).model,
            let position = versions.versions.lastIndex(where: { version in
                (try? version.restricted(to: part).model.hasStructure(of: own)) == true
            })
        else { throw unknown(nearest, versions, plan) }
        var list = versions.versions
        list.insert(ModelVersion(names: ["before \(list[position].name)"], model: carried), at: position)
        return ModelVersions(versions: list)
    }

    /// Returns the error for a store of a later version than those of the plan; nil for any other store. A schema
    /// without a version is 1.0.0, so this number proves nothing.
    private func later(_ versions: ModelVersions, _ plan: String) -> MigrationError? {
        let known = versions.versions.compactMap { Schema.Version($0.name) }
        guard let version, let newest = known.max(), version > newest, version != Schema.Version(1, 0, 0),
            let place = versions.position(named: "\(newest)")
        else { return nil }
        return MigrationError(
            .incompatibleVersion,
            "The store is of the later version \(version). The newest of \(plan) is \(newest)."
                + differences(place, versions),
            place: snapshot.path,
            remedy: """
                Open it with a program that has \(version). Or go back to \(newest): \(.rollback) restores a backup, without \
                what was saved since.
                """)
    }

    private func unknown(
        _ nearest: VersionStatus.Nearest?, _ versions: ModelVersions, _ plan: String
    ) -> MigrationError {
        let ofAnotherApp = ConfigurationWords.ofAnotherApp
        var remedy =
            "Every build that reached users needs its version: add the models that made this store to the plan as a separate "
            + "VersionedSchema, with a stage from the version before and one to the version after."
        var sentence = nearest?.sentence ?? ""
        if nearest?.isOfAnotherApp == true {
            remedy = "\(ofAnotherApp) Otherwise add the models that made it to the plan, as a separate VersionedSchema."
        } else if let version, let place = versions.position(named: "\(version)") {
            sentence =
                "It names the version \(version), which has other models in \(plan): they were changed after the release, or "
                + "another build made the store.\(differences(place, versions))"
            remedy =
                "Leave the models of a released version as they are: take the change back, and make it in a separate "
                + "VersionedSchema. \(remedy) \(ofAnotherApp)"
        } else {
            sentence += nearest.map { differences($0.position, versions) } ?? ""
            remedy += " \(ofAnotherApp)"
        }
        return MigrationError(
            .storeUnknown, "The store is of no version of \(plan). \(sentence)", place: snapshot.path, remedy: remedy)
    }

    /// Returns what changes between a version of the plan and the store, from the earlier one to the later one.
    ///
    /// - Parameter place: the position of the version.
    private func differences(_ place: Int, _ versions: ModelVersions) -> String {
        guard let carried = snapshot.cachedModel else { return "" }
        let known = versions.versions[place]
        let store = ModelVersion(names: ["the store"], model: carried)
        let isEarlier = version.flatMap { own in Schema.Version(known.name).map { own <= $0 } } ?? false
        let (old, new) = isEarlier ? (store, known) : (known, store)
        guard let correspondence = try? EntityMatching(from: old, to: new) else { return "" }
        let sentences = ModelDiff(correspondence).hashed.map(\.sentence)
        return sentences.isEmpty ? "" : " From \(old.name) to \(new.name): \(sentences.joined(separator: " "))"
    }
}

extension Schema.Version {
    /// Creates a version from an identifier in a store's metadata; nil if that is not of a schema.
    fileprivate init?(_ identifier: String) {
        let numbers = identifier.split(separator: ".").compactMap { Int($0) }
        guard numbers.count == 3 else { return nil }
        self.init(numbers[0], numbers[1], numbers[2])
        guard description == identifier else { return nil }
    }
}

extension ManagedObjectModel {
    /// Whether the tables of both models have the same columns with the same types.
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
