import MoultModel
import MoultSQLite

extension Catalogue {
    /// SHA-256 of every entry's kind, name, table and text, in the order of the catalogue; triggers, which are dropped and
    /// created again while rows are written, come last and by name.
    package var digest: [UInt8] {
        let others = entries.filter { $0.kind != .trigger }
        let triggers = entries.filter { $0.kind == .trigger }.sorted { $0.name.precedesInByteOrder($1.name) }
        return Digest.sha256(
            (others + triggers).flatMap { entry in
                [entry.kind.rawValue, entry.name, entry.tableName, entry.sql ?? ""].flatMap { Array($0.utf8) + [0] }
            })
    }

    /// The tables in which R-trees and search tables keep what they hold.
    var shadowTables: [String] {
        // https://sqlite.org/rtree.html, https://sqlite.org/fts5.html and https://sqlite.org/fts3.html.
        let parts = [
            "rowid", "node", "parent", "data", "idx", "content", "docsize", "config", "segments", "segdir", "stat",
        ]
        let names = Set(tables.filter(\.isVirtual).flatMap { tree in parts.map { "\(tree.name)_\($0)" } })
        return tables.map(\.name).filter(names.contains)
    }

    /// The triggers by what they are for.
    package var triggers: [(entry: Entry, kind: TriggerKind)] {
        entries.filter { $0.kind == .trigger }.map { ($0, TriggerKind(name: $0.name)) }
    }

    /// What is no trigger and has one of these names: SQLite lets a trigger have any name.
    func strangers(named names: Set<String>) -> [Entry] {
        let names = Set(names.map { $0.uppercased() })
        return entries.filter { $0.kind != .trigger && names.contains($0.name.uppercased()) }
    }

    /// What a trigger of a store is for, as its name says.
    package enum TriggerKind: Sendable, Hashable {
        /// Keeps a derived attribute.
        case derivedAttribute
        /// Keeps an R-tree index.
        case rTree
        /// Apple's own, seen in Photos.
        case photos
        /// Another program's.
        case unknown

        package init(name: String) {
            self =
                name.hasPrefix("Z_DA_")
                ? .derivedAttribute : name.hasPrefix("Z_RT_") ? .rTree : name.hasPrefix("ZT_") ? .photos : .unknown
        }
    }
}

extension Catalogue.Entry {
    /// A table of Core Data's ends with ` )` or a compound uniqueness; a column that was added later ends it with `)`,
    /// and a renamed table has its name in quotes.
    var wasAlteredInPlace: Bool {
        guard kind == .table, !isVirtual, let sql, name.hasPrefix("Z"), name.hasPrefix("Z_RT_") == false,
            !StoreSnapshot.coreTables.contains(name)
        else { return false }
        return sql.hasPrefix("CREATE TABLE \"") || !(sql.hasSuffix(" )") || sql.hasSuffix("))"))
    }
}

extension Connection {
    /// The columns of every table but the virtual ones, whose modules this SQLite may not have.
    ///
    /// The text of a table as Core Data writes it says its columns; SQLite is asked about any other.
    func columns(of tables: [Catalogue.Entry]) throws -> [String: [Catalogue.Column]] {
        var columns: [String: [Catalogue.Column]] = [:]
        columns.reserveCapacity(tables.count)
        for table in tables where !table.isVirtual {
            columns[table.name] = try table.plainColumns ?? columnsBySQLite(of: table.name)
        }
        return columns
    }

    private func columnsBySQLite(of table: String) throws -> [Catalogue.Column] {
        try rows(
            "SELECT name, type, \"notnull\", dflt_value, pk FROM pragma_table_info(?) ORDER BY cid", [.text(table)]
        ) { row in
            Catalogue.Column(
                name: row.text(0) ?? "", declaredType: row.text(1) ?? "", isNotNull: row.integer(2) != 0,
                defaultValue: row.text(3), primaryKeyPosition: Int(row.integer(4)))
        }
    }
}

extension Catalogue.Entry {
    /// The columns that the table's text says, where each is just a name and a type of Core Data's:
    /// `CREATE TABLE ZITEM ( Z_PK INTEGER PRIMARY KEY, ZTITLE VARCHAR )`. Nil for any other text.
    package var plainColumns: [Catalogue.Column]? {
        guard let sql, sql.hasSuffix(" )") else { return nil }
        let start = "CREATE TABLE \(name) ( "
        guard sql.hasPrefix(start) else { return nil }
        var columns: [Catalogue.Column] = []
        var rest = sql.utf8.dropFirst(start.utf8.count).dropLast(2)
        while !rest.isEmpty {
            let part = rest.prefix { $0 != UInt8(ascii: ",") }
            rest = rest[part.endIndex...]
            if !rest.isEmpty {
                rest = rest.dropFirst()
                guard rest.first == UInt8(ascii: " ") else { return nil }
                rest = rest.dropFirst()
            }
            guard let column = Catalogue.Column(plain: part) else { return nil }
            columns.append(column)
        }
        return columns.isEmpty ? nil : columns
    }
}

extension Catalogue.Column {
    private static let plainTypes: Set<String> = ["INTEGER", "VARCHAR", "FLOAT", "DECIMAL", "TIMESTAMP", "BLOB"]

    /// A name, a type and perhaps PRIMARY KEY, a space between each two.
    fileprivate init?(plain text: Substring.UTF8View.SubSequence) {
        guard let end = text.firstIndex(of: UInt8(ascii: " ")) else { return nil }
        let name = text[..<end]
        var type = text[text.index(after: end)...]
        var position = 0
        if let space = type.firstIndex(of: UInt8(ascii: " ")) {
            guard String(Substring(type[space...])) == " PRIMARY KEY" else { return nil }
            position = 1
            type = type[..<space]
        }
        let declaredType = String(Substring(type))
        guard let first = name.first, first.isNameByte, !(0x30...0x39).contains(first),
            name.allSatisfy(\.isNameByte), Self.plainTypes.contains(declaredType)
        else { return nil }
        self.init(name: String(Substring(name)), declaredType: declaredType, primaryKeyPosition: position)
    }
}

extension UInt8 {
    /// Whether it may stand in a name without quotes.
    fileprivate var isNameByte: Bool {
        switch self {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"):
            true
        default: false
        }
    }
}

extension Connection {
    /// Writes while these triggers are dropped, and creates them again.
    package func withoutTriggers<Result>(_ triggers: [Catalogue.Entry], _ write: () throws -> Result) throws -> Result {
        for trigger in triggers { try execute("DROP TRIGGER main.\(trigger.name.quotedName)") }
        let result = try write()
        for sql in triggers.compactMap(\.sql) { try run(sql) }
        return result
    }

    /// Writes rows for which no trigger of an app fires but those that write to a virtual table: nothing else keeps a
    /// search table in step with the rows.
    package func withoutAppTriggers<Result>(_ write: () throws -> Result) throws -> Result {
        let catalogue = try catalogue()
        let virtual = catalogue.tables.filter(\.isVirtual).map { $0.name.uppercased() }
        let own: Set<Catalogue.TriggerKind> = [.derivedAttribute, .rTree]
        let triggers = catalogue.triggers.filter { !own.contains($0.kind) }.map(\.entry)
        return try withoutTriggers(
            triggers.filter { trigger in !virtual.contains { trigger.sql?.uppercased().names($0) == true } }, write)
    }
}
