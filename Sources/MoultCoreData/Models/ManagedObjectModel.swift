import Foundation
import MoultBasics
import MoultModel

extension ManagedObjectModel {
    /// Reads the model at `url`. For a bundle of versions (`.momd`, `.xcdatamodeld`), reads the current version.
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

    /// Returns the current versions of all models in the bundles, merged into one model; nil means the main bundle.
    ///
    /// - Throws: `modelNotFound` if none of them contains a model, `modelInvalid` if two models conflict.
    public static func mergedModel(from bundles: [Bundle]?) throws -> ManagedObjectModel {
        try ManagedObjectModel(byMerging: try models(in: bundles).map(ManagedObjectModel.init(contentsOf:)))
    }

    /// Returns the model with which a store was made, among all versions of all models in the bundles; nil means the
    /// main bundle.
    ///
    /// - Parameter metadata: the metadata of the store.
    /// - Throws: `modelNotFound` if the bundles contain no model, or not the version of the store; `modelInvalid` if
    ///   two models with which the store was made conflict.
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

    /// The version hash of each entity, 32 bytes, as Core Data computes it.
    public var entityVersionHashesByName: [String: Data] {
        VersionHashes(of: self).entities.mapValues { Data($0) }
    }

    /// The Base64-encoded SHA-256 digest of all version hashes, which Xcode prints as the version checksum.
    public var versionChecksum: String { VersionHashes(of: self).checksum.base64 }

    /// Returns whether a store with this metadata can be opened with the model, which requires equal version hashes for
    /// its entities.
    ///
    /// - Parameter name: the configuration with which the store is opened; nil for the whole model. The result is false
    ///   if the model has no such configuration.
    public func isConfiguration(withName name: String?, compatibleWithStoreMetadata metadata: [String: Any]) -> Bool {
        guard let entities = entities(forConfigurationName: name),
            let stored = metadata[StoreMetadataKey.modelVersionHashes] as? [String: Data]
        else { return false }
        let names = Set(entities.map(\.name))
        return entityVersionHashesByName.filter { names.contains($0.key) } == stored
    }

    /// Creates the model with which a store was made, identified by the version hashes in its metadata: one of several
    /// versions, or several models merged.
    ///
    /// - Parameter metadata: the metadata of the store.
    /// - Throws: `modelNotFound` if the models do not have every entity of the store in the store's version;
    ///   `modelInvalid` if two models with which the store was made conflict.
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

/// A source of a managed object model, such as a SwiftData schema, that this module does not know.
public protocol _ManagedObjectModelSource {
    /// - Throws: `MigrationError` with code `modelInvalid`.
    func managedObjectModel() throws -> ManagedObjectModel
}

/// A class that defines a managed object model together with other classes, such as a SwiftData model class.
public protocol _ManagedObjectModelClass: AnyObject {
    /// - Throws: `MigrationError` with code `modelInvalid`.
    static func _managedObjectModel(of classes: [any _ManagedObjectModelClass.Type]) throws -> ManagedObjectModel
}

/// The search for models in folders and bundles.
enum ModelLocation {
    /// The file extensions in order of preference: a bundle of versions can migrate stores, a single version cannot.
    private static let extensions = ["momd", "xcdatamodeld", "mom", "xcdatamodel", "omo"]

    /// Returns the models in these folders, each once, in order of their names.
    static func models(in folders: [URL]) -> [URL] {
        let entries = Set(folders.map(\.standardizedFileURL.path)).sorted().flatMap { folder in
            let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
            return names.sorted().map { URL(fileURLWithPath: folder).appendingPathComponent($0) }
        }
        let bundles = entries.filter { extensions.contains($0.pathExtension) }
        // The compiled form of a model may be next to its source.
        return Dictionary(grouping: bundles) { $0.deletingPathExtension().lastPathComponent }
            .sorted { $0.key < $1.key }
            .compactMap { $0.value.min { rank($0) < rank($1) } }
    }

    /// Returns the named model in one of these folders.
    ///
    /// - Throws: `modelNotFound`, naming the folders.
    static func model(named name: String, in folders: [URL]) throws -> URL {
        if let url = models(in: folders).first(where: { $0.deletingPathExtension().lastPathComponent == name }) {
            return url
        }
        throw MigrationError(
            .modelNotFound, "There is no model named \(name).",
            place: folders.map(\.path).joined(separator: ", "),
            remedy: "Put \(name).momd or \(name).xcdatamodeld there, or pass the model itself.")
    }

    private static func rank(_ url: URL) -> Int { extensions.firstIndex(of: url.pathExtension) ?? extensions.count }
}

extension ModelVersions {
    /// Creates the versions of a model built in code, oldest first. The last one is the current version.
    public init(_ models: [(name: String, model: ManagedObjectModel)]) {
        let versions = models.map { ModelVersion(names: [$0.name], model: $0.model) }
        self.init(joining: versions, currentName: models.last?.name)
    }

    /// The version that the bundle names as current, or else the last one; nil if the name of the current version
    /// cannot be read.
    public var current: ModelVersion? {
        currentFault == nil ? currentName.flatMap { self[$0] } ?? versions.last : nil
    }

    /// The version named `name`.
    public subscript(name: String) -> ModelVersion? {
        position(named: name).map { versions[$0].named(name) }
    }
}
