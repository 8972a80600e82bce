import MoultBasics

/// The b-trees of a database that an open transaction has written to, determined from the files themselves.
///
/// The result does not depend on the statements that were run. SQLite writes the changed pages to the WAL, or their old
/// contents to the rollback journal, and the page numbers are read from there. A copy of the database from before the
/// transaction shows which tree each page belongs to: its pointer map leads from a page to its parent, and the parent
/// must point back to the page (the SQLite file format, sections 1.8, 3 and 4). A tree without a changed page is
/// unchanged, byte for byte. A tree whose pages have only moved is left out too, if the WAL has their new bytes.
package struct ChangedPages {
    /// The root pages of the changed trees, as numbered before the transaction.
    package private(set) var roots: Set<Int>

    /// The limits on pages to examine; beyond them, most of the store has changed. New pages, such as those of an
    /// index, cost little.
    private static let (limit, oldLimit) = (65_536, 4_096)

    /// Nil if the files cannot tell: without a pointer map, with a journal in memory, with an inconsistent page in the
    /// copy, or after too many changes.
    ///
    /// - Parameters:
    ///   - connection: the connection with the open transaction. No other connection to the database is open.
    ///   - old: the path of a copy of the database as it was when the transaction began.
    package init?(_ connection: Connection, since old: String, _ system: any System) throws {
        guard try connection.flushPages(), let pages = try Self.pages(connection, system) else { return nil }
        guard var owners = try PageOwners(old, system) else { return nil }
        // Every commit changes the first page, which is not written before then.
        roots = [1]
        let changed = pages.numbers.filter { $0 <= owners.pageCount }
        guard changed.count <= Self.oldLimit else { return nil }
        for number in changed {
            switch try owners.owner(of: number) {
            case .tree(let root): roots.insert(root)
            case .none: continue
            case .unknown: return nil
            }
        }
        guard !pages.places.isEmpty else { return }
        let trees = TreeComparison(
            pages: owners.pages, log: (connection.path + "-wal", pages.places), written: owners.leading, system: system)
        for root in roots where root > 1 {
            if try trees.isSame(root, root) { roots.remove(root) }
        }
    }

    /// The numbers of the changed pages and, for pages in a WAL, the offset of the newest bytes of each.
    private typealias Pages = (numbers: Set<Int>, places: [Int: Int64])

    private static func pages(_ connection: Connection, _ system: any System) throws -> Pages? {
        switch try connection.text("PRAGMA main.journal_mode") {
        case "wal": try logged(connection.path + "-wal", system).map { (Set($0.keys), $0) }
        case "delete", "truncate", "persist": try journaled(connection.path + "-journal", system).map { ($0, [:]) }
        default: nil
        }
    }

    private static func journaled(_ path: String, _ system: any System) throws -> Set<Int>? {
        guard let size = try system.status(of: path)?.size, size > 0, size <= Int64(oldLimit) * 4096 else { return nil }
        return try RollbackJournal(path, system).changedPages
    }

    /// Returns the pages of all frames since the WAL was last reset, including those committed before.
    private static func logged(_ path: String, _ system: any System) throws -> [Int: Int64]? {
        let header = try system.status(of: path) == nil ? [] : system.bytes(of: path, from: 0, count: 32)
        guard header.count == 32, let page = header.number32(8), page >= 512 else { return nil }
        var (places, place): ([Int: Int64], Int64) = ([:], 32)
        while places.count <= limit {
            let frame = try system.bytes(of: path, from: place, count: 24)
            // A frame with other salts is left over from before the last reset.
            guard frame.count == 24, frame[8..<16] == header[16..<24], let number = frame.number32(0) else {
                return places
            }
            places[number] = place + 24
            place += 24 + Int64(page)
        }
        return nil
    }
}

/// The owner of each page of a database: the tree to which the page belongs.
struct PageOwners {
    enum Owner: Equatable {
        case tree(root: Int)
        /// A free page, a pointer map page, or a page beyond the end of the database.
        case none
        case unknown
    }

    private let ledger: PageLedger
    private let map: PointerMap
    private var known: [Int: Owner] = [1: .tree(root: 1)]
    /// The pages looked up that belong to a tree, and all of their ancestors.
    private(set) var leading: Set<Int> = []

    /// Nil for a database without a pointer map, or with a damaged freelist.
    init?(_ path: String, _ system: any System) throws {
        ledger = try PageLedger(DatabasePages(path, system))
        guard let map = ledger.map, ledger.isFreelistWhole else { return nil }
        self.map = map
    }

    var pages: DatabasePages { ledger.pages }
    /// The number of pages in the database.
    var pageCount: Int { pages.declaredCount }

