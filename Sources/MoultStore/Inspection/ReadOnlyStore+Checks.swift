import MoultBasics
import MoultModelFiles
import MoultSQLite

extension ReadOnlyStore {
    /// Checks the file itself, before SQLite reads it. Every kind of file that cannot be a store has its own message.
    ///
    /// - Returns: the path without symbolic links.
    package static func checkFile(_ path: String, _ system: any System) throws -> String {
        for _ in 0..<10 {
            let before = try system.status(of: path)
            do {
                return try checkOnce(path, system)
            } catch let error as MigrationError where error.code == .storeCorrupted {
                // A writer committed in between: the size was read before the commit, the header after it.
                guard try system.status(of: path) != before else { throw error }
            }
        }
        return try checkOnce(path, system)
    }

    /// Checks that the path names a file that may contain a damaged store: a file with any content, except a model.
    package static func checkKind(_ path: String, _ system: any System = POSIXSystem()) throws {
        _ = try status(of: path, system)
        if try !isDatabase(path, system), let error = model(path) { throw error }
    }

    private static func status(of path: String, _ system: any System) throws -> FileStatus {
        guard let status = try system.status(of: path) else { throw try missing(path, system) }
        switch status.kind {
        case .folder: throw try folder(path, system)
        case .other: throw notAStore(path, "\(path) is neither a file nor a folder.")
        case .file: return status
        }
    }

    private static func checkOnce(_ path: String, _ system: any System) throws -> String {
        let status = try status(of: path, system)
        let resolved = try system.resolve(path)
        guard status.size > 0 else {
            // A log next to it may hold everything.
            let isAlone = try sideFileSuffixes.allSatisfy { try system.status(of: resolved + $0) == nil }
            let remedy: Remedy = "Remove the file, so that a new store can be made there, or name a Core Data store."
            throw notAStore(path, "\(path) is empty.", remedy: isAlone ? remedy : "Name a Core Data store.")
        }
        if let encrypted = try encrypted(path, system) { throw encrypted }
        let sideFiles = try sideFileSuffixes.map { suffix -> Int64 in
            let (side, isLink) = (try system.status(of: resolved + suffix), try system.isLink(resolved + suffix))
            guard side != nil || isLink else { return 0 }
            // SQLite does not follow a link here, and would wait for the other end of a pipe.
            guard let side, side.kind == .file, !isLink else {
                throw notAStore(
                    path, "\(resolved)\(suffix) next to the store is not a plain file.",
                    remedy: "Find out what put it there, and move it away.")
            }
            return suffix == "-shm" ? 0 : side.size
        }
        // The header may be in the WAL, and an interrupted checkpoint leaves pages there that the header counts.
        if sideFiles.allSatisfy({ $0 == 0 }) {
            let start = try system.read(resolved, prefix: ArchiveForm.prefix)
            try checkMagic(start, path, status.size, system)
            try checkLength(Array(start.prefix(100)), status.size, path)
        }
        return resolved
    }

    /// Returns the error for a path without a file.
    package static func missing(_ path: String, _ system: any System) throws -> MigrationError {
        let folder = Path.folder(of: path)
        // The folder listing includes a link even if its target does not exist.
        guard try system.exists(folder), try system.list(folder).contains(Path.name(of: path)) else {
            if let moved = MovedStore(from: path, system) {
                return MigrationError(
                    .fileNotFound, "\(path) was moved to \(moved.destination) at \(moved.movedAt).", place: path,
                    remedy: "Name the store there. \(.listBackups, .store(path)) shows what is kept here.")
            }
            let names = (try? system.list(folder)) ?? []
            let near = Suggestion.sentence(for: Path.name(of: path), among: names.filter { !$0.hasPrefix(".") })
            return MigrationError(
                .fileNotFound, "Nothing is at \(path).\(near)", place: path, remedy: "Check the path of the store.")
        }
        guard !path.unicodeScalars.contains("\u{FFFD}") else {
            return MigrationError(
                .fileNotReadable, "The name of \(path) is not UTF-8, so Moult cannot open it.", place: path,
                remedy: "Rename the file.")
        }
        return MigrationError(
            .fileNotFound, "\(path) is a symbolic link to a file that does not exist.", place: path,
            remedy: "Name the store itself, or restore the file.")
    }

    private static func folder(_ path: String, _ system: any System) throws -> MigrationError {
        let stores = try system.list(path).filter { name in
            [".sqlite", ".store", ".db", ".sqlite3"].contains { name.hasSuffix($0) }
        }
        if stores.isEmpty, let error = model(path) { return error }
        let paths = stores.map { Path.join(path, $0) }
        let first = paths.first { (try? isDatabase($0, system)) ?? false } ?? paths.first
        let example = first.map { ", such as \($0)" } ?? ""
        return notAStore(path, "\(path) is a folder.", remedy: "Name the store's file\(example).")
    }

