import MoultBasics

/// A check of the b-trees of a database, each walked once in the order of its keys.
final class TreeCheck {
    private let claims: PageClaims
    private let usable: Int
    private let encoding: Int
    /// The bytes of a record that are read of a chain of overflow pages: those of a header, and of a long key.
    private static let longest = 1 << 20
    /// SQLite reads no deeper tree.
    private static let deepest = 20

    // Memory for all trees.
    private var interiors: [UnsafeMutableRawPointer] = []
    private let coverage: CellCoverage
    /// The last key of a page that is left, and two records with overflow pages.
    private let kept: UnsafeMutableRawPointer
    private var gathered: [UnsafeMutableRawPointer]
    private var gatheredNext = 0
    private let types = SerialTypes()
    private var doubts = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: 0)
    private var order = KeyOrder([])
    private var (least, most) = (0, Int.max)

    // The tree that is walked.
    private var tree = CheckedTree(name: "", table: "", root: 0, hasRows: false)
    private var leafDepth = -1
    private var entries: Int64 = 0
    /// The last rowid or key of an interior page, and which of both it was.
    private var last = Int64.min
    private var lastKind = Last.none
    private var previous: RawKey?
    /// Whether a value is of a kind that only SQLite can judge.
    private var isDoubtful = false

    private enum Last { case none, row, divider }

    init(_ claims: PageClaims, encoding: Int) {
        (self.claims, self.usable, self.encoding) = (claims, claims.usable, encoding)
        coverage = CellCoverage(claims.pageSize)
        kept = .zeros(claims.pageSize + RawPage.slack)
        gathered = []
    }

    deinit {
        for memory in interiors + gathered + [kept] { memory.deallocate() }
        doubts.deallocate()
    }

    /// Walks a tree.
    ///
    /// - Returns: the number of its entries; and whether SQLite has to judge its values.
    func walk(_ tree: CheckedTree) throws -> (entries: Int64, isDoubtful: Bool) {
        self.tree = tree
        (leafDepth, entries, lastKind, previous, isDoubtful) = (-1, 0, .none, nil, false)
        order = KeyOrder(tree.keyColumns)
        (least, most) = (tree.columns.lowerBound, tree.columns.upperBound)
        doubts.deallocate()
        doubts = .allocate(capacity: max(tree.doubts.count, 128))
        doubts.initialize(repeating: CheckedTree.Doubt.reserved)
        for (column, doubt) in tree.doubts.enumerated() { doubts[column] |= doubt }
        claims.tree = tree.name
        if try claims.claim(tree.root, .root, of: 0) { try walk(tree.root, depth: 0) }
        return (entries, isDoubtful)
    }

    // MARK: - Pages

    /// The header of a b-tree page (the SQLite file format, section 1.6).
    private struct Header {
        let number: Int
        let start: Int
        let isLeaf: Bool
        let count: Int
        let content: Int

        var cells: Int { start + (isLeaf ? 8 : 12) }
        var end: Int { cells + 2 * count }
    }

    private func walk(_ number: Int, depth: Int) throws {
        guard depth < Self.deepest else { return try claims.report(number, "The b-tree is too deep.") }
        let page = try claims.trees.page(number)
        let start = number == 1 ? 100 : 0
        guard let kind = BTreePage.Kind(rawValue: UInt8(page.byte(start))), kind.isTable == tree.isTable else {
            return try claims.report(number, "The page is not of the kind of its b-tree.")
        }
        let content = page.number16(start + 5)
        let header = Header(
            number: number, start: start, isLeaf: kind.isLeaf, count: page.number16(start + 3),
            content: content == 0 ? 65_536 : content)
        guard header.count <= (claims.pageSize - 8) / 6, header.content >= header.end, header.content <= usable else {
            return try claims.report(number, "The header of the page is wrong.")
        }
        // Only the first page may have no entry and a child: it has less space than its child.
        guard header.count > 0 || (kind.isLeaf ? depth == 0 : number == 1) else {
            return try claims.report(number, "The page has no cells.")
        }
        guard kind.isLeaf else { return try interior(page, header, depth) }
        if leafDepth < 0 { leafDepth = depth }
        guard leafDepth == depth else { return try claims.report(number, "The leaves are not all at one depth.") }
        if tree.isTable {
            try rows(page, header)
        } else {
            try keys(page, header)
        }
    }

    private func interior(_ page: RawPage, _ header: Header, _ depth: Int) throws {
        // The page is needed after its children are read.
        while interiors.count <= depth { interiors.append(.zeros(claims.pageSize + RawPage.slack)) }
        memcpy(interiors[depth], page.bytes, claims.pageSize)
        let page = RawPage(bytes: interiors[depth])
        var isSound = true
        for index in 0..<header.count where isSound {
            let cell = page.number16(header.cells + 2 * index)
            guard cell >= header.content, cell <= usable - 5 else { return try cellFault(header, index) }
            var end = cell + 4
            let number = page.varint(&end)
            if !tree.isTable { end += local(number).map { $0.bytes + ($0.hasOverflow ? 4 : 0) } ?? usable }
            isSound = end <= usable && coverage.add(cell, end)
        }
        guard isSound, coverage.accounts(for: page, header.start, header.content, header.count, usable) else {
            return try cellFault(header, nil)
        }
        for index in 0..<header.count {
            let cell = page.number16(header.cells + 2 * index)
            try child(page.number32(cell), header, depth)
            var place = cell + 4
            let number = page.varint(&place)
            if tree.isTable {
                try divider(Int64(bitPattern: number), header, index)
            } else if let local = local(number) {
                try key(page, place, Int(number), local, header, index)
            }
        }
        try child(page.number32(header.start + 8), header, depth)
    }

    private func child(_ number: Int, _ header: Header, _ depth: Int) throws {
        guard try claims.claim(number, .child, of: header.number) else { return }
        try walk(number, depth: depth + 1)
    }

    private func cellFault(_ header: Header, _ index: Int?) throws {
        coverage.clear()
        let cell = index.map { "Cell \($0) does not fit into the page." }
        try claims.report(
            header.number, cell ?? "The cells and the free space of the page overlap, or do not account for all of it.")
    }

    // MARK: - Tables

    /// Checks a key of an interior page: no less than the rows before it, and less than those after it.
    private func divider(_ key: Int64, _ header: Header, _ index: Int) throws {
        guard lastKind == .none || key > last || lastKind == .row && key == last else {
            return try claims.report(header.number, "The rowid \(key) of cell \(index) is out of order.")
        }
        (last, lastKind) = (key, .divider)
    }

    private func rows(_ page: RawPage, _ header: Header) throws {
        let (usable, most, content, number) = (usable, usable - 35, header.content, header.number)
        var (last, hasLast) = (last, lastKind != .none)
        for index in 0..<header.count {
            let cell = page.number16(header.cells + 2 * index)
            guard cell >= content, cell <= usable - 4 else { return try cellFault(header, index) }
            var place = cell
            let size = page.varint(&place)
            let key = Int64(bitPattern: page.varint(&place))
            if size <= UInt64(most) {
                let size = Int(size)
                let end = max(place + size, cell + 4)
                guard end <= usable, coverage.add(cell, end) else { return try cellFault(header, index) }
                try check(RawKey(page: RawPage(bytes: page.bytes + place), size: size, held: size), header, index)
            } else {
                guard let local = local(size), place + local.bytes + 4 <= usable,
                    coverage.add(cell, place + local.bytes + 4)
                else { return try cellFault(header, index) }
                try check(long(page, place, Int(size), local.bytes, number), header, index)
            }
            guard key > last || !hasLast else {
                coverage.clear()
                return try claims.report(number, "The rowid \(key) of cell \(index) is out of order.")
            }
            (last, hasLast) = (key, true)
        }
        guard coverage.accounts(for: page, header.start, content, header.count, usable) else {
            return try cellFault(header, nil)
        }
        entries += Int64(header.count)
        guard header.count > 0 else { return }
        (self.last, lastKind) = (last, .row)
    }

    // MARK: - Indexes

    private func keys(_ page: RawPage, _ header: Header) throws {
        for index in 0..<header.count {
            let cell = page.number16(header.cells + 2 * index)
            guard cell >= header.content, cell <= usable - 4 else { return try cellFault(header, index) }
            var place = cell
            let size = page.varint(&place)
            guard let local = local(size) else { return try cellFault(header, index) }
            let end = max(place + local.bytes + (local.hasOverflow ? 4 : 0), cell + 4)
            guard end <= usable, coverage.add(cell, end) else { return try cellFault(header, index) }
            try key(page, place, Int(size), local, header, index)
        }
        guard coverage.accounts(for: page, header.start, header.content, header.count, usable) else {
            return try cellFault(header, nil)
        }
        // The memory of the page is used again.
        if let previous, previous.page.bytes >= page.bytes, previous.page.bytes < page.bytes + usable {
            memcpy(kept, previous.page.bytes, previous.size)
            self.previous = RawKey(page: RawPage(bytes: kept), size: previous.size, held: previous.held)
        }
    }

    private func key(
        _ page: RawPage, _ place: Int, _ size: Int, _ local: (bytes: Int, hasOverflow: Bool), _ header: Header,
        _ index: Int
    ) throws {
        let key =
            local.hasOverflow
            ? try long(page, place, size, local.bytes, header.number)
            : RawKey(page: RawPage(bytes: page.bytes + place), size: size, held: size)
        entries += 1
        guard try check(key, header, index) else { return }
        if let previous, !order.isAscending(previous, key) {
            try claims.report(header.number, "The entry in cell \(index) is out of order.", .index)
        }
        previous = key
    }

    /// Returns the number of payload bytes in a cell of an index, or of a table if they do not fit into a page; nil for
    /// a size that no row has.
    private func local(_ size: UInt64) -> (bytes: Int, hasOverflow: Bool)? {
        // SQLite accepts no row of more than 2,147,483,645 bytes.
        guard size <= 2_147_483_645 else { return nil }
        let size = Int(size)
        let most = tree.isTable ? usable - 35 : (usable - 12) * 64 / 255 - 23
        guard size > most else { return (size, false) }
        let least = (usable - 12) * 32 / 255 - 23
        let rest = least + (size - least) % (usable - 4)
        return (rest <= most ? rest : least, true)
    }

    // MARK: - Records

    /// Reads the chain of a record with overflow pages, and returns the record as far as it is needed.
    private func long(_ page: RawPage, _ place: Int, _ size: Int, _ local: Int, _ number: Int) throws -> RawKey {
        while gathered.count < 2 { gathered.append(.zeros(Self.longest + claims.pageSize + RawPage.slack)) }
        gatheredNext ^= 1
        let record = gathered[gatheredNext]
        memcpy(record, page.bytes + place, local)
        var held = local
        try claims.followChain(page.number32(place + local), of: number, left: size - local) { bytes in
            guard held < Self.longest, let start = bytes.baseAddress else { return }
            memcpy(record + held, start, bytes.count)
            held += bytes.count
        }
        return RawKey(page: RawPage(bytes: record), size: size, held: held)
    }

    /// Checks a record (the SQLite file format, section 2.1).
    @discardableResult @inline(__always)
    private func check(_ record: RawKey, _ header: Header, _ index: Int) throws -> Bool {
        let (columns, found) = record.summary(types, UnsafeBufferPointer(doubts))
        if found == 0, let columns, columns >= least, columns <= most { return true }
        return try judge(record, columns, found, header, index)
    }

    private func judge(_ record: RawKey, _ columns: Int?, _ found: UInt8, _ header: Header, _ index: Int) throws -> Bool
    {
        guard let columns, found & CheckedTree.Doubt.reserved == 0, columns >= order.count,
            tree.hasRows || tree.columns.contains(columns)
        else {
            try claims.report(header.number, "The record in cell \(index) is not one of \(tree.name).")
            return false
        }
        if !tree.columns.contains(columns) || found & ~CheckedTree.Doubt.text != 0
            || record.hasNumericText(tree.doubts, encoding: encoding)
        {
            isDoubtful = true
        }
        return true
    }
}

