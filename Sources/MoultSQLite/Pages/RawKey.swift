import MoultBasics

/// A record in memory (the SQLite file format, section 2.1).
struct RawKey {
    let page: RawPage
    /// The number of its bytes.
    let size: Int
    /// The number of its bytes in memory: fewer than ``size`` for a very long record.
    let held: Int

    /// Whether the bytes are a record of the right number of columns, without a doubtful value.
    @inline(__always)
    func isPlain(_ rules: RecordRules) -> Bool {
        let (bytes, types, doubts) = (page.bytes, rules.types.types, rules.doubts)
        let end = page.byte(0)
        // A header with one length byte has at most 126 columns.
        guard end < 0x80, end > 0, end <= held else { return isPlainSlowly(rules) }
        var (place, column, sum, found) = (1, 0, end, UInt16(0))
        while place < end {
            var type = Int(bytes.load(fromByteOffset: place, as: UInt8.self))
            if type >= 0x80 {
                let second = Int(bytes.load(fromByteOffset: place &+ 1, as: UInt8.self))
                guard second < 0x80, type > 0x80 else { return isPlainSlowly(rules) }
                // A text or a blob; its kind is that of one of the last two types in the table.
                place &+= 1
                type = (type & 0x7f) << 7 | second
                sum &+= (type &- 12) >> 1
                found |= types[126 | type & 1] >> 8 & UInt16(doubts[column])
            } else {
                sum &+= Int(types[type] & 0xff)
                found |= types[type] >> 8 & UInt16(doubts[column])
            }
            place &+= 1
            column &+= 1
        }
        return place == end && sum == size && found == 0 && column >= rules.least && column <= rules.most
    }

    @inline(never)
    private func isPlainSlowly(_ rules: RecordRules) -> Bool {
        let (columns, found) = summary(rules)
        return found == 0 && columns >= rules.least && columns <= rules.most
    }

    /// Returns the number of columns, and the doubtful values among them; a negative number if the bytes are not a
    /// record.
    @inline(never)
    func summary(_ rules: RecordRules) -> (columns: Int, found: UInt8) {
        var place = 0
        let header = page.varint(&place)
        guard header <= UInt64(held), header >= UInt64(place) else { return (-1, 0) }
        let end = Int(header)
        var (column, sum, found) = (0, end, UInt8(0))
        while place < end {
            let type = page.varint(&place)
            let length = SerialTypes.length(type)
            guard place <= end, length <= UInt64(size) else { return (-1, 0) }
            sum &+= Int(length)
            found |=
                SerialTypes.kind(type) & (column < rules.doubtCount ? rules.doubts[column] : CheckedTree.Doubt.reserved)
            column += 1
        }
        return sum == size ? (column, found) : (-1, 0)
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
                let first = (start..<(start + length)).lazy.map(page.byte).first {
                    $0 != 0x20 && !(9...13).contains($0)
                }
                if let first, (0x30...0x39).contains(first) || [0x2b, 0x2d, 0x2e].contains(first) { return true }
            }
            start += length
        }
        return false
    }
}

/// The serial types of values in records (the SQLite file format, section 2.1).
struct SerialTypes {
    /// Of each type less than 128, the length of a value, and from bit 8 on its kind.
    fileprivate let types: UnsafeMutablePointer<UInt16>

    /// Allocates memory, which `deallocate` frees.
    init() {
        types = .allocate(capacity: 128)
        for type in UInt64(0)..<128 {
            (types + Int(type)).initialize(to: UInt16(Self.length(type)) | UInt16(Self.kind(type)) << 8)
        }
    }

    func deallocate() { types.deallocate() }

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

/// The rules for the records of one b-tree, in memory without reference counts.
struct RecordRules {
    typealias Local = (bytes: Int, hasOverflow: Bool)

    fileprivate let types: SerialTypes
    /// The doubtful values (``CheckedTree/Doubt``) of at least 128 columns.
    fileprivate let doubts: UnsafeMutablePointer<UInt8>
    fileprivate let doubtCount: Int
    private let columns: UnsafeMutablePointer<CheckedTree.KeyColumn>
    /// Whether the first column is descending, and its texts are compared byte by byte.
    private let isDescending: Bool
    private let isBinary: Bool
    /// The number of columns that are compared, and of those that a record may have.
    let keyCount: Int
    let least: Int
    let most: Int
    private let usable: Int
    /// The largest payload without overflow pages.
    private let mostLocal: Int

    /// Allocates memory, which `deallocate` frees.
    init(_ tree: CheckedTree, _ types: SerialTypes, usable: Int) {
        (self.types, self.usable, keyCount) = (types, usable, tree.keyColumns.count)
        (least, most) = (tree.columns.lowerBound, tree.columns.upperBound)
        mostLocal = tree.isTable ? usable - 35 : (usable - 12) * 64 / 255 - 23
        doubtCount = max(tree.doubts.count, 128)
        doubts = .allocate(capacity: doubtCount)
        doubts.initialize(repeating: CheckedTree.Doubt.reserved, count: doubtCount)
        for (column, doubt) in tree.doubts.enumerated() { doubts[column] |= doubt }
        isDescending = tree.keyColumns.first?.isDescending ?? false
        isBinary = tree.keyColumns.first.map { $0.collation == .binary } ?? false
        columns = .allocate(capacity: keyCount)
        for (column, order) in tree.keyColumns.enumerated() { (columns + column).initialize(to: order) }
    }

