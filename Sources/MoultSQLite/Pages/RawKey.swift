import MoultBasics

/// A record in memory (the SQLite file format, section 2.1).
struct RawKey {
    let page: RawPage
    /// The number of its bytes.
    let size: Int
    /// The number of its bytes in memory: fewer than ``size`` for a very long record.
    let held: Int

    /// Returns the number of columns, and the doubtful values among them; no column if the bytes are not a record.
    @inline(__always)
    func summary(_ types: SerialTypes, _ doubts: UnsafeBufferPointer<UInt8>) -> (columns: Int?, found: UInt8) {
        var place = 0
        let header = page.varint(&place)
        guard header <= UInt64(held), header >= UInt64(place) else { return (nil, 0) }
        let end = Int(header)
        var (column, sum, found) = (0, end, UInt8(0))
        // A header with one length byte has at most 126 columns, and there are at least as many doubts.
        guard place == 1, doubts.count >= 128, let first = doubts.baseAddress else {
            return longSummary(place, end, doubts)
        }
        while place < end {
            let byte = page.byte(place)
            place &+= 1
            if byte < 0x80 {
                let type = types[byte]
                sum &+= Int(type & 0xff)
                found |= UInt8(truncatingIfNeeded: type >> 8) & first[column]
            } else {
                place &-= 1
                let type = page.varint(&place)
                let length = SerialTypes.length(type)
                guard place <= end, length <= UInt64(size) else { return (nil, 0) }
                sum &+= Int(length)
                found |= SerialTypes.kind(type) & first[column]
            }
            column &+= 1
        }
        return sum == size ? (column, found) : (nil, 0)
    }

    @inline(never)
    private func longSummary(
        _ start: Int, _ end: Int, _ doubts: UnsafeBufferPointer<UInt8>
    ) -> (columns: Int?, found: UInt8) {
        var (place, column, sum, found) = (start, 0, end, UInt8(0))
        while place < end {
            let type = page.varint(&place)
            let length = SerialTypes.length(type)
            guard place <= end, length <= UInt64(size) else { return (nil, 0) }
            sum &+= Int(length)
            found |= SerialTypes.kind(type) & (column < doubts.count ? doubts[column] : CheckedTree.Doubt.reserved)
            column += 1
        }
        return sum == size ? (column, found) : (nil, 0)
    }

    /// Whether a text that may look like a number is in a column for numbers. SQLite would have stored it as a number.
    func hasNumericText(_ doubts: [UInt8], encoding: Int) -> Bool {
        var place = 0
        let end = Int(clamping: page.varint(&place))
        var start = end
        for doubt in doubts {
            guard place < end else { return false }
            let type = page.varint(&place)
            let length = Int(clamping: SerialTypes.length(type))
            if SerialTypes.kind(type) & doubt & CheckedTree.Doubt.text != 0, length > 0 {
                guard encoding == 1, start + length <= held else { return true }
                let first = (start..<(start + length)).lazy.map(page.byte).first { $0 != 0x20 && !(9...13).contains($0) }
                if let first, (0x30...0x39).contains(first) || [0x2b, 0x2d, 0x2e].contains(first) { return true }
            }
            start += length
        }
        return false
    }
}

/// The serial types of values in records (the SQLite file format, section 2.1).
final class SerialTypes {
    /// Of each type less than 128, the length of a value, and from bit 8 on its kind.
    private let types: UnsafeMutablePointer<UInt16>

    init() {
        types = .allocate(capacity: 128)
        for type in UInt64(0)..<128 {
            (types + Int(type)).initialize(to: UInt16(Self.length(type)) | UInt16(Self.kind(type)) << 8)
        }
    }

    deinit { types.deallocate() }

    /// - Parameter type: from 0 to 127.
    @inline(__always) subscript(type: Int) -> UInt16 { types[type] }

    static func length(_ type: UInt64) -> UInt64 {
        switch type {
        case 0, 8...11: 0
        case 1...4: type
        case 5: 6
        case 6, 7: 8
        default: (type - 12) / 2
        }
    }

    /// Returns the kind of a value as a ``CheckedTree/Doubt``; 0 for a blob.
    static func kind(_ type: UInt64) -> UInt8 {
        switch type {
        case 0: CheckedTree.Doubt.null
        case 1...9: CheckedTree.Doubt.number
        case 10, 11: CheckedTree.Doubt.reserved
        default: type.isMultiple(of: 2) ? 0 : CheckedTree.Doubt.text
        }
    }
}

/// The order of the keys of an index: NULL, numbers, texts, blobs (sqlite.org/datatype3.html, 4.1).
final class KeyOrder {
    let count: Int
    private let columns: UnsafeMutablePointer<CheckedTree.KeyColumn>

    init(_ columns: [CheckedTree.KeyColumn]) {
        count = columns.count
        self.columns = .allocate(capacity: columns.count)
        for (column, order) in columns.enumerated() { (self.columns + column).initialize(to: order) }
    }

    deinit { columns.deallocate() }

