/// One page of a b-tree (the SQLite file format, section 1.6). Unreadable parts are nil.
struct BTreePage {
    enum Kind: UInt8 {
        case interiorIndex = 2
        case interiorTable = 5
        case leafIndex = 10
        case leafTable = 13

        var isLeaf: Bool { self == .leafIndex || self == .leafTable }
        var isTable: Bool { self == .interiorTable || self == .leafTable }
    }

    /// The location of the bytes of a row.
    struct Payload: Equatable {
        /// The total number of bytes.
        var size: Int
        /// The range of the bytes stored on the page.
        var local: Range<Int>
        /// The first overflow page; 0 if there is none.
        var overflow: Int
    }

    let number: Int
    let kind: Kind
    let bytes: [UInt8]
    /// The cells in the order of the page's list, by the offset of their first byte; nil for an impossible offset.
    let cells: [Int?]
    /// The page with the highest keys, for an interior page.
    let rightChild: Int
    let isSound: Bool

    /// Parses a page; nil if the bytes are not a b-tree page.
    ///
    /// - Parameter bytes: the page without its reserved bytes.
    init?(_ bytes: [UInt8], number: Int) {
        let start = number == 1 ? 100 : 0
        guard bytes.count >= 480, let kind = Kind(rawValue: bytes[start]), let count = bytes.number16(start + 3),
            let content = bytes.number16(start + 5).map({ $0 == 0 ? 65_536 : $0 })
        else { return nil }
        let first = start + (kind.isLeaf ? 8 : 12)
        let end = first + 2 * count
        guard end <= bytes.count else { return nil }
        (self.number, self.kind, self.bytes) = (number, kind, bytes)
        rightChild = kind.isLeaf ? 0 : bytes.number32(start + 8) ?? 0
        cells = (0..<count).map { index in
            bytes.number16(first + 2 * index).flatMap { $0 >= end && $0 <= bytes.count - 4 ? $0 : nil }
        }
        isSound = content >= end && content <= bytes.count && cells.allSatisfy { $0.map { $0 >= content } ?? false }
    }

    /// Returns the child of a cell of an interior page.
    func child(_ cell: Int) -> Int { bytes.number32(cell) ?? 0 }

    /// Returns the key of a cell of a table page and, in a leaf, the location of its row.
    func row(_ cell: Int) -> (key: Int64, payload: Payload?)? {
        var place = kind == .interiorTable ? cell + 4 : cell
        guard kind == .leafTable else { return bytes.varint(&place, before: bytes.count).map { ($0, nil) } }
        guard let size = bytes.varint(&place, before: bytes.count), let key = bytes.varint(&place, before: bytes.count)
        else { return nil }
        return (key, payload(size, from: place, most: bytes.count - 35))
    }

    /// Returns the location of the entry of a cell of an index page.
    func entry(_ cell: Int) -> Payload? {
        var place = kind == .interiorIndex ? cell + 4 : cell
        guard let size = bytes.varint(&place, before: bytes.count) else { return nil }
        return payload(size, from: place, most: (bytes.count - 12) * 64 / 255 - 23)
    }

    /// - Parameter most: the largest payload stored on the page without overflow.
    private func payload(_ size: Int64, from place: Int, most: Int) -> Payload? {
        // SQLite accepts no row of more than 2,147,483,645 bytes.
        guard size > 0, size <= 2_147_483_645, let size = Int(exactly: size) else { return nil }
        var local = size
        if size > most {
            let least = (bytes.count - 12) * 32 / 255 - 23
            let rest = least + (size - least) % (bytes.count - 4)
            local = rest <= most ? rest : least
        }
        let end = place + local
        guard end <= bytes.count else { return nil }
        guard local < size else { return Payload(size: size, local: place..<end, overflow: 0) }
        guard let overflow = bytes.number32(end), overflow > 1 else { return nil }
        return Payload(size: size, local: place..<end, overflow: overflow)
    }
}

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
