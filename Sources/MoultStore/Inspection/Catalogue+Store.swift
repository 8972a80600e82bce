import MoultBasics
import MoultSQLite

extension Catalogue {
    /// SHA-256 of every entry's kind, name, table and text, in the order of the catalogue. Triggers come last and are
    /// sorted by name, because they are dropped and recreated while rows are written.
    package var digest: [UInt8] {
        let others = entries.filter { $0.kind != .trigger }
        let triggers = entries.filter { $0.kind == .trigger }.inByteOrder { $0.name }
        return Digest.sha256(
            (others + triggers).flatMap { entry in
                [entry.kind.rawValue, entry.name, entry.tableName, entry.sql ?? ""].flatMap { Array($0.utf8) + [0] }
            })
    }

    /// The tables in which R-trees and search tables store their content.
    var shadowTables: [String] {
        // https://sqlite.org/rtree.html, https://sqlite.org/fts5.html and https://sqlite.org/fts3.html.
        let parts = [
            "rowid", "node", "parent", "data", "idx", "content", "docsize", "config", "segments", "segdir", "stat",
        ]
        let names = Set(tables.filter(\.isVirtual).flatMap { tree in parts.map { "\(tree.name)_\($0)" } })
        return tables.map(\.name).filter(names.contains)
    }

    /// The triggers, with the purpose of each.
    package var triggers: [(entry: Entry, kind: TriggerKind)] {
        entries.filter { $0.kind == .trigger }.map { ($0, TriggerKind(name: $0.name)) }
    }

    /// Returns the entries with one of these names, except triggers: SQLite allows a trigger to have any name.
    func strangers(named names: Set<String>) -> [Entry] {
        let names = Set(names.map { $0.uppercased() })
        return entries.filter { $0.kind != .trigger && names.contains($0.name.uppercased()) }
    }

    /// The purpose of a store's trigger, according to its name.
    package enum TriggerKind: Sendable, Hashable {
        /// Maintains a derived attribute.
        case derivedAttribute
        /// Maintains an R-tree index.
        case rTree
        /// One of Apple's own, seen in Photos.
        case photos
        /// A trigger of another program.
        case unknown

        package init(name: String) {
            self =
                name.hasPrefix("Z_DA_")
                ? .derivedAttribute : name.hasPrefix("Z_RT_") ? .rTree : name.hasPrefix("ZT_") ? .photos : .unknown
        }
    }
}

extension Catalogue.Entry {
    /// Whether an earlier migration altered the table in place. Core Data ends a table with ` )` or a compound
    /// uniqueness constraint. After a column is added the text ends with `)`, and a renamed table has its name in
    /// quotes.
    var wasAlteredInPlace: Bool {
        guard kind == .table, !isVirtual, let sql, name.hasPrefix("Z"), name.hasPrefix("Z_RT_") == false,
            !StoreSnapshot.coreTables.contains(name)
        else { return false }
        return sql.hasPrefix("CREATE TABLE \"") || !(sql.hasSuffix(" )") || sql.hasSuffix("))"))
    }
}

/// The columns of a store's tables, in order. They are parsed on demand from the text of a table that Core Data wrote.
package struct TableColumns: Sendable, Equatable {
    private let catalogue: Catalogue
    /// SQLite's own answers for tables with any other text; nil if SQLite could not be asked.
    private let asked: [String: [Catalogue.Column]?]

    /// - Parameter asking: returns SQLite's answer for a table whose columns cannot be parsed from its text.
    package init(of catalogue: Catalogue, asking: (String) throws -> [Catalogue.Column]?) rethrows {
        self.catalogue = catalogue
        var asked: [String: [Catalogue.Column]?] = [:]
        for table in catalogue.tables where !table.isVirtual && !table.isPlain {
            asked.updateValue(try asking(table.name), forKey: table.name)
        }
        self.asked = asked
    }

    /// Returns a table's columns. The result is nil if the table does not exist, if it is virtual, because this SQLite
    /// may lack its module, or if SQLite could not be asked.
    package subscript(table: String) -> [Catalogue.Column]? {
        if let known = asked[table] { return known }
        guard let entry = catalogue.table(table), !entry.isVirtual else { return nil }
        return entry.plainColumns
    }

    /// Returns whether the columns of a non-virtual table in the catalogue are known.
    func isKnown(_ table: String) -> Bool { asked[table].map { $0 != nil } ?? true }
}

extension Catalogue.Entry {
    /// Whether the table's text is as Core Data writes it, with only a name and a type for each column: `CREATE TABLE
    /// ZITEM ( Z_PK INTEGER PRIMARY KEY, ZTITLE VARCHAR )`. The key of a join table follows its columns. Core Data's
    /// own tables, and tables with a column added later, have no space inside the parentheses.
    package var isPlain: Bool {
        forEachPlainColumn { _, _, _ in }.map { keys in keys.isEmpty || plainColumns != nil } ?? false
    }

