import MoultBasics

/// The pages in a rollback journal, as they were before an unfinished transaction (the SQLite file format, section 3).
///
/// SQLite plays the pages back up to the first one that is damaged or missing, and silently ignores the rest.
package struct RollbackJournal {
    /// The number of pages that the journal declares.
    package private(set) var count = 0
    /// The number of pages in the journal that SQLite plays back.
    private(set) var readable = 0
    /// Whether the journal ends where SQLite never ends one, so that uncounted pages may be missing.
    private(set) var isCut = false
    /// The size of the database in bytes before the transaction, which SQLite restores; 0 without a header.
    package private(set) var databaseSize: Int64 = 0
    /// The pages that SQLite plays back.
    private var pages: Set<Int> = []
    private var hasFirstPage: Bool { pages.contains(1) }
    /// Whether only the header of a next segment follows the last counted page.
    private var isEven = false
    /// Whether the zeroed header is the only sign that the transaction has ended.
    private var isZeroed = false

    private static let magic: [UInt8] = [0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7]

    /// The size of the smallest sector. A header takes one sector, so a larger journal held pages.
    private static let leastSector: Int64 = 512

    /// - Parameter path: the path of the journal, which need not exist.
    package init(_ path: String, _ system: any System) throws {
        let size = try system.status(of: path)?.size ?? 0
        var (place, step, end): (Int64, Int64, Int64) = (0, 0, 0)
        var isSynchronised = false
        while place + 28 <= size {
            let header = try system.bytes(of: path, from: place, count: 28)
            guard header.prefix(8).elementsEqual(Self.magic), let named = header.number32(8),
                let nonce = header.number32(12), let pages = header.number32(16), let sector = header.number32(20),
                let page = header.number32(24), sector >= 32, (512...65_536).contains(page), page.nonzeroBitCount == 1
            else {
                // A finished journal begins with zeros. So does the last segment if it was not synchronised yet.
                let isSpent = place == 0 && header.prefix(8).allSatisfy { $0 == 0 }
                isZeroed = isSpent && size > Self.leastSector
                if try !isSpent && (place == 0 || hasHeader(path, place, step, system)) { count += 1 }
                return
            }
            if place == 0 { databaseSize = Int64(pages) * Int64(page) }
            step = Int64(sector)
            place += step
            let most = Int(max(size - place, 0) / Int64(page + 8))
            // If the header has no count, the segment was not synchronised, and its records fill the rest of the file.
            let records = named == 0xffff_ffff ? most : named
            count += records
            guard try read(min(records, most), page, nonce, path, &place, system) else { return }
            if records > most { return }
            (end, isSynchronised) = (place, named > 0 && named != 0xffff_ffff)
            place = (place + step - 1) / step * step
            isEven = place + step >= size
        }
        guard size > 0 else { return }
        let tail = try system.bytes(of: path, from: max(size - 8, 0), count: min(size, 8))
        // A journal that names a super-journal ends this way. A finished journal may be nothing but zeros.
        guard !tail.elementsEqual(Self.magic), end > 0 || tail.contains(where: { $0 != 0 }) else { return }
        // SQLite begins another segment after each one that it synchronises, except the last. The last one has the
        // first page, because the change counter is on it.
        isCut = size != end || isSynchronised && !hasFirstPage
    }

    /// Returns whether the journal belongs to a transaction that has ended, which leaves its header zeroed.
    ///
    /// - Parameter path: the path of the journal, which need not exist.
    package static func isSpent(_ path: String, _ system: any System) throws -> Bool {
        guard let size = try system.status(of: path)?.size, size > 0 else { return false }
        return try system.bytes(of: path, from: 0, count: min(size, 28)).allSatisfy { $0 == 0 }
    }

    /// The pages that the transaction has changed so far, except new pages and free pages that it has reused; nil if
    /// the journal may have pages that cannot be read.
    var changedPages: Set<Int>? { isEven && readable == count ? pages : nil }

    /// A sentence that describes the part of the journal that SQLite does not play back; nil if there is none, or if
    /// the transaction has ended.
    package var playbackFault: String? {
        if let headerFault { return headerFault }
        if readable < count { return "SQLite plays back \(readable) of its \(Quantity.count(count, "page"))." }
        return isCut ? "It is cut off after \(Quantity.count(readable, "page"))." : nil
    }

    /// A sentence that explains why SQLite plays nothing back; nil if the journal begins correctly, or if the
    /// transaction has ended.
    package var headerFault: String? {
        count > 0 && readable == 0 && databaseSize == 0 ? "It does not begin like a journal; SQLite removes it." : nil
    }

    /// A sentence about a header of zeros before pages; nil if there is none.
    package var zeroedFault: String? {
        isZeroed
            ? "Its header is zeros, and it held pages: unless the app uses journal_mode PERSIST, which leaves such a "
                + "journal after each transaction, the header was lost." : nil
    }

    /// Returns whether the transaction of a journal with a zeroed header has certainly ended: the journal has the
    /// database's first page with another change counter (the SQLite file format, section 1.3.7), which the commit
    /// raises.
    ///
    /// Use it only for files that this process has no connection to.
    package static func hasEnded(_ path: String, of database: String, _ system: any System) throws -> Bool {
        let first = try system.read(database, prefix: 28)
        guard let page = first.databasePageSize, let counter = first.number32(24),
            let size = try system.status(of: path)?.size
        else { return false }
        // The header takes a sector, whose size it no longer says.
        for sector in [leastSector, 4_096] {
            for place in stride(from: sector, through: size - Int64(page) - 8, by: Int(page) + 8) {
                let record = try system.bytes(of: path, from: place, count: 32)
                guard let number = record.number32(0), number > 0 else { break }
                if number == 1 { return record.number32(28) != counter }
            }
        }
        return false
    }

    /// Returns a sentence that explains why the transaction may not be rolled back completely; nil if it is.
    ///
    /// - Parameter size: the size of the database before the journal is played back.
    package func fault(besideDatabaseOf size: Int64) -> String? {
        if let zeroedFault { return zeroedFault }
        if readable < count { return "SQLite reads \(readable) of its \(Quantity.count(count, "page"))." }
        if isCut { return "It is cut off after \(Quantity.count(readable, "page"))." }
        guard size < databaseSize else { return nil }
        return "The store had \(databaseSize) bytes before the transaction, and has \(size)."
    }

    /// Returns whether more pages follow that SQLite would otherwise have played back.
    private func hasHeader(_ path: String, _ place: Int64, _ step: Int64, _ system: any System) throws -> Bool {
        var isFound = false
        try system.readPieces(of: path, from: place) { piece in
            // Every piece but the last is one mebibyte, a multiple of the sector size.
            for offset in stride(from: 0, to: piece.count, by: Int(step)) where !isFound {
                isFound = piece[offset...].prefix(8).elementsEqual(Self.magic)
            }
        }
        return isFound
    }

    /// - Returns: false after a damaged record.
    private mutating func read(
        _ records: Int, _ page: Int, _ nonce: Int, _ path: String, _ place: inout Int64, _ system: any System
    ) throws -> Bool {
        for _ in 0..<records {
            let record = try system.bytes(of: path, from: place, count: Int64(page + 8))
            guard record.count == page + 8, let number = record.number32(0), number > 0 else { return false }
            let sum = stride(from: page - 200, to: 0, by: -200).reduce(nonce) { $0 + Int(record[4 + $1]) }
            guard record.number32(page + 4) == sum & 0xffff_ffff else { return false }
            readable += 1
            pages.insert(number)
            place += Int64(page + 8)
        }
        return true
    }
}

