import MoultModel

/// Texts that must not be found in what is made from a store: a set that bytes are searched for.
struct OriginalTexts {
    /// Shorter texts occur anywhere by chance.
    static let shortest = 4
    /// A longer text is known by its beginning: in a store it may be in pieces.
    static let longest = 64

    private var texts: Set<[UInt8]> = []
    /// The lengths of the texts that begin with four bytes.
    private var lengths: [UInt32: [Int]] = [:]
    /// A bit for each beginning there is, by its hash, so that most places need no look into the table.
    private var beginnings = [UInt64](repeating: 0, count: 1 << 14)

    init(_ texts: some Sequence<[UInt8]>) {
        for text in texts.lazy.filter(Self.isLong).map({ Array($0.prefix(Self.longest)) })
        where self.texts.insert(text).inserted {
            let beginning = text.withUnsafeBytes { Self.beginning(of: $0, at: 0) }
            let bit = Self.bit(of: beginning)
            beginnings[bit >> 6] |= 1 << UInt64(bit & 63)
            if lengths[beginning]?.contains(text.count) != true { lengths[beginning, default: []].append(text.count) }
        }
    }

    var isEmpty: Bool { texts.isEmpty }

    /// Returns the range of the first of the texts that occurs in the bytes; nil if none does.
    func first(in bytes: [UInt8], from start: Int = 0) -> Range<Int>? {
        guard bytes.count >= Self.shortest, !texts.isEmpty else { return nil }
        return bytes.withUnsafeBytes { bytes in
            for place in start..<max(start, bytes.count - Self.shortest + 1) {
                if let range = text(in: bytes, at: place) { return range }
            }
            return nil
        }
    }

    /// Every text that is in the bytes.
    func all(in bytes: [UInt8]) -> Set<[UInt8]> {
        var found: Set<[UInt8]> = []
        var start = 0
        while let range = first(in: bytes, from: start) {
            found.insert(Array(bytes[range]))
            start = range.lowerBound + 1
        }
        return found
    }

    private func text(in bytes: UnsafeRawBufferPointer, at place: Int) -> Range<Int>? {
        let beginning = Self.beginning(of: bytes, at: place)
        let bit = Self.bit(of: beginning)
        guard beginnings[bit >> 6] & 1 << UInt64(bit & 63) != 0, let lengths = lengths[beginning] else { return nil }
        for length in lengths where place + length <= bytes.count {
            if texts.contains(Array(bytes[place..<place + length])) { return place..<place + length }
        }
        return nil
    }

    private static func beginning(of bytes: UnsafeRawBufferPointer, at place: Int) -> UInt32 {
        bytes.loadUnaligned(fromByteOffset: place, as: UInt32.self)
    }

    private static func bit(of beginning: UInt32) -> Int { Int((beginning &* 2_654_435_761) >> 12) }

    /// Whether a text has four characters or more.
    static func isLong(_ text: [UInt8]) -> Bool {
        text.count >= shortest && text.lazy.filter { $0 & 0xC0 != 0x80 }.count >= shortest
    }
}
