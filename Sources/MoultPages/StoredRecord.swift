import MoultSQLite

/// A row or an index entry (the SQLite file format, section 2.1).
struct StoredRecord {
    /// In the order of the columns; nil for a value whose bytes cannot be read.
    let values: [SQLiteValue?]
    /// Whether every value was read and none is seen to be damaged.
    let isWhole: Bool

    /// Nil where the bytes are those of no row.
    ///
    /// - Parameters:
    ///   - bytes: from the first on, as many as could be read.
    ///   - size: how many there should be.
    ///   - zeroed: those of them that come from a page of zeros.
    ///   - encoding: 1 for UTF-8, 2 and 3 for UTF-16.
    init?(_ bytes: [UInt8], size: Int, zeroed: [Range<Int>], encoding: Int) {
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
        var end = Int(header)
        for type in types {
            let length = Self.length(type)
            guard length <= Int64(size - end) else { return nil }
            end += Int(length)
            ends.append(end)
        }
        // A row has as many bytes as its values take: what has more or fewer is something else.
        guard end == size else { return nil }
        var (values, isWhole, start): ([SQLiteValue?], Bool, Int) = ([], true, Int(header))
        for (type, end) in zip(types, ends) {
            var isSound = end <= bytes.count
            values.append(isSound ? Self.value(type, bytes[start..<end], encoding, &isSound) : nil)
            // A text holds no page full of zeros.
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
