import Foundation
import TestSupport

/// Everything in a store's file, as the sqlite3 shell prints it.
struct StoreContents {
    typealias Row = [String: String]

    /// The statements of `sqlite_master` in their order.
    let schema: String
    /// What the header says, with the journal mode.
    let settings: String
    /// Metadata and model cache, byte for byte.
    let metadata: String
    /// By `Z_ENT`.
    let primaryKeys: [Int: Row]
    /// By table and by `Z_PK`, for each table that has it; values as `quote` writes them.
    let tables: [String: [Int: Row]]
    /// The rows of join tables.
    let joins: [String: Set<String>]

    init(_ path: String) throws {
        let names = try Self.lines(
            path,
            "SELECT name FROM sqlite_master WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL%' ORDER BY rowid")
        schema = try SQLiteShell.run(path, "SELECT type, name, tbl_name, sql FROM sqlite_master ORDER BY rowid")
        settings = try SQLiteShell.run(
            path,
            "PRAGMA journal_mode; PRAGMA auto_vacuum; PRAGMA page_size; PRAGMA encoding; PRAGMA user_version; "
                + "PRAGMA application_id")
        let cache = names.contains("Z_MODELCACHE") ? "; SELECT hex(Z_CONTENT) FROM Z_MODELCACHE" : ""
        metadata = try SQLiteShell.run(path, "SELECT Z_VERSION, Z_UUID, hex(Z_PLIST) FROM Z_METADATA" + cache)
        primaryKeys = try Self.rows(path, "Z_PRIMARYKEY", key: "Z_ENT") ?? [:]
        var tables: [String: [Int: Row]] = [:]
        var joins: [String: Set<String>] = [:]
        for name in names where !["Z_PRIMARYKEY", "Z_METADATA", "Z_MODELCACHE"].contains(name) {
            if let rows = try Self.rows(path, name, key: "Z_PK") {
                tables[name] = rows
            } else if name.hasPrefix("Z_"), !name.hasPrefix("Z_RT_") {
                joins[name] = Set(try Self.lines(path, "SELECT * FROM \"\(name)\""))
            }
        }
        self.tables = tables
        self.joins = joins
    }

    private static func lines(_ path: String, _ sql: String) throws -> [String] {
        try SQLiteShell.run(path, sql).split(separator: "\n").map(String.init)
    }

    /// Nil for a table without that column.
    private static func rows(_ path: String, _ table: String, key: String) throws -> [Int: Row]? {
        let columns = try lines(path, "SELECT name FROM pragma_table_info('\(table)')")
        guard columns.contains(key) else { return nil }
        // Hexadecimal, for a text may hold any character.
        let fields = columns.map { "hex(quote(\"\($0)\"))" }.joined(separator: " || ' ' || ")
        var rows: [Int: Row] = [:]
        for line in try lines(path, "SELECT \(key) || ' ' || \(fields) FROM \"\(table)\"") {
            let words = line.split(separator: " ").map(String.init)
            rows[Int(words[0]) ?? 0] = Row(uniqueKeysWithValues: zip(columns, words.dropFirst().map(text)))
        }
        return rows
    }

    private static func text(_ hexadecimal: String) -> String {
        var (bytes, high) = ([UInt8](), UInt8?.none)
        for digit in hexadecimal.utf8 {
            // Digits come before letters, and the shell writes capitals.
            let value = digit < 58 ? digit - 48 : digit - 55
            if let first = high { bytes.append(first << 4 | value) }
            high = high == nil ? value : nil
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

/// What one save changed in the tables of objects.
struct StoreDifference {
    struct Change {
        var table: String
        var key: Int
        var before: StoreContents.Row?
        var after: StoreContents.Row?

        /// Columns whose values differ, without the version.
        var columns: Set<String> {
            guard let before, let after else { return [] }
            return Set(after.keys.filter { before[$0] != after[$0] && $0 != "Z_OPT" })
        }

        func number(_ column: String) -> Int? { (after ?? before)?[column].flatMap { Int($0) } }
    }

    private(set) var inserted: [Change] = []
    private(set) var updated: [Change] = []
    private(set) var deleted: [Change] = []

    init(_ before: StoreContents, _ after: StoreContents) {
        for (table, rows) in after.tables where !table.hasPrefix("A") {
            let old = before.tables[table] ?? [:]
            for (key, row) in rows where old[key] != row {
                let change = Change(table: table, key: key, before: old[key], after: row)
                if old[key] == nil { inserted.append(change) } else { updated.append(change) }
            }
            for (key, row) in old where rows[key] == nil {
                deleted.append(Change(table: table, key: key, before: row, after: nil))
            }
        }
    }
}
