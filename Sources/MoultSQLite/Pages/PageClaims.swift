import MoultBasics

/// The pages of a database file, each of which has exactly one use.
final class PageClaims {
    /// The end of a check that has found enough.
    struct Enough: Error {}

    let usable: Int
    let pageSize: Int
    let count: Int
    /// The b-tree pages, and the pages of overflow chains and of the freelist: two readers, because a page is in use
    /// while its chains are read.
    let trees: PageReader
    let chains: PageReader
    private let hasMap: Bool
    /// The readers of the pointer map pages, each of every 256th.
    private var maps: [PageReader?]
    private let file: DatabaseFile
    private let lockPage: Int
    private var claimed: [UInt64]
    private let limit: Int
    private(set) var faults: [PageCheck.Fault] = []
    /// The name of the b-tree that is being read.
    var tree = ""

    init(_ file: DatabaseFile, _ header: CheckedHeader, limit: Int) {
        (pageSize, usable, count, hasMap) = (header.pageSize, header.usable, header.count, header.hasMap)
        (self.file, self.limit) = (file, limit)
        trees = PageReader(file, pageSize: pageSize, count: count)
        chains = PageReader(file, pageSize: pageSize, count: count)
        maps = [PageReader?](repeating: nil, count: 256)
        lockPage = (1 << 30) / pageSize + 1
        claimed = [UInt64](repeating: 0, count: count / 64 + 1)
        for number in [lockPage] where number <= count { mark(number) }
        var number = 2
        while hasMap, number <= count {
            let page = mapPage(of: number)
            if page <= count { mark(page) }
            number += usable / 5 + 1
        }
    }

    private func mark(_ number: Int) { claimed[number >> 6] |= 1 << UInt64(number & 63) }
    private func isClaimed(_ number: Int) -> Bool { claimed[number >> 6] & 1 << UInt64(number & 63) != 0 }
    private func mapPage(of number: Int) -> Int {
        PointerMap.mapPage(of: number, usable: usable, lockPage: lockPage)
    }

    /// Adds a fault.
    ///
    /// - Throws: `Enough` if no more are wanted.
    func report(_ page: Int, _ message: String, _ kind: PageCheck.Fault.Kind = .page) throws {
        faults.append(PageCheck.Fault(kind: kind, page: page, tree: tree, message: message))
        if faults.count >= limit { throw Enough() }
    }

    /// Claims a page for one use, and checks its entry in the pointer map (the SQLite file format, section 1.8).
    ///
    /// - Parameter parent: the page that points to it; 0 for a root and a free page.
    /// - Returns: whether the page may be read.
    func claim(_ number: Int, _ kind: PointerMap.Kind, of parent: Int) throws -> Bool {
        guard number > 0, number <= count else {
            try report(parent, "There is no page \(number), to which this page points.")
            return false
        }
        guard !isClaimed(number) else {
            try report(number, "The page has two uses.")
            return false
        }
        mark(number)
        if hasMap, number > 1 { try checkMap(number, kind, kind == .root || kind == .free ? 0 : parent) }
        return true
    }

    private func checkMap(_ number: Int, _ kind: PointerMap.Kind, _ parent: Int) throws {
        let mapPage = mapPage(of: number)
        // Before the pointer map page that has moved behind the lock-byte page, there is no entry.
        guard number > mapPage else { return try report(number, "The pointer map has no entry for the page.") }
        let slot = mapPage / (usable / 5 + 1) % maps.count
        let reader = maps[slot] ?? PageReader(file, pageSize: pageSize, count: count, most: 1)
        maps[slot] = reader
        let page = try reader.page(mapPage)
        let place = (number - mapPage - 1) * 5
        if page.byte(place) != Int(kind.rawValue) || page.number32(place + 1) != parent {
            try report(number, "The pointer map names another use or parent of the page.")
        }
    }

    /// Reads the chain of overflow pages of a payload (the SQLite file format, section 1.6).
    ///
    /// - Parameters:
    ///   - left: the number of bytes in the chain.
    ///   - take: called with the payload bytes of each page.
    func followChain(
        _ first: Int, of parent: Int, left: Int, _ take: (UnsafeRawBufferPointer) -> Void
    ) throws {
        var (number, previous, left, kind) = (first, parent, left, PointerMap.Kind.overflow)
        while left > 0 {
            guard try claim(number, kind, of: previous) else { return }
            let page = try chains.page(number)
            let length = min(left, usable - 4)
            take(UnsafeRawBufferPointer(start: page.bytes + 4, count: length))
            left -= length
            (previous, number, kind) = (number, page.number32(0), .furtherOverflow)
            if left > 0, number == 0 { return try report(previous, "The chain of overflow pages ends too early.") }
        }
        if number != 0 { try report(previous, "The chain of overflow pages is too long.") }
    }