    func deallocate() {
        doubts.deallocate()
        columns.deallocate()
    }

    /// Returns the number of payload bytes in a cell (the SQLite file format, section 1.6); nil for a size that no row
    /// has.
    @inline(__always)
    func local(_ size: UInt64) -> Local? {
        if size <= UInt64(mostLocal) { return (Int(size), false) }
        // SQLite accepts no row of more than 2,147,483,645 bytes.
        guard size <= 2_147_483_645 else { return nil }
        let least = (usable - 12) * 32 / 255 - 23
        let rest = least + (Int(size) - least) % (usable - 4)
        return (rest <= mostLocal ? rest : least, true)
    }

    /// Whether one key is less than the next, or a collation is not known: NULL, numbers, texts, blobs
    /// (sqlite.org/datatype3.html, 4.1). Both are records with all of the columns.
    @inline(__always)
    func isAscending(_ one: RawKey, _ next: RawKey) -> Bool {
        let (bytes, others) = (one.page, next.page)
        let (start, otherStart) = (bytes.byte(0), others.byte(0))
        let (type, other) = (bytes.byte(1), others.byte(1))
        // Most keys differ in a first column of one of these kinds.
        guard start | otherStart | type | other < 0x80, one.held == one.size, next.held == next.size else {
            return isWhollyAscending(one, next)
        }
        if type &- 1 < 6, other &- 1 < 6, type > 0, other > 0 {
            let value = bytes.integer(start, type)
            let otherValue = others.integer(otherStart, other)
            if value != otherValue { return (value < otherValue) != isDescending }
        } else if type >= 12, other >= 12, (type ^ other) & 1 == 0, isBinary {
            let (length, otherLength) = ((type &- 12) >> 1, (other &- 12) >> 1)
            let shared = min(length, otherLength)
            let difference = memcmp(bytes.bytes + start, others.bytes + otherStart, shared)
            if difference != 0 { return (difference < 0) != isDescending }
            if length != otherLength { return (length < otherLength) != isDescending }
        } else if type == 7, other == 7 {
            let value = Double(bitPattern: bytes.number64(start))
            let otherValue = Double(bitPattern: others.number64(otherStart))
            if value < otherValue { return !isDescending }
            if value > otherValue { return isDescending }
        }
        return isWhollyAscending(one, next)
    }

    @inline(never)
    private func isWhollyAscending(_ one: RawKey, _ next: RawKey) -> Bool {
        var (place, nextPlace) = (0, 0)
        var start = Int(one.page.varint(&place))
        var nextStart = Int(next.page.varint(&nextPlace))
        for column in 0..<keyCount {
            let (type, nextType) = (one.page.varint(&place), next.page.varint(&nextPlace))
            let value = RawValue(one.page, Int(clamping: type), start, Int(clamping: SerialTypes.length(type)))
            let nextValue = RawValue(
                next.page, Int(clamping: nextType), nextStart, Int(clamping: SerialTypes.length(nextType)))
            (start, nextStart) = (start + value.length, nextStart + nextValue.length)
            // Of a very long key, only the first part is compared.
            guard start <= one.held, nextStart <= next.held,
                let difference = value.difference(from: nextValue, columns[column].collation)
            else { return true }
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

    init(_ page: RawPage, _ type: Int, _ start: Int, _ length: Int) {
        (self.page, self.type, self.start, self.length) = (page, type, start, length)
    }

    /// 0 for NULL, 1 for a number, 2 for a text, 3 for a blob. A NaN is read as NULL.
    private var rank: Int {
        if type >= 12 { return 3 - type & 1 }
        return type == 0 || type == 7 && real.isNaN ? 0 : 1
    }

    /// Less than 0 if the value comes before the other, greater than 0 if it comes after it; nil for an unknown
    /// collation.
    func difference(from other: RawValue, _ collation: CheckedTree.Collation) -> Int? {
        if type >= 12, other.type >= 12, (type ^ other.type) & 1 == 0 {
            let isBinary = collation == .binary || type & 1 == 0
            return isBinary ? binaryDifference(from: other) : textDifference(from: other, collation)
        }
        let (one, two) = (rank, other.rank)
        return one != two ? one - two : one == 0 ? 0 : numericDifference(from: other)
    }

    private var real: Double { Double(bitPattern: page.number64(start)) }

    private var integer: Int64 { type >= 8 ? Int64(type - 8) : page.integer(start, type) }

    /// Less than 0 if the number is less than the other, greater than 0 if it is greater.
    private func numericDifference(from other: RawValue) -> Int {
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

    private func binaryDifference(from other: RawValue) -> Int {
        let difference = Int(memcmp(page.bytes + start, other.page.bytes + other.start, min(length, other.length)))
        return difference != 0 ? difference : length - other.length
    }

    private func textDifference(from other: RawValue, _ collation: CheckedTree.Collation) -> Int? {
        switch collation {
        case .unknown: return nil
        case .binary: return binaryDifference(from: other)
        case .nocase:
            return Self.difference(page.bytes + start, length, other.page.bytes + other.start, other.length)
        case .rtrim:
            let (one, two) = (withoutSpaces, other.withoutSpaces)
            return one.binaryDifference(from: two)
        }
    }

    private var withoutSpaces: RawValue {
        var length = length
        while length > 0, page.byte(start + length - 1) == 0x20 { length -= 1 }
        return RawValue(page, type, start, length)
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
