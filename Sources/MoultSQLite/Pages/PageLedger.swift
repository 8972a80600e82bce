/// The known use of each page of a database.
package final class PageLedger {
    package enum Use: UInt8 {
        case unknown
        /// A page that was never written, and that nothing points to.
        case hole
        /// A page of a tree, or an overflow page of a row, that was read.
        case read
        case free
        /// A pointer map page, or the lock-byte page.
        case bookkeeping
        /// A page that a tree points to but that is not a b-tree page.
        case damaged
    }

    package let pages: DatabasePages
    package let map: PointerMap?
    private var uses: [Use]
    /// Whether the freelist could be followed to its end.
    package private(set) var isFreelistWhole = true

    package init(_ pages: DatabasePages) throws {
        self.pages = pages
        map = PointerMap(pages)
        uses = [Use](repeating: .unknown, count: pages.count + 1)
        for hole in pages.holes { uses.replaceSubrange(hole, with: repeatElement(.hole, count: hole.count)) }
        for number in pages.logged where self[number] == .hole { self[number] = .unknown }
        for number in [pages.lockPage] where number <= pages.count { self[number] = .bookkeeping }
        if let map {
            var number = 2
            while number <= pages.count {
                let page = map.mapPage(of: number)
                if page <= pages.count { self[page] = .bookkeeping }
                number += pages.usable / 5 + 1
            }
        }
        try followFreelist()
    }

    package subscript(number: Int) -> Use {
        get { uses.indices.contains(number) ? uses[number] : .unknown }
        set { if uses.indices.contains(number) { uses[number] = newValue } }
    }

    /// Returns whether a tree or a row may point to a page: nothing has pointed to it before, or the freelist is wrong.
    package func isOpen(_ number: Int) -> Bool { isUnread(number) || self[number] == .free }

    /// Returns whether nothing has pointed to a page so far.
    package func isUnread(_ number: Int) -> Bool { self[number] == .unknown || self[number] == .hole }

    /// The pages that nothing has pointed to, without holes.
    package var unknown: [Int] { numbers(.unknown) }
    /// The holes within the database that nothing has pointed to.
    package var holes: [Int] {
        pages.holes.flatMap { $0.clamped(to: 1..<(pages.declaredCount + 1)).filter { self[$0] == .hole } }
    }
    /// The number of pages that are missing from the file.
    package var missing: Int { max(pages.declaredCount - pages.count, 0) }

    package func numbers(_ use: Use) -> [Int] { uses.indices.dropFirst().filter { uses[$0] == use } }

    /// Follows the freelist (the SQLite file format, section 1.5).
    private func followFreelist() throws {
        guard let list = pages.header.freelist else {
            isFreelistWhole = false
            return
        }
        var (trunk, left) = (list.trunk, list.count)
        while trunk != 0 {
            guard isUnread(trunk), trunk > 1, let leaves = try Self.leaves(of: trunk, pages) else {
                isFreelistWhole = false
                return
            }
            self[trunk] = .free
            left -= 1 + leaves.count
            for leaf in leaves where isUnread(leaf) { self[leaf] = .free }
            trunk = try pages.page(trunk)?.number32(0) ?? 0
        }
        isFreelistWhole = left == 0
    }

    /// Returns the pages listed on a freelist trunk page; nil if the page cannot be one.
    private static func leaves(of trunk: Int, _ pages: DatabasePages) throws -> [Int]? {
        guard let bytes = try pages.page(trunk), let next = bytes.number32(0), next <= pages.limit,
            let count = bytes.number32(4), count <= bytes.count / 4 - 2
        else { return nil }
        let leaves = (0..<count).compactMap { bytes.number32(8 + 4 * $0) }
        guard leaves.allSatisfy({ $0 > 1 && $0 <= pages.limit && $0 != trunk }) else { return nil }
        return Set(leaves).count == leaves.count ? leaves : nil
    }

    /// Finds free pages if the freelist is damaged: from the pointer map, or else from pages that look like trunk
    /// pages.
    package func findFreePages() throws {
        guard !isFreelistWhole else { return }
        for number in unknown {
            if try map?.entry(of: number)?.kind == .free { self[number] = .free }
        }
        guard map == nil else { return }
        for number in unknown {
            // The first byte of a page number differs from that of a b-tree page.
            guard let leaves = try Self.leaves(of: number, pages), !leaves.isEmpty,
                leaves.allSatisfy({ isOpen($0) || $0 > pages.count })
            else { continue }
            self[number] = .free
            for leaf in leaves { self[leaf] = .free }
        }
    }
}

/// The pointer map of an auto-vacuum database, which names the parent of each page (the SQLite file format, section
/// 1.8).
package final class PointerMap {
    package enum Kind: UInt8 {
        case root = 1
        case free, overflow, furtherOverflow, child
    }

    package struct Entry: Equatable {
        package var kind: Kind
        /// The page that points to this one; 0 for a root and a free page.
        package var parent: Int
    }

    private let pages: DatabasePages
    private var (loaded, entries): (Int, [Entry?]) = (0, [])

    /// Nil if the database has no pointer map.
    init?(_ pages: DatabasePages) {
        guard pages.isAutoVacuum else { return nil }
        self.pages = pages
    }

    /// Returns the pointer map page that has the entry of a page.
    func mapPage(of number: Int) -> Int { Self.mapPage(of: number, usable: pages.usable, lockPage: pages.lockPage) }

    static func mapPage(of number: Int, usable: Int, lockPage: Int) -> Int {
        let span = usable / 5 + 1
        let page = (number - 2) / span * span + 2
        return page == lockPage ? page + 1 : page
    }

    package func isMapPage(_ number: Int) -> Bool { number >= 2 && mapPage(of: number) == number }

    /// Returns the entry of a page; nil if it is not credible.
    package func entry(of number: Int) throws -> Entry? {
        guard number > 2, number <= pages.limit else { return nil }
        let page = mapPage(of: number)
        guard number > page else { return nil }
        if loaded != page {
            loaded = page
            let read = try pages.page(page).map {
                Self.entries(of: $0, usable: pages.usable, pageCount: pages.limit, first: page + 1)
            }
            entries = read ?? []
            // A map page with one wrong entry was not written by SQLite.
            if entries.contains(nil) { entries = [] }
        }
        let index = number - page - 1
        return entries.indices.contains(index) ? entries[index] : nil
    }

    static func entries(of bytes: [UInt8], usable: Int, pageCount: Int, first: Int) -> [Entry?] {
        let count = min(usable / 5, max(pageCount - first + 1, 0))
        return (0..<count).map { index in
            guard let kind = Kind(rawValue: bytes[index * 5]), let parent = bytes.number32(index * 5 + 1),
                parent <= pageCount, (parent == 0) == (kind == .root || kind == .free)
            else { return nil }
            return Entry(kind: kind, parent: parent)
        }
    }
}
