import MoultModel

extension System {
    /// Seconds since the clock that never goes back said `start`.
    ///
    /// - Parameter end: what it says now, or has said later; nil to look at it.
    package func seconds(since start: UInt64, to end: UInt64? = nil) -> Double {
        Double((end ?? monotonicNanoseconds) &- start) / 1e9
    }

    package func exists(_ path: String) throws -> Bool { try status(of: path) != nil }

    /// Writes so that a reader, or a machine that loses power, finds the old contents or the new, never a part.
    package func writeAtomically(_ bytes: [UInt8], to path: String) throws {
        let temporary = "\(path).\(uniqueName()).part"
        do {
            try write(bytes, to: temporary)
            try synchronise(temporary)
            try rename(temporary, to: path)
        } catch {
            _ = try? remove(temporary)
            throw error
        }
        try synchronise(Path.folder(of: path))
    }

    /// Removes a file, or a folder with all it holds; false where nothing has that name.
    @discardableResult
    package func removeTree(_ path: String) throws -> Bool {
        guard let status = try status(of: path) else { return try remove(path) }
        // A folder reached through a symbolic link is not ours to empty: remove the link.
        if status.kind == .folder, try !isSymbolicLink(path) {
            for name in try list(path) { try removeTree(Path.join(path, name)) }
        }
        return try remove(path)
    }

    /// Every file below a folder, as paths from that folder, in byte order.
    package func files(below folder: String) throws -> [String] {
        try list(folder).flatMap { name -> [String] in
            let path = Path.join(folder, name)
            guard try status(of: path)?.kind == .folder, try !isSymbolicLink(path) else { return [name] }
            return try files(below: path).map { Path.join(name, $0) }
        }
    }

    /// Copies a folder with all it holds and synchronises every file and folder of the copy.
    package func copyTree(_ folder: String, to copy: String) throws {
        try makeFolder(copy)
        for name in try list(folder) {
            let (source, destination) = (Path.join(folder, name), Path.join(copy, name))
            if try status(of: source)?.kind == .folder {
                try copyTree(source, to: destination)
            } else {
                try self.copy(source, to: destination)
                try synchronise(destination)
            }
        }
        try synchronise(copy)
    }

    /// The sum of the sizes of all files below a folder; zero where there is none.
    package func size(below folder: String) throws -> Int64 {
        guard try exists(folder) else { return 0 }
        return try files(below: folder).reduce(0) { try $0 + (status(of: Path.join(folder, $1))?.size ?? 0) }
    }

    private func isSymbolicLink(_ path: String) throws -> Bool {
        // The parent is resolved first, for only the last name matters.
        let parent = try resolve(Path.folder(of: path))
        return try resolve(path) != Path.join(parent, Path.name(of: path))
    }
}
