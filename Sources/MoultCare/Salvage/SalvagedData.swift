import MoultEngine
import MoultModel
import MoultPages
import MoultSQLite
import MoultStore
import MoultSystem
import MoultVerify

/// The external data of a damaged store: what can be copied, and the values of the new store whose files cannot.
struct SalvagedData {
    /// The damaged store's folder.
    private let source: ExternalStorage
    /// The folder of the copies; nil where the new store has the folder of the damaged one.
    private let copies: String?
    private let system: any System
    private(set) var count = 0

    /// Copies each file that can be read. One that cannot keeps no other from being copied.
    ///
    /// - Throws: what the disk of the copies says.
    init(of store: String, for new: String, to folder: String, _ system: any System) throws {
        source = ExternalStorage(store: store)
        self.system = system
        guard ExternalStorage(store: new).supportFolder != source.supportFolder else {
            copies = nil
            return
        }
        copies = folder
        try copy(source.supportFolder, to: folder, .like(store))
        if count == 0 { try system.removeTree(folder) }
    }

    private mutating func copy(_ folder: String, to copy: String, _ rights: FileRights) throws {
        guard try !system.isLink(folder), let names = try readable(folder, { try system.list(folder) }) else { return }
        try system.makeFolder(copy, rights)
        for name in names {
            let (path, target) = (Path.join(folder, name), Path.join(copy, name))
            guard try !system.isLink(path), let kind = try readable(path, { try system.status(of: path)?.kind })
            else { continue }
            switch kind {
            case .folder: try self.copy(path, to: target, rights)
            case .file: if try hasCopied(path, to: target, rights) { count += 1 }
            default: break
            }
        }
        try system.synchronise(copy)
    }

    private func hasCopied(_ path: String, to copy: String, _ rights: FileRights) throws -> Bool {
        guard try readable(path, { try system.copy(path, to: copy, rights) }) != nil else {
            try system.remove(copy)
            return false
        }
        try system.synchronise(copy)
        return true
    }

    /// - Returns: nil where the path itself is what cannot be read.
    private func readable<Result>(_ path: String, _ body: () throws -> Result?) throws -> Result? {
        do {
            return try body()
        } catch let error as MigrationError
            where error.place == path
            && [.fileNotFound, .fileNotReadable, .readOnly, .inputOutput].contains(error.code)
        {
            return nil
        }
    }

    // MARK: - Values without a file

    /// The values of a new store whose file is gone, cannot be read or is no plain file.
    func missing(from connection: Connection, _ layout: StoreLayout) throws -> [SalvageReport.MissingData] {
        try StoreShape(layout, withObjects: false).external.compactMap { column in
            var keys = KeyRanges()
            let name = column.column.quotedName
            let numbers = column.numbers.map(String.init).joined(separator: ", ")
            try connection.forEachRow(
                """
                SELECT Z_PK, \(name) FROM main.\(column.table.quotedName) \
                WHERE Z_ENT IN (\(numbers)) AND typeof(\(name)) = 'blob' AND substr(\(name), 1, 1) = x'02' ORDER BY Z_PK
                """
            ) { row in
                if case .file(let file)? = row.blob(1).flatMap(ExternalStorage.Cell.init), try has(file) { return }
                keys.append(row.integer(0)...row.integer(0))
            }
            guard !keys.ranges.isEmpty else { return nil }
            let place = column.place.split(separator: ".").map(String.init)
            return SalvageReport.MissingData(entity: place[0], property: place[1], keys: keys.ranges)
        }
    }

    private func has(_ name: String) throws -> Bool {
        if let copies {
            return try system.exists(Path.join(Path.join(copies, Path.name(of: source.folder)), name))
        }
        guard try source.holds(name, on: system), let path = try source.file(name, on: system) else { return false }
        return try readable(path) { try system.bytes(of: path, from: 0, count: 1) } != nil
    }
}
