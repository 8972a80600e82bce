/// The order in which a mutable dictionary of Core Foundation has its keys. Archives are written in this order.
///
/// A key stands in a table of slots, in the one that its hash gives, or the next free one. A table with too many keys is
/// replaced by a larger one, which takes them in slot by slot. So the order depends on the order of insertion, and is the
/// same on every machine.
package enum HashTableOrder {
    /// The sizes of a table: the number of slots, and the number of keys with which it is still used.
    private static let sizes: [(slots: Int, capacity: Int)] = [
        (3, 3), (7, 6), (13, 11), (23, 19), (41, 32), (71, 52), (127, 85), (191, 118), (251, 155), (383, 237),
        (631, 390), (1087, 672), (1723, 1065),
    ]

    /// The positions of `keys`, which are inserted one after the other, in the order of the table. What does not fit into
    /// the largest table stays in its own order.
    package static func positions(of keys: [String]) -> [Int] {
        guard keys.count <= 1065 else { return Array(keys.indices) }
        let hashes = keys.map(hash)
        var size = 0
        var slots = [Int?](repeating: nil, count: sizes[size].slots)
        func grow() {
            size += 1
            var larger = [Int?](repeating: nil, count: sizes[size].slots)
            for case let position? in slots { insert(position, hashes, into: &larger) }
            slots = larger
        }
        for position in keys.indices {
            if position == slots.count { grow() }
            insert(position, hashes, into: &slots)
            if position + 1 > sizes[size].capacity { grow() }
        }
        return slots.compactMap { $0 }
    }

    private static func insert(_ position: Int, _ hashes: [UInt64], into slots: inout [Int?]) {
        var slot = Int(hashes[position] % UInt64(slots.count))
        while slots[slot] != nil { slot = (slot + 1) % slots.count }
        slots[slot] = position
    }

    /// The hash of a string in Core Foundation. Of more than 96 UTF-16 units, three times 32 count.
    static func hash(_ text: String) -> UInt64 {
        let units = Array(text.utf16)
        guard units.count > 96 else { return finished(mixed(units[...], into: UInt64(units.count)), units.count) }
        let middle = units.count / 2 - 16
        var result = mixed(units.prefix(32), into: UInt64(units.count))
        result = mixed(units[middle..<middle + 32], into: result)
        return finished(mixed(units.suffix(32), into: result), units.count)
    }

    private static func mixed(_ units: ArraySlice<UInt16>, into start: UInt64) -> UInt64 {
        var (result, rest) = (start, units)
        while rest.count >= 4 {
            let factors: [UInt64] = [16_974_593, 66_049, 257, 1]
            result = zip(rest, factors).reduce(result &* 67_503_105) { $0 &+ UInt64($1.0) &* $1.1 }
            rest = rest.dropFirst(4)
        }
        return rest.reduce(result) { $0 &* 257 &+ UInt64($1) }
    }

    private static func finished(_ result: UInt64, _ count: Int) -> UInt64 {
        result &+ result << UInt64(count & 31)
    }
}
