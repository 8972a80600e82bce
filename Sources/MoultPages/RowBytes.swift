/// Puts the bytes of a row together, from its page and the chain of pages that holds the rest (the SQLite file format,
/// section 1.7).
struct RowBytes {
    let ledger: PageLedger

    /// - Returns: the row, and the pages of its chain; nil where the bytes are those of no row.
    func record(_ payload: BTreePage.Payload, on page: BTreePage) throws -> (StoredRecord, chain: [Int])? {
        var bytes = Array(page.bytes[payload.local])
        // Before a chain is followed: what is no row has no chain.
        var start = 0
        guard let header = bytes.varint(&start, before: bytes.count), header >= Int64(start),
            header <= Int64(payload.size)
        else { return nil }
        var (next, chain, zeroed): (Int, [Int], [Range<Int>]) = (payload.overflow, [], [])
        var seen: Set<Int> = []
        while bytes.count < payload.size, next > 1, seen.insert(next).inserted, ledger.isOpen(next),
            let part = try ledger.pages.page(next), let following = part.number32(0)
        {
            let left = payload.size - bytes.count
            let length = min(left, part.count - 4)
            // The last page leads nowhere, and every other one to a page.
            guard (length == left) == (following == 0), following <= ledger.pages.limit else { break }
            let content = part[4..<(4 + length)]
            if length > 16, content.allSatisfy({ $0 == 0 }) { zeroed.append(bytes.count..<(bytes.count + length)) }
            bytes += content
            chain.append(next)
            next = following
        }
        let encoding = ledger.pages.encoding
        return StoredRecord(bytes, size: payload.size, zeroed: zeroed, encoding: encoding).map { ($0, chain) }
    }
}
