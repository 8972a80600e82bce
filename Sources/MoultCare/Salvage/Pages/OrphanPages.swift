import MoultSQLite

/// A search for the tables of leaves that no walk has reached, because the pages that pointed to them are damaged.
final class OrphanPages {
    private let recovery: PageRecovery
    private var ledger: PageLedger { recovery.ledger }
    /// The children of each interior page.
    private var children: [Int: [Int]] = [:]
    private var leaves: [Int] = []
    /// The index pages, interior pages first.
    private var indexPages: [Int] = []
    /// The number of pages examined. It limits the search for subtrees if pages point to each other in cycles.
    private var work = 0

    init(_ recovery: PageRecovery) throws {
        self.recovery = recovery
        var indexLeaves: [Int] = []
        for number in recovery.ledger.unknown {
            guard let bytes = try recovery.pages.page(number), let page = BTreePage(bytes, number: number) else {
                continue
            }
            switch page.kind {
            case .leafTable: leaves.append(number)
            case .interiorTable:
                children[number] = (page.cells.compactMap { $0.map(page.child) } + [page.rightChild])
                    .filter { recovery.ledger[$0] == .unknown && $0 > 1 && $0 != number }
            case .interiorIndex: indexPages.append(number)
            case .leafIndex: indexLeaves.append(number)
            }
        }
        indexPages += indexLeaves
    }

    func read() throws {
        let below = Set(children.values.joined())
        // Whole subtrees first: their pages are siblings, so they all belong to one table.
        for top in children.keys.sorted() where !below.contains(top) { try place(top) }
        // Then single pages, and the parts of anything that is not a subtree.
        for top in children.keys.sorted() where ledger[top] == .unknown { try place(top) }
        for leaf in leaves where ledger[leaf] == .unknown { try place(leaf) }
        guard recovery.only == nil else { return }
        for leaf in leaves where ledger[leaf] == .unknown { try keepAside(leaf) }
        for page in indexPages where ledger[page] == .unknown { try placeEntries(page) }
    }

    /// The keys, leaves and possible tables of a page and of all pages below it.
    private struct Group {
        var keys: ClosedRange<Int64>?
        var leaves = 0
        /// The tables that fit all of the rows.
        var tables: Set<Int>
        var sample: [Int64] = []
    }

    private func place(_ top: Int) throws {
        guard let (table, group) = try onlyTable(of: top), let keys = group.keys else { return }
        let gap = gap(of: table, over: keys)
        var walk = recovery.walk(table)
        try walk.read(top, keys: gap ?? .min ... .max, depth: 1)
        recovery.tables[table].orphans += walk.visited.count
        recovery.note(walk.closedGaps, of: table)
    }

    private func tables(areKeyed: Bool) -> [Int] {
        recovery.tables.indices.filter { position in
            let table = recovery.tables[position]
            return table.isKeyed == areKeyed && !table.gaps.isEmpty
        }
    }

    /// Returns the keys of adjacent gaps that have room for the given keys.
    private func gap(of table: Int, over keys: ClosedRange<Int64>) -> ClosedRange<Int64>? {
        let gaps = recovery.tables[table].gaps.filter { !$0.isWithinPage }.map(\.keys)
        return KeyRanges(gaps).ranges.first { $0.lowerBound <= keys.lowerBound && $0.upperBound >= keys.upperBound }
    }

    private func onlyTable(of top: Int) throws -> (Int, Group)? {
        let (group, tables) = try candidates(of: top)
        guard tables.count == 1, let table = tables.first else { return nil }
        // If part of the freelist is lost, deleted rows look like live rows.
        return recovery.knowsFreePages || recovery.tables[table].isListed ? (table, group) : nil
    }

