import MoultBasics
import MoultSQLite
import MoultVerify

/// The tables that an open transaction has not written to, in `main` compared with the copy attached as `source`.
///
/// The pages of such a table are unchanged (``ChangedPages``), so its rows need not be compared. The names and
/// positions of the columns are read from both databases. A question about its rows has the same answer as before if it
/// concerns the same columns.
struct UnwrittenTables: Sendable {
    /// The unwritten tables by their new names, each with its old name and the old column for each new one.
    private let tables: [String: (old: String, columns: [String: String])]
    /// The other tables, and those with a written index: SQLite has to check them.
    let written: [String]

    private struct Tree {
        let kind, name, table: String
        let root: Int
    }

    /// Returns nil if the files do not show the written pages.
    init?(_ connection: Connection, _ system: any System) throws {
        let old = try connection.text("SELECT file FROM pragma_database_list WHERE name = 'source'")
        guard let old, let changed = try ChangedPages(connection, since: old, system) else { return nil }
        let before = try Self.trees(connection, "source")
        let after = try Self.trees(connection, "main")
        let treesBefore = Dictionary(before.map { ($0.root, $0) }, uniquingKeysWith: { first, _ in first })
        // The catalogue must know each written tree.
        guard changed.roots.allSatisfy({ $0 == 1 || treesBefore[$0] != nil }) else { return nil }
        var tables: [String: (old: String, columns: [String: String])] = [:]
        var written: Set<String> = ["sqlite_master"]
        for tree in after {
            guard let same = treesBefore[tree.root], !changed.roots.contains(tree.root), same.kind == tree.kind else {
                written.insert(tree.table)
                continue
            }
            guard tree.kind == "table" else { continue }
            guard let columns = try Self.columns(tree.name, same.name, connection) else {
                // No page was written, but its rows may read differently now. SQLite has to check its indexes.
                written.insert(tree.name)
                continue
            }
            tables[tree.name] = (same.name, columns)
        }
        self.tables = tables
        self.written = written.sorted()
    }

    private static func trees(_ connection: Connection, _ schema: String) throws -> [Tree] {
        try connection.rows("SELECT type, name, tbl_name, rootpage FROM \(schema).sqlite_master WHERE rootpage > 0") {
            Tree(
                kind: $0.text(0) ?? "", name: $0.text(1) ?? "", table: $0.text(2) ?? "",
                root: Int(clamping: $0.integer(3)))
        }
    }

    /// Returns the old name of each column by its new name; nil if a row could read differently than before.
    private static func columns(_ new: String, _ old: String, _ connection: Connection) throws -> [String: String]? {
        func columns(_ table: String, _ schema: String) throws -> [(name: String, meaning: String)] {
            // A row that is older than a column has the column's default value.
            try connection.rows(
                "SELECT name, upper(type), dflt_value, pk, hidden FROM pragma_table_xinfo(?, ?) ORDER BY cid",
                [.text(table), .text(schema)]
            ) { row in (row.text(0) ?? "", (1...4).map { row.text($0) ?? "" }.joined(separator: "\n")) }
        }
        let (before, after) = (try columns(old, "source"), try columns(new, "main"))
        let isGenerated = (before + after).contains { !$0.meaning.hasSuffix("\n0") }
        let isReadAlike = zip(before, after).allSatisfy { before, after in
            before.meaning == after.meaning
                && ["Z_PK", "Z_ENT"].allSatisfy { (before.name == $0) == (after.name == $0) }
        }
        guard !isGenerated, after.count >= before.count, isReadAlike else { return nil }
        return Dictionary(zip(after, before).map { ($0.name, $1.name) }, uniquingKeysWith: { first, _ in first })
    }

    // MARK: - Questions that can be skipped

    /// Returns the old name of a column in an unwritten table.
    private func old(_ table: String, _ column: String) -> String? { tables[table]?.columns[column] }

