import MoultBasics

/// The pages of a database file, overlaid with the committed pages of its WAL.
package final class DatabasePages {
    package let pageSize: Int
    /// The number of usable bytes in a page, without those reserved for extensions.
    package let usable: Int
    /// The number of pages in the file and the log.
    package let count: Int
    /// The number of pages in the database after the last write.
    package let declaredCount: Int
    package let header: DatabaseHeader
    package let log: LogFrames
    private(set) var isAutoVacuum: Bool
    /// The text encoding: 1 for UTF-8, 2 and 3 for UTF-16.
    package private(set) var encoding: Int
    /// The number of pages read so far.
    package private(set) var reads = 0
    /// The pages that were never written, in ascending order. They read as zeros.
    let holes: [Range<Int>]
    private let path: String
    private let places: [Int: Int64]
    private let system: any System

    /// - Parameter path: a database file without a writer, with its WAL next to it.
    package init(_ path: String, _ system: any System) throws {
        self.path = path
        self.system = system
        let size = try system.status(of: path)?.size ?? 0
        let log = try LogFrames(path + "-wal", system)
        var first = try system.read(path, prefix: 100)
        if let place = log.places[1] { first = try system.bytes(of: path + "-wal", from: place, count: 100) }
        let header = DatabaseHeader(first)
        let written = try system.writtenParts(of: path)
        let guess = PageSizeGuess(path, size, written, system)
        let pageSize = try guess.size(header, log)
        self.pageSize = pageSize
        // A log with another page size does not belong to this file.
        places = log.pageSize == pageSize ? log.places : [:]
        usable = try pageSize - guess.reserved(header, pageSize)
        let whole = Int(clamping: size / Int64(pageSize))
        // Every page of a database is in the file or in the log.
        let logged = places.isEmpty ? nil : log.pageCount
        count = min(logged ?? whole, whole + places.count)
        declaredCount = logged ?? header.pageCount ?? whole
        holes = Self.holes(between: written, pageSize, count)
        self.header = header
        self.log = log
        (isAutoVacuum, encoding) = (false, 1)
        let map = try page(2).map { PointerMap.entries(of: $0, usable: usable, pageCount: limit, first: 3) } ?? []
        // If the header alone decided, a table on the second page would be taken for a pointer map.
        let isOther = try page(2).flatMap { BTreePage($0, number: 2) }.map(\.isSound) ?? false
        isAutoVacuum = !map.isEmpty && map.allSatisfy { $0 != nil } || (header.isAutoVacuum ?? false) && !isOther
        if header.encoding != 1, try !hasTextInUTF8() { encoding = header.encoding }
    }

    /// Returns whether the schema is written in UTF-8, whatever the header says.
    private func hasTextInUTF8() throws -> Bool {
        let word = Array("CREATE ".utf8)
        for number in 1...20 {
            guard let bytes = try page(number) else { continue }
            for start in bytes.indices.dropLast(word.count) where bytes[start] == word[0] {
                if bytes[start..<(start + word.count)].elementsEqual(word) { return true }
            }
        }
        return false
    }

    /// The highest possible page number, in the file or after the last write.
    package var limit: Int { max(count, declaredCount) }

    private static func holes(between written: [Range<Int64>], _ pageSize: Int, _ count: Int) -> [Range<Int>] {
        var (holes, next): ([Range<Int>], Int) = ([], 1)
        for part in written {
            // A page counts as written if any part of it is.
            let first = Int(part.lowerBound / Int64(pageSize)) + 1
            if next < first { holes.append(next..<first) }
            next = max(next, Int((part.upperBound - 1) / Int64(pageSize)) + 2)
        }
        if next <= count { holes.append(next..<(count + 1)) }
        return holes.map { $0.clamped(to: 1..<(count + 1)) }
    }

    /// The pages in the log.
    var logged: some Collection<Int> { places.keys }

    /// Returns the usable bytes of a page; nil if the page is not complete in the file.
    package func page(_ number: Int) throws -> [UInt8]? {
        guard number > 0, number <= count else { return nil }
        reads += 1
        let bytes =
            if let place = places[number] {
                try system.bytes(of: path + "-wal", from: place, count: Int64(usable))
            } else {
                try system.bytes(of: path, from: Int64(number - 1) * Int64(pageSize), count: Int64(usable))
            }
        return bytes.count == usable ? bytes : nil
    }

    /// The lock-byte page, which SQLite never writes.
    var lockPage: Int { (1 << 30) / pageSize + 1 }
}

/// A guess of the page size for a damaged header: the size at which most of the file looks like b-tree pages.
private struct PageSizeGuess {
    private let path: String
    private let size: Int64
    private let written: [Range<Int64>]
    private let system: any System
    private static let sizes = (9...16).map { 1 << $0 }

    /// - Parameter written: the parts of the file that are not holes.
    init(_ path: String, _ size: Int64, _ written: [Range<Int64>], _ system: any System) {
        (self.path, self.size, self.written, self.system) = (path, size, written, system)
    }

    func size(_ header: DatabaseHeader, _ log: LogFrames) throws -> Int {
        let named = header.isSound ? header.pageSize : nil
        if let named, header.pageCount.map({ Int64($0) * Int64(named) == size }) ?? true { return named }
        if let logged = log.pageSize, named == nil || named == logged { return logged }
        let covered = try Self.sizes.map { ($0, try coverage($0)) }
        guard let best = covered.max(by: { $0.1 < $1.1 }), best.1 > 0 else { return named ?? header.pageSize ?? 4096 }
        return covered.first { $0.0 == named && $0.1 * 2 >= best.1 }?.0 ?? best.0
    }

