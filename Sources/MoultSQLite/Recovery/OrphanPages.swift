/// Leaves that no walk has reached, because what led to them is damaged: finds the table of each.
final class OrphanPages {
    private let recovery: PageRecovery
    private var ledger: PageLedger { recovery.ledger }
    /// Of pages that lead to others, those others.
    private var children: [Int: [Int]] = [:]
    private var leaves: [Int] = []
    /// Pages of indexes, those that lead to others first.
    private var indexPages: [Int] = []
    /// Pages that were looked at. Pages that lead to each other in circles end the search for subtrees.
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
        // Whole subtrees first: their pages are siblings, so that one table has them all.
        for top in children.keys.sorted() where !below.contains(top) { try place(top) }
        // Then what stands alone, and the parts of a subtree that is none.
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
        /// Tables that all rows fit.
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

    /// The keys of neighbouring gaps that have room for these.
    private func gap(of table: Int, over keys: ClosedRange<Int64>) -> ClosedRange<Int64>? {
        let gaps = recovery.tables[table].gaps.filter { !$0.isWithinPage }.map(\.keys)
        return KeyRanges(gaps).ranges.first { $0.lowerBound <= keys.lowerBound && $0.upperBound >= keys.upperBound }
    }

    private func onlyTable(of top: Int) throws -> (Int, Group)? {
        let (group, tables) = try candidates(of: top)
        guard tables.count == 1, let table = tables.first else { return nil }
        // Deleted rows look like rows, too, where a part of the list of free pages is lost.
        return recovery.knowsFreePages || recovery.tables[table].isListed ? (table, group) : nil
    }

    /// The tables that a page and all below it may belong to.
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

    /// Brings the entries of an index's page into the table `WITHOUT ROWID` whose rows they are, or keeps them aside where
    /// they may be those of another index, too.
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

    /// Keeps the rows of a page that may belong to several tables, or to none, beside the new store.
    private func keepAside(_ number: Int) throws {
        guard let page = try recovery.leaf(number) else { return }
        let names = try candidates(of: number).1.map { recovery.tables[$0].name }
        // A free page that no table misses is nothing that was lost.
        guard recovery.knowsFreePages || !names.isEmpty else { return }
        for row in try recovery.records(page) {
            recovery.rowsAside += 1
            try recovery.database.keepAside(
                row.key, row.record, page: number, tables: names,
                reason: recovery.knowsFreePages ? "no table leads to the page" : "the page may be free")
        }
    }
}
