import MoultSQLite

/// A reader of a tree from its root, or from a page that nothing points to any more.
struct TreeWalk {
    let ledger: PageLedger
    /// Whether the entries of an index are the rows of a `WITHOUT ROWID` table.
    let isKeyed: Bool
    /// A closure called with each row that is found. The entry of an index has only its last value.
    let onRow: (Int64, StoredRecord, Int) throws -> Void
    /// Whether rows can belong to the tree. A page of another tree is left for that tree.
    let accepts: ([StoredRecord]) -> Bool
    /// Whether nothing indicates that the rows of a leaf belong to another tree and were written to the wrong place.
    let owns: ([StoredRecord]) -> Bool

    private(set) var gaps: [KeyGap] = []
    private(set) var leafDepth: Int?
    /// The leaves that were read; for an index, all pages.
    private(set) var visited: [Int] = []
    /// The number of rows, or of index entries.
    private(set) var count: Int64 = 0

    init(
        _ ledger: PageLedger, isKeyed: Bool = false, accepts: @escaping ([StoredRecord]) -> Bool = { _ in true },
        owns: @escaping ([StoredRecord]) -> Bool = { _ in true },
        onRow: @escaping (Int64, StoredRecord, Int) throws -> Void
    ) {
        (self.ledger, self.isKeyed, self.onRow) = (ledger, isKeyed, onRow)
        (self.accepts, self.owns) = (accepts, owns)
    }

    /// SQLite reads no deeper tree.
    private static let greatestDepth = 20

    /// - Parameter keys: the keys that the page may contain.
    mutating func read(_ number: Int, keys: ClosedRange<Int64> = .min ... .max, depth: Int = 0, isTable: Bool = true)
        throws
    {
        guard depth < Self.greatestDepth, number > 0, ledger[number] == .unknown,
            let bytes = try ledger.pages.page(number),
            let page = BTreePage(bytes, number: number), page.kind.isTable == isTable,
            // Only a root may be empty.
            !page.cells.isEmpty || depth == 0 || page.rightChild > 0
        else {
            if ledger.isUnread(number), !isPageOfOtherKind(number, isTable) { ledger[number] = .damaged }
            return gaps.append(KeyGap(keys: keys, page: number, depth: depth))
        }
        switch page.kind {
        case .leafTable: try readLeaf(page, keys, depth)
        case .interiorTable: try readInterior(page, keys, depth)
        case .leafIndex, .interiorIndex: try readIndex(page, depth)
        }
    }

    /// Returns whether the page may belong to a tree of the other kind.
    private func isPageOfOtherKind(_ number: Int, _ isTable: Bool) -> Bool {
        guard let bytes = try? ledger.pages.page(number), let page = BTreePage(bytes, number: number) else {
            return false
        }
        return page.isSound && page.kind.isTable != isTable
    }

    /// The gaps, with their pages classified after the tree was read: all leaves have the same depth.
    var closedGaps: [KeyGap] {
        gaps.map { gap in
            var gap = gap
            gap.isLeaf = gap.isWithinPage ? true : leafDepth.map { $0 == gap.depth }
            return gap
        }
    }

    // MARK: - Tables

    private mutating func readLeaf(_ page: BTreePage, _ keys: ClosedRange<Int64>, _ depth: Int) throws {
        var found: [(cell: Int, key: Int64, record: StoredRecord?, chain: [Int])] = []
        for (index, cell) in page.cells.enumerated() {
            guard let cell, let row = page.row(cell), keys.contains(row.key) else { continue }
            let read = try row.payload.flatMap { try RowBytes(ledger: ledger).record($0, on: page) }
            found.append((index, row.key, read?.0, read?.chain ?? []))
        }
        let records = found.compactMap(\.record)
        guard page.cells.isEmpty || (!records.isEmpty && accepts(records) && owns(records)) else {
            // Leave sound rows of another table for that table.
            if records.isEmpty { ledger[page.number] = .damaged }
            return gaps.append(KeyGap(keys: keys, page: page.number, depth: depth))
        }
        ledger[page.number] = .read
        leafDepth = leafDepth ?? depth
        visited.append(page.number)
        var (last, lastCell) = (keys.lowerBound, -1)
        for position in KeyRanges.ascending(found.map(\.key)) {
            let row = found[position]
            if row.cell > lastCell + 1, row.key > last {
                gaps.append(KeyGap(keys: last...(row.key - 1), page: page.number, depth: depth, isWithinPage: true))
            }
            if let record = row.record, accepts([record]) {
                for number in row.chain { ledger[number] = .read }
                try onRow(row.key, record, page.number)
                count += 1
            } else {
                gaps.append(KeyGap(keys: row.key...row.key, page: page.number, depth: depth, isWithinPage: true))
            }
            (last, lastCell) = (row.key == .max ? .max : row.key + 1, row.cell)
        }
        if lastCell < page.cells.count - 1, last <= keys.upperBound {
            gaps.append(KeyGap(keys: last...keys.upperBound, page: page.number, depth: depth, isWithinPage: true))
        }
    }

