import MoultBasics

/// A check of the b-trees of a database, each walked once in the order of its keys.
final class TreeCheck {
    private let claims: PageClaims
    private let usable: Int
    private let encoding: Int
    /// The most bytes of a record with overflow pages that are compared or looked at. Every header has fewer.
    private static let longest = 1 << 20
    /// SQLite reads no deeper tree.
    private static let deepest = 20

    // Memory for all trees.
    private let types = SerialTypes()
    private let coverage: CellCoverage
    private var interiors: [UnsafeMutableRawPointer] = []
    /// The last key of a page that is left, and two records with overflow pages.
    private let kept: UnsafeMutableRawPointer
    private var long = [GrowingMemory(), GrowingMemory()]
    private var nextLong = 0

    // The tree that is walked.
    private var tree = CheckedTree(name: "", table: "", root: 0, hasRows: false)
    private var rules: RecordRules
    private var leafDepth = -1
    private var entries: Int64 = 0
    /// The last rowid, or rowid in an interior page.
    private var last = Int64.min
    private var lastKind = Last.none
    private var previous: RawKey?
    private var isDoubtful = false

    private enum Last { case none, row, divider }

    init(_ claims: PageClaims, encoding: Int) {
        (self.claims, self.usable, self.encoding) = (claims, claims.usable, encoding)
        coverage = CellCoverage(claims.pageSize)
        kept = .zeros(claims.pageSize + RawPage.slack)
        rules = RecordRules(tree, types, usable: usable)
    }

    deinit {
        for memory in interiors + [kept] + long.map(\.memory) { memory.deallocate() }
        rules.deallocate()
        types.deallocate()
        coverage.deallocate()
    }

