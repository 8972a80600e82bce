import MoultBasics
import MoultModel
import MoultPlan

/// The version of a store, and the model for reading its rows.
///
/// They are determined from the store itself, in this order: its metadata's entity hashes, its model, its tables.
package struct StoreRecognition: Sendable, Equatable {
    package let status: VersionStatus
    /// The version's position; nil if the store matches no version.
    package let position: Int?
    /// The configuration that the store was opened with, if it contains only a part of the version's entities.
    package let configuration: String?
    /// The model that fits the store's tables; nil if neither the versions nor the store contain one.
    package let model: ManagedObjectModel?
    /// The evidence for the version.
    package let basis: Basis
    package let findings: [Finding]

    package enum Basis: String, Sendable, Hashable { case hashes, modelCache, tables, none }

    /// - Parameters:
    ///   - versions: the possible versions of the store; empty to use the model inside it.
    ///   - target: the destination version; nil for the current one.
    /// - Throws: `noPath` if there is no version with that name.
    package init(
        of snapshot: StoreSnapshot, in versions: ModelVersions = ModelVersions(versions: []), target: String? = nil
    ) throws {
        let candidates = Candidates(snapshot: snapshot, versions: versions)
        findings = candidates.findings
        let identifiers = snapshot.metadata.versionIdentifiers
        let goal = try versions.versions.isEmpty ? nil : versions.target(named: target)
        let place = versions.place(of: snapshot.hashes, identifiers: identifiers, toward: goal)
        if let place {
            (position, basis) = (place.position, .hashes)
        } else if snapshot.hashes.entities.isEmpty, let position = candidates.byModelCache {
            (self.position, basis) = (position, .modelCache)
        } else if snapshot.hashes.entities.isEmpty, let position = candidates.byTables {
            (self.position, basis) = (position, .tables)
        } else {
            (position, basis) = (nil, .none)
        }
        let version = place?.version ?? position.map { versions.versions[$0] }
        configuration = place?.configuration
        model = version?.model ?? candidates.model
        status = try VersionStatus(
            of: place == nil ? version?.hashes ?? snapshot.hashes : snapshot.hashes, identifiers: identifiers,
            in: versions, target: target)
    }
}

extension VersionStatus {
    /// Creates the status of a file that is not a store, from the error of opening it; nil for any other error.
    package init?(_ error: MigrationError) {
        guard error.code == .notAStore else { return nil }
        self = .notCoreData(reason: error.message)
    }
}

/// The possible models of a store whose hashes match none of the versions.
private struct Candidates {
    let snapshot: StoreSnapshot
    let versions: ModelVersions

    /// The version that matches the model in the store.
    var byModelCache: Int? { snapshot.cachedModel.flatMap { versions.position(matching: VersionHashes(of: $0)) } }

    /// The latest version that explains every table and column.
    var byTables: Int? { versions.versions.indices.last { fits(versions.versions[$0].model) } }

    /// The model in the store, if it fits; otherwise the latest version that explains the tables, even if different.
    var model: ManagedObjectModel? {
        if let cached = snapshot.cachedModel, isCacheOfStore || fits(cached) { return cached }
        return byTables.map { versions.versions[$0].model }
    }

    var findings: [Finding] {
        guard snapshot.cachedModel != nil, !snapshot.hashes.entities.isEmpty, !isCacheOfStore else { return [] }
        return [
            Finding(
                code: "model-cache-stale", severity: .warning, place: "Z_MODELCACHE",
                message: "The model in the store's cache does not match its metadata.",
                remedy: "Name the model that made the store.")
        ]
    }

    /// Whether the cached model has the hashes of the store's metadata.
    private var isCacheOfStore: Bool {
        guard let cached = snapshot.cachedModel else { return false }
        let hashes = VersionHashes(of: cached).entities
        return !snapshot.hashes.entities.isEmpty && snapshot.hashes.entities.allSatisfy { hashes[$0.key] == $0.value }
    }

    private func fits(_ model: ManagedObjectModel) -> Bool {
        guard let layout = try? StoreLayout(actual: snapshot, model: model) else { return false }
        return !layout.noticed.contains { $0.severity > .note }
    }
}

extension ModelVersions {
    /// Returns the version of a store, identified by its hashes.
    ///
    /// - Throws: `storeUnknown` if the store matches none of the versions; the errors of reading the store.
    package func version(ofStore store: String) throws -> ModelVersion {
        let hashes = try ReadOnlyStore.read(store) { try StoreSnapshot($0.connection).hashes }
        guard let place = place(of: hashes) else { throw MigrationError.storeUnknown(nearest: nearest(to: hashes)) }
        return place.version
    }

    /// Returns the versions of the model at a path. If that model is another store, the version inside `store` is
    /// inserted first, because it may be the origin of the model.
    package func onTheWay(of store: String, to path: String) throws -> ModelVersions {
        guard try ReadOnlyStore.isDatabase(path),
            var own = try? ModelVersion(ownOfStore: store), position(matching: own.hashes) == nil
        else { return self }
        // Do not migrate from a store of another app, which would delete everything.
        let entities = Set(own.model.entities.map(\.name))
        guard versions.contains(where: { !entities.isDisjoint(with: $0.model.entities.map(\.name)) }) else {
            return self
        }
        if position(named: own.name) != nil { own = own.calledTheStoresOwn }
        var joined = self
        joined.versions.insert(own, at: 0)
        return joined
    }
}
