import MoultBasics
import MoultSQLite
import MoultStore
import MoultVerify

/// Moves recovered rows into the tables of the new store, and rows without a place there into a separate database.
struct SalvagePlacement {
    /// A connection to the new store. Schema `damaged` has the recovered tables; `aside` takes rows without a place.
    let connection: Connection
    let source: DamagedStore
    private let layout: StoreLayout
    private(set) var unplaced: [SalvageReport.Unplaced] = []
    private var made: Set<String> = []
    private let renumbering: String

    /// - Parameter layout: the layout of the new store.
    init(_ connection: Connection, _ source: DamagedStore, _ layout: StoreLayout) {
        (self.connection, self.source) = (connection, source)
        (self.layout, renumbering) = (layout, source.renumbering(in: layout))
    }

    /// - Returns: the number of rows in the new table.
    mutating func place(_ table: EntityTable, from old: EntityTable) throws -> Int64 {
        let columns = table.columns.compactMap { column -> (name: String, expression: String)? in
            guard let name = old.column(column.role)?.quotedName else { return nil }
            switch column.role {
            case .entity, .toOneEntity:
                return (column.name, renumbering.isEmpty ? name : "CASE \(name) \(renumbering) ELSE \(name) END")
            default: return (column.name, name)
            }
        }
        let numbers = source.numbers(of: table, in: layout).map { "\($0.old)" }.joined(separator: ", ")
        let entity = (old.column(.entity) ?? "Z_ENT").quotedName
        let strangers = "\(entity) IS NULL OR \(entity) NOT IN (\(numbers))"
        try keepStrangers(of: old.name, entity, strangers)
        let key = (old.column(.primaryKey) ?? "Z_PK").quotedName
        try copy(columns, into: table.name, from: old.name, where: "NOT (\(strangers))")
        let refused = "NOT (\(strangers)) AND \(key) NOT IN (SELECT Z_PK FROM main.\(table.name.quotedName))"
        try keep(old.name, .rule, where: refused)
        try keepColumns(old.columns.filter { $0.role == .unknown }.map(\.name), of: old.name)
        return try connection.integer("SELECT count(*) FROM main.\(table.name.quotedName)") ?? 0
    }

    /// - Returns: the number of rows in the new table.
    mutating func place(_ join: JoinTable, from old: JoinTable) throws -> Int64 {
        let columns = join.columns.compactMap { column in
            old.column(column.role).map { (name: column.name, expression: $0.quotedName) }
        }
        try copy([("rowid", "rowid")] + columns, into: join.name, from: old.name, where: "1")
        try keep(old.name, .rule, where: "rowid NOT IN (SELECT rowid FROM main.\(join.name.quotedName))")
        try keepColumns(old.columns.filter { $0.role == .unknown }.map(\.name), of: old.name)
        return try connection.integer("SELECT count(*) FROM main.\(join.name.quotedName)") ?? 0
    }

    /// Keeps a table that the version lacks, or a table of the version without a column that its rows need.
    mutating func placeNowhere(_ table: String) throws {
        let lacking = lackingKey(of: table)
        try keep(table, lacking == nil ? .table : .key, lacking, where: "1")
    }

    /// Returns the column that a table of the version lacks and that its rows need to be placed; nil if it lacks none,
    /// and for any other table.
    func lackingKey(of table: String) -> String? {
        guard layout.tables.contains(where: { $0.name.uppercased() == table.uppercased() }) else { return nil }
        let present = Set((source.columns[table] ?? []).map { $0.name.uppercased() })
        return ["Z_PK", "Z_ENT"].first { !present.contains($0) }
    }

    /// Keeps the rows that may belong to several tables.
    mutating func keepOrphans(_ count: Int64) throws {
        guard count > 0 else { return }
        let name = RecoveredDatabase.orphans
        try connection.execute("CREATE TABLE aside.\(name) AS SELECT * FROM damaged.\(name)")
        made.insert(name)
        unplaced.append(.init(table: "", reason: .page, detail: nil, rows: count))
    }

    /// Keeps the definitions of an app's own tables, indexes, triggers and views.
    ///
    /// - Returns: the items of which only the definition is kept: virtual tables, indexes, triggers, views.
    mutating func keepDefinitions() throws -> [String] {
        let history = StoreSnapshot.historyTables.map { "'\($0)'" }.joined(separator: ", ")
        let foreign = """
            FROM damaged.\(RecoveredDatabase.schema) WHERE substr(name, 1, 1) <> 'Z' AND substr(name, 1, 6) <> 'moult_' \
            AND tbl_name NOT IN (\(history))
            """
        let names = try connection.rows("SELECT type, name, sql \(foreign)") { row -> String? in
            let isVirtual = (row.text(2) ?? "").uppercased().hasPrefix("CREATE VIRTUAL")
            guard let kind = row.text(0), let name = row.text(1), kind != "table" || isVirtual else { return nil }
            return "the \(isVirtual ? "virtual table" : kind) \(name)"
        }
        guard !names.isEmpty else { return [] }
        try connection.execute("CREATE TABLE aside.\(RecoveredDatabase.schema) AS SELECT * \(foreign)")
        made.insert(RecoveredDatabase.schema)
        return names.compactMap { $0 }
    }

