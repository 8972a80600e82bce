import MoultBasics
import MoultSQLite

/// The files next to a store that contain large values.
///
/// The column stores a leading byte: `01` followed by the value itself, or `02` followed by the file's name in 36
/// characters and `00`.
package struct ExternalStorage: Sendable, Hashable {
    /// `.<store name without extension>_SUPPORT`, next to the store.
    package let supportFolder: String
    /// The folder of the files, each named by an uppercase UUID.
    package var folder: String { Path.join(supportFolder, "_EXTERNAL_DATA") }
    /// A second folder, used only for reading: for a working copy, the folder of the store.
    package let lowerFolder: String?
    /// The list of files of an open transaction; nil for a working copy, which is removed as a whole.
    let unsavedList: String?
    /// The permissions of the files: those of the store, or for a working copy, only those of the current user.
    package let rights: FileRights

    /// A value of this many bytes or more is stored in a file.
    package static let threshold = 100_000

    package init(store path: String) {
        supportFolder = Path.join(Path.folder(of: path), ".\(Path.stem(of: path))_SUPPORT")
        lowerFolder = nil
        unsavedList = Path.join(Path.folder(of: path), ".\(Path.name(of: path))_UNSAVED")
        rights = .like(path)
    }

    /// Creates the files of a working copy. New files are in a separate folder; those of the store stay in place.
    package init(ofWorkingCopy path: String, of store: String) {
        supportFolder = Path.join(Path.folder(of: path), ".new_external")
        lowerFolder = ExternalStorage(store: store).folder
        unsavedList = nil
        rights = .own
    }

    /// Returns the path of a file with the given name, which must be a plain one; nil if there is none.
    package func file(_ name: String, on system: some System) throws -> String? {
        for folder in [folder, lowerFolder].compactMap({ $0 }) {
            let path = Path.join(folder, name)
            if try system.isLink(path) || system.exists(path) { return path }
        }
        return nil
    }

    /// Returns the bytes of a file with the given name, which must be a plain one; nil if there is none.
    ///
    /// - Throws: `fileNotReadable` if it is not a plain file, or is larger than a value may be.
    package func contents(of name: String, on system: any System) throws -> [UInt8]? {
        guard let path = try file(name, on: system) else { return nil }
        guard try Self.isPlain(path, on: system) else { throw Self.strange(path) }
        do {
            return try system.read(path, limit: POSIXSystem.largestValue)
        } catch var error as MigrationError {
            error.advice = """
                \(error.advice) If the file stays unreadable, repair it, put it back from a backup, or move it away: its \
                value is missing then.
                """
            throw error
        }
    }

    /// Returns whether there is a plain file with that name, which is not a link.
    package func holds(_ name: String, on system: any System) throws -> Bool {
        try file(name, on: system).map { try Self.isPlain($0, on: system) } ?? false
    }

    /// Returns the paths of everything in the folder that is not a plain file, such as a link. Core Data creates none.
    package func strangers(on system: any System) throws -> [String] {
        for path in [supportFolder, folder] {
            guard try !system.isLink(path) else { return [path] }
            guard let status = try system.status(of: path) else { return [] }
            guard status.kind == .folder else { return [path] }
        }
        return try system.list(folder).map { Path.join(folder, $0) }.filter { try !Self.isPlain($0, on: system) }
    }

    private static func isPlain(_ path: String, on system: any System) throws -> Bool {
        try !system.isLink(path) && system.status(of: path)?.kind == .file
    }

    private static func strange(_ path: String) -> MigrationError {
        MigrationError(
            .fileNotReadable, "\(path) is not a plain file, as external data is.", place: path,
            remedy: "Replace it with the file itself, or remove it.")
    }

    package func makeFolder(on system: any System) throws {
        try system.makeFolder(supportFolder, rights)
        try system.makeFolder(folder, rights)
    }

    /// The content of a column of external storage.
    package enum Cell: Sendable, Hashable {
        case inline([UInt8])
        /// The name of a file in the folder.
        case file(String)

        /// Returns nil for any other bytes.
        package init?(_ bytes: [UInt8]) {
            switch bytes.first {
            case 1:
                self = .inline(Array(bytes.dropFirst()))
            case 2:
                let name = bytes.dropFirst().prefix { $0 != 0 }
                // A name from a malicious store must not lead out of the folder.
                guard bytes.count == name.count + 2, !name.isEmpty, name.count <= 64,
                    name.allSatisfy({ $0.isNameByte })
                else { return nil }
                self = .file(String(decoding: name, as: UTF8.self))
            default:
                return nil
            }
        }

        package var bytes: [UInt8] {
            switch self {
            case .inline(let value): [1] + value
            case .file(let name): [2] + Array(name.utf8) + [0]
            }
        }
    }
}

extension UInt8 {
    fileprivate var isNameByte: Bool {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "-"):
            true
        default: false
        }
    }
}

// MARK: - Unreferenced files

extension ExternalStorage {
    /// Files of the folder that no row of the store refers to.
    package struct Unnamed: Sendable, Hashable {
        /// The names in byte order.
        package var names: [String] = []
        package var bytes: Int64 = 0

        package init(names: [String] = [], bytes: Int64 = 0) {
            self.names = names
            self.bytes = bytes
        }
    }

    /// Returns the file names in the values of a database. All tables are read, to include values that a deferred
    /// migration has kept or that are no longer part of the model.
    ///
    /// Each table is read once, without the overflow pages of the values.
    package static func names(in connection: Connection) throws -> Set<String> {
        var names: Set<String> = []
        for table in try connection.catalogue().tables where !table.isVirtual {
            let columns = try connection.columns(of: table.name).filter { holdsBytes($0.declaredType) }.map(\.name)
            // Do not use an index: an index that does not match its table would omit rows.
            names.formUnion(
                try self.names(in: connection, columns, of: "main.\(table.name.quotedName) AS r NOT INDEXED WHERE 1"))
        }
        return names
    }

