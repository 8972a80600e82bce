import MoultModel
import MoultSQLite

/// Copies the rows of one table out of a damaged database, by ranges of keys that are halved around what cannot be read.
struct TableSalvage {
    /// Where the values come from: the schema `damaged` of the new store's connection.
    let connection: Connection
    let table: String
    /// What the damaged store calls it.
    let source: String
    /// The key's column, or `rowid`.
    let key: String
    /// The columns of the new table, each with the expression over the damaged one's row.
    let columns: [(name: String, expression: String)]
    /// The highest key that there may be.
    let highest: Int64
    let isCancelled: () -> Bool

    /// Keys that are tried one by one, at most.
    private static let patience = 200_000

    func run() throws -> SalvageReport.Table {
        var result = SalvageReport.Table(name: table, rows: 0, partial: 0, lost: [], cause: nil, isCutShort: false)
        var tries = 0
        // Negative keys are nothing that Core Data hands out, and are looked for all the same.
        var ranges: [ClosedRange<Int64>] = [0...max(highest, 0), Int64.min...(-1)]
        if highest < Int64.max { ranges.insert(max(highest, 0) + 1...Int64.max, at: 0) }
        while let range = ranges.popLast() {
            guard !isCancelled() else {
                throw MigrationError(
                    .cancelled, "The salvage was cancelled; the damaged store is as it was.", place: table,
                    remedy: "Run the command again when you want it done.")
            }
            do {
                result.rows += try copy(range)
            } catch let error as MigrationError where Self.isDamage(error) {
                result.cause = result.cause ?? error.cause
                if range.lowerBound == range.upperBound {
                    tries += 1
                    try copyPart(range.lowerBound, &result)
                } else if tries > Self.patience || !mayHoldRows(range) {
                    result.isCutShort = result.isCutShort || tries > Self.patience
                    if mayHoldRows(range) { result.lose(range) }
                } else {
                    let middle = range.lowerBound + (range.upperBound &- range.lowerBound) / 2
                    ranges.append(middle + 1...range.upperBound)
                    ranges.append(range.lowerBound...middle)
                }
            }
        }
        result.lost.sort { $0.lowerBound < $1.lowerBound }
        return result
    }

    /// Beyond the highest key that anything knows of, what cannot be read is not searched key by key.
    private func mayHoldRows(_ range: ClosedRange<Int64>) -> Bool {
        range.lowerBound >= 0 && range.lowerBound <= highest
    }

    private func copy(_ range: ClosedRange<Int64>) throws -> Int64 {
        let names = columns.map { $0.name.quotedName }.joined(separator: ", ")
        let values = columns.map(\.expression).joined(separator: ", ")
        // A statement that fails half-way takes back what it has inserted, for it is a transaction of its own.
        try connection.run(
            """
            INSERT INTO main.\(table.quotedName) (\(names)) SELECT \(values) FROM damaged.\(source.quotedName) \
            WHERE \(key) BETWEEN ? AND ?
            """, [.integer(range.lowerBound), .integer(range.upperBound)])
        return connection.changes
    }

    /// Of a row that cannot be read as a whole, the columns that can.
    private func copyPart(_ row: Int64, _ result: inout SalvageReport.Table) throws {
        let readable = columns.filter { column in
            (try? connection.value(
                "SELECT \(column.expression) FROM damaged.\(source.quotedName) WHERE \(key) = ?", [.integer(row)]))
                ?? nil
                != nil
        }
        let names = Set(readable.map(\.name))
        guard names.contains("Z_PK"), names.contains("Z_ENT") else { return result.lose(row...row) }
        do {
            result.rows += try TableSalvage(
                connection: connection, table: table, source: source, key: key, columns: readable,
                highest: highest, isCancelled: isCancelled
            ).copy(row...row)
            result.partial += 1
        } catch let error as MigrationError where Self.isDamage(error) {
            result.lose(row...row)
        }
    }

    /// What halving helps: damaged pages, and a value that a rule of the new table refuses.
    private static func isDamage(_ error: MigrationError) -> Bool {
        [.storeCorrupted, .notAStore, .dataConflict].contains(error.code)
    }
}

extension SalvageReport.Table {
    /// Adds keys; those that follow each other become one range.
    fileprivate mutating func lose(_ range: ClosedRange<Int64>) {
        if let last = lost.last, last.upperBound < Int64.max, last.upperBound + 1 == range.lowerBound {
            lost[lost.count - 1] = last.lowerBound...range.upperBound
        } else {
            lost.append(range)
        }
    }
}
