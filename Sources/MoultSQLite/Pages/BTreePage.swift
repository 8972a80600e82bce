/// One page of a b-tree (the SQLite file format, section 1.6). Unreadable parts are nil.
package struct BTreePage {
    package enum Kind: UInt8 {
        case interiorIndex = 2
        case interiorTable = 5
        case leafIndex = 10
        case leafTable = 13

        package var isLeaf: Bool { self == .leafIndex || self == .leafTable }
        package var isTable: Bool { self == .interiorTable || self == .leafTable }
    }

    /// The location of the bytes of a row.
    package struct Payload: Equatable {
        /// The total number of bytes.
        package var size: Int
        /// The range of the bytes stored on the page.
        package var local: Range<Int>
        /// The first overflow page; 0 if there is none.
        package var overflow: Int
    }

    package let number: Int
    package let kind: Kind
    package let bytes: [UInt8]
    /// The cells in the order of the page's list, by the offset of their first byte; nil for an impossible offset.
    package let cells: [Int?]
    /// The page with the highest keys, for an interior page.
    package let rightChild: Int
    package let isSound: Bool

    /// Parses a page; nil if the bytes are not a b-tree page.
    ///
    /// - Parameter bytes: the page without its reserved bytes.
    package init?(_ bytes: [UInt8], number: Int) {
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
    package func child(_ cell: Int) -> Int { bytes.number32(cell) ?? 0 }

    /// Returns the key of a cell of a table page and, in a leaf, the location of its row.
    package func row(_ cell: Int) -> (key: Int64, payload: Payload?)? {
        var place = kind == .interiorTable ? cell + 4 : cell
        guard kind == .leafTable else { return bytes.varint(&place, before: bytes.count).map { ($0, nil) } }
        guard let size = bytes.varint(&place, before: bytes.count), let key = bytes.varint(&place, before: bytes.count)
        else { return nil }
        return (key, payload(size, from: place, most: bytes.count - 35))
    }

    /// Returns the location of the entry of a cell of an index page.
    package func entry(_ cell: Int) -> Payload? {
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