/// The pages that a WAL holds up to its last commit (the WAL file format of SQLite, sections 4.1 to 4.4).
package struct LogFrames {
    /// For each page, the offset in the log of its newest committed bytes.
    private(set) var places: [Int: Int64] = [:]
    /// The number of pages in the database after the last commit; nil if there is none.
    private(set) var pageCount: Int?
    private(set) var pageSize: Int?
    /// The number of frames since the last reset that cannot be applied, because they or an earlier frame are damaged.
    package private(set) var unreadable = 0
    /// The number of frames since the WAL was last reset.
    package private(set) var count = 0
    package private(set) var isHeaderDamaged = false
    /// Whether the log ends inside a current frame. A power failure or a truncated copy leaves such a log. A process
    /// that dies does not, because SQLite writes a frame's header, then its page.
    package private(set) var isTorn = false

    /// - Parameter path: the path of the log, which need not exist.
    package init(_ path: String, _ system: any System) throws {
        guard let size = try system.status(of: path)?.size, size >= 32 else { return }
        let header = try system.bytes(of: path, from: 0, count: 32)
        guard header.count == 32, let magic = header.number32(0), let page = header.number32(8),
            magic & ~1 == 0x377f_0682, page >= 512, page <= 65_536, page & (page - 1) == 0
        else {
            isHeaderDamaged = true
            return
        }
        var sum = Checksum(isBigEndian: magic & 1 == 1)
        sum.add(header[0..<24])
        guard sum.isWritten(in: header, at: 24) else {
            isHeaderDamaged = true
            return
        }
        pageSize = page
        try read(path, size, page, Array(header[16..<24]), sum, system)
    }

    private mutating func read(
        _ path: String, _ size: Int64, _ page: Int, _ salts: [UInt8], _ sum: Checksum, _ system: any System
    ) throws {
        var (sum, place, isSound) = (sum, Int64(32), true)
        var pending: [Int: Int64] = [:]
        while place + 24 + Int64(page) <= size {
            let frame = try system.bytes(of: path, from: place, count: 24 + Int64(page))
            // A frame with other salts is left over from before the last reset.
            guard frame.count == 24 + page, Array(frame[8..<16]) == salts else { return }
            count += 1
            sum.add(frame[0..<8])
            sum.add(frame[24...])
            let number = frame.number32(0) ?? 0
            isSound = isSound && sum.isWritten(in: frame, at: 16) && number > 0
            if isSound {
                pending[number] = place + 24
                if let committed = frame.number32(4), committed > 0 {
                    places.merge(pending) { $1 }
                    if committed < pageCount ?? 0 { places = places.filter { $0.key <= committed } }
                    pending = [:]
                    pageCount = committed
                }
            } else {
                unreadable += 1
            }
            place += 24 + Int64(page)
        }
        guard place < size, size - place != 24 else { return }
        let rest = try system.bytes(of: path, from: place, count: min(size - place, 16))
        isTorn = rest.count < 16 || Array(rest[8..<16]) == salts
    }
}

/// The running checksum of a WAL (section 4.2).
private struct Checksum {
    let isBigEndian: Bool
    private var (first, second): (UInt32, UInt32) = (0, 0)

    init(isBigEndian: Bool) { self.isBigEndian = isBigEndian }

    mutating func add(_ bytes: ArraySlice<UInt8>) {
        bytes.withUnsafeBytes { bytes in
            for place in stride(from: 0, to: bytes.count - 7, by: 8) {
                first &+= number(bytes, place) &+ second
                second &+= number(bytes, place + 4) &+ first
            }
        }
    }

    private func number(_ bytes: UnsafeRawBufferPointer, _ place: Int) -> UInt32 {
        let number = bytes.loadUnaligned(fromByteOffset: place, as: UInt32.self)
        return isBigEndian ? UInt32(bigEndian: number) : UInt32(littleEndian: number)
    }

    func isWritten(in bytes: [UInt8], at place: Int) -> Bool {
        bytes.number32(place) == Int(first) && bytes.number32(place + 4) == Int(second)
    }
}
