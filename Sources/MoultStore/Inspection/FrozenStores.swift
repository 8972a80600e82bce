import MoultBasics
import MoultModel
import MoultModelFiles

/// A folder of stores of released versions, as teams keep them for tests. Each store is a version, named after its file,
/// or after its folder if that has no other store.
struct FrozenStores {
    /// A store with the name of its version.
    private struct Store {
        let name: String
        let path: String
    }

    private let folder: String
    private let stores: [Store]

    /// - Returns: nil for a path that is no folder, for a folder with versions of a model, and for one without a database.
    init?(inFolder path: String, _ system: some System) throws {
        let path = path.count > 1 && path.hasSuffix("/") ? String(path.dropLast()) : path
        let endings = ["xcdatamodeld", "xcdatamodel", "momd", "app"]
        guard try system.status(of: path)?.kind == .folder, !endings.contains(path.fileExtension),
            !ModelBundle.hasVersions(inFolder: path)
        else { return nil }
        folder = path
        stores =
            try Self.stores(in: path, system)
            + Self.subfolders(of: path, system).flatMap { name in
                let inside = try Self.stores(in: Path.join(path, name), system)
                return inside.map { Store(name: inside.count == 1 ? name : "\(name) \($0.name)", path: $0.path) }
            }
        if stores.isEmpty { return nil }
    }

    private static func stores(in folder: String, _ system: some System) throws -> [Store] {
        try system.list(folder).compactMap { name in
            let path = Path.join(folder, name)
            let isSideFile = ReadOnlyStore.sideFileSuffixes.contains(where: name.hasSuffix)
            guard !isSideFile, try ReadOnlyStore.isDatabase(path, system) else { return nil }
            return Store(name: Path.stem(of: name), path: path)
        }
    }

    /// The folders of a folder, without those that belong to a store.
    private static func subfolders(of folder: String, _ system: some System) throws -> [String] {
        try system.list(folder).filter { name in
            let path = Path.join(folder, name)
            return try !name.hasPrefix(".") && !name.hasSuffix(Path.sidecarEnding)
                && system.status(of: path)?.kind == .folder && !system.isLink(path)
        }
    }

    /// Reads the model inside each store.
    ///
    /// - Throws: `modelNotFound` if no store has a model; `usage` for a wrong order.
    func bundle(order: [String]?, _ system: some System) throws -> ModelBundle {
        var (versions, files, findings) = ([ModelVersion](), [String: String](), [Finding]())
        for store in stores {
            do {
                var version = try ModelVersion(ownOfStore: store.path, system: system)
                (version.names, version.isInsideStore) = ([store.name], false)
                versions.append(version)
                files[store.name] = store.path
            } catch let error as MigrationError {
                findings.append(error.code == .modelNotFound ? .withoutModel(store.path) : .notRead(store.path, error))
            }
        }
        guard !versions.isEmpty else {
            let first = findings.first.map { " \($0.place): \($0.message)" } ?? ""
            throw MigrationError(
                .modelNotFound, "No store in the folder contains a model that can be read.\(first)", place: folder,
                remedy: "Name the model that made the stores: \(option: .model("PATH")).")
        }
        return try ModelBundle(versions, at: folder, files: files, order: order, findings: findings)
    }
}

extension Finding {
    fileprivate static func withoutModel(_ path: String) -> Finding {
        Finding(
            code: "frozen-store-without-model", severity: .warning, place: path,
            message: "The store contains no model, so its version is not among these.",
            remedy: "Add the version from the model that made it; stores since iOS 9 contain their model.")
    }

    fileprivate static func notRead(_ path: String, _ error: MigrationError) -> Finding {
        Finding(
            code: "frozen-store-not-read", severity: .warning, place: path,
            message: "The store is left out. \(error.message)",
            remedy: "Replace the file by a sound copy, or remove it.")
    }
}
