import MoultBasics
import MoultSQLite

/// The files next to a store that hold large values.
///
/// The column holds one leading byte: `01` and the value itself, or `02`, the file's name in 36 characters and `00`.
package struct ExternalStorage: Sendable, Hashable {
    /// `.<store name without extension>_SUPPORT`, next to the store.
    package let supportFolder: String
    /// The folder of the files, each named by a UUID in upper case.
    package var folder: String { Path.join(supportFolder, "_EXTERNAL_DATA") }
    /// Another folder in which files are looked for, and never written or removed: for a working copy, that of the
    /// store.
    package let lowerFolder: String?
    /// Names the files of a transaction that has not ended; nil for a working copy, which goes as a whole.
    let unsavedList: String?
    /// Files have the permissions of the store. Those of a working copy belong to this user alone.
    package let rights: FileRights

    /// A value of this many bytes or more is stored in a file.
    package static let threshold = 100_000

    package init(store path: String) {
        supportFolder = Path.join(Path.folder(of: path), ".\(Path.stem(of: path))_SUPPORT")
        lowerFolder = nil
        unsavedList = Path.join(Path.folder(of: path), ".\(Path.name(of: path))_UNSAVED")
        rights = .like(path)
    }

    /// The files of a working copy: new ones lie in a folder of their own, those of the store where they are.
    package init(ofWorkingCopy path: String, of store: String) {
        supportFolder = Path.join(Path.folder(of: path), ".new_external")
        lowerFolder = ExternalStorage(store: store).folder
        unsavedList = nil
        rights = .own
    }

    /// The path of a file by its name, which must be a plain one; nil if there is none.
    package func file(_ name: String, on system: some System) throws -> String? {
        for folder in [folder, lowerFolder].compactMap({ $0 }) {
            let path = Path.join(folder, name)
            if try system.isLink(path) || system.exists(path) { return path }
        }
        return nil
    }

    /// The bytes of a file by its name, which must be a plain one; nil if there is none.
    ///
    /// - Throws: `fileNotReadable` for what is no plain file, or has more bytes than a value may have.
    package func contents(of name: String, on system: any System) throws -> [UInt8]? {
        guard let path = try file(name, on: system) else { return nil }
        guard try Self.isPlain(path, on: system) else { throw Self.strange(path) }
        return try system.read(path, limit: POSIXSystem.largestValue)
    }

    /// Whether there is a plain file of that name, and no link to one.
    package func holds(_ name: String, on system: any System) throws -> Bool {
        try file(name, on: system).map { try Self.isPlain($0, on: system) } ?? false
    }

    /// The paths of everything in the folder that is not a plain file, such as a link. Core Data makes none.
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

    package func makeFolder(on system: some System) throws {
        try system.makeFolder(supportFolder, rights)
        try system.makeFolder(folder, rights)
    }

    /// The content of a column of external storage.
    package enum Cell: Sendable, Hashable {
        case inline([UInt8])
        /// The name of a file in the folder.
        case file(String)

        /// Nil for bytes that are neither.
        package init?(_ bytes: [UInt8]) {
            switch bytes.first {
            case 1:
                self = .inline(Array(bytes.dropFirst()))
            case 2:
                let name = bytes.dropFirst().prefix { $0 != 0 }
                // A name from a hostile store must not lead out of the folder.
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

// MARK: - Files that no row names

extension ExternalStorage {
    /// Files of the folder that no row of the store names.
    package struct Unnamed: Sendable, Hashable {
        /// In byte order.
        package var names: [String] = []
        package var bytes: Int64 = 0

        package init(names: [String] = [], bytes: Int64 = 0) {
            self.names = names
            self.bytes = bytes
        }
    }

    /// The names that the values of a database give: of every table, so that those count which a deferred migration has
    /// kept, or which are no longer the model's.
    ///
    /// Each table is read once; a value's own pages are not.
    package static func names(in connection: Connection) throws -> Set<String> {
        var names: Set<String> = []
        for table in try connection.catalogue().tables where !table.isVirtual {
            let columns = try connection.columns(of: table.name).filter { holdsBytes($0.declaredType) }.map(\.name)
            // By no index: one that does not match its table would leave rows out.
            names.formUnion(
                try self.names(in: connection, columns, of: "main.\(table.name.quotedName) AS r NOT INDEXED WHERE 1"))
        }
        return names
    }

    /// The names that some columns give in rows of a table.
    ///
    /// - Parameter rows: what follows FROM: the table as `r`, and a condition.
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

    /// Whether Core Data would keep bytes in a column of that type (STORE_FORMAT, "Columns").
    private static func holdsBytes(_ declaredType: String) -> Bool {
        !["INTEGER", "FLOAT", "DECIMAL", "TIMESTAMP", "VARCHAR", "BOOLEAN"].contains(declaredType.uppercased())
    }

    /// The plain files of the folder, by name with their sizes; hidden ones are nobody's data.
    package func files(on system: any System) throws -> [String: Int64] {
        guard try strangers(on: system).isEmpty, try system.exists(folder) else { return [:] }
        var files: [String: Int64] = [:]
        for name in try system.list(folder) where !name.hasPrefix(".") {
            files[name] = try system.status(of: Path.join(folder, name))?.size ?? 0
        }
        return files
    }

    /// Finds the files that no row of a store names, nor one of a store next to it that shares the folder: `a.sqlite`
    /// and `a.store` do.
    ///
    /// - Parameter connection: the store, for reading.
    /// - Returns: nothing where a store that shares the folder cannot be read: any file may be its own.
    package func unnamed(in connection: Connection, of store: String, on system: any System) throws -> Unnamed {
        var files = try files(on: system)
        guard !files.isEmpty, let others = namesOfOthers(than: store, on: system) else { return Unnamed() }
        for name in try Self.names(in: connection).union(others) { files[name] = nil }
        return Unnamed(names: files.keys.sorted { $0.precedesInByteOrder($1) }, bytes: files.values.reduce(0, +))
    }

    /// Of some files that a store no longer names, those that are there and that no store which shares the folder names.
    package func droppable(_ names: Set<String>, of store: String, on system: any System) throws -> [String] {
        guard !names.isEmpty, let others = namesOfOthers(than: store, on: system) else { return [] }
        return try names.subtracting(others).filter { try system.exists(Path.join(folder, $0)) }
            .sorted { $0.precedesInByteOrder($1) }
    }

    /// Whether a store next to a store has the same folder of external data.
    package func isShared(by store: String, on system: any System) throws -> Bool {
        try !others(than: store, on: system).isEmpty
    }

    /// The stores next to a store that have the same stem.
    private func others(than store: String, on system: any System) throws -> [String] {
        let (own, stem, place) = (Path.name(of: store), Path.stem(of: store), Path.folder(of: store))
        return try system.list(place).filter { $0 != own && Path.stem(of: $0) == stem }.map { Path.join(place, $0) }
            .filter {
                try system.status(of: $0)?.kind == .file
                    && system.read($0, prefix: 16) == Array("SQLite format 3\0".utf8)
            }
    }

    /// Returns the files that other stores with the same folder of external data name; nil where one cannot be read.
    private func namesOfOthers(than store: String, on system: any System) -> Set<String>? {
        do {
            return try others(than: store, on: system).reduce(into: []) { names, path in
                names.formUnion(try StoreProbe.read(path, system: system) { try Self.names(in: $0.connection) })
            }
        } catch {
            return nil
        }
    }
}

// MARK: - Files of a transaction that has not ended

// A file is written before the row that names it is committed. Until the transaction has ended, a list next to the store
// names its files, so that the next writer can remove those of a process that has died. One list is enough: SQLite lets one
// transaction write at a time.
extension ExternalStorage {
    /// Notes a file before it is written. The caller has the store's write lock.
    package func noteUnsaved(_ name: String, on system: any System) throws {
        guard let unsavedList else { return }
        try system.append(Array("\(name)\n".utf8), to: unsavedList, rights)
    }

    /// Forgets the list: the transaction has ended, and its files are the store's or gone.
    package func forgetUnsaved(on system: any System) throws {
        if let unsavedList { try system.remove(unsavedList) }
    }

    /// Removes what a transaction has written whose process died before it was committed.
    ///
    /// - Parameter connection: the store; the caller has its write lock, so that nobody's transaction is under way.
    package func removeUnsaved(in connection: Connection, on system: any System) throws {
        guard let unsavedList, try !system.isLink(unsavedList), try system.status(of: unsavedList)?.kind == .file else {
            return
        }
        let text = String(decoding: try system.read(unsavedList, limit: 64 << 20), as: UTF8.self)
        let names = text.split(separator: "\n").map(String.init).filter { name in
            // What a hostile list names must not lead out of the folder.
            if case .file(name)? = Cell(Cell.file(name).bytes) { true } else { false }
        }
        let named = names.isEmpty ? [] : try Self.names(in: connection)
        for name in names where !named.contains(name) { try system.remove(Path.join(folder, name)) }
        try system.remove(unsavedList)
    }
}
