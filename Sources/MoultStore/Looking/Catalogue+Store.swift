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
    func columnsOfTables() throws -> [String: [Catalogue.Column]] {
        var columns: [String: [Catalogue.Column]] = [:]
        let sql = """
            SELECT t.name, c.name, c.type, c."notnull", c.dflt_value, c.pk
            FROM sqlite_master AS t, pragma_table_info(t.name) AS c
            WHERE t.type = 'table' AND t.rootpage > 0
            ORDER BY t.rowid, c.cid
            """
        try forEachRow(sql) { row in
            let column = Catalogue.Column(
                name: row.text(1) ?? "", declaredType: row.text(2) ?? "", isNotNull: row.integer(3) != 0,
                defaultValue: row.text(4), primaryKeyPosition: Int(row.integer(5)))
            columns[row.text(0) ?? "", default: []].append(column)
        }
        return columns
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
