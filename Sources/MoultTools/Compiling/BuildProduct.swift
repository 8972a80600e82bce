import MoultEngine
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
    package func write(_ system: any System) throws {
        try system.makeFolders(Path.folder(of: path), rights)
        try UnfinishedPath.removeAbandoned(for: path, system)
        let part = UnfinishedPath.make(for: path, system)
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

    /// Moves the finished files to the product's path. Where a volume cannot exchange two folders, the old one first
    /// gets a name that the next run removes.
    private func putInPlace(_ part: String, _ system: any System) throws {
        guard try system.status(of: path)?.kind == .folder else { return try system.rename(part, to: path) }
        if try system.exchange(part, with: path) {
            // The product is in place; what is left of the old one goes with the next run.
            _ = try? system.removeTree(part)
            return
        }
        let old = UnfinishedPath.make(for: path, system)
        try system.rename(path, to: old)
        do {
            try system.rename(part, to: path)
        } catch {
            try system.rename(old, to: path)
            throw error
        }
        _ = try? system.removeTree(old)
    }
}

extension System {
    /// Makes a folder with those above it, as far as they are missing.
    package func makeFolders(_ path: String, _ rights: FileRights) throws {
        let status = try status(of: path)
        if status?.kind == .folder { return }
        if status == nil { try makeFolders(Path.folder(of: path), rights) }
        // Throws where something else has the name.
        try makeFolder(path, rights)
    }
}
