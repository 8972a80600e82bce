import MoultBasics

/// The trees of a database that an open transaction has written to, as the files themselves say.
///
/// Nothing of the statements that wrote is asked. SQLite writes the changed pages to the WAL, or their old contents to the
/// rollback journal; the numbers are read there. A copy of the database from before the transaction says which tree each
/// of these pages belongs to: its pointer map leads from a page to its parent, and the parent must lead back to the page
/// (the SQLite file format, sections 1.8, 3 and 4). A tree without such a page is, byte for byte, what it was. One whose
/// pages have only moved is not named either, if the WAL has their new bytes.
package struct ChangedPages {
    /// The root pages of these trees, as they were before.
    package private(set) var roots: Set<Int>

    /// More pages are not looked at: then most of the store has changed. New pages, as of an index, cost little.
    private static let (limit, oldLimit) = (65_536, 4_096)

    /// Nil if the files do not say it: without a pointer map, with a journal in memory, where a page of the copy cannot be
    /// believed, or after many changes.
    ///
    /// - Parameters:
    ///   - connection: with the open transaction. No other one is open to the database.
    ///   - old: the path of a copy of the database as it was when the transaction began.
    package init?(_ connection: Connection, since old: String, _ system: any System) throws {
        guard try connection.flushPages(), let pages = try Self.pages(connection, system) else { return nil }
        guard var owners = try PageOwners(old, system) else { return nil }
        // The first page is changed by every commit, and is not written before it.
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

    /// The numbers of the changed pages and, of those in a WAL, where the newest bytes of each begin.
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

    /// The pages of all frames of the present round, also of those that were committed before.
    private static func logged(_ path: String, _ system: any System) throws -> [Int: Int64]? {
        let header = try system.status(of: path) == nil ? [] : system.bytes(of: path, from: 0, count: 32)
        guard header.count == 32, let page = header.number32(8), page >= 512 else { return nil }
        var (places, place): ([Int: Int64], Int64) = ([:], 32)
        while places.count <= limit {
            let frame = try system.bytes(of: path, from: place, count: 24)
            // What follows with other salts is left of an earlier round.
            guard frame.count == 24, frame[8..<16] == header[16..<24], let number = frame.number32(0) else {
                return places
            }
            places[number] = place + 24
            place += 24 + Int64(page)
        }
        return nil
    }
}

/// The owner of each page of a database: the tree that the page belongs to.
struct PageOwners {
    enum Owner: Equatable {
        case tree(root: Int)
        /// A free page, one of the pointer map, or one that the database did not have.
        case none
        case unknown
    }

    private let ledger: PageLedger
    private let map: PointerMap
    private var known: [Int: Owner] = [1: .tree(root: 1)]
    /// The pages that were asked about and belong to a tree, and all that lead to them.
    private(set) var leading: Set<Int> = []

    /// Nil for a database without a pointer map, or with a list of free pages that cannot be followed.
    init?(_ path: String, _ system: any System) throws {
        ledger = try PageLedger(DatabasePages(path, system))
        guard let map = ledger.map, ledger.isFreelistWhole else { return nil }
        self.map = map
    }

    var pages: DatabasePages { ledger.pages }
    /// Pages that the database had.
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

    /// Whether the page that the map names as the parent of a page says so itself.
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

/// Whether a tree holds what it held before a transaction, although pages of it have another number.
///
/// SQLite moves pages: with a pointer map the root of a new table takes the place of another tree's page. Only the numbers
/// in the pages that lead to it change then.
struct TreeComparison {
    /// The database before the transaction.
    let pages: DatabasePages
    /// The WAL, and where the newest bytes of each page begin in it.
    let log: (path: String, places: [Int: Int64])
    /// The old pages that were written, and all that lead to them.
    let written: Set<Int>
    let system: any System

    private struct Link {
        /// The offset of its four bytes in the page.
        let place: Int
        let page: Int
        let isOverflow: Bool
    }

    /// SQLite reads no tree that is deeper.
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
        // What the log does not have was not written.
        let new = try log.places[after].map { try system.bytes(of: log.path, from: $0, count: Int64(pages.usable)) }
        return try (new ?? pages.page(after)).map { (old, $0) }
    }

    /// The pages that a page leads to; nil if it is none of a tree, or one of its cells cannot be read.
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
