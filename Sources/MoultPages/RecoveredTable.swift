import MoultSQLite

/// A table of the damaged database, as its CREATE TABLE statement declares it.
package struct RecoveredTable {
    package let name: String
    /// Nil where that is not known.
    package let root: Int?
    /// The columns stored in a record, in record order.
    let columns: [Catalogue.Column]
    /// Whether the table is one `WITHOUT ROWID`: its rows are the entries of an index, without numbers.
    package let isKeyed: Bool
    /// The column that is another name of the key: the row itself holds no value there.
    let keyColumn: Int?
    /// The numbers that its rows may have as `Z_ENT`; empty where that is not known.
    var entityNumbers: Set<Int64> = []
    /// The ranges of keys that the walk could not read.
    package var gaps: [KeyGap] = []
    package var rows: Int64 = 0
    /// Keys of rows of which some values are damaged.
    package var partial: [Int64] = []
    var highestRead: Int64?
    var lowestRead: Int64?
    /// Rows by an index that lists all of them and that could be read as a whole.
    package var counted: Int64?
    /// Whether all of its keys that an index lists were noted.
    var isListed = false
    /// The highest key that was handed out, by the store's own counter.
    package var counter: Int64?
    /// Whether rows above those that are named may be lost: nothing says what the highest key was.
    package var endsOpen = false
    /// Leaves that nothing led to and that were found to be its own.
    var orphans = 0

    /// Rows that one leaf can have at most.
    func capacity(usable: Int) -> Int64 { Int64(max((usable - 8) / (columns.count + 5), 1)) }

    init(name: String, root: Int?, columns: [Catalogue.Column], isKeyed: Bool = false) {
        (self.name, self.root, self.columns, self.isKeyed) = (name, root, columns, isKeyed)
        let keys = isKeyed ? [] : columns.indices.filter { columns[$0].primaryKeyPosition > 0 }
        let isInteger = keys.count == 1 && columns[keys[0]].declaredType.uppercased() == "INTEGER"
        keyColumn = isInteger ? keys[0] : nil
    }

    /// Whether rows without numbers may be missing: an index that lists them all says how many, if there is one.
    package var lacksKeyedRows: Bool { isKeyed && !gaps.isEmpty && counted != rows }

    /// A name of the key that no column has.
    var keyName: String {
        let names = Set(columns.map { $0.name.lowercased() })
        return ["rowid", "_rowid_", "oid"].first { !names.contains($0) } ?? "rowid"
    }

    /// Whether a row of the table can have these values.
    func allows(_ record: StoredRecord) -> Bool {
        guard !record.values.isEmpty, record.values.count <= columns.count else { return false }
        guard let keyColumn, keyColumn < record.values.count, let value = record.values[keyColumn] else { return true }
        return value == .null
    }

    /// Whether a row is of an entity of another table.
    func isStranger(_ record: StoredRecord) -> Bool {
        guard !entityNumbers.isEmpty, let place = columns.firstIndex(where: { $0.name == "Z_ENT" }),
            place < record.values.count, let number = record.values[place]?.integer
        else { return false }
        return !entityNumbers.contains(number)
    }

    /// Whether the values are such as the table's rows have: their number, their types, the number of the entity.
    func fits(_ record: StoredRecord) -> Bool {
        guard allows(record), record.values.count == columns.count else { return false }
        for (column, value) in zip(columns, record.values) {
            guard let value, value != .null else { continue }
            if column.name == "Z_ENT", keyColumn != nil, !entityNumbers.isEmpty {
                guard let number = value.integer, entityNumbers.contains(number) else { return false }
            }
            let type = column.declaredType.uppercased()
            switch value {
            case .text where type.contains("INT") || type == "TIMESTAMP" || type == "FLOAT": return false
            case .integer where type.hasPrefix("VARCHAR"), .real where type.hasPrefix("VARCHAR"): return false
            case .blob where type != "BLOB" && !type.isEmpty: return false
            case .real where type.contains("INT"): return false
            default: break
            }
        }
        return true
    }
}
