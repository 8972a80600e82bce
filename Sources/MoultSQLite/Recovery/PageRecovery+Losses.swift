extension PageRecovery {
    enum Owner: Equatable {
        case table(Int)
        /// Something else than a table.
        case none
        case unknown
    }

    /// Whether every page that is free is known to be.
    var knowsFreePages: Bool {
        guard let list = pages.header.freelist, !ledger.isFreelistWhole, ledger.map == nil else { return true }
        return ledger.numbers(.free).count == list.count
    }

    /// The table to whose tree the pointer map says that a page belongs.
    func owner(of number: Int) throws -> Owner {
        guard let map = ledger.map else { return .unknown }
        var page = number
        for _ in 0..<24 {
            guard let entry = try map.entry(of: page) else { return .unknown }
            switch entry.kind {
            case .free, .overflow, .furtherOverflow: return .none
            case .root:
                guard let table = tables.firstIndex(where: { $0.root == page }) else {
                    return isSchemaWhole ? .none : .unknown
                }
                return .table(table)
            case .child: page = entry.parent
            }
            if let table = owners[page] { return .table(table) }
            if indexPages.contains(page) || ledger[page] == .read { return .none }
        }
        return .unknown
    }

    /// Pages that may be leaves which nothing leads to and whose rows were not read.
    package struct UnreadPages {
        private(set) var byTable: [Int: Int64] = [:]
        /// The number of pages of which no table is known.
        private(set) var anywhere: Int64 = 0

        mutating func add(_ owner: Owner) {
            switch owner {
            case .table(let table): byTable[table, default: 0] += 1
            case .none: break
            case .unknown: anywhere += 1
            }
        }

        mutating func addAnywhere(_ count: Int) { anywhere += Int64(max(count, 0)) }
    }

    package func unreadPages() throws -> UnreadPages {
        var unread = UnreadPages()
        for number in ledger.unknown where owners[number] == nil && !indexPages.contains(number) {
            if let bytes = try pages.page(number), let page = BTreePage(bytes, number: number), page.isSound,
                !page.kind.isTable
            {
                continue
            }
            unread.add(try owner(of: number))
        }
        let holes = ledger.holes
        if ledger.map == nil { unread.addAnywhere(holes.count) }
        for number in holes where ledger.map != nil { unread.add(try owner(of: number)) }
        // A page of the pointer map says of those that follow what they are, whether they are in the file or not.
        let mapped = ledger.map == nil ? pages.count : min(pages.declaredCount, pages.count + pages.usable / 5)
        for number in pages.count..<max(mapped, pages.count) {
            let number = number + 1
            guard owners[number] == nil, !indexPages.contains(number), ledger.map?.isMapPage(number) != true else {
                continue
            }
            unread.add(try owner(of: number))
        }
        let known = owners.keys.count { $0 > pages.count } + indexPages.count { $0 > pages.count }
        unread.addAnywhere(pages.declaredCount - max(mapped, pages.count) - (ledger.map == nil ? known : 0))
        return unread
    }

    /// The keys of a table's rows that may have been lost: exactly those where an index lists them all.
    package func lost(_ index: Int, _ unread: UnreadPages) throws -> KeyRanges {
        let table = tables[index]
        // Without numbers, rows cannot be named.
        guard !table.isKeyed else { return KeyRanges() }
        let listed = try database.missing(in: table)
        if table.isListed { return listed }
        let leaves = unread.anywhere + unread.byTable[index, default: 0]
        var ranges = listed.ranges
        for gap in table.gaps {
            let isInterior = gap.isLeaf == false || (gap.isLeaf == nil && table.orphans > 0)
            // All leaves below it were found.
            if isInterior, leaves == 0 { continue }
            guard let (keys, isOpen) = try bounded(gap, table, leaves: isInterior ? leaves : 1) else { continue }
            if isOpen { tables[index].endsOpen = true }
            ranges += try database.unread(in: keys, of: table)
        }
        return KeyRanges(ranges)
    }

    /// The keys of a gap that there can have been.
    ///
    /// - Parameter leaves: that may be lost in it.
    /// - Returns: nil where there can have been none, and whether nothing says what the highest one was.
    private func bounded(_ gap: KeyGap, _ table: RecoveredTable, leaves: Int64) throws -> (
        keys: ClosedRange<Int64>, isOpen: Bool
    )? {
        var (low, high, isOpen) = (gap.keys.lowerBound, gap.keys.upperBound, false)
        // Core Data and SQLite begin with the key 1.
        if low == .min { low = min(table.lowestRead ?? 1, 1) }
        if high == .max {
            let known = max(table.highestRead ?? .min, try database.highestExpected(in: table.name) ?? .min)
            // A page has at least one row, unless it is the only one of its table.
            let isAlone = gap.depth == 0 && !gap.isWithinPage
            if let counter = table.counter, max(counter, known) >= low || isAlone {
                high = max(counter, known)
            } else {
                // An index that was read in part says that there was a key, and not that there was none above it.
                let (most, isOver) = table.capacity(usable: pages.usable)
                    .multipliedReportingOverflow(by: known >= low ? 1 : leaves)
                let (end, isBeyond) = low.addingReportingOverflow(isOver ? .max : most - 1)
                (high, isOpen) = (isBeyond ? .max : max(end, known), true)
            }
        }
        return low <= high ? (low...high, isOpen) : nil
    }
}
