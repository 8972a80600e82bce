import MoultBasics
import MoultStore

/// Names for unfinished files next to their final path: `NAME.PID-START-UNIQUE.part`.
///
/// There is no lock next to a user's own archive or folder. The name itself identifies the process by its number and
/// start, so that files of a dead process can be distinguished from those of a live one.
package enum StagedPath {
    static let suffix = ".part"

    package static func make(for path: String, _ system: any System) -> String {
        let number = system.processIdentifier
        let start = mark(ofProcess: number, system) ?? "0"
        return "\(path).\(number)-\(start)-\(system.uniqueName().prefix(8))\(suffix)"
    }

    /// Removes what dead processes left for a path, and returns the name of a new unfinished file.
    ///
    /// - Parameter isStore: whether the file is a database.
    /// - Throws: `usage` if the path is taken, `locked` if another process is making it.
    package static func begin(_ path: String, isStore: Bool = false, _ system: any System) throws -> String {
        try removeAbandoned(for: path, system)
        try checkUncontended(path, system)
        try system.checkNewPath(path, isStore: isStore)
        return make(for: path, system)
    }

    /// Renames a finished file to its path. Its contents must be synchronised already.
    ///
    /// - Throws: `usage` if something has been made there since.
    package static func end(_ part: String, as path: String, isStore: Bool = false, _ system: any System) throws {
        try system.checkNewPath(path, isStore: isStore)
        try system.rename(part, toUnused: path)
        // The rename is complete; synchronising the folder only protects it from a power cut.
        try? system.synchronise(Path.folder(of: path))
    }

    /// Writes files so that a reader finds either the old or the new contents of each, after removing what dead
    /// processes left for them. In an existing folder, the files are renamed after all of them are written.
    ///
    /// - Parameter makesFolders: whether to make a missing folder, complete with its files or not at all.
    package static func replace(
        _ files: [(path: String, bytes: [UInt8])], makingFolders makesFolders: Bool = false, _ rights: FileRights,
        _ system: any System
    ) throws {
        var products: [Product] = []
        for (path, bytes) in files {
            let place = try (makesFolders ? missing(path, system) : nil) ?? path
            let position = products.firstIndex { $0.path == place } ?? products.count
            if position == products.count { products.append(Product(path: place, part: make(for: place, system))) }
            products[position].files.append((String(path.dropFirst(place.count)), bytes))
        }
        for (folder, products) in Dictionary(grouping: products, by: { Path.folder(of: $0.path) }) {
            let names = Set(products.map { Path.name(of: $0.path) })
            for left in try abandoned(in: folder, system, where: names.contains) { try system.removeTree(left) }
        }
        do {
            for product in products { try product.write(rights, system) }
            for product in products { try system.rename(product.part, to: product.path) }
        } catch {
            for product in products { _ = try? system.removeTree(product.part) }
            throw error
        }
        for folder in Set(products.map { Path.folder(of: $0.path) }) { try system.synchronise(folder) }
    }

    /// A file, or a folder with files, that gets its name in one rename.
    private struct Product {
        let path: String
        let part: String
        /// The files by the rest of their paths, which is empty for the file itself.
        var files: [(rest: String, bytes: [UInt8])] = []

        func write(_ rights: FileRights, _ system: any System) throws {
            var folders: Set<String> = []
            for (rest, bytes) in files {
                let file = part + rest
                var missing: [String] = []
                var folder = Path.folder(of: file)
                while folder.utf8.count >= part.utf8.count, folders.insert(folder).inserted {
                    missing.append(folder)
                    folder = Path.folder(of: folder)
                }
                for folder in missing.reversed() { try system.makeFolder(folder, rights) }
                try system.writeExactly(bytes, to: file, rights)
                try system.synchronise(file)
            }
            for folder in folders { try system.synchronise(folder) }
        }
    }

    /// Returns the topmost missing folder of a path; nil if none is missing.
    private static func missing(_ path: String, _ system: any System) throws -> String? {
        var (missing, folder): (String?, String) = (nil, Path.folder(of: path))
        while try system.status(of: folder) == nil, try !system.isLink(folder), folder != Path.folder(of: folder) {
            missing = folder
            folder = Path.folder(of: folder)
        }
        return missing
    }

    /// Returns the unfinished paths that processes which have ended left for a path.
    static func abandoned(for path: String, _ system: any System) throws -> [String] {
        try abandoned(in: Path.folder(of: path), system) { $0 == Path.name(of: path) }
    }

    /// Returns the unfinished paths that processes which have ended left in a folder.
    package static func abandoned(
        in folder: String, _ system: any System, where isMeant: (_ name: String) -> Bool = { _ in true }
    ) throws -> [String] {
        guard try system.status(of: folder)?.kind == .folder else { return [] }
        return try system.list(folder).filter { entry in
            guard let (name, process, start) = parts(of: entry), isMeant(name) else { return false }
            return mark(ofProcess: process, system) != start
        }.map { Path.join(folder, $0) }
    }

    /// - Throws: `locked` if another live process is making the same path.
    static func checkUncontended(_ path: String, _ system: any System) throws {
        let folder = Path.folder(of: path)
        guard try system.status(of: folder)?.kind == .folder else { return }
        for entry in try system.list(folder) {
            guard let (name, process, start) = parts(of: entry), name == Path.name(of: path),
                process != system.processIdentifier, mark(ofProcess: process, system) == start
            else { continue }
            throw MigrationError(
                .locked, "The process \(process) is writing \(path).", place: path,
                remedy: "Wait for it to end, or name another path.")
        }
    }

    package static func removeAbandoned(for path: String, _ system: any System) throws {
        for path in try abandoned(for: path, system) { try system.removeTree(path) }
    }

    private static func parts(of entry: String) -> (name: String, process: Int32, start: String)? {
        // An unfinished database may have left side files.
        let side = ReadOnlyStore.sideFileSuffixes.first { entry.hasSuffix(suffix + $0) } ?? ""
        guard entry.hasSuffix(suffix + side) else { return nil }
        let words = entry.dropLast(suffix.count + side.count)
        guard let dot = words.lastIndex(of: ".") else { return nil }
        let fields = words[words.index(after: dot)...].split(separator: "-")
        guard fields.count == 3, let process = Int32(fields[0]), process > 0, fields[2].count == 8 else { return nil }
        return (String(words[..<dot]), process, String(fields[1]))
    }

    /// Returns a mark that tells apart two processes with the same number; nil for one that is not running.
    private static func mark(ofProcess process: Int32, _ system: any System) -> String? {
        system.startTime(ofProcess: process).map { Array(Digest.sha256($0.utf8).prefix(4)).hexadecimal }
    }
}

