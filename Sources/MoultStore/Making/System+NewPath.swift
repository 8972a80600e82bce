import MoultModel
import MoultSystem

extension System {
    /// Makes sure that something can be made at a path: its folder is there, and nothing has that name, not even a link
    /// that leads to nothing.
    ///
    /// - Parameters:
    ///   - isStore: whether SQLite will open it, and take files next to it for its own.
    ///   - store: a store that must not have the same folder of external data.
    /// - Throws: `usage` if the path is taken, or if it is the name of a side file of a database that is there, or if
    ///   both stores would share a folder; `fileNotFound` without a folder.
    package func checkNewPath(_ path: String, isStore: Bool = false, apartFrom store: String? = nil) throws {
        let sideFiles = isStore ? StoreProbe.sideFileSuffixes.map { path + $0 } : []
        if let taken = try ([path] + sideFiles).first(where: { try exists($0) || isLink($0) }) {
            throw MigrationError.taken(taken, for: path)
        }
        if isStore, let owner = try ownName(path) {
            throw MigrationError(
                .usage, "\(path) is a place of \(owner).", place: path, remedy: "Name another path.")
        }
        let support = ExternalStorage(store: path).supportFolder
        if let store, support == ExternalStorage(store: store).supportFolder {
            throw MigrationError(
                .usage, "Both stores would keep their external data in \(support).", place: path,
                remedy: "Name a path with another file name, or in another folder.")
        }
        for suffix in StoreProbe.sideFileSuffixes where path.hasSuffix(suffix) {
            let database = String(path.dropLast(suffix.count))
            guard try exists(database) else { continue }
            throw MigrationError(
                .usage, "SQLite uses \(path) for the database \(database), and removes it.", place: path,
                remedy: "Name another path.")
        }
        let folder = Path.folder(of: path)
        guard try status(of: folder)?.kind == .folder else {
            throw MigrationError(
                .fileNotFound, "There is no folder \(folder).", place: path,
                remedy: "Create the folder first, or name a path in an existing one.")
        }
    }

    /// Returns a description of what Moult or Core Data keeps at a path; nil for any other path. Moult keeps its
    /// records in `<name>.moult`, Core Data external data in `.<stem>_SUPPORT`.
    private func ownName(_ path: String) throws -> String? {
        let (folder, name) = (Path.folder(of: path), Path.name(of: path))
        if name.hasPrefix("."), name.hasSuffix("_SUPPORT") { return "Core Data's external data" }
        for records in [path, folder] where records.hasSuffix(".moult") {
            if try exists(String(records.dropLast(".moult".count))) { return "Moult's own records" }
        }
        return nil
    }
}