    /// Walks a tree.
    ///
    /// - Returns: the number of its entries; and whether some of its values only SQLite can judge.
    func walk(_ tree: CheckedTree) throws -> (entries: Int64, isDoubtful: Bool) {
        self.tree = tree
        (leafDepth, entries, lastKind, previous, isDoubtful) = (-1, 0, .none, nil, false)
        rules.deallocate()
        rules = RecordRules(tree, types, usable: usable)
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
        // After a fault, the last key is not that of a leaf.
        if let key = previous, page.bytes <= key.page.bytes, key.page.bytes < page.bytes + usable { previous = nil }
        var (isSound, stack) = (true, CellCoverage.Stack(start: usable))
        for index in 0..<header.count where isSound {
            let cell = page.number16(header.cells + 2 * index)
            guard cell >= header.content, cell <= usable - 5 else { return try cellFault(header, index) }
            var end = cell + 4
            let number = page.varint(&end)
            if !tree.isTable { end += rules.local(number).map { $0.bytes + ($0.hasOverflow ? 4 : 0) } ?? usable }
            isSound = end <= usable && coverage.add(cell, end, &stack)
        }
        guard isSound, coverage.accounts(for: page, header.start, header.content, header.count, usable, stack) else {
            return try cellFault(header, nil)
        }
        for index in 0..<header.count {
            let cell = page.number16(header.cells + 2 * index)
            try child(page.number32(cell), header, depth)
            var place = cell + 4
            let number = page.varint(&place)
            if tree.isTable {
                try divider(Int64(bitPattern: number), header, index)
            } else if let local = rules.local(number) {
                let key = try key(page, place, Int(number), local, header)
                entries += 1
                if try isRecord(key, rules, header, index) {
                    if let previous, !rules.isAscending(previous, key) { try outOfOrder(header, index) }
                    previous = key
                } else {
                    previous = nil
                }
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
        // Its memory may be that of this page, or of a later record.
        previous = nil
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
        let (rules, coverage, usable, last) = (rules, coverage, usable, usable - 4)
        let (cells, content) = (header.cells, header.content)
        var stack = CellCoverage.Stack(start: usable)
        var (lastRowid, hasLast) = (self.last, lastKind != .none)
        for index in 0..<header.count {
            let cell = page.number16(cells &+ 2 &* index)
            guard cell >= content, cell <= last else { return try cellFault(header, index) }
            var place = cell
            let size = page.varint(&place)
            let rowid = Int64(bitPattern: page.varint(&place))
            guard let local = rules.local(size) else { return try cellFault(header, index) }
            let end = max(place &+ local.bytes &+ (local.hasOverflow ? 4 : 0), cell &+ 4)
            guard end <= usable, coverage.add(cell, end, &stack) else { return try cellFault(header, index) }
            guard rowid > lastRowid || !hasLast else {
                coverage.clear()
                return try claims.report(header.number, "The rowid \(rowid) of cell \(index) is out of order.")
            }
            (lastRowid, hasLast) = (rowid, true)
            _ = try isRecord(key(page, place, Int(size), local, header), rules, header, index)
        }
        guard coverage.accounts(for: page, header.start, header.content, header.count, usable, stack) else {
            return try cellFault(header, nil)
        }
        entries += Int64(header.count)
        if header.count > 0 { (self.last, lastKind) = (lastRowid, .row) }
    }

    // MARK: - Indexes

    private func keys(_ page: RawPage, _ header: Header) throws {
        let (rules, coverage, usable, last) = (rules, coverage, usable, usable - 4)
        let (cells, content) = (header.cells, header.content)
        var stack = CellCoverage.Stack(start: usable)
        var previous = previous
        for index in 0..<header.count {
            let cell = page.number16(cells &+ 2 &* index)
            guard cell >= content, cell <= last else { return try cellFault(header, index) }
            var place = cell
            let size = page.varint(&place)
            guard let local = rules.local(size) else { return try cellFault(header, index) }
            let end = max(place &+ local.bytes &+ (local.hasOverflow ? 4 : 0), cell &+ 4)
            guard end <= usable, coverage.add(cell, end, &stack) else { return try cellFault(header, index) }
            let key = try key(page, place, Int(size), local, header)
            if try isRecord(key, rules, header, index) {
                if let previous, !rules.isAscending(previous, key) { try outOfOrder(header, index) }
                previous = key
            } else {
                previous = nil
            }
        }
        guard coverage.accounts(for: page, header.start, header.content, header.count, usable, stack) else {
            return try cellFault(header, nil)
        }
        entries += Int64(header.count)
        // The memory of the page is used again.
        if let key = previous, key.page.bytes >= page.bytes, key.page.bytes < page.bytes + usable {
            memcpy(kept, key.page.bytes, key.size)
            previous = RawKey(page: RawPage(bytes: kept), size: key.size, held: key.held)
        }
        self.previous = previous
    }

    private func outOfOrder(_ header: Header, _ index: Int) throws {
        try claims.report(header.number, "The entry in cell \(index) is out of order.", .index)
    }

    // MARK: - Records

    /// Returns the record of a cell.
    @inline(__always)
    private func key(
        _ page: RawPage, _ place: Int, _ size: Int, _ local: RecordRules.Local, _ header: Header
    ) throws -> RawKey {
        guard local.hasOverflow else {
            return RawKey(page: RawPage(bytes: page.bytes + place), size: size, held: size)
        }
        return try longKey(page, place, size, local.bytes, header)
    }

    /// Reads the overflow pages of a record.
    @inline(never)
    private func longKey(_ page: RawPage, _ place: Int, _ size: Int, _ local: Int, _ header: Header) throws -> RawKey {
        nextLong ^= 1
        let record = long[nextLong].room(for: min(size, Self.longest) + claims.pageSize + RawPage.slack)
        memcpy(record, page.bytes + place, local)
        var held = local
        try claims.followChain(page.number32(place + local), of: header.number, left: size - local) { bytes in
            guard held < Self.longest, let start = bytes.baseAddress else { return }
            memcpy(record + held, start, bytes.count)
            held += bytes.count
        }
        return RawKey(page: RawPage(bytes: record), size: size, held: held)
    }

    /// Returns whether a record can be compared.
    @inline(__always)
    private func isRecord(_ record: RawKey, _ rules: RecordRules, _ header: Header, _ index: Int) throws -> Bool {
        if record.isPlain(rules) { return true }
        return try judge(record, rules, header, index)
    }

    /// Judges a record (the SQLite file format, section 2.1) that is not plainly right.
    ///
    /// - Returns: whether it can be compared.
    @inline(never)
    private func judge(_ record: RawKey, _ rules: RecordRules, _ header: Header, _ index: Int) throws -> Bool {
        let (columns, found) = record.summary(rules)
        guard columns >= rules.keyCount, found & CheckedTree.Doubt.reserved == 0,
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

/// Memory that is made anew if it is too small, and keeps nothing then.
private struct GrowingMemory {
    private(set) var memory = UnsafeMutableRawPointer.zeros(0)
    private var count = 0

    mutating func room(for count: Int) -> UnsafeMutableRawPointer {
        guard count > self.count else { return memory }
        memory.deallocate()
        (memory, self.count) = (.zeros(2 * count), 2 * count)
        return memory
    }
}

/// The cells and free blocks of one page, and whether they account for all of it.
private struct CellCoverage {
    /// The length of what begins at a place; 0 between the beginnings.
    private let lengths: UnsafeMutablePointer<UInt16>
    private let pageSize: Int

    /// Allocates memory, which `deallocate` frees.
    init(_ pageSize: Int) {
        self.pageSize = pageSize
        lengths = .allocate(capacity: pageSize)
        lengths.initialize(repeating: 0, count: pageSize)
    }

    func deallocate() { lengths.deallocate() }

    func clear() { lengths.update(repeating: 0, count: pageSize) }

    /// The cells at the end of a page that follow each other without gaps, each before the last one: all cells of most
    /// pages.
    struct Stack {
        var start: Int
        var count = 0
    }

    /// Adds a cell; false if another one begins there.
    ///
    /// - Parameter end: at most the number of usable bytes.
    @inline(__always) func add(_ start: Int, _ end: Int, _ stack: inout Stack) -> Bool {
        if end == stack.start {
            stack = Stack(start: start, count: stack.count &+ 1)
            return true
        }
        return add(start, end)
    }

    @inline(__always) private func add(_ start: Int, _ end: Int) -> Bool {
        guard lengths[start] == 0 else { return false }
        lengths[start] = UInt16(truncatingIfNeeded: end &- start)
        return true
    }

    /// Whether the cells, the free blocks and the fragments are the whole content of a page, and do not overlap (the
    /// SQLite file format, section 1.6). The coverage is empty afterwards.
    func accounts(for page: RawPage, _ start: Int, _ content: Int, _ cells: Int, _ usable: Int, _ stack: Stack) -> Bool
    {
        var (block, parts) = (page.number16(start + 1), cells - stack.count)
        while block > 0 {
            let (next, size) = block <= usable - 4 ? (page.number16(block), page.number16(block + 2)) : (0, 0)
            guard block >= content, size >= 4, block + size <= usable, next == 0 || next > block + size + 3,
                add(block, block + size)
            else { return false }
            (block, parts) = (next, parts + 1)
        }
        var (place, gaps) = (content, 0)
        while place < stack.start, gaps <= 255 {
            let length = Int(lengths[place])
            lengths[place] = 0
            gaps &+= length == 0 ? 1 : 0
            parts &-= length == 0 ? 0 : 1
            place &+= max(length, 1)
        }
        return parts == 0 && place == stack.start && gaps == page.byte(start + 7)
    }
}