    private mutating func readInterior(_ page: BTreePage, _ keys: ClosedRange<Int64>, _ depth: Int) throws {
        ledger[page.number] = .read
        let found = page.cells.enumerated().compactMap { index, cell -> (index: Int, child: Int, key: Int64)? in
            // Do not trust the key of a cell that points nowhere either.
            guard let cell, let row = page.row(cell), keys.contains(row.key), page.child(cell) > 1,
                page.child(cell) <= ledger.pages.limit
            else { return nil }
            return (index, page.child(cell), row.key)
        }
        var (low, lastIndex) = (keys.lowerBound, -1)
        for position in KeyRanges.ascending(found.map(\.key)) {
            let cell = found[position]
            guard low <= cell.key else { continue }
            if cell.index > lastIndex + 1 {
                gaps.append(KeyGap(keys: low...cell.key, page: page.number, depth: depth + 1))
            }
            try read(cell.child, keys: low...cell.key, depth: depth + 1)
            (low, lastIndex) = (cell.key == .max ? .max : cell.key + 1, cell.index)
        }
        guard low <= keys.upperBound else { return }
        if lastIndex < page.cells.count - 1 {
            gaps.append(KeyGap(keys: low...keys.upperBound, page: page.number, depth: depth + 1))
        }
        try read(page.rightChild, keys: low...keys.upperBound, depth: depth + 1)
    }

    // MARK: - Indexes

    private mutating func readIndex(_ page: BTreePage, _ depth: Int) throws {
        let entries = try page.cells.map { cell in
            try cell.flatMap(page.entry).flatMap {
                try RowBytes(ledger: ledger).record($0, on: page, onlyLast: !isKeyed)
            }
        }
        let gap = KeyGap(keys: .min ... .max, page: page.number, depth: depth)
        let records = entries.compactMap { $0?.0 }
        // Leave sound entries of another tree for that tree.
        guard !isKeyed || page.cells.isEmpty || (!records.isEmpty && accepts(records)) else { return gaps.append(gap) }
        ledger[page.number] = .read
        visited.append(page.number)
        for (cell, entry) in zip(page.cells, entries) {
            if let entry, let key = key(of: entry.0) {
                for number in entry.chain { ledger[number] = .read }
                visited += entry.chain
                count += 1
                try onRow(key, entry.0, page.number)
            } else {
                gaps.append(gap)
                // The rows of a table are found even if nothing points to them.
                if !isKeyed { continue }
            }
            if let cell, !page.kind.isLeaf { try read(page.child(cell), depth: depth + 1, isTable: false) }
        }
        if !page.kind.isLeaf { try read(page.rightChild, depth: depth + 1, isTable: false) }
    }

    /// Returns the row key of an index entry, its last value; 0 for rows without such a key.
    private func key(of record: StoredRecord) -> Int64? {
        if isKeyed { return accepts([record]) ? 0 : nil }
        guard case .integer(let key)?? = record.values.last else { return nil }
        return key
    }
}

/// A range of keys in which some rows of a table may have been lost.
package struct KeyGap: Equatable {
    /// The range of keys; an open end is the minimum or the maximum integer.
    var keys: ClosedRange<Int64>
    /// The unreadable page, or the page with the unreadable rows.
    package var page: Int
    /// The depth of the page in the tree; 0 for the root.
    var depth: Int
    /// Whether the gap is unreadable rows on a page that is otherwise readable.
    var isWithinPage = false
    /// Whether the page is a leaf; nil if unknown.
    var isLeaf: Bool?
}

/// A set of keys as ascending ranges that do not touch.
package struct KeyRanges: Equatable, Sendable {
    package private(set) var ranges: [ClosedRange<Int64>] = []

    /// Adds keys above all existing ones, or ones that extend the last range.
    package mutating func append(_ range: ClosedRange<Int64>) {
        guard let last = ranges.last, last.upperBound == .max || last.upperBound + 1 >= range.lowerBound else {
            return ranges.append(range)
        }
        ranges[ranges.count - 1] = last.lowerBound...max(last.upperBound, range.upperBound)
    }

    /// The ranges as text, such as `3, 5–8`.
    package var words: String {
        ranges.map { $0.count == 1 ? "\($0.lowerBound)" : "\($0.lowerBound)–\($0.upperBound)" }.joined(separator: ", ")
    }

    package init() {}

    package init(_ ranges: [ClosedRange<Int64>]) {
        for range in ranges.sorted(by: { $0.lowerBound < $1.lowerBound }) { append(range) }
    }

    /// Returns the longest ascending run of keys.
    ///
    /// - Returns: the positions of its keys.
    static func ascending(_ keys: [Int64]) -> [Int] {
        // For each run length, the position of the least last key.
        var ends: [Int] = []
        var previous = [Int](repeating: -1, count: keys.count)
        for (position, key) in keys.enumerated() {
            var (low, high) = (0, ends.count)
            while low < high {
                let middle = (low + high) / 2
                if keys[ends[middle]] < key { low = middle + 1 } else { high = middle }
            }
            if low > 0 { previous[position] = ends[low - 1] }
            if low == ends.count { ends.append(position) } else { ends[low] = position }
        }
        var run: [Int] = []
        var position = ends.last ?? -1
        while position >= 0 {
            run.append(position)
            position = previous[position]
        }
        return run.reversed()
    }
}
