import MoultBasics
import MoultEngine

/// Files that are put in place all at once: a single file, or a folder of files.
///
/// An incomplete product has a name that ends with `.part`, next to the final path. The next run removes any leftovers
/// of a killed one.
package struct BuildProduct {
    /// The contents, by path inside the folder; for a single file, one entry with an empty path.
    let files: [(path: String, bytes: [UInt8])]
    let path: String
    let rights: FileRights

    package init(files: [(path: String, bytes: [UInt8])], path: String, rights: FileRights) {
        (self.files, self.path, self.rights) = (files, path, rights)
    }

    /// Writes the product, replacing whatever is at its path.
    ///
    /// - Parameter last: called when every file is written under its temporary name, just before the product is put in
    ///   place. If it throws, nothing is replaced.
    package func write(_ system: any System, last: () throws -> Void = {}) throws {
        try system.makeFolders(Path.folder(of: path), rights)
        if try system.exists(replaced), try !system.exists(path) { try system.rename(replaced, to: path) }
        try StagedPath.removeAbandoned(for: path, system)
        let part = StagedPath.make(for: path, system)
        do {
            for (name, bytes) in files {
                let file = name.isEmpty ? part : Path.join(part, name)
                try system.makeFolders(Path.folder(of: file), rights)
                try system.write(bytes, to: file, rights)
                try system.synchronise(file)
            }
            try last()
            try putInPlace(part, system)
        } catch {
            _ = try? system.removeTree(part)
            throw error
        }
        try system.synchronise(Path.folder(of: path))
    }

    /// The name of the old folder while it is replaced on a volume that cannot exchange two folders. If the process
    /// ends then, it is whole there, and the next run takes it back.
    private var replaced: String { path + ".replaced" }

    /// Moves the finished files to the product's path.
    private func putInPlace(_ part: String, _ system: any System) throws {
        guard try system.status(of: path)?.kind == .folder else { return try system.rename(part, to: path) }
        if try system.exchange(part, with: path) {
            // The product is in place. The next run removes anything left of the old one.
            _ = try? system.removeTree(part)
            return
        }
        _ = try system.removeTree(replaced)
        try system.rename(path, to: replaced)
        do {
            try system.rename(part, to: path)
        } catch {
            try system.rename(replaced, to: path)
            throw error
        }
        _ = try? system.removeTree(replaced)
    }
}

extension System {
    /// Creates a folder and its missing parents.
    package func makeFolders(_ path: String, _ rights: FileRights) throws {
        let status = try status(of: path)
        if status?.kind == .folder { return }
        if status == nil { try makeFolders(Path.folder(of: path), rights) }
        // Throws if something else has the name.
        try makeFolder(path, rights)
    }
}

/// The path of a product, according to `--out`.
package enum OutputPath {
    /// Returns the path itself if it has the product's extension; otherwise the product's own name inside that folder.
    ///
    /// - Parameters:
    ///   - ending: the extension of the product, such as `momd`.
    ///   - others: extensions that the product cannot have.
    /// - Throws: `usage` for a path with one of the other extensions.
    package static func of(
        _ name: String, _ ending: String, at path: String?, others: Set<String>, _ system: some System
    ) throws -> String {
        let path = path ?? "."
        guard !path.isEmpty else {
            throw MigrationError(
                .usage, String(advice: "\(option: .output) is empty."),
                remedy: "Name a path, or leave \(option: .output) away for this folder.")
        }
        let given = Self.ending(of: path)
        if given == ending { return withoutSlashes(path) }
        if others.contains(given), try system.status(of: path)?.kind != .folder {
            throw MigrationError(
                .usage, "\(name) becomes a .\(ending), and \(path) ends with .\(given).", place: path,
                remedy: "Give a path that ends with .\(ending), or a folder.")
        }
        return Path.join(path, "\(name).\(ending)")
    }

    private static func ending(of path: String) -> String {
        let name = Path.name(of: path)
        return name.contains(".") ? name.split(separator: ".").last.map(String.init) ?? "" : ""
    }

    private static func withoutSlashes(_ path: String) -> String {
        var text = Substring(path)
        while text.count > 1, text.last == "/" { text.removeLast() }
        return String(text)
    }
}
