/// The pointer map of a database that can be vacuumed page by page: the page that leads to each page (the SQLite file
/// format, section 1.8).
final class PointerMap {
    enum Kind: UInt8 {
        case root = 1
        case free, overflow, furtherOverflow, child
    }

    struct Entry: Equatable {
        var kind: Kind
        /// The page that leads to this one; 0 for a root and a free page.
        var parent: Int
    }

    private let pages: DatabasePages
    private var (loaded, entries): (Int, [Entry?]) = (0, [])

    /// Nil where there is no such map.
    init?(_ pages: DatabasePages) {
        guard pages.isAutoVacuum else { return nil }
        self.pages = pages
    }

    private var span: Int { pages.usable / 5 + 1 }

    /// The page of the map that has the entry of a page.
    func mapPage(of number: Int) -> Int {
        let page = (number - 2) / span * span + 2
        return page == pages.lockPage ? page + 1 : page
    }

    func isMapPage(_ number: Int) -> Bool { number >= 2 && mapPage(of: number) == number }

    /// Nil where it cannot be believed.
    func entry(of number: Int) throws -> Entry? {
        guard number > 2, number <= pages.limit else { return nil }
        let page = mapPage(of: number)
        guard number > page else { return nil }
        if loaded != page {
            loaded = page
            let read = try pages.page(page).map {
                Self.entries(
                    of: $0, usable: pages.usable, pageCount: pages.limit, first: page + 1)
            }
            entries = read ?? []
            // A page of which one entry is wrong has been written by something else than SQLite.
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