    /// Whether one key is less than the next, or a collation is not known. Both are records with all of the columns.
    func isAscending(_ one: RawKey, _ next: RawKey) -> Bool {
        var (place, otherPlace) = (0, 0)
        var start = Int(one.page.varint(&place))
        var otherStart = Int(next.page.varint(&otherPlace))
        for column in 0..<count {
            let value = RawValue(one.page, type: one.page.varint(&place), start: start)
            let other = RawValue(next.page, type: next.page.varint(&otherPlace), start: otherStart)
            (start, otherStart) = (start + value.length, otherStart + other.length)
            let difference: Int
            if value.rank != other.rank {
                difference = value.rank - other.rank
            } else if value.rank < 2 {
                difference = value.rank == 0 ? 0 : value.numericDifference(from: other)
            } else {
                // Of a very long key, only the first part is compared.
                guard start <= one.held, otherStart <= next.held,
                    let found = value.difference(from: other, value.rank == 3 ? .binary : columns[column].collation)
                else { return true }
                difference = found
            }
            if difference != 0 { return (difference < 0) != columns[column].isDescending }
        }
        return false
    }
}

/// One value of a record.
private struct RawValue {
    private let page: RawPage
    private let type: Int
    private let start: Int
    let length: Int
    /// 0 for NULL, 1 for a number, 2 for a text, 3 for a blob.
    let rank: Int

    @inline(__always)
    init(_ page: RawPage, type: UInt64, start: Int) {
        (self.page, self.type, self.start) = (page, Int(truncatingIfNeeded: type), start)
        length = Int(truncatingIfNeeded: SerialTypes.length(type))
        if type >= 12 {
            rank = type & 1 == 0 ? 3 : 2
        } else {
            // A NaN is read as NULL.
            let isNull = type == 0 || type == 7 && Double(bitPattern: page.number64(start)).isNaN
            rank = isNull ? 0 : 1
        }
    }

    private var real: Double { Double(bitPattern: page.number64(start)) }

    private var integer: Int64 {
        switch type {
        case 1: Int64(Int8(truncatingIfNeeded: page.byte(start)))
        case 2: Int64(Int16(truncatingIfNeeded: page.number16(start)))
        case 3: Int64(Int32(truncatingIfNeeded: page.number32(start)) >> 8)
        case 4: Int64(Int32(truncatingIfNeeded: page.number32(start)))
        case 5: Int64(bitPattern: page.number64(start)) >> 16
        case 6: Int64(bitPattern: page.number64(start))
        default: Int64(type - 8)
        }
    }

    /// Less than 0 if the number is less than the other, greater than 0 if it is greater.
    @inline(__always)
    func numericDifference(from other: RawValue) -> Int {
        switch (type == 7, other.type == 7) {
        case (false, false):
            let (one, two) = (integer, other.integer)
            return one < two ? -1 : one > two ? 1 : 0
        case (true, true):
            let (one, two) = (real, other.real)
            return one < two ? -1 : one > two ? 1 : 0
        case (false, true): return Self.difference(integer, other.real)
        case (true, false): return -Self.difference(other.integer, real)
        }
    }

    /// Compares exactly: not every integer is a real.
    private static func difference(_ integer: Int64, _ real: Double) -> Int {
        if real < -0x1p63 { return 1 }
        if real >= 0x1p63 { return -1 }
        let whole = Int64(real)
        if integer != whole { return integer < whole ? -1 : 1 }
        let rest = real - Double(whole)
        return rest > 0 ? -1 : rest < 0 ? 1 : 0
    }

    /// Compares texts or blobs; nil for an unknown collation.
    @inline(__always)
    func difference(from other: RawValue, _ collation: CheckedTree.Collation) -> Int? {
        let (bytes, others) = (page.bytes + start, other.page.bytes + other.start)
        var (count, otherCount) = (length, other.length)
        switch collation {
        case .unknown: return nil
        case .binary: break
        case .nocase: return Self.difference(bytes, count, others, otherCount)
        case .rtrim:
            while count > 0, bytes.load(fromByteOffset: count - 1, as: UInt8.self) == 0x20 { count -= 1 }
            while otherCount > 0, others.load(fromByteOffset: otherCount - 1, as: UInt8.self) == 0x20 {
                otherCount -= 1
            }
        }
        let difference = Int(memcmp(bytes, others, min(count, otherCount)))
        return difference != 0 ? difference : count - otherCount
    }

    /// Compares with the letters A to Z as a to z. What follows a NUL in both texts is not compared, only its length.
    private static func difference(
        _ bytes: UnsafeRawPointer, _ count: Int, _ others: UnsafeRawPointer, _ otherCount: Int
    ) -> Int {
        for place in 0..<min(count, otherCount) {
            let (one, other) = (small(bytes, place), small(others, place))
            if one != other { return one - other }
            if one == 0 { break }
        }
        return count - otherCount
    }

    private static func small(_ bytes: UnsafeRawPointer, _ place: Int) -> Int {
        let byte = Int(bytes.load(fromByteOffset: place, as: UInt8.self))
        return (0x41...0x5a).contains(byte) ? byte + 0x20 : byte
    }
}
