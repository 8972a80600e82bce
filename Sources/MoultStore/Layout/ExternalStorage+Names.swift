import MoultModel
import MoultSQLite
import MoultSystem

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
    package static func names(
        in connection: Connection, _ columns: [String], of rows: String
    ) throws -> Set<String> {
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
        return Unnamed(
            names: files.keys.sorted { $0.precedesInByteOrder($1) }, bytes: files.values.reduce(0, +))
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