    /// Returns the file names in some columns of a table's rows.
    ///
    /// - Parameter rows: the text after FROM: the table as `r`, and a condition.
    package static func names(in connection: Connection, _ columns: [String], of rows: String) throws -> Set<String> {
        guard !columns.isEmpty else { return [] }
        let columns = columns.map { "r.\($0.quotedName)" }
        let isCell = columns.map {
            "(typeof(\($0)) = 'blob' AND length(\($0)) BETWEEN 3 AND 66 AND substr(\($0), 1, 1) = x'02')"
        }.conditions(joinedBy: "OR")
        var names: Set<String> = []
        try connection.forEachRow("SELECT \(columns.joined(separator: ", ")) FROM \(rows) AND (\(isCell))") { row in
            for position in columns.indices {
                if case .file(let name)? = row.blob(position).flatMap(Cell.init) { names.insert(name) }
            }
        }
        return names
    }

    /// Returns whether Core Data would store bytes in a column of that type (STORE_FORMAT, "Columns").
    private static func holdsBytes(_ declaredType: String) -> Bool {
        !["INTEGER", "FLOAT", "DECIMAL", "TIMESTAMP", "VARCHAR", "BOOLEAN"].contains(declaredType.uppercased())
    }

    /// Returns the plain files of the folder and their sizes, by name. Hidden files are ignored, because they contain
    /// no values.
    package func files(on system: any System) throws -> [String: Int64] {
        guard try strangers(on: system).isEmpty, try system.exists(folder) else { return [:] }
        var files: [String: Int64] = [:]
        for name in try system.list(folder) where !name.hasPrefix(".") {
            files[name] = try system.status(of: Path.join(folder, name))?.size ?? 0
        }
        return files
    }

    /// Finds the files that no row of the store refers to, nor any row of a store next to it that shares the folder, as
    /// `a.sqlite` and `a.store` do.
    ///
    /// - Parameter connection: the store, for reading.
    /// - Returns: no files if a store that shares the folder cannot be read, because any file may belong to it.
    package func unnamed(in connection: Connection, of store: String, on system: any System) throws -> Unnamed {
        var files = try files(on: system)
        guard !files.isEmpty, let others = namesOfOthers(than: store, on: system) else { return Unnamed() }
        for name in try Self.names(in: connection).union(others) { files[name] = nil }
        return Unnamed(names: files.keys.inByteOrder(), bytes: files.values.reduce(0, +))
    }

    /// Returns the existing files, among some that a store no longer refers to, that no other store with the same
    /// folder refers to.
    package func droppable(_ names: Set<String>, of store: String, on system: any System) throws -> [String] {
        guard !names.isEmpty, let others = namesOfOthers(than: store, on: system) else { return [] }
        return try names.subtracting(others).filter { try system.exists(Path.join(folder, $0)) }
            .inByteOrder()
    }

    /// Returns whether another store next to the store shares its folder of external data.
    package func isShared(by store: String, on system: any System) throws -> Bool {
        try !others(than: store, on: system).isEmpty
    }

    /// Returns the other stores in the same folder with the same stem.
    private func others(than store: String, on system: any System) throws -> [String] {
        let (own, stem, place) = (Path.name(of: store), Path.stem(of: store), Path.folder(of: store))
        return try system.list(place).filter { $0 != own && Path.stem(of: $0) == stem }.map { Path.join(place, $0) }
            .filter { try ReadOnlyStore.isDatabase($0, system) }
    }

    /// Returns the files that other stores with the same folder of external data refer to; nil if one of them cannot be
    /// read.
    private func namesOfOthers(than store: String, on system: any System) -> Set<String>? {
        do {
            return try others(than: store, on: system).reduce(into: []) { names, path in
                names.formUnion(try ReadOnlyStore.read(path, system: system) { try Self.names(in: $0.connection) })
            }
        } catch {
            return nil
        }
    }
}

// MARK: - Files of an open transaction

// A file is written before the row that refers to it is committed. Until the transaction ends, a list next to the store
// contains its files, so that the next writer can remove those of a crashed process. One list is enough, because SQLite
// allows one write transaction at a time.
extension ExternalStorage {
    /// Adds a file to the list before it is written. The caller holds the store's write lock.
    package func noteUnsaved(_ name: String, on system: any System) throws {
        guard let unsavedList else { return }
        try system.append(Array("\(name)\n".utf8), to: unsavedList, rights)
    }

    /// Removes the list once the transaction has ended and its files either belong to the store or are removed.
    package func forgetUnsaved(on system: any System) throws {
        if let unsavedList { try system.remove(unsavedList) }
    }

    /// Removes the files of a transaction whose process crashed before the commit.
    ///
    /// - Parameter connection: the store; the caller holds its write lock, so no transaction of another process is
    ///   open.
    package func removeUnsaved(in connection: Connection, on system: any System) throws {
        guard let unsavedList, try !system.isLink(unsavedList), try system.status(of: unsavedList)?.kind == .file else {
            return
        }
        let text = String(decoding: try system.read(unsavedList, limit: 64 << 20), as: UTF8.self)
        let names = text.split(separator: "\n").map(String.init).filter { name in
            // A name from a malicious list must not lead out of the folder.
            if case .file(name)? = Cell(Cell.file(name).bytes) { true } else { false }
        }
        let named = names.isEmpty ? [] : try Self.names(in: connection)
        for name in names where !named.contains(name) { try system.remove(Path.join(folder, name)) }
        try system.remove(unsavedList)
    }
}