    private func isSame(_ new: (table: String, columns: [String]), _ before: (table: String, columns: [String])) -> Bool
    {
        guard tables[new.table]?.old == before.table else { return false }
        return new.columns.count == before.columns.count
            && zip(new.columns, before.columns).allSatisfy { old(new.table, $0) == $1 }
    }

    /// Returns the part of an expectation that must still be compared. The rows of a table are counted as a whole.
    func remaining(of all: MigrationExpectation) -> MigrationExpectation {
        var remaining = all
        let tables = Set(all.rows.filter { !isUnchanged($0) }.map(\.table))
        remaining.rows = all.rows.filter { tables.contains($0.table) }
        remaining.own.removeAll { isSame(($0.table, $0.columns), ($0.table, $0.columns)) }
        remaining.pairs.removeAll(where: isUnchanged)
        return remaining
    }

    private func isUnchanged(_ rows: MigrationExpectation.Rows) -> Bool {
        rows.keyShift == 0
            && rows.entities.allSatisfy { entity in
                let columns = entity.columns.filter { $0.ifNil == nil }
                return entity.number == entity.sourceNumber && !entity.isPicked && entity.alternatives.isEmpty
                    && columns.count == entity.columns.count
                    && isSame((rows.table, columns.map(\.destination)), (rows.sourceTable, columns.map(\.source)))
            }
    }

    private func isUnchanged(_ pairs: MigrationExpectation.Pairs) -> Bool {
        pairs.ownerShifts == nil && pairs.destinationShifts == nil
            && isSame(
                (pairs.destination.table, [pairs.destination.owner, pairs.destination.destination]),
                (pairs.source.table, [pairs.source.owner, pairs.source.destination]))
    }

    /// Returns the questions that must still be asked of the new store, and those for the old store that are still
    /// needed.
    func remaining(of new: StoreShape, _ old: StoreShape) -> (new: StoreShape, old: StoreShape) {
        var (new, old) = (new, old)
        drop(\.references, &new, &old) { new, before in
            new.numbers == before.numbers && new.targetNumbers == before.targetNumbers
                && isSame((new.targetTable, []), (before.targetTable, []))
                && isSame(
                    (new.table, [new.column] + (new.entityColumn.map { [$0] } ?? [])),
                    (before.table, [before.column] + (before.entityColumn.map { [$0] } ?? [])))
        }
        drop(\.oneToOnes, &new, &old) { new, before in
            new.numbers == before.numbers && isSame((new.table, [new.column]), (before.table, [before.column]))
                && isSame((new.inverseTable, [new.inverseColumn]), (before.inverseTable, [before.inverseColumn]))
        }
        drop(\.reflexives, &new, &old) { new, before in
            isSame(
                (new.table, [new.column, new.inverseColumn]), (before.table, [before.column, before.inverseColumn]))
        }
        drop(\.pairs, &new, &old) { isSame(($0.table, $0.columns), ($1.table, $1.columns)) }
        for list in [\StoreShape.required, \.external] {
            drop(list, &new, &old) { new, before in
                new.numbers == before.numbers && isSame((new.table, [new.column]), (before.table, [before.column]))
            }
        }
        drop(\.unique, &new, &old) { new, before in
            new.numbers == before.numbers && isSame((new.table, new.columns), (before.table, before.columns))
        }
        // The valid entity numbers of rows are checked for a whole table.
        let numbers = { (shape: StoreShape, table: String) in
            Set(shape.entities.filter { $0.table == table }.map(\.number))
        }
        let same = tables.filter { numbers(new, $0) == numbers(old, $1.old) }
        new.entities.removeAll { same[$0.table] != nil }
        return (new, old)
    }

    private func drop<Question>(
        _ list: WritableKeyPath<StoreShape, [Question]>, _ new: inout StoreShape, _ old: inout StoreShape,
        where isSame: (Question, Question) -> Bool
    ) {
        let all = new[keyPath: list]
        new[keyPath: list] = all.filter { question in
            guard let place = old[keyPath: list].firstIndex(where: { isSame(question, $0) }) else { return true }
            old[keyPath: list].remove(at: place)
            return false
        }
    }
}
