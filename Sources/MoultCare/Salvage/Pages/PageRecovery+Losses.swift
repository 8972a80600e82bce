import MoultSQLite

extension PageRecovery {
    enum Owner: Equatable {
        case table(Int)
        /// Something other than a table.
        case none
        case unknown
    }

    /// Whether all free pages are known.
    var knowsFreePages: Bool {
        guard let list = pages.header.freelist, !ledger.isFreelistWhole, ledger.map == nil else { return true }
        return ledger.numbers(.free).count == list.count
    }

    /// Returns the table that owns a page according to the pointer map.
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

    /// The pages that may be leaves, have no parent, and were not read.
    package struct UnreadPages {
        private(set) var byTable: [Int: Int64] = [:]
        /// The number of pages without a known table.
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
        // A pointer map page describes the pages after it, whether or not they are in the file.
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

    /// Returns the keys of a table's rows that may have been lost. The result is exact if an index lists all rows.
    package func lost(_ index: Int, _ unread: UnreadPages) throws -> KeyRanges {
        let table = tables[index]
        // Rows without rowids cannot be named.
        guard !table.isKeyed else { return KeyRanges() }
        let listed = try database.missing(in: table)
        if table.isListed { return listed }
        let leaves = unread.anywhere + unread.byTable[index, default: 0]
        var ranges = listed.ranges
        for gap in table.gaps {
            let isInterior = gap.isLeaf == false || (gap.isLeaf == nil && table.orphans > 0)
            // All leaves below the gap were found.
            if isInterior, leaves == 0 { continue }
            guard let (keys, isOpen) = try bounded(gap, table, leaves: isInterior ? leaves : 1) else { continue }
            if isOpen { tables[index].endsOpen = true }
            ranges += try database.unread(in: keys, of: table)
        }
        return KeyRanges(ranges)
    }

    /// Returns the keys of a gap that may have existed.
    ///
    /// - Parameter leaves: the number of leaves that may be missing in the gap.
    /// - Returns: nil if no key can have existed; otherwise the keys, and whether the highest one is unknown.
    private func bounded(_ gap: KeyGap, _ table: RecoveredTable, leaves: Int64) throws -> (
        keys: ClosedRange<Int64>, isOpen: Bool
    )? {
        var (low, high, isOpen) = (gap.keys.lowerBound, gap.keys.upperBound, false)
        // Core Data and SQLite start at key 1.
        if low == .min { low = min(table.lowestRead ?? 1, 1) }
        if high == .max {
            let known = max(table.highestRead ?? .min, try database.highestExpected(in: table.name) ?? .min)
            // A page has at least one row, unless it is the only page of its table.
            let isAlone = gap.depth == 0 && !gap.isWithinPage
            if let counter = table.counter, max(counter, known) >= low || isAlone {
                high = max(counter, known)
            } else {
                // A partly read index proves that a key existed, but not that it was the highest.
                let (most, isOver) = table.capacity(usable: pages.usable)
                    .multipliedReportingOverflow(by: known >= low ? 1 : leaves)
                let (end, isBeyond) = low.addingReportingOverflow(isOver ? .max : most - 1)
                (high, isOpen) = (isBeyond ? .max : max(end, known), true)
            }
        }
        return low <= high ? (low...high, isOpen) : nil
    }
}
