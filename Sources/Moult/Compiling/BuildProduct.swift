import MoultModel
import MoultSystem

/// Files that take their place all at once: one file, or a folder of them.
///
/// What is not complete has a name that ends with `.part`, next to the product. The next run removes what a killed one
/// has left there.
package struct BuildProduct {
    /// The contents, by path inside the folder; of a single file, one entry with an empty path.
    let files: [(path: String, bytes: [UInt8])]
    let path: String
    let rights: FileRights

    package init(files: [(path: String, bytes: [UInt8])], path: String, rights: FileRights) {
        (self.files, self.path, self.rights) = (files, path, rights)
    }

    /// Writes the product in place of what has its name.
    package func write(_ system: some System) throws {
        try removeLeftovers(system)
        try system.makeFolders(Path.folder(of: path), rights)
        let part = "\(path).\(system.processIdentifier).\(system.uniqueName()).part"
        do {
            for (name, bytes) in files {
                let file = name.isEmpty ? part : Path.join(part, name)
                try system.makeFolders(Path.folder(of: file), rights)
                try system.write(bytes, to: file, rights)
                try system.synchronise(file)
            }
            try putInPlace(part, system)
        } catch {
            _ = try? system.removeTree(part)
            throw error
        }
        try system.synchronise(Path.folder(of: path))
    }

    /// A folder cannot replace a folder in one step: the old one first gets a name that the next run removes.
    private func putInPlace(_ part: String, _ system: some System) throws {
        guard try system.status(of: path)?.kind == .folder else { return try system.rename(part, to: path) }
        let old = "\(path).\(system.processIdentifier).\(system.uniqueName()).part"
        try system.rename(path, to: old)
        do {
            try system.rename(part, to: path)
        } catch {
            try system.rename(old, to: path)
            throw error
        }
        // The product is in place; what is left of the old one goes with the next run.
        _ = try? system.removeTree(old)
    }

    /// Removes the parts of processes that run no longer.
    private func removeLeftovers(_ system: some System) throws {
        let folder = Path.folder(of: path)
        guard try system.exists(folder) else { return }
        let prefix = Path.name(of: path) + "."
        for name in try system.list(folder) where name.hasPrefix(prefix) && name.hasSuffix(".part") {
            let middle = name.dropFirst(prefix.count).dropLast(".part".count).split(separator: ".")
            guard middle.count == 2, middle[1].count == 16, let process = Int32(middle[0]),
                process != system.processIdentifier, system.startTime(ofProcess: process) == nil
            else { continue }
            try system.removeTree(Path.join(folder, name))
        }
    }
}

extension System {
    /// Makes a folder with those above it, as far as they are missing.
    package func makeFolders(_ path: String, _ rights: FileRights) throws {
        guard try !exists(path) else { return }
        try makeFolders(Path.folder(of: path), rights)
        try makeFolder(path, rights)
    }
}
