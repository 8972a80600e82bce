import MoultSystem

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