/// The cells and free blocks of one page, and whether they account for all of it.
private final class CellCoverage {
    /// The length of what begins at a place; 0 between the beginnings.
    private let lengths: UnsafeMutablePointer<UInt16>
    private let pageSize: Int

    init(_ pageSize: Int) {
        self.pageSize = pageSize
        lengths = .allocate(capacity: pageSize)
        lengths.initialize(repeating: 0, count: pageSize)
    }

    deinit { lengths.deallocate() }

    func clear() { lengths.update(repeating: 0, count: pageSize) }

    /// Adds a cell; false if another one begins there.
    ///
    /// - Parameter end: at most the number of usable bytes.
    @inline(__always) func add(_ start: Int, _ end: Int) -> Bool {
        guard lengths[start] == 0 else { return false }
        lengths[start] = UInt16(truncatingIfNeeded: end &- start)
        return true
    }

    /// Whether the cells, the free blocks and the fragments are the whole content of a page, and do not overlap (the
    /// SQLite file format, section 1.6). The coverage is empty afterwards.
    func accounts(for page: RawPage, _ start: Int, _ content: Int, _ cells: Int, _ usable: Int) -> Bool {
        var (block, parts) = (page.number16(start + 1), cells)
        while block > 0 {
            let (next, size) = block <= usable - 4 ? (page.number16(block), page.number16(block + 2)) : (0, 0)
            guard block >= content, size >= 4, block + size <= usable, next == 0 || next > block + size + 3,
                add(block, block + size)
            else { return false }
            (block, parts) = (next, parts + 1)
        }
        var (place, gaps) = (content, 0)
        while place < usable, gaps <= 255 {
            let length = Int(lengths[place])
            lengths[place] = 0
            gaps &+= length == 0 ? 1 : 0
            parts &-= length == 0 ? 0 : 1
            place &+= max(length, 1)
        }
        return parts == 0 && gaps == page.byte(start + 7)
    }
}