/// A store that is made in a folder next to its path until it is complete.
///
/// The files that belong to a store are renamed before the store: until then nothing looks like one. A mark in the
/// folder records what has been moved, so that a later run can remove it if this process dies in between.
package struct StagedStore {
    /// The path that the store will have.
    package let path: String
    /// The folder in which it is made.
    package let folder: String
    private let system: any System

    package var new: String { Path.join(folder, "new") }
    /// The folder of external data.
    package var support: String { Path.join(folder, "support") }
    /// The database for data that has no place in the store.
    package var aside: String { Path.join(folder, "aside") }
    /// The folder of the records that Moult keeps next to a store.
    package var records: String { Path.join(folder, "records") }
    /// A file that names what is being renamed, from just before until the store has its name.
    private var mark: String { Path.join(folder, "moving") }

    /// The files and folders that are renamed before the store.
    private var companions: [(from: String, to: String)] {
        let sidecar = StoreRecords(store: path)
        return [(support, sidecar.support), (aside, StoreRecords.aside(of: path)), (records, sidecar.folder)]
    }

    private init(path: String, folder: String, _ system: any System) {
        (self.path, self.folder, self.system) = (path, folder, system)
    }

    /// Makes the folder, after removing what dead processes left for the path.
    ///
    /// - Parameters:
    ///   - places: the paths that must be free, including the path itself.
    ///   - store: a store that must not share the folder of external data.
    /// - Throws: `usage` if one of them is taken, `locked` if another process is making the same store.
    package init(at path: String, taking places: [String], apartFrom store: String? = nil, _ system: any System) throws
    {
        try Self.checkFree(path, taking: places, apartFrom: store, system)
        self.init(path: path, folder: StagedPath.make(for: path, system), system)
        try system.makeFolder(folder)
    }

    /// Creates the unfinished store of a move, whose folder is named after the run: the journal alone decides when the
    /// folder is removed, no matter which process made it.
    init(ofMove run: String, to path: String, _ system: any System) {
        self.init(path: path, folder: "\(path).\(run)\(StagedPath.suffix)", system)
    }

    /// Removes what dead processes left for a path, and checks that the path and the places are free.
    ///
    /// - Throws: `usage` if one of them is taken, `locked` if another process is making the same store.
    package static func checkFree(
        _ path: String, taking places: [String], apartFrom store: String?, _ system: any System
    ) throws {
        try removeAbandoned(path, system)
        try StagedPath.checkUncontended(path, system)
        try system.checkNewPath(path, isStore: true, apartFrom: store)
        try check(places, path, system)
    }

    private static func check(_ places: [String], _ path: String, _ system: any System) throws {
        let databases = [path, StoreRecords.aside(of: path)]
        for place in places { try system.checkNewPath(place, isStore: databases.contains(place)) }
    }

    package func remove() { _ = try? discard(isInstalled: isInstalled) }

    /// Whether the store that is made here has its path.
    private var isInstalled: Bool { get throws { try !system.exists(new) && system.exists(path) } }

    /// Removes the folder. If the store does not have its path, first removes the files that were renamed before it.
    func discard(isInstalled: Bool) throws {
        if !isInstalled { try removeMoved() }
        try system.removeTree(folder)
    }

    /// Renames the store's other files and then the store itself.
    ///
    /// - Parameters:
    ///   - places: the paths that must be free. Another process may have made something there since; files made between
    ///     this check and the rename are not replaced either.
    ///   - store: a whole store in one file, which gets the path in place of the one made here.
    /// - Returns: the error from synchronising the folder at the end; the store is complete, but not yet safe from a
    ///   power cut.
    package func install(taking places: [String], moving store: String? = nil) throws -> (any Error)? {
        try Self.check(places, path, system)
        if store == nil { try checkWrittenBack() }
        let before = try companions.filter { try system.exists($0.from) }
        // If the process dies, a later run reads from the mark which renamed files belong to this store.
        try system.write(Array(before.map(\.from).map(Path.name).joined(separator: "\n").utf8), to: mark)
        for file in [mark, folder, Path.folder(of: folder)] { try system.synchronise(file) }
        do {
            for (from, to) in before { try system.rename(from, toUnused: to) }
            try system.synchronise(Path.folder(of: path))
            try system.rename(store ?? new, toUnused: path)
        } catch {
            // A rename may have happened although it reported an error.
            if (try? system.exists(store ?? new)) == true { _ = try? removeMoved() }
            throw error
        }
        do {
            try system.synchronise(Path.folder(of: path))
            return nil
        } catch {
            return error
        }
    }

    /// Checks that SQLite, which reports no error when the last connection closes, has left nothing in a log.
    private func checkWrittenBack() throws {
        for log in ["-wal", "-journal"] where try system.exists(new + log) {
            throw MigrationError(
                .inputOutput, "The disk failed, or became full, while the new store was written.", place: path,
                remedy: "Check the disk and its free space, and run the command again. Nothing is at the path.")
        }
    }

    /// Removes the renamed files of a store that was not renamed itself. A file at its path belongs to another process.
    private func removeMoved() throws {
        guard try system.exists(mark) else { return }
        let names = String(decoding: try system.read(mark), as: UTF8.self).split(separator: "\n")
        for (from, to) in companions where names.contains(Path.name(of: from)[...]) {
            if try !system.exists(from) { try system.removeTree(to) }
        }
        // Without the mark, a file that is missing from the folder no longer counts as renamed.
        try system.remove(mark)
        try system.synchronise(folder)
    }

    /// Removes what dead processes left for a path.
    ///
    /// - Returns: whether there was anything to remove.
    @discardableResult
    package static func removeAbandoned(_ path: String, _ system: any System) throws -> Bool {
        let abandoned = try StagedPath.abandoned(for: path, system)
        for folder in abandoned {
            let unfinished = StagedStore(path: path, folder: folder, system)
            try unfinished.discard(isInstalled: unfinished.isInstalled)
        }
        return !abandoned.isEmpty
    }
}

