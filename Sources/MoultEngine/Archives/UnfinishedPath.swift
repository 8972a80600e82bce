import MoultModel
import MoultStore
import MoultSystem

/// Names for what is made next to a path until it is whole: `NAME.PID-START-UNIQUE.part`.
///
/// Beside an archive or a folder of a person's own there is no lock. The name itself says which process makes it, by
/// its number and its start, so that the files of a dead process differ from those of a living one.
package enum UnfinishedPath {
    static let suffix = ".part"

    package static func make(for path: String, _ system: any System) -> String {
        let number = system.processIdentifier
        let start = mark(ofProcess: number, system) ?? "0"
        return "\(path).\(number)-\(start)-\(system.uniqueName().prefix(8))\(suffix)"
    }

    /// Removes what processes that are no more have left for a path, and names what is made until it is whole.
    ///
    /// - Parameter isStore: whether it is a database.
    /// - Throws: `usage` if the path is taken, `locked` if another process makes it.
    package static func begin(_ path: String, isStore: Bool = false, _ system: any System) throws -> String {
        try removeAbandoned(for: path, system)
        try checkUncontended(path, system)
        try system.checkNewPath(path, isStore: isStore)
        return make(for: path, system)
    }

    /// Gives what is whole its name. What it holds is synchronised before.
    ///
    /// - Throws: `usage` where somebody has made something there since.
    package static func end(
        _ part: String, as path: String, isStore: Bool = false, _ system: any System
    ) throws {
        try system.checkNewPath(path, isStore: isStore)
        try system.rename(part, toUnused: path)
        // What is whole keeps its name as long as the machine keeps its power.
        try? system.synchronise(Path.folder(of: path))
    }

    /// Writes files so that a reader finds the old contents of each or the new, after removing what processes that are no
    /// more have left for them. Into a folder that is there, the files go when all of them are written.
    ///
    /// - Parameter makesFolders: whether a folder that is not there is made, with all that belongs into it or not at all.
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

    /// A file, or a folder with files, that takes its name at once.
    private struct Product {
        let path: String
        let part: String
        /// By what follows the path, which is empty for the file itself.
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
                try system.write(bytes, to: file, rights)
                try system.synchronise(file)
            }
            for folder in folders { try system.synchronise(folder) }
        }
    }

    /// The folder above a path that is missing and whose own folder is there; nil if none is.
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

    /// - Throws: `locked` if another process that is running makes the same path.
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
        // A database that was not finished may have left side files.
        let side = StoreProbe.sideFileSuffixes.first { entry.hasSuffix(suffix + $0) } ?? ""
        guard entry.hasSuffix(suffix + side) else { return nil }
        let words = entry.dropLast(suffix.count + side.count)
        guard let dot = words.lastIndex(of: ".") else { return nil }
        let fields = words[words.index(after: dot)...].split(separator: "-")
        guard fields.count == 3, let process = Int32(fields[0]), process > 0, fields[2].count == 8 else { return nil }
        return (String(words[..<dot]), process, String(fields[1]))
    }

    /// Tells two processes of one number apart; nil for one that is not running.
    private static func mark(ofProcess process: Int32, _ system: any System) -> String? {
        system.startTime(ofProcess: process).map { Array(Digest.sha256($0.utf8).prefix(4)).hexadecimal }
    }
}
