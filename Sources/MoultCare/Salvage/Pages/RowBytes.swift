import MoultSQLite

/// A reader that joins the bytes of a row from its page and its chain of overflow pages (the SQLite file format,
/// section 1.7).
struct RowBytes {
    let ledger: PageLedger

    /// - Parameter onlyLast: whether only the last value is needed, the key in an index.
    /// - Returns: the row and the pages of its chain; nil if the bytes are not a row.
    func record(
        _ payload: BTreePage.Payload, on page: BTreePage, onlyLast: Bool = false
    ) throws -> (StoredRecord, chain: [Int])? {
        var bytes = Array(page.bytes[payload.local])
        // Check the header before following a chain: bytes that are not a row have no chain.
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
            // Only the last page of a chain has no next page.
            guard (length == left) == (following == 0), following <= ledger.pages.limit else { break }
            let content = part[4..<(4 + length)]
            if length > 16, content.allSatisfy({ $0 == 0 }) { zeroed.append(bytes.count..<(bytes.count + length)) }
            bytes += content
            chain.append(next)
            next = following
        }
        let encoding = ledger.pages.encoding
        return StoredRecord(bytes, size: payload.size, zeroed: zeroed, encoding: encoding, onlyLast: onlyLast)
            .map { ($0, chain) }
    }
}

/// A row or an index entry (the SQLite file format, section 2.1).
struct StoredRecord {
    /// The values in column order; nil for a value whose bytes cannot be read.
    let values: [SQLiteValue?]
    /// Whether every value was read and none shows damage.
    let isWhole: Bool

    /// Parses a record; nil if the bytes are not a row.
    ///
    /// - Parameters:
    ///   - bytes: the leading bytes that could be read.
    ///   - size: the expected number of bytes.
    ///   - zeroed: the ranges of `bytes` that come from a page of zeros.
    ///   - encoding: 1 for UTF-8, 2 and 3 for UTF-16.
    ///   - onlyLast: whether to read no value but the last.
    init?(_ bytes: [UInt8], size: Int, zeroed: [Range<Int>], encoding: Int, onlyLast: Bool = false) {
        var place = 0
        guard let header = bytes.varint(&place, before: bytes.count), header >= Int64(place), header <= Int64(size),
            header <= Int64(bytes.count)
        else { return nil }
        var types: [Int64] = []
        while place < Int(header) {
            guard let type = bytes.varint(&place, before: Int(header)), type >= 0, type != 10, type != 11 else {
                return nil
            }
            types.append(type)
        }
        var ends: [Int] = []
        ends.reserveCapacity(types.count)
        var end = Int(header)
        for type in types {
            let length = Self.length(type)
            guard length <= Int64(size - end) else { return nil }
            end += Int(length)
            ends.append(end)
        }
        // The values of a row add up to its size exactly; other bytes are not a row.
        guard end == size else { return nil }
        let first = onlyLast ? max(types.count - 1, 0) : 0
        var (values, isWhole): ([SQLiteValue?], Bool) = ([], true)
        values.reserveCapacity(types.count - first)
        var start = first > 0 ? ends[first - 1] : Int(header)
        for (type, end) in zip(types[first...], ends[first...]) {
            var isSound = end <= bytes.count
            values.append(isSound ? Self.value(type, bytes[start..<end], encoding, &isSound) : nil)
            // No text contains a page full of zeros.
            if type >= 13, !type.isMultiple(of: 2), zeroed.contains(where: { $0.overlaps(start..<end) }) {
                isSound = false
            }
            isWhole = isWhole && isSound
            start = end
        }
        self.values = values
        self.isWhole = isWhole
    }

    private static func length(_ type: Int64) -> Int64 {
        switch type {
        case 0, 8, 9: 0
        case 1...4: type
        case 5: 6
        case 6, 7: 8
        default: (type - 12) / 2
        }
    }

    private static func value(_ type: Int64, _ bytes: ArraySlice<UInt8>, _ encoding: Int, _ isSound: inout Bool)
        -> SQLiteValue
    {
        switch type {
        case 0: return .null
        case 8, 9: return .integer(type - 8)
        case 1...6:
            let negative = (bytes.first ?? 0) >= 0x80
            return .integer(bytes.reduce(negative ? -1 : 0) { $0 << 8 | Int64($1) })
        case 7: return .real(Double(bitPattern: bytes.reduce(0) { $0 << 8 | UInt64($1) }))
        case let type where type.isMultiple(of: 2): return .blob(Array(bytes))
        default:
            if encoding == 1 {
                if let text = String(validating: bytes, as: UTF8.self) { return .text(text) }
                isSound = false
                return .text(String(decoding: bytes, as: UTF8.self))
            }
            let bytes = Array(bytes)
            let units = stride(from: 0, to: bytes.count - 1, by: 2).map { place in
                let (first, second) = (UInt16(bytes[place]), UInt16(bytes[place + 1]))
                return encoding == 2 ? second << 8 | first : first << 8 | second
            }
            return .text(String(decoding: units, as: UTF16.self))
        }
    }
}
