import MoultModel
import MoultStore
import MoultSystem

/// A store that is made in a folder next to its path until it is whole.
///
/// What belongs to a store gets its name before the store does: until then nothing looks like one. A mark in the folder
/// says what has been moved, so that a later run removes what a process left that died in between.
package struct UnfinishedStore {
    /// The path that the store will have.
    package let path: String
    /// The folder in which it is made.
    package let folder: String
    private let system: any System

    package var new: String { Path.join(folder, "new") }
    /// The folder of external data.
    package var support: String { Path.join(folder, "support") }
    /// A database with what has no place in the store.
    package var aside: String { Path.join(folder, "aside") }
    /// The folder of the records that Moult keeps next to a store.
    var records: String { Path.join(folder, "records") }
    /// Names what has got its own name, from just before that until the store has.
    private var mark: String { Path.join(folder, "moving") }

    /// The files and folders that get their names before the store.
    private var companions: [(from: String, to: String)] {
        let sidecar = Sidecar(store: path)
        return [(support, sidecar.support), (aside, Sidecar.aside(of: path)), (records, sidecar.folder)]
    }

    private init(path: String, folder: String, _ system: any System) {
        (self.path, self.folder, self.system) = (path, folder, system)
    }

    /// Makes the folder, after removing what processes that are no more have left for the path.
    ///
    /// - Parameters:
    ///   - places: where nothing may be, the path itself included.
    ///   - store: one that must not have the same folder of external data.
    /// - Throws: `usage` if one of them is taken, `locked` if another process makes the same store.
    package init(at path: String, taking places: [String], apartFrom store: String? = nil, _ system: any System) throws
    {
        try Self.removeAbandoned(path, system)
        try UnfinishedPath.checkUncontended(path, system)
        try system.checkNewPath(path, isStore: true, apartFrom: store)
        try Self.check(places, path, system)
        self.init(path: path, folder: UnfinishedPath.make(for: path, system), system)
        try system.makeFolder(folder)
    }

    private static func check(_ places: [String], _ path: String, _ system: any System) throws {
        let databases = [path, Sidecar.aside(of: path)]
        for place in places { try system.checkNewPath(place, isStore: databases.contains(place)) }
    }

    package func remove() { _ = try? system.removeTree(folder) }

    /// Gives the store its name, and before it what belongs to it.
    ///
    /// - Parameter places: where nothing may be. Another process may have made something there since; what it makes
    ///   between this check and the rename is not replaced either.
    /// - Returns: why the folder could not be synchronised in the end; the store is there and whole as long as the machine
    ///   keeps its power.
    package func install(taking places: [String]) throws -> (any Error)? {
        try Self.check(places, path, system)
        try checkWrittenBack()
        let before = try companions.filter { try system.exists($0.from) }
        // Whose the files at their new names are until the store has its own, a later run reads from this.
        try system.write(Array(before.map(\.from).map(Path.name).joined(separator: "\n").utf8), to: mark)
        for file in [mark, folder, Path.folder(of: folder)] { try system.synchronise(file) }
        do {
            for (from, to) in before { try system.rename(from, toUnused: to) }
            try system.synchronise(Path.folder(of: path))
            try system.rename(new, toUnused: path)
        } catch {
            _ = try? removeMoved()
            throw error
        }
        do {
            try system.synchronise(Path.folder(of: path))
            return nil
        } catch {
            return error
        }
    }

    /// SQLite keeps no error of the last connection that closes: what it could not write back lies in a log still.
    private func checkWrittenBack() throws {
        for log in ["-wal", "-journal"] where try system.exists(new + log) {
            throw MigrationError(
                .inputOutput, "The disk failed, or became full, while the new store was written.", place: path,
                remedy: "Check the disk and its free space, and run the command again. Nothing is at the path.")
        }
    }

    /// Removes the files and folders that have got their names, if the store has not. As long as the store has not left
    /// its folder, the file at its path belongs to another process.
    private func removeMoved() throws {
        guard try system.exists(mark), try system.exists(new) || !system.exists(path) else { return }
        let names = String(decoding: try system.read(mark), as: UTF8.self).split(separator: "\n")
        for (from, to) in companions where names.contains(Path.name(of: from)[...]) {
            if try !system.exists(from) { try system.removeTree(to) }
        }
    }

    /// Removes what processes that are no more have left for a path.
    ///
    /// - Returns: whether there was anything.
    @discardableResult
    package static func removeAbandoned(_ path: String, _ system: any System) throws -> Bool {
        let abandoned = try UnfinishedPath.abandoned(for: path, system)
        for folder in abandoned {
            try UnfinishedStore(path: path, folder: folder, system).removeMoved()
            try system.removeTree(folder)
        }
        return !abandoned.isEmpty
    }
}
