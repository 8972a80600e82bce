import MoultModel

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// `moult.lock`: what the released versions of models were when they were released.
///
/// It lies in the folder that contains the bundle, and inside a plain folder of versions. Several bundles of one folder
/// share it, each under its file name. It says of each version its name, in order, its checksum and fingerprint, and of
/// each entity hash and fingerprint; and which version was current.
package struct ModelLock: Sendable, Equatable {
    package static let fileName = "moult.lock"

    /// One released version.
    package struct Version: Sendable, Equatable {
        package var name: String
        /// 32 bytes, as `VersionHashes.checksum`.
        package var checksum: [UInt8]
        /// 32 bytes, as `ModelFingerprint.bytes`.
        package var fingerprint: [UInt8]
        package var entities: [String: Entity]

        package init(_ version: ModelVersion) {
            let fingerprint = ModelFingerprint(of: version.model)
            name = version.name
            checksum = version.hashes.checksum
            self.fingerprint = fingerprint.bytes
            entities = version.hashes.entities.reduce(into: [:]) { entities, entry in
                entities[entry.key] = Entity(hash: entry.value, fingerprint: fingerprint.entities[entry.key] ?? [])
            }
        }

        init(name: String, checksum: [UInt8], fingerprint: [UInt8], entities: [String: Entity]) {
            self.name = name
            self.checksum = checksum
            self.fingerprint = fingerprint
            self.entities = entities
        }
    }

    package struct Entity: Sendable, Equatable {
        package var hash: [UInt8]
        package var fingerprint: [UInt8]
    }

    /// By the bundle's file name.
    package private(set) var models: [String: [Version]]
    /// The name of the version that was current, by the bundle's file name; a bundle that named none is not in it.
    package private(set) var current: [String: String]

    package init() { self.init(models: [:]) }

    init(models: [String: [Version]], current: [String: String] = [:]) {
        self.models = models
        self.current = current
    }

    /// The versions that are locked of the model at a path, in their order; nil if the lock does not speak of it.
    package func versions(of modelPath: String) -> [Version]? { models[Self.key(of: modelPath)] }

    /// The version of the model at a path that was current; nil if the lock does not say.
    package func currentName(of modelPath: String) -> String? { current[Self.key(of: modelPath)] }

    /// Pins every version of a bundle as it is now, in place of what was pinned of it.
    ///
    /// Whether a released version may be replaced is the caller's to ask with ``check(_:of:)``.
    package mutating func pin(_ bundle: ModelBundle) throws {
        let key = Self.key(of: bundle.path)
        models[key] = try bundle.versions.concurrentMap(Version.init)
        current[key] = bundle.currentName
    }
}

// MARK: - Place

extension ModelLock {
    /// Returns the path of the lock file of the model at a path, whether or not there is one.
    package static func path(besideModelAt modelPath: String) -> String {
        isPlainFolder(modelPath) ? modelPath + "/" + fileName : folder(of: modelPath) + "/" + fileName
    }

    /// The lock file next to a model; nil if there is none.
    ///
    /// - Throws: `MigrationError` with code `lockFileMismatch` for a file that is no lock file.
    package init?(besideModelAt modelPath: String) throws {
        let path = Self.path(besideModelAt: modelPath)
        guard ModelFolder.mayExist(path) else { return nil }
        try self.init(json: ModelFolder.bytes(at: path), place: path)
    }

    /// The name of a model in the lock; a plain folder is `.`, wherever it lies.
    static func key(of modelPath: String) -> String { isPlainFolder(modelPath) ? "." : modelPath.fileName }

    /// Whether the model that the lock has under this name is still in the folder of another one.
    package static func isModel(named key: String, besideModelAt modelPath: String) -> Bool {
        key == "." || FileManager.default.fileExists(atPath: folder(of: modelPath) + "/" + key)
    }

    private static func isPlainFolder(_ path: String) -> Bool {
        ModelFolder.isFolder(path) == true && !["xcdatamodeld", "xcdatamodel", "momd"].contains(path.fileExtension)
    }

    private static func folder(of path: String) -> String {
        let folder = path.parentFolder
        return folder == "/" ? "" : folder
    }
}