    /// The columns parsed from such a text; nil for any other text.
    package var plainColumns: [Catalogue.Column]? {
        var columns: [Catalogue.Column] = []
        let keys = forEachPlainColumn { name, type, isKey in
            columns.append(Catalogue.Column(name: String(name), declaredType: type, primaryKeyPosition: isKey ? 1 : 0))
        }
        guard let keys else { return nil }
        for (position, key) in keys.enumerated() {
            guard let place = columns.firstIndex(where: { $0.name == key && $0.primaryKeyPosition == 0 }) else {
                return nil
            }
            columns[place].primaryKeyPosition = position + 1
        }
        return columns
    }

    private static let plainTypes = ["INTEGER", "VARCHAR(255)", "VARCHAR", "FLOAT", "DECIMAL", "TIMESTAMP", "BLOB"]
        .map { (name: $0, bytes: Array($0.utf8)) }
    private static let primaryKey = Array(" PRIMARY KEY".utf8)
    private static let keyList = Array("PRIMARY KEY (".utf8)

    /// - Parameter body: receives a name, the type, and whether the column is the primary key.
    /// - Returns: the columns of the key that follows the columns; nil if the text contains anything else, even if
    ///   `body` was called.
    private func forEachPlainColumn(_ body: (PlainName, String, Bool) -> Void) -> [String]? {
        let start = "CREATE TABLE \(name) ("
        guard var sql, sql.hasPrefix(start), sql.hasSuffix(")") else { return nil }
        return sql.withUTF8 { bytes in
            var rest = bytes[...].dropFirst(start.utf8.count).dropLast()
            if rest.first == UInt8(ascii: " ") { rest = rest.dropFirst() }
            if rest.last == UInt8(ascii: " ") { rest = rest.dropLast() }
            while !rest.isEmpty {
                if rest.starts(with: Self.keyList) { return Self.keys(rest.dropFirst(Self.keyList.count)) }
                guard let name = PlainName(at: &rest), rest.popFirst() == UInt8(ascii: " "),
                    let type = Self.plainTypes.first(where: { rest.starts(with: $0.bytes) })
                else { return nil }
                rest = rest.dropFirst(type.bytes.count)
                let isKey = rest.starts(with: Self.primaryKey)
                if isKey { rest = rest.dropFirst(Self.primaryKey.count) }
                body(name, type.name, isKey)
                if rest.isEmpty { return [] }
                guard rest.popFirst() == UInt8(ascii: ","), rest.popFirst() == UInt8(ascii: " ") else { return nil }
            }
            return nil
        }
    }

    /// Parses the names in `A, B)`, if nothing follows.
    private static func keys(_ list: Slice<UnsafeBufferPointer<UInt8>>) -> [String]? {
        var rest = list
        var keys: [String] = []
        while let name = PlainName(at: &rest) {
            keys.append(String(name))
            switch rest.popFirst() {
            case UInt8(ascii: ")"): return rest.isEmpty ? keys : nil
            case UInt8(ascii: ",") where rest.popFirst() == UInt8(ascii: " "): continue
            default: return nil
            }
        }
        return nil
    }
}

/// An unquoted name in the text of a table.
private struct PlainName {
    fileprivate let bytes: Slice<UnsafeBufferPointer<UInt8>>

    /// Removes the name at the start of a text; returns nil if there is none.
    init?(at text: inout Slice<UnsafeBufferPointer<UInt8>>) {
        bytes = text.prefix(while: \.isNameByte)
        guard let first = bytes.first, !(UInt8(ascii: "0")...UInt8(ascii: "9")).contains(first),
            // SQLite allows a table to end with the name of an empty constraint: `CONSTRAINT BLOB` is not a column.
            bytes.count != 10 || String(decoding: bytes, as: UTF8.self).uppercased() != "CONSTRAINT"
        else { return nil }
        text = text[bytes.endIndex...]
    }
}

extension String {
    fileprivate init(_ name: PlainName) { self.init(decoding: name.bytes, as: UTF8.self) }
}

extension UInt8 {
    /// Whether the byte may be part of an unquoted name.
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
    /// Writes with these triggers dropped, and recreates them afterwards.
    package func withoutTriggers<Result>(_ triggers: [Catalogue.Entry], _ write: () throws -> Result) throws -> Result {
        for trigger in triggers { try execute("DROP TRIGGER main.\(trigger.name.quotedName)") }
        let result = try write()
        for sql in triggers.compactMap(\.sql) { try run(sql) }
        return result
    }

    /// Writes rows without firing an app's triggers, except those that write to a virtual table: only they keep a
    /// search table up to date.
    package func withoutAppTriggers<Result>(_ write: () throws -> Result) throws -> Result {
        try withoutTriggers(appTriggers(), write)
    }

    /// Returns an app's triggers, except those that write to a virtual table.
    package func appTriggers() throws -> [Catalogue.Entry] {
        let catalogue = try catalogue()
        let virtual = catalogue.tables.filter(\.isVirtual).map { $0.name.uppercased() }
        let own: Set<Catalogue.TriggerKind> = [.derivedAttribute, .rTree]
        let triggers = catalogue.triggers.filter { !own.contains($0.kind) }.map(\.entry)
        return triggers.filter { trigger in !virtual.contains { trigger.sql?.uppercased().names($0) == true } }
    }
}
