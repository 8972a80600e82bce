import MoultModel
import MoultSQLite
import MoultSystem

extension StoreProbe {
    /// Looks at the file itself, before SQLite does: every kind of file that cannot be a store gets its own message.
    ///
    /// - Returns: the path without symbolic links.
    package static func checkFile(_ path: String, _ system: any System) throws -> String {
        for _ in 0..<10 {
            let before = try system.status(of: path)
            do {
                return try checkOnce(path, system)
            } catch let error as MigrationError where error.code == .storeCorrupted {
                // Somebody was writing: its size was read before their commit, and its header after it.
                guard try system.status(of: path) != before else { throw error }
            }
        }
        return try checkOnce(path, system)
    }

    private static func checkOnce(_ path: String, _ system: any System) throws -> String {
        guard let status = try system.status(of: path) else {
            throw try missing(path, system)
        }
        switch status.kind {
        case .folder:
            throw notAStore(path, "\(path) is a folder.", remedy: try remedyForFolder(path, system))
        case .other:
            throw notAStore(path, "\(path) is neither a file nor a folder.")
        case .file:
            break
        }
        let resolved = try system.resolve(path)
        guard status.size > 0 else { throw notAStore(path, "\(path) is empty.") }
        let header = try system.read(resolved, prefix: 100)
        try checkMagic(header, path)
        let sideFiles = try ["-wal", "-journal"].map { try system.status(of: resolved + $0)?.size ?? 0 }
        // A checkpoint that died leaves pages to the WAL that the header counts already.
        if sideFiles.allSatisfy({ $0 == 0 }) { try checkLength(header, status.size, path) }
        return resolved
    }

    private static func missing(_ path: String, _ system: any System) throws -> MigrationError {
        let folder = Path.folder(of: path)
        // A folder lists a link though it leads nowhere.
        guard try system.exists(folder), try system.list(folder).contains(Path.name(of: path)) else {
            return MigrationError(
                .fileNotFound, "Nothing is at \(path).", place: path, remedy: "Check the path of the store.")
        }
        return MigrationError(
            .fileNotFound, "\(path) is a symbolic link that leads to nothing.", place: path,
            remedy: "Name the store itself, or put back what the link leads to.")
    }

    private static func remedyForFolder(_ path: String, _ system: any System) throws -> String {
        let stores = try system.list(path).filter { name in
            [".sqlite", ".store", ".db", ".sqlite3"].contains { name.hasSuffix($0) }
        }
        guard let first = stores.first else { return "Name the store's file." }
        return "Name the store's file, such as \(Path.join(path, first))."
    }

    private static func checkMagic(_ header: [UInt8], _ path: String) throws {
        if header.starts(with: magic) { return }
        if magic.starts(with: header) {
            throw MigrationError(
                .storeCorrupted, "\(path) is cut off after \(header.count) bytes, inside its header.", place: path,
                remedy: "Restore it from a backup.")
        }
        if header.starts(with: Array("bplist".utf8)) || header.starts(with: Array("CoreData".utf8)) {
            throw notAStore(
                path, "\(path) is a property list or a binary store of Core Data, not a SQLite store.",
                remedy: "Moult migrates SQLite stores; convert it with Core Data first.")
        }
        if header.starts(with: Array("<?xml".utf8)) {
            throw notAStore(
                path, "\(path) is an XML file, not a SQLite store.",
                remedy: "Moult migrates SQLite stores; an XML store has to be converted with Core Data first.")
        }
        throw notAStore(
            path, "\(path) does not begin like a SQLite database; it is of another kind, encrypted or overwritten.")
    }

    private static func checkLength(_ header: [UInt8], _ size: Int64, _ path: String) throws {
        guard header.count == 100 else {
            throw cutOff(path, "after \(header.count) bytes, inside its header")
        }
        func number(_ offset: Int, _ count: Int) -> Int64 {
            header[offset..<(offset + count)].reduce(0) { $0 << 8 | Int64($1) }
        }
        // Sections 1.3.2, 1.3.8: 1 stands for 65,536; the count is valid only where the two change counters agree.
        let pageSize = number(16, 2) == 1 ? 65_536 : number(16, 2)
        let pages = number(28, 4)
        guard number(24, 4) == number(92, 4), pages > 0, pageSize >= 512 else { return }
        guard size >= pages * pageSize else {
            throw cutOff(path, "after \(size) of \(pages * pageSize) bytes")
        }
    }

    private static func cutOff(_ path: String, _ place: String) -> MigrationError {
        MigrationError(
            .storeCorrupted, "\(path) is cut off \(place).", place: path,
            remedy: "Restore it from a backup, or copy it again from where it came.")
    }

    /// Looks at the tables: a readable schema, and the two tables that every store of Core Data has.
    func checkContents() throws {
        let tables: Set<String>
        do {
            tables = Set(try connection.catalogue().tables.map(\.name))
        } catch var error as MigrationError {
            error.place = path
            throw error
        }
        // STORE_FORMAT section 2.
        let missing = ["Z_METADATA", "Z_PRIMARYKEY"].filter { !tables.contains($0) }
        guard !missing.isEmpty else { return }
        throw Self.notAStore(
            path, "\(path) is a SQLite database without Core Data's \(missing.joined(separator: " and ")).",
            remedy: "Name a store that Core Data or SwiftData made.")
    }

    private static func notAStore(_ path: String, _ message: String, remedy: String = "Name a Core Data store.")
        -> MigrationError
    {
        MigrationError(.notAStore, message, place: path, remedy: remedy)
    }
}