    /// Follows the freelist (the SQLite file format, section 1.5).
    func followFreelist(_ first: Int, count: Int) throws {
        tree = "freelist"
        var (trunk, previous, left) = (first, 1, count)
        while trunk != 0 {
            guard try claim(trunk, .free, of: previous) else { return }
            let page = try chains.page(trunk)
            let leaves = page.number32(4)
            guard leaves <= usable / 4 - 2 else { return try report(trunk, "The page lists too many free pages.") }
            for index in 0..<leaves {
                _ = try claim(page.number32(8 + 4 * index), .free, of: trunk)
            }
            left -= 1 + leaves
            (previous, trunk) = (trunk, page.number32(0))
        }
        if left != 0 { try report(1, "The freelist has \(count - left) pages, but the header says \(count).") }
    }

    /// Reports the pages without a use.
    func reportUnclaimed() throws {
        tree = ""
        for number in 1...max(count, 1) where !isClaimed(number) { try report(number, "The page has no use.") }
    }
}

/// A page in memory. The memory continues for ``slack`` bytes, so that a varint may be read before the place where it
/// ends is checked. A place that is read is in the page or at most ``slack`` - 9 bytes behind it.
struct RawPage {
    static let slack = 64
    let bytes: UnsafeRawPointer

    @inline(__always) func byte(_ place: Int) -> Int { Int(bytes.load(fromByteOffset: place, as: UInt8.self)) }

    @inline(__always) func number16(_ place: Int) -> Int {
        Int(UInt16(bigEndian: bytes.loadUnaligned(fromByteOffset: place, as: UInt16.self)))
    }

    @inline(__always) func number32(_ place: Int) -> Int {
        Int(UInt32(bigEndian: bytes.loadUnaligned(fromByteOffset: place, as: UInt32.self)))
    }

    @inline(__always) func number64(_ place: Int) -> UInt64 {
        UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: place, as: UInt64.self))
    }

    /// Returns an integer of a record (the SQLite file format, section 2.1).
    ///
    /// - Parameter type: from 1 to 6.
    @inline(__always) func integer(_ place: Int, _ type: Int) -> Int64 {
        let bits = type < 5 ? type &* 8 : type == 5 ? 48 : 64
        return Int64(bitPattern: number64(place)) &>> Int64(64 &- bits)
    }

    /// Reads an integer of one to nine bytes and advances `place` past it.
    @inline(__always) func varint(_ place: inout Int) -> UInt64 {
        let first = bytes.load(fromByteOffset: place, as: UInt8.self)
        place &+= 1
        if first < 0x80 { return UInt64(first) }
        let second = bytes.load(fromByteOffset: place, as: UInt8.self)
        guard second >= 0x80 else {
            place &+= 1
            return UInt64(first & 0x7f) << 7 | UInt64(second)
        }
        return longVarint(UInt64(first & 0x7f), &place)
    }

    @inline(never) private func longVarint(_ first: UInt64, _ place: inout Int) -> UInt64 {
        var value = first
        for _ in 1...7 {
            let byte = bytes.load(fromByteOffset: place, as: UInt8.self)
            place &+= 1
            value = value << 7 | UInt64(byte & 0x7f)
            if byte < 0x80 { return value }
        }
        let last = bytes.load(fromByteOffset: place, as: UInt8.self)
        place &+= 1
        return value << 8 | UInt64(last)
    }
}

/// A reader of the pages of a file into memory of its own, ahead where they follow each other. A page is valid until the
/// next one is read.
final class PageReader {
    private let file: DatabaseFile
    private let pageSize: Int
    private let count: Int
    private let memory: UnsafeMutableRawPointer
    private let most: Int
    /// The pages in memory, and the number of pages to read at once.
    private var held = 0..<0
    private var ahead = 1

    /// - Parameter most: the number of pages to read at once.
    init(_ file: DatabaseFile, pageSize: Int, count: Int, most: Int? = nil) {
        (self.file, self.pageSize, self.count) = (file, pageSize, count)
        self.most = most ?? max(131_072 / pageSize, 1)
        memory = .zeros(self.most * pageSize + RawPage.slack)
    }

    deinit { memory.deallocate() }

    /// - Parameter number: from 1 to the number of pages.
    func page(_ number: Int) throws -> RawPage {
        if !held.contains(number) {
            ahead = number == held.upperBound ? min(ahead * 2, most) : 1
            try read(number, min(ahead, count - number + 1))
        }
        return RawPage(bytes: memory + (number - held.lowerBound) * pageSize)
    }

    private func read(_ number: Int, _ pages: Int) throws {
        held = 0..<0
        let part = UnsafeMutableRawBufferPointer(start: memory, count: pages * pageSize)
        // Zeros take the place of the end of the last page, where the file is cut off; that has been reported.
        try file.read(into: part, at: Int64(number - 1) * Int64(pageSize))
        WorkMeter.current?.pulse(part.count)
        held = number..<(number + pages)
    }
}

extension UnsafeMutableRawPointer {
    /// Returns new memory full of zeros.
    static func zeros(_ count: Int) -> UnsafeMutableRawPointer {
        let memory = UnsafeMutableRawPointer.allocate(byteCount: count, alignment: 16)
        memset(memory, 0, count)
        return memory
    }
}
