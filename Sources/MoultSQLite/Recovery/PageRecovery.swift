import MoultBasics

/// Reads the rows of a damaged database from its pages, each of them once or twice, whatever leads to them.
///
/// The tables are walked from their roots. Leaves that no walk has reached go to the one table that they can belong to.
/// The indexes, the keys' counters and the pages themselves say what must have been there.
package final class PageRecovery {
    /// A model's description of the store's tables, for where the store itself has none.
    package struct Hints {
        /// Each `CREATE TABLE`.
        let statements: [String]
        /// The values that `Z_ENT` may have, by table.
        let numbers: [String: Set<Int64>]

        package init(statements: [String], numbers: [String: Set<Int64>]) {
            (self.statements, self.numbers) = (statements, numbers)
        }
    }

    package let pages: DatabasePages
    package let ledger: PageLedger
    package let database: RecoveredDatabase
    package var tables: [RecoveredTable] = []
    package var schema: SchemaRows
    package var isSchemaWhole = true
    /// By page that a walk could not read, the table whose walk it was.
    var owners: [Int: Int] = [:]
    /// Pages of indexes that could not be read.
    var indexPages: Set<Int> = []
    /// Rows that may belong to several tables, or to none, by their number.
    package var rowsAside: Int64 = 0
    let hints: ([UInt8]?) throws -> Hints?
    let check: () throws -> Void
    /// The tables that a store need not have.
    private let optionalTables: [String]
    /// The SQL of the highest key that a row of `Z_PRIMARYKEY` names.
    private let highestKey: String
    /// The names of the tables that are read; nil for all, and for what belongs to no table.
    let only: Set<String>?

    /// - Parameters:
    ///   - path: the damaged database, without a writer.
    ///   - recovered: where the rows go; nothing may be there.
    ///   - only: the names of the tables that are read; nil for all.
    ///   - hints: what a model says, given the bytes that may be the model which the store carries.
    ///   - optionalTables: the tables that a store need not have: they go where no page of them is found.
    ///   - highestKey: the SQL of the highest key that a row of `Z_PRIMARYKEY` names.
    ///   - check: throws where the work is to end.
    package init(
        _ path: String, into recovered: String, only: Set<String>? = nil, _ system: any System,
        optionalTables: [String], highestKey: String, check: @escaping () throws -> Void,
        hints: @escaping ([UInt8]?) throws -> Hints?
    ) throws {
        pages = try DatabasePages(path, system)
        ledger = try PageLedger(pages)
        database = try RecoveredDatabase(recovered)
        schema = try SchemaRows()
        (self.hints, self.check, self.only) = (hints, check, only)
        (self.optionalTables, self.highestKey) = (optionalTables, highestKey)
    }

    /// - Parameter place: what an error names: the store of which this is a copy.
    /// - Throws: `notAStore` where no page is one of SQLite.
    package func run(place: String) throws {
        try ledger.findFreePages()
        try readSchema()
        for entry in schema.entries { try database.note(entry) }
        for table in schema.tables where only?.contains(table.name) ?? true {
            guard try database.make(table) else {
                schema.leaveOut(table.name)
                continue
            }
            tables.append(table)
        }
        // The numbers of the entities tell a leaf of another table by its rows.
        let numbers = tables.firstIndex { $0.name == "Z_PRIMARYKEY" }
        if let numbers {
            try readTable(numbers)
            try nameEntities(hinting: false)
        }
        for index in tables.indices where index != numbers { try readTable(index) }
        try nameEntities()
        let places = Dictionary(tables.enumerated().map { ($1.name, $0) }, uniquingKeysWith: { first, _ in first })
        for index in schema.indexes {
            if let place = places[index.table] { try readIndex(index, of: place) }
        }
        if !isSchemaWhole || tables.contains(where: { !$0.gaps.isEmpty }) { try OrphanPages(self).read() }
        guard !ledger.numbers(.read).isEmpty else {
            throw MigrationError(
                .notAStore, "The file has no page of a SQLite database that can be read.", place: place,
                remedy: "Name a Core Data store, or restore it from a backup. If the app encrypts its store, "
                    + "decrypt a copy with the app's key first.")
        }
        // The model does not say whether a store has them.
        for table in tables where table.root == nil && table.rows == 0 && optionalTables.contains(table.name) {
            try database.connection.run("DROP TABLE \(table.name.quotedName)")
            tables.removeAll { $0.name == table.name }
        }
    }

    // MARK: - Tables

    private func readTable(_ index: Int) throws {
        guard let root = tables[index].root else {
            tables[index].gaps = [KeyGap(keys: .min ... .max, page: 0, depth: 0)]
            return
        }
        var walk = self.walk(index)
        try walk.read(root, isTable: !tables[index].isKeyed)
        note(walk.closedGaps, of: index)
    }

    func note(_ gaps: [KeyGap], of index: Int) {
        tables[index].gaps += gaps
        for gap in gaps where gap.page > 0 && !gap.isWithinPage { owners[gap.page] = index }
    }

    /// A walk whose rows go to a table.
    func walk(_ index: Int) -> TreeWalk {
        let table = tables[index]
        return TreeWalk(
            ledger, isKeyed: table.isKeyed,
            accepts: { records in 2 * records.count(where: table.allows) > records.count },
            owns: { records in 2 * records.count(where: table.isStranger) <= records.count },
            onRow: { key, record, page in
                try self.check()
                guard try self.database.insert(key, record, into: table) else {
                    self.rowsAside += 1
                    return try self.database.keepAside(
                        key, record, page: page, tables: [table.name], reason: "key met twice")
                }
                self.tables[index].rows += 1
                if !record.isWhole { self.tables[index].partial.append(key) }
                if table.isKeyed { return }
                self.tables[index].highestRead = max(self.tables[index].highestRead ?? key, key)
                self.tables[index].lowestRead = min(self.tables[index].lowestRead ?? key, key)
            })
    }

    /// Notes for each table what `Z_PRIMARYKEY` says of it: the numbers of its entities, and the highest key.
    ///
    /// - Parameter hinting: whether the model is asked where that cannot be read.
    private func nameEntities(hinting: Bool = true) throws {
        var (roots, supers, counters): ([Int64: String], [Int64: Int64], [String: Int64]) = ([:], [:], [:])
        try? database.connection.forEachRow("SELECT Z_ENT, Z_NAME, Z_SUPER, \(highestKey) FROM Z_PRIMARYKEY") { row in
            // Core Data's own entities, such as those of history, begin with another letter.
            roots[row.integer(0)] = (row.integer(0) > 16_000 ? "A" : "Z") + (row.text(1) ?? "").uppercased()
            supers[row.integer(0)] = row.integer(2)
            counters[roots[row.integer(0)] ?? ""] = row.integer(3)
        }
        var numbers: [String: Set<Int64>] = [:]
        for number in roots.keys {
            var (root, steps) = (number, 0)
            while let above = supers[root], above != 0, roots[above] != nil, steps < 1000 {
                (root, steps) = (above, steps + 1)
            }
            numbers[roots[root] ?? "", default: []].insert(number)
        }
        let needsHints = hinting && tables.contains { !$0.gaps.isEmpty && numbers[$0.name] == nil }
        let hinted = needsHints ? try hints(modelCache())?.numbers ?? [:] : [:]
        for index in tables.indices {
            let name = tables[index].name
            tables[index].counter = counters[name]
            tables[index].entityNumbers = numbers[name] ?? hinted[name] ?? []
        }
    }

    private func modelCache() -> [UInt8]? {
        (try? database.connection.value("SELECT Z_CONTENT FROM Z_MODELCACHE"))??.blob
    }

    // MARK: - Indexes

    /// Counts what an index lists, and notes its keys where rows of its table may be missing.
    private func readIndex(_ index: SchemaRows.Index, of position: Int) throws {
        let table = tables[position]
        func walk(noting: Bool) throws -> TreeWalk {
            var walk = TreeWalk(ledger, isKeyed: table.isKeyed) { key, _, _ in
                try self.check()
                if noting { try self.database.expect(key, in: table.name) }
            }
            try walk.read(index.root, isTable: false)
            return walk
        }
        // Keys that are no numbers are only counted.
        let isNoting = !table.gaps.isEmpty && !table.isListed && !table.isKeyed
        let walk = try walk(noting: isNoting)
        indexPages.formUnion(walk.gaps.map(\.page))
        guard walk.gaps.isEmpty, !index.isPartial else { return }
        if isNoting || table.isKeyed || walk.count == table.rows {
            tables[position].counted = walk.count
            tables[position].isListed = table.isListed || isNoting
        } else if !table.isListed {
            // The index has other rows: it is read once more, for their keys.
            for number in walk.visited { ledger[number] = .unknown }
            tables[position].counted = try self.relist(index, table)
            tables[position].isListed = true
        }
    }

    private func relist(_ index: SchemaRows.Index, _ table: RecoveredTable) throws -> Int64 {
        var walk = TreeWalk(ledger) { key, _, _ in try self.database.expect(key, in: table.name) }
        try walk.read(index.root, isTable: false)
        return walk.count
    }

    // MARK: - Pages that nothing leads to

    func leaf(_ number: Int) throws -> BTreePage? {
        try check()
        guard let bytes = try pages.page(number), let page = BTreePage(bytes, number: number), page.kind == .leafTable
        else { return nil }
        return page
    }

    /// The entries of a page of an index that can be read, without marking a page.
    func entries(_ page: BTreePage) throws -> [StoredRecord] {
        try page.cells.compactMap { cell in
            try cell.flatMap(page.entry).flatMap { try RowBytes(ledger: ledger).record($0, on: page)?.0 }
        }
    }

    /// The rows of a leaf that can be read, in ascending order, without marking a page.
    func records(_ page: BTreePage) throws -> [(key: Int64, record: StoredRecord)] {
        let rows = try page.cells.compactMap { cell -> (key: Int64, record: StoredRecord)? in
            guard let cell, let row = page.row(cell), let payload = row.payload,
                let (record, _) = try RowBytes(ledger: ledger).record(payload, on: page)
            else { return nil }
            return (row.key, record)
        }
        return KeyRanges.ascending(rows.map(\.key)).map { rows[$0] }
    }

    /// Walks the tree of `sqlite_schema`; where it is damaged, finds its leaves elsewhere, then takes the tables of the model.
    func readSchema() throws {
        var walk = TreeWalk(
            ledger, accepts: { $0.contains(where: SchemaRows.isRow) },
            onRow: { _, record, _ in try self.schema.add(record) })
        try walk.read(1)
        isSchemaWhole = walk.gaps.isEmpty
        guard !isSchemaWhole else { return }
        // The header's page is read, whatever the tree on it is.
        for number in ledger.unknown {
            guard let page = try leaf(number) else { continue }
            let rows = try records(page)
            guard !rows.isEmpty, rows.allSatisfy({ SchemaRows.isRow($0.record) }) else { continue }
            for row in rows { try schema.add(row.record) }
            ledger[number] = .read
        }
        guard let hints = try anyHints() else { return }
        for statement in hints.statements {
            if let name = SchemaRows.name(in: statement) { try schema.addTable(name, nil, statement) }
        }
    }

    /// Returns the hints of the model that was named; else of the model that the store carries, wherever it lies.
    private func anyHints() throws -> Hints? {
        if let hints = try hints(nil) { return hints }
        for number in ledger.unknown {
            guard let page = try leaf(number), page.cells.count == 1, let row = try records(page).first,
                row.record.values.count == 1, case .blob(let bytes)?? = row.record.values.first,
                let hints = try hints(bytes)
            else { continue }
            return hints
        }
        return nil
    }
}