extension StoreCreator {
    /// Makes a store that gets its name after it is filled and synchronised: a process that dies earlier leaves nothing
    /// at the path.
    ///
    /// - Parameter fill: fills the store at the path that it receives.
    /// - Throws: `usage` if the path is taken, `locked` if another process is making the same store; what `fill`
    ///   throws. Nothing is changed then.
    @discardableResult
    package func makeWhole<Result>(
        at path: String, on system: any System = POSIXSystem(), fill: (String) throws -> Result
    ) throws -> Result {
        let unfinished = try StagedStore(at: path, taking: [path], system)
        defer { unfinished.remove() }
        try make(at: unfinished.new, on: system)
        let result = try fill(unfinished.new)
        try moveExternalData(of: unfinished, system)
        try system.synchronise(unfinished.new)
        _ = try unfinished.install(taking: [path])
        return result
    }

    /// Moves the external data to the folder that it is installed from, or file by file into an existing folder left by
    /// a store of the same name.
    private func moveExternalData(of unfinished: StagedStore, _ system: any System) throws {
        let (made, own) = (ExternalStorage(store: unfinished.new), ExternalStorage(store: unfinished.path))
        guard try system.exists(made.folder) else { return }
        let names = try system.list(made.folder)
        for name in names { try system.synchronise(Path.join(made.folder, name)) }
        guard try system.exists(own.supportFolder) else {
            for folder in [made.folder, made.supportFolder] { try system.synchronise(folder) }
            return try system.rename(made.supportFolder, to: unfinished.support)
        }
        try system.makeFolder(own.folder, made.rights)
        for name in names { try system.rename(Path.join(made.folder, name), toUnused: Path.join(own.folder, name)) }
        try system.synchronise(own.folder)
    }
}
