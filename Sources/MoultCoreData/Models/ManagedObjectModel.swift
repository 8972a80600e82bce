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

    /// The version hash of each entity, 32 bytes, as Core Data computes it.
    public var entityVersionHashesByName: [String: Data] {
        VersionHashes(of: self).entities.mapValues { Data($0) }
    }

    /// Base64 of the SHA-256 over all version hashes: what Xcode prints as the version checksum.
    public var versionChecksum: String { VersionHashes(of: self).checksum.base64 }

    /// Whether a store with this metadata opens with the model: its entities' version hashes are equal.
    ///
    /// - Parameter name: of the configuration that the store is opened with; nil for the whole model. False where the
    ///   model has none of that name.
    public func isConfiguration(withName name: String?, compatibleWithStoreMetadata metadata: [String: Any]) -> Bool {
        guard let entities = entities(forConfigurationName: name),
            let stored = metadata[StoreMetadataKey.modelVersionHashes] as? [String: Data]
        else { return false }
        let names = Set(entities.map(\.name))
        return entityVersionHashesByName.filter { names.contains($0.key) } == stored
    }

    /// The model that a store was made with: of several versions the one, of several models the ones together, whose
    /// version hashes the store's metadata name.
    ///
    /// - Parameter metadata: those of the store.
    /// - Throws: `modelNotFound` if the models do not have every entity of the store in the store's version;
    ///   `modelInvalid` if two models that the store was made with do not fit together.
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

/// A source of a managed object model, such as a schema of SwiftData, which this module does not know.
public protocol _ManagedObjectModelSource {
    /// - Throws: `MigrationError` with code `modelInvalid`.
    func managedObjectModel() throws -> ManagedObjectModel
}

/// A class that with others makes a managed object model, such as a model of SwiftData.
public protocol _ManagedObjectModelClass: AnyObject {
    /// - Throws: `MigrationError` with code `modelInvalid`.
    static func _managedObjectModel(of classes: [any _ManagedObjectModelClass.Type]) throws -> ManagedObjectModel
}

/// The search for models in folders and bundles.
enum ModelLocation {
    /// In the order of preference: a bundle of versions can migrate, a lone version cannot.
    private static let extensions = ["momd", "xcdatamodeld", "mom", "xcdatamodel", "omo"]

    /// The models in these folders, each once, in the order of their names.
    static func models(in folders: [URL]) -> [URL] {
        let entries = Set(folders.map(\.standardizedFileURL.path)).sorted().flatMap { folder in
            let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
            return names.sorted().map { URL(fileURLWithPath: folder).appendingPathComponent($0) }
        }
        let bundles = entries.filter { extensions.contains($0.pathExtension) }
        // The compiled form of a model may lie next to its source.
        return Dictionary(grouping: bundles) { $0.deletingPathExtension().lastPathComponent }
            .sorted { $0.key < $1.key }
            .compactMap { $0.value.min { rank($0) < rank($1) } }
    }

    /// The model of that name in one of these folders.
    ///
    /// - Throws: `modelNotFound` that names the folders.
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
    /// The versions of a model that is built in code, oldest first; the last is the current one.
    public init(_ models: [(name: String, model: ManagedObjectModel)]) {
        let versions = models.map { ModelVersion(names: [$0.name], model: $0.model) }
        self.init(joining: versions, currentName: models.last?.name)
    }

    /// The version that the bundle calls current, otherwise the last; nil if it cannot be read which one is current.
    public var current: ModelVersion? {
        currentFault == nil ? currentName.flatMap { self[$0] } ?? versions.last : nil
    }

    /// The version that goes by `name`.
    public subscript(name: String) -> ModelVersion? {
        position(named: name).map { versions[$0].named(name) }
    }
}