    mutating func owner(of page: Int) throws -> Owner {
        var (path, number): ([Int], Int) = ([], page)
        var owner = known[number]
        while owner == nil, path.count <= ledger.pages.count {
            path.append(number)
            if number > pageCount || ledger[number] == .free || ledger[number] == .bookkeeping {
                owner = Owner.none
            } else if let entry = try map.entry(of: number), entry.kind == .root {
                owner = .tree(root: number)
            } else if let entry = try map.entry(of: number), try leads(entry, to: number) {
                number = entry.parent
                owner = known[number]
            } else {
                owner = .unknown
            }
        }
        let found = owner ?? .unknown
        for number in path { known[number] = found }
        if case .tree = found { leading.formUnion(path) }
        return found
    }

    /// Whether the parent that the map names for a page points to that page.
    private func leads(_ entry: PointerMap.Entry, to number: Int) throws -> Bool {
        guard let bytes = try ledger.pages.page(entry.parent) else { return false }
        if entry.kind == .furtherOverflow { return bytes.number32(0) == number }
        guard let page = BTreePage(bytes, number: entry.parent) else { return false }
        switch entry.kind {
        case .child:
            return !page.kind.isLeaf
                && (page.rightChild == number || page.cells.contains { $0.map(page.child) == number })
        case .overflow:
            return page.cells.contains { cell in
                guard let cell else { return false }
                let payload = page.kind.isTable ? page.row(cell)?.payload : page.entry(cell)
                return payload?.overflow == number
            }
        case .root, .free, .furtherOverflow: return false
        }
    }
}

/// A comparison that determines whether a tree has the same contents as before a transaction, although some of its
/// pages have new numbers.
///
/// SQLite moves pages: with a pointer map, the root of a new table takes the place of another tree's page. Then only
/// the page numbers in the pages that lead to it change.
struct TreeComparison {
    /// The database before the transaction.
    let pages: DatabasePages
    /// The WAL, and the offset in it of the newest bytes of each page.
    let log: (path: String, places: [Int: Int64])
    /// The old pages that were written, and all of their ancestors.
    let written: Set<Int>
    let system: any System

    private struct Link {
        /// The offset of the four-byte page number in the page.
        let place: Int
        let page: Int
        let isOverflow: Bool
    }

    /// SQLite reads no deeper tree.
    private static let greatestDepth = 20

    func isSame(_ before: Int, _ after: Int, depth: Int = 0) throws -> Bool {
        if before == after, !written.contains(before) { return true }
        guard depth < Self.greatestDepth, let (old, new) = try bytes(before, after),
            let oldLinks = links(BTreePage(old, number: before)), let newLinks = links(BTreePage(new, number: after)),
            oldLinks.map(\.place) == newLinks.map(\.place), without(oldLinks, old) == without(newLinks, new)
        else { return false }
        return try zip(oldLinks, newLinks).allSatisfy { old, new in
            guard old.isOverflow == new.isOverflow else { return false }
            return try old.isOverflow ? isSameChain(old.page, new.page) : isSame(old.page, new.page, depth: depth + 1)
        }
    }

    private func isSameChain(_ before: Int, _ after: Int) throws -> Bool {
        var (before, after, left) = (before, after, pages.count)
        while before != after || written.contains(before), left > 0 {
            guard let (old, new) = try bytes(before, after), old[4...] == new[4...], let next = old.number32(0),
                let other = new.number32(0)
            else { return false }
            (before, after, left) = (next, other, left - 1)
        }
        return before == after
    }

    private func bytes(_ before: Int, _ after: Int) throws -> (old: [UInt8], new: [UInt8])? {
        guard let old = try pages.page(before) else { return nil }
        // A page that is not in the log was not written.
        let new = try log.places[after].map { try system.bytes(of: log.path, from: $0, count: Int64(pages.usable)) }
        return try (new ?? pages.page(after)).map { (old, $0) }
    }

    /// Returns the pages that a page leads to; nil if it is not a b-tree page, or one of its cells cannot be read.
    private func links(_ page: BTreePage?) -> [Link]? {
        guard let page, page.number > 1, page.isSound else { return nil }
        var links: [Link] = []
        if !page.kind.isLeaf { links.append(Link(place: 8, page: page.rightChild, isOverflow: false)) }
        for case let cell? in page.cells {
            if !page.kind.isLeaf { links.append(Link(place: cell, page: page.child(cell), isOverflow: false)) }
            guard page.kind != .interiorTable else { continue }
            guard let payload = page.kind == .leafTable ? page.row(cell)?.payload : page.entry(cell) else { return nil }
            guard payload.overflow > 0 else { continue }
            links.append(Link(place: payload.local.upperBound, page: payload.overflow, isOverflow: true))
        }
        return links
    }

    private func without(_ links: [Link], _ bytes: [UInt8]) -> [UInt8] {
        var bytes = bytes
        for link in links { bytes.replaceSubrange(link.place..<(link.place + 4), with: [0, 0, 0, 0]) }
        return bytes
    }
}