    /// Returns the error for a model passed in place of a store; nil if the path is not a model.
    private static func model(_ path: String) -> MigrationError? {
        if MappingModelFile.isMappingModel(path) {
            return notAStore(
                path, "\(path) is a mapping model, not a store.",
                remedy: "Name a store, and the mapping model with \(option: .mapping(nil)). "
                    + "\(.inspect, .store(path)) shows what it maps.")
        }
        guard ModelBundle.isModel(path) else { return nil }
        return notAStore(
            path, "\(path) is a model, not a store.",
            remedy: "Name a store, and the model with \(option: .model(nil)). "
                + "\(.hash, .path(path)) shows the model's versions.")
    }

    private static func checkMagic(
        _ header: [UInt8], _ path: String, _ size: Int64, _ system: any System
    ) throws {
        if header.starts(with: magic) { return }
        if magic.starts(with: header) {
            throw MigrationError(
                .storeCorrupted, "\(path) is cut off after \(Quantity.count(header.count, "byte")), inside its header.",
                place: path, remedy: MigrationError.damagedStoreRemedy)
        }
        if let error = model(path) { throw error }
        if header.starts(with: Array("bplist".utf8)) || header.starts(with: Array("CoreData".utf8)) {
            throw notAStore(
                path, "\(path) is a compiled model, another property list or a binary store, not a SQLite store.",
                remedy: "Give a model the suffix .mom and name it with \(option: .model(nil)). Convert a binary store "
                    + "with Core Data first.")
        }
        if header.starts(with: Array("<?xml".utf8)) {
            throw notAStore(
                path, "\(path) is an XML file, not a SQLite store.",
                remedy: "Moult migrates SQLite stores. Convert an XML store with Core Data first.")
        }
        if let form = ArchiveForm(header) {
            throw notAStore(path, "\(path) is \(form.noun), not a SQLite store.", remedy: form.remedy(for: path))
        }
        if try hasDatabasePages(path, size, system) {
            throw MigrationError(
                .storeCorrupted,
                "\(path) does not begin like a SQLite database, but its pages are those of one: its header was "
                    + "overwritten.", place: path, remedy: MigrationError.damagedStoreRemedy)
        }
        throw notAStore(
            path,
            "\(path) does not begin like a SQLite database. It is another kind of file, encrypted or overwritten.",
            remedy: "Name a Core Data store. If the app encrypts its store, decrypt a copy with the app's key first.")
    }

    /// Whether most pages after the first are b-tree pages of a SQLite database, of any page size. Only the first pages
    /// are read.
    private static func hasDatabasePages(_ path: String, _ size: Int64, _ system: any System) throws -> Bool {
        for pageSize in [4096, 1024, 8192, 2048, 16_384, 32_768, 512, 65_536] as [Int64] {
            let pages = min(size / pageSize, 33)
            guard pages >= 3 else { continue }
            var trees: Int64 = 0
            for number in 2...pages {
                let page = try system.bytes(of: path, from: (number - 1) * pageSize, count: 12)
                guard isTree(page, at: 0) else { continue }
                // The cells begin after the array of their places (the SQLite file format, section 1.6).
                let header: Int64 = page[0] < 10 ? 12 : 8
                let (cells, start) = (Int64(page[3]) << 8 | Int64(page[4]), Int64(page[5]) << 8 | Int64(page[6]))
                let content = start == 0 ? 65_536 : start
                let isPossible = cells == 0 ? content == pageSize : content < pageSize
                if isPossible, content >= header + 2 * cells { trees += 1 }
            }
            if trees >= 2, trees * 4 >= pages { return true }
        }
        return false
    }

    private static func checkLength(_ header: [UInt8], _ size: Int64, _ path: String) throws {
        guard header.count == 100 else {
            throw cutOff(path, "after \(Quantity.count(header.count, "byte")), inside its header")
        }
        func number(_ offset: Int, _ count: Int) -> Int64 {
            header[offset..<(offset + count)].reduce(0) { $0 << 8 | Int64($1) }
        }
        // Section 1.3.8: the count is valid only if the two change counters match.
        let pages = number(28, 4)
        guard number(24, 4) == number(92, 4), pages > 0, let pageSize = header.databasePageSize else { return }
        let whole = pages * Int64(pageSize)
        guard size >= whole else { throw cutOff(path, "after \(size) of \(whole) bytes") }
    }

    private static func cutOff(_ path: String, _ place: String) -> MigrationError {
        MigrationError(
            .storeCorrupted, "\(path) is cut off \(place).", place: path, remedy: MigrationError.damagedStoreRemedy)
    }

    /// Checks the tables: the schema must be readable and contain the two tables of every Core Data store.
    func checkContents() throws {
        // Every Core Data store has these tables.
        let needed = ["Z_METADATA", "Z_PRIMARYKEY"]
        let tables: [String]
        do {
            tables = try connection.rows(
                "SELECT name FROM sqlite_master WHERE type = 'table' AND name IN (?, ?)",
                needed.map(SQLiteValue.text)
            ) { $0.text(0) ?? "" }
        } catch var error as MigrationError {
            error.place = path
            throw error
        }
        let missing = needed.filter { !tables.contains($0) }
        guard !missing.isEmpty else { return }
        throw Self.notAStore(
            path, "\(path) is a SQLite database without Core Data's \(missing.joined(separator: " and ")).",
            remedy: "Name a store that Core Data or SwiftData made.")
    }

