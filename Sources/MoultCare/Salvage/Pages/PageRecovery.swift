import MoultBasics
import MoultSQLite

/// A reader of the rows of a damaged database that reads each page once or twice, whether or not anything points to it.
///
/// It walks the tables from their roots. A leaf that no walk has reached goes to the only table that it fits. The
/// indexes, the key counters and the pages themselves show which rows must have existed.
package final class PageRecovery {
    /// A model's description of the store's tables, for tables that the store itself no longer describes.
    package struct Hints {
        /// The `CREATE TABLE` statements.
        let statements: [String]
        /// The possible values of `Z_ENT` for each table.
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
    /// For each page that a walk could not read, the table that was being walked.
    var owners: [Int: Int] = [:]
    /// Index pages that could not be read.
    var indexPages: Set<Int> = []
    /// The number of rows set aside, because their table is uncertain or their key occurs twice.
    package var rowsAside: Int64 = 0
    let hints: ([UInt8]?) throws -> Hints?
    let check: () throws -> Void
    /// The tables that a store need not have.
    private let optionalTables: [String]
    /// The SQL expression for the highest key in a row of `Z_PRIMARYKEY`.
    private let highestKey: String
    /// The names of the tables to read; nil for all tables, and for pages that belong to no table.
    let only: Set<String>?

    /// - Parameters:
    ///   - path: the damaged database, which has no writer.
    ///   - recovered: the path for the recovered rows; no file may exist there.
    ///   - only: the names of the tables to read; nil for all.
    ///   - hints: returns the hints of a model, given bytes that may be the model stored in the database.
    ///   - optionalTables: the tables that a store need not have. They are dropped if none of their pages is found.
    ///   - highestKey: the SQL expression for the highest key in a row of `Z_PRIMARYKEY`.
    ///   - check: throws to end the work.
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

    /// - Parameter place: the path that errors name: the store of which this is a copy.
    /// - Throws: `notAStore` if no page is a SQLite page.
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
        // With the entity numbers, rows reveal a leaf of another table.
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
        // The model does not say whether a store has these tables.
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

    /// Returns a walk that adds its rows to a table.
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

    /// Records the contents of `Z_PRIMARYKEY` for each table: its entity numbers and its highest key.
    ///
    /// - Parameter hinting: whether to use the model for tables that cannot be read there.
    private func nameEntities(hinting: Bool = true) throws {
        var (roots, supers, counters): ([Int64: String], [Int64: Int64], [String: Int64]) = ([:], [:], [:])
        try? database.connection.forEachRow("SELECT Z_ENT, Z_NAME, Z_SUPER, \(highestKey) FROM Z_PRIMARYKEY") { row in
            // The table names of Core Data's own entities, such as those of history, begin with A.
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

    /// Counts the entries of an index, and notes their keys if rows of its table may be missing.
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
        // Keys that are not integers are only counted.
        let isNoting = !table.gaps.isEmpty && !table.isListed && !table.isKeyed
        let walk = try walk(noting: isNoting)
        indexPages.formUnion(walk.gaps.map(\.page))
        guard walk.gaps.isEmpty, !index.isPartial else { return }
        if isNoting || table.isKeyed || walk.count == table.rows {
            tables[position].counted = walk.count
            tables[position].isListed = table.isListed || isNoting
        } else if !table.isListed {
            // The index lists other rows than the table has. Read it once more for their keys.
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

    // MARK: - Orphan pages

    func leaf(_ number: Int) throws -> BTreePage? {
        try check()
        guard let bytes = try pages.page(number), let page = BTreePage(bytes, number: number), page.kind == .leafTable
        else { return nil }
        return page
    }

    /// Returns the readable entries of an index page, without marking any page.
    func entries(_ page: BTreePage) throws -> [StoredRecord] {
        try page.cells.compactMap { cell in
            try cell.flatMap(page.entry).flatMap { try RowBytes(ledger: ledger).record($0, on: page)?.0 }
        }
    }

    /// Returns the readable rows of a leaf in ascending order, without marking any page.
    func records(_ page: BTreePage) throws -> [(key: Int64, record: StoredRecord)] {
        let rows = try page.cells.compactMap { cell -> (key: Int64, record: StoredRecord)? in
            guard let cell, let row = page.row(cell), let payload = row.payload,
                let (record, _) = try RowBytes(ledger: ledger).record(payload, on: page)
            else { return nil }
            return (row.key, record)
        }
        return KeyRanges.ascending(rows.map(\.key)).map { rows[$0] }
    }

    /// Walks the tree of `sqlite_schema`. If it is damaged, finds its leaves elsewhere, then adds the tables of the
    /// model.
    func readSchema() throws {
        var walk = TreeWalk(
            ledger, accepts: { $0.contains(where: SchemaRows.isRow) },
            onRow: { _, record, _ in try self.schema.add(record) })
        try walk.read(1)
        isSchemaWhole = walk.gaps.isEmpty
        guard !isSchemaWhole else { return }
        // The first page counts as read, whatever its tree is.
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

    /// Returns the hints of the specified model, or else of the model found anywhere in the store.
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