    /// Returns the tables to which a page and all pages below it may belong.
    private func candidates(of top: Int) throws -> (Group, [Int]) {
        var group = Group(tables: Set(tables(areKeyed: false)))
        var seen: Set<Int> = []
        try add(top, to: &group, &seen, depth: 0)
        guard let keys = group.keys else { return (group, []) }
        switch try recovery.owner(of: top) {
        case .table(let table): return (group, group.tables.contains(table) ? [table] : [])
        case .none: return (group, [])
        case .unknown: break
        }
        let fitting = group.tables.sorted().filter { gap(of: $0, over: keys) != nil }
        let listed = try fitting.filter { table in
            let table = recovery.tables[table]
            return try group.sample.allSatisfy { key in
                try !recovery.database.has(key, in: table)
                    && (!table.isListed || recovery.database.isExpected(key, in: table.name))
            }
        }
        let sure = listed.filter { recovery.tables[$0].isListed }
        return (group, sure.count == 1 ? sure : listed)
    }

    private func add(_ number: Int, to group: inout Group, _ seen: inout Set<Int>, depth: Int) throws {
        work += 1
        let isTired = depth > 0 && work > 8 * recovery.pages.count
        guard depth < 20, !isTired, seen.insert(number).inserted, ledger[number] == .unknown else { return }
        if let below = children[number] {
            for child in below { try add(child, to: &group, &seen, depth: depth + 1) }
            return
        }
        guard let page = try recovery.leaf(number) else { return }
        let rows = try recovery.records(page)
        guard let least = rows.map(\.key).min(), let greatest = rows.map(\.key).max() else { return }
        group.leaves += 1
        let range = group.keys ?? least...greatest
        group.keys = min(range.lowerBound, least)...max(range.upperBound, greatest)
        group.sample += [rows[0].key, rows[rows.count / 2].key, rows[rows.count - 1].key]
        group.tables = group.tables.filter { table in
            let table = recovery.tables[table]
            return 10 * rows.count(where: { table.fits($0.record) }) >= 9 * rows.count
        }
    }

    /// Adds the entries of an index page to the `WITHOUT ROWID` table whose rows they are, or sets them aside if they
    /// may belong to another index.
    private func placeEntries(_ number: Int) throws {
        let keyed = tables(areKeyed: true)
        guard !keyed.isEmpty, let bytes = try recovery.pages.page(number), let page = BTreePage(bytes, number: number)
        else { return }
        let records = try recovery.entries(page)
        let fitting = keyed.filter { table in
            let table = recovery.tables[table]
            return !records.isEmpty && 10 * records.count(where: table.fits) >= 9 * records.count
        }
        guard !fitting.isEmpty else { return }
        switch try recovery.owner(of: number) {
        case .none: return
        case .table(let table):
            if fitting.contains(table) { try placeEntries(page, in: table) }
            return
        case .unknown: break
        }
        let isSure = recovery.indexPages.isEmpty && recovery.isSchemaWhole && recovery.knowsFreePages
        if isSure, fitting.count == 1 { return try placeEntries(page, in: fitting[0]) }
        for record in records {
            recovery.rowsAside += 1
            try recovery.database.keepAside(
                0, record, page: number, tables: fitting.map { recovery.tables[$0].name },
                reason: "the page may be of another index")
        }
    }

    private func placeEntries(_ page: BTreePage, in table: Int) throws {
        var walk = recovery.walk(table)
        try walk.read(page.number, depth: 1, isTable: false)
        recovery.note(walk.closedGaps, of: table)
    }

    /// Sets aside the rows of a page that may belong to several tables, or to none.
    private func keepAside(_ number: Int) throws {
        guard let page = try recovery.leaf(number) else { return }
        let names = try candidates(of: number).1.map { recovery.tables[$0].name }
        // A free page that no table is missing holds no lost rows.
        guard recovery.knowsFreePages || !names.isEmpty else { return }
        for row in try recovery.records(page) {
            recovery.rowsAside += 1
            try recovery.database.keepAside(
                row.key, row.record, page: number, tables: names,
                reason: recovery.knowsFreePages ? "no table leads to the page" : "the page may be free")
        }
    }
}