    private static func notAStore(_ path: String, _ message: String, remedy: Remedy = "Name a Core Data store.")
        -> MigrationError
    {
        MigrationError(.notAStore, message, place: path, remedy: remedy)
    }

    /// Returns the error for a database with a readable header and encrypted pages; nil for any other file. SQLCipher
    /// leaves this form with `cipher_plaintext_header_size`, for a store in the folder of an app group.
    package static func encrypted(_ path: String, _ system: any System) throws -> MigrationError? {
        let first = try system.read(path, prefix: 512)
        // A b-tree page starts after the header on the first page (the SQLite file format, section 1.6).
        guard first.count == 512, first.starts(with: magic), !isTree(first, at: 100) else { return nil }
        // Encryption extensions keep a page's nonce and checksum in the reserved bytes (section 1.3.4). If the header
        // fields with fixed values are not plain, nothing after the first sixteen bytes is.
        let isPlain = Array(first[21..<24]) == [64, 32, 32]
        if isPlain, first[20] == 0 { return nil }
        let size = try system.status(of: path)?.size ?? 0
        let pageSize = Int64((isPlain ? first.databasePageSize : nil) ?? 4096)
        let pages = min(size / pageSize, 33)
        var known = 0
        for number in stride(from: 2, through: pages, by: 1) {
            let start = try system.bytes(of: path, from: (number - 1) * pageSize, count: 16)
            // An overflow page or a freelist trunk page starts with the number of the next page.
            let next = start.prefix(4).reduce(0) { $0 << 8 | Int64($1) }
            if isTree(start, at: 0) || next <= size / pageSize { known += 1 }
        }
        // By chance, one in several thousand encrypted pages looks like a valid one.
        guard known <= pages / 8 else { return nil }
        return MigrationError(
            .notAStore, "\(path) is encrypted: its header can be read, and none of its pages.", place: path,
            remedy: "Decrypt a copy with the app's key first, such as with sqlcipher_export of SQLCipher, and name the "
                + "copy.")
    }

    private static func isTree(_ bytes: [UInt8], at start: Int) -> Bool {
        guard bytes.count >= start + 8, [2, 5, 10, 13].contains(bytes[start]) else { return false }
        return bytes[start + 7] <= 60
    }

    /// The error for a store that is sound alone but damaged together with the log or journal next to it. Such a file
    /// belongs to another store, or to another state of this one.
    ///
    /// - Returns: nil if there is no such file, or if the store is also damaged without it.
    package var foreignSideFile: MigrationError? {
        guard way != .immutable else { return nil }
        return Self.foreignSideFile(of: path, system) { true }
    }

    /// Returns the same error for a store that is not open.
    package static func foreignSideFile(of store: String, _ system: any System) -> MigrationError? {
        foreignSideFile(of: store, system) {
            do {
                return try !ReadOnlyStore.read(store, system: system) { try isSound($0.connection) }
            } catch {
                return (error as? MigrationError)?.code == .sideFileForeign
            }
        }
    }

    /// - Parameter isDamaged: returns whether the store is damaged together with its side files.
    private static func foreignSideFile(
        of store: String, _ system: any System, _ isDamaged: () -> Bool
    ) -> MigrationError? {
        let present = ["-wal", "-journal"].filter { suffix in
            (try? system.status(of: store + suffix)).flatMap { $0 }.map { $0.size > 0 } ?? false
        }
        guard !present.isEmpty, let alone = try? Connection(store, mode: .immutable) else { return nil }
        let isSoundAlone = (try? isSound(alone)) ?? false
        alone.close()
        guard isSoundAlone, isDamaged() else { return nil }
        let (names, isOne) = (present.joined(separator: " and the "), present.count == 1)
        let moves = present.map { suffix in
            "mv \((store + suffix).shellQuoted) \((store + suffix + ".old").shellQuoted)"
        }
        return MigrationError(
            .sideFileForeign,
            "The store is sound without the \(names) next to it, and damaged with \(isOne ? "it" : "them"), which "
                + "probably \(isOne ? "belongs" : "belong") to another file, or to another state of the store.",
            place: store + present[0],
            remedy:
                "If the store was copied, copy it again together with its \(names). Otherwise move the \(names) away "
                + "(\(moves.joined(separator: "; "))): the store is then as it was when it was last written back.")
    }

    private static func isSound(_ connection: Connection) throws -> Bool {
        let tables = try connection.catalogue().tables.map(\.name)
        return try tables.contains("Z_METADATA") && tables.contains("Z_PRIMARYKEY")
            && connection.checkMessages("quick_check", of: "1") == ["ok"]
    }
}