    var keepsAnything: Bool { !made.isEmpty }

    // MARK: - Parts

    /// Copies rows into a table, except those that a constraint of the table refuses.
    private func copy(
        _ columns: [(name: String, expression: String)], into table: String, from old: String, where condition: String
    ) throws {
        let names = columns.map { $0.name.quotedName }.joined(separator: ", ")
        let values = columns.map(\.expression).joined(separator: ", ")
        try connection.run(
            """
            INSERT OR IGNORE INTO main.\(table.quotedName) (\(names)) SELECT \(values) FROM damaged.\(old.quotedName) \
            WHERE \(condition)
            """)
    }

    /// Keeps rows of entities that the version lacks, of entities of other tables, and of no known entity.
    private mutating func keepStrangers(of table: String, _ entity: String, _ condition: String) throws {
        let groups = try connection.rows(
            """
            SELECT quote(\(entity)), count(*) FROM damaged.\(table.quotedName) WHERE \(condition) GROUP BY 1 \
            ORDER BY min(\(entity))
            """
        ) { (number: $0.text(0) ?? "", rows: $0.integer(1)) }
        guard !groups.isEmpty else { return }
        let names = Dictionary(source.numbers.map { ("\($0.value.number)", $0.key) }) { first, _ in first }
        func lacks(_ name: String) -> Bool { layout.model.entity(name) == nil }
        let lacking = names.filter { lacks($0.value) }.keys.joined(separator: ", ")
        let isLacking = "ifnull(\(entity) IN (\(lacking)), 0)"
        try insert(table, .entity, nil, where: "(\(condition)) AND \(isLacking)")
        try insert(table, .number, nil, where: "(\(condition)) AND NOT \(isLacking)")
        for group in groups {
            let name = names[group.number]
            let reason: SalvageReport.Unplaced.Reason = name.map(lacks) == true ? .entity : .number
            unplaced.append(
                .init(table: table, reason: reason, detail: name ?? "Z_ENT \(group.number)", rows: group.rows))
        }
    }

    private mutating func keepColumns(_ columns: [String], of table: String) throws {
        for column in columns { try keep(table, .column, column, where: "\(column.quotedName) IS NOT NULL") }
    }

    private mutating func keep(
        _ table: String, _ reason: SalvageReport.Unplaced.Reason, _ detail: String? = nil, where condition: String
    ) throws {
        let rows = try connection.integer("SELECT count(*) FROM damaged.\(table.quotedName) WHERE \(condition)") ?? 0
        guard rows > 0 else { return }
        unplaced.append(.init(table: table, reason: reason, detail: detail, rows: rows))
        try insert(table, reason, detail, where: condition)
    }

    /// Keeps whole rows, each with its key and the reason, under the damaged store's names.
    private mutating func insert(
        _ table: String, _ reason: SalvageReport.Unplaced.Reason, _ detail: String?, where condition: String
    ) throws {
        let columns = source.columns[table] ?? []
        if made.insert(table).inserted {
            let names = columns.map { "\($0.name.quotedName) \($0.declaredType)" }
            let own = ["moult_key", "moult_reason", "moult_detail"].map { name in
                columns.contains { $0.name.lowercased() == name } ? name + "_" : name
            }
            let all = own + names
            try connection.execute("CREATE TABLE aside.\(table.quotedName) (\(all.joined(separator: ", ")))")
        }
        let named = Set(columns.map { $0.name.lowercased() })
        let isKeyed = source.catalogue.table(table)?.sql?.hasSuffix("WITHOUT ROWID") ?? false
        let key = isKeyed ? nil : ["rowid", "_rowid_", "oid"].first { !named.contains($0) }
        let values = [key ?? "NULL", "?", "?"] + columns.map(\.name.quotedName)
        try connection.run(
            """
            INSERT INTO aside.\(table.quotedName) SELECT \(values.joined(separator: ", ")) \
            FROM damaged.\(table.quotedName) WHERE \(condition)
            """, [.text(reason.rawValue), detail.map(SQLiteValue.text) ?? .null])
    }
}

/// The external data of a damaged store: the files that can be copied, and the values whose files cannot.
struct SalvagedData {
    /// The damaged store's folder.
    private let source: ExternalStorage
    /// The folder of the copies; nil if both stores share one folder.
    private let copies: String?
    private let system: any System
    private(set) var count = 0

    /// Copies each readable file. An unreadable file does not prevent the others from being copied.
    ///
    /// - Throws: the errors of the disk that takes the copies.
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

    /// - Returns: nil if the path itself cannot be read.
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

    /// Returns the values of the new store whose file is gone, is unreadable or is not a regular file.
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
        if let copies { return try system.exists(Path.join(Path.join(copies, Path.name(of: source.folder)), name)) }
        guard try source.holds(name, on: self.system), let path = try source.file(name, on: self.system) else {
            return false
        }
        return try readable(path) { try system.bytes(of: path, from: 0, count: 1) } != nil
    }
}