    /// Returns the number of reserved bytes at the end of a page; 0 if the leaves use them.
    func reserved(_ header: DatabaseHeader, _ pageSize: Int) throws -> Int {
        guard header.reserved > 0 else { return 0 }
        var beyond = 0
        try sample(pageSize) { bytes, number in
            guard let page = BTreePage(bytes, number: number), page.isSound, page.kind == .leafTable else { return }
            for cell in page.cells {
                guard let cell, let row = page.row(cell), let payload = row.payload, payload.overflow == 0 else {
                    continue
                }
                if payload.local.upperBound > pageSize - header.reserved { beyond += 1 }
            }
        }
        return beyond > 0 ? 0 : header.reserved
    }

    private func sample(_ pageSize: Int, _ body: ([UInt8], Int) throws -> Void) throws {
        let size = Int64(pageSize)
        let parts = written.map { ($0.lowerBound / size)..<($0.upperBound / size) }
        let step = max(parts.reduce(0) { $0 + Int64($1.count) } / 128, 1)
        var passed: Int64 = 0
        for part in parts {
            let first = part.lowerBound + (step - passed % step) % step
            for number in stride(from: first, to: part.upperBound, by: Int64.Stride(step)) {
                try body(system.bytes(of: path, from: number * size, count: size), Int(number) + 1)
            }
            passed += Int64(part.count)
        }
    }

    /// Returns the share of some hundred sampled pages that begin like a b-tree page.
    private func coverage(_ pageSize: Int) throws -> Double {
        var (seen, fitting) = (0, 0)
        try sample(pageSize) { bytes, number in
            seen += 1
            // A page fills up from its end.
            guard let page = BTreePage(bytes, number: number), page.isSound,
                let last = page.cells.compactMap({ $0 }).max()
            else { return }
            if last >= pageSize / 2 { fitting += 1 }
        }
        return seen == 0 ? 0 : Double(fitting) / Double(seen)
    }
}

/// The header of a database, its first hundred bytes (the SQLite file format, section 1.3). An optional property is nil
/// if its field holds a value that SQLite does not write.
package struct DatabaseHeader {
    let pageSize: Int?
    let reserved: Int
    /// The number of pages in the database; nil if an older SQLite left the field stale.
    let pageCount: Int?
    package let freelist: (trunk: Int, count: Int)?
    /// Whether the database has a pointer map.
    let isAutoVacuum: Bool?
    /// The text encoding: 1 for UTF-8, 2 and 3 for UTF-16.
    let encoding: Int
    /// Whether every field with a limited set of values holds one of them.
    let isSound: Bool

    init(_ bytes: [UInt8]) {
        pageSize = bytes.databasePageSize
        let named = bytes.startsAsDatabase
        let versions = bytes.count >= 24 && [1, 2].contains(bytes[18]) && [1, 2].contains(bytes[19])
        let fractions = bytes.count >= 24 && bytes[21] == 64 && bytes[22] == 32 && bytes[23] == 32
        let written = bytes.number32(56) ?? 0
        let format = bytes.number32(44) ?? -1
        isSound =
            named && versions && fractions && pageSize != nil && (0...4).contains(format) && (0...3).contains(written)
        encoding = isSound ? max(written, 1) : 1
        reserved = isSound && bytes[20] <= 32 ? Int(bytes[20]) : 0
        guard isSound else {
            (pageCount, freelist, isAutoVacuum) = (nil, nil, nil)
            return
        }
        let count = bytes.number32(28) ?? 0
        pageCount = count > 0 && bytes.number32(24) == bytes.number32(92) ? count : nil
        freelist = (bytes.number32(32) ?? 0, bytes.number32(36) ?? 0)
        isAutoVacuum = bytes.number32(52) != 0
    }
}

extension [UInt8] {
    /// The page size in the header of a database (the SQLite file format, section 1.3.2); nil if it is invalid.
    package var databasePageSize: Int? {
        guard count >= 18 else { return nil }
        let number = Int(self[16]) << 8 | Int(self[17])
        let size = number == 1 ? 65_536 : number
        return size >= 512 && size & (size - 1) == 0 ? size : nil
    }

    /// Whether the header of a database says that it is in WAL mode: both file format versions are 2 (the SQLite file
    /// format, section 1.3.3).
    package var isInWALMode: Bool {
        count >= 20 && startsAsDatabase && self[18...19] == [2, 2]
    }

    fileprivate var startsAsDatabase: Bool { starts(with: "SQLite format 3\0".utf8) }
}

// Big-endian numbers, as SQLite writes them (the SQLite file format, section 1.6). Nothing outside the array is read.

extension Array where Element == UInt8 {
    func number16(_ place: Int) -> Int? {
        guard place >= 0, count - place >= 2 else { return nil }
        return Int(self[place]) << 8 | Int(self[place + 1])
    }

    package func number32(_ place: Int) -> Int? {
        guard place >= 0, count - place >= 4 else { return nil }
        return self[place..<(place + 4)].reduce(0) { $0 << 8 | Int($1) }
    }

    /// Reads an integer of one to nine bytes, with seven bits in each but the ninth, and advances `place` past it.
    ///
    /// - Parameter end: the end of the readable bytes.
    package func varint(_ place: inout Int, before end: Int) -> Int64? {
        var value: UInt64 = 0
        let end = Swift.min(end, count)
        guard place >= 0 else { return nil }
        for length in 1...9 {
            guard place < end else { return nil }
            let byte = self[place]
            place += 1
            if length == 9 { return Int64(bitPattern: value << 8 | UInt64(byte)) }
            value = value << 7 | UInt64(byte & 0x7f)
            if byte < 0x80 { return Int64(bitPattern: value) }
        }
        return nil
    }
}
