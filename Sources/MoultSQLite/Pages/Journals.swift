import MoultBasics

/// The pages in a rollback journal, as they were before a transaction that did not end (the SQLite file format, section 3).
///
/// SQLite plays them back up to the first one that is damaged or missing, and says nothing of the others.
package struct RollbackJournal {
    /// Pages that the journal names.
    package private(set) var count = 0
    /// The number of pages in the journal that SQLite plays back.
    private(set) var readable = 0
    /// Whether it ends where SQLite ends none, so that pages may be missing that nothing counts.
    private(set) var isCut = false
    /// Bytes that the database had before the transaction; SQLite gives it that size. 0 without a header.
    package private(set) var databaseSize: Int64 = 0
    /// The pages that SQLite plays back.
    private var pages: Set<Int> = []
    private var hasFirstPage: Bool { pages.contains(1) }
    /// Whether nothing follows the last page that it counts but the header of a next part.
    private var isEven = false
    /// Whether nothing but its header says that it is spent, which is zeros.
    private var isZeroed = false

    private static let magic: [UInt8] = [0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7]

    /// A header takes a sector: a journal that is larger held pages.
    private static let leastSector: Int64 = 512

    /// - Parameter path: of the journal; none need be there.
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
                // One that is spent begins with zeros. So does the last part, which was not synchronised yet.
                let isSpent = place == 0 && header.prefix(8).allSatisfy { $0 == 0 }
                isZeroed = isSpent && size > Self.leastSector
                if try !isSpent && (place == 0 || hasHeader(path, place, step, system)) { count += 1 }
                return
            }
            if place == 0 { databaseSize = Int64(pages) * Int64(page) }
            step = Int64(sector)
            place += step
            let most = Int(max(size - place, 0) / Int64(page + 8))
            // Without a number there are as many as there is room for: they were not synchronised.
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
        // What names a super-journal ends so. A journal that is spent may be nothing but zeros.
        guard !tail.elementsEqual(Self.magic), end > 0 || tail.contains(where: { $0 != 0 }) else { return }
        // After each part that it synchronises SQLite begins another one, but for the last, which has the first page:
        // the change counter is on it.
        isCut = size != end || isSynchronised && !hasFirstPage
    }

    /// Whether there is a journal of a transaction that has ended: its header is zeros.
    ///
    /// - Parameter path: of the journal; none need be there.
    package static func isSpent(_ path: String, _ system: any System) throws -> Bool {
        guard let size = try system.status(of: path)?.size, size > 0 else { return false }
        return try system.bytes(of: path, from: 0, count: min(size, 28)).allSatisfy { $0 == 0 }
    }

    /// The pages that the transaction has changed so far, without new ones and free ones that it has taken into use; nil if
    /// the journal may have more than can be read.
    var changedPages: Set<Int>? { isEven && readable == count ? pages : nil }

    /// The part of the journal that SQLite leaves out when it plays the journal back, in a sentence; nil if there is
    /// none, or if the journal is spent.
    package var playbackFault: String? {
        if let headerFault { return headerFault }
        if readable < count { return "SQLite plays back \(readable) of its \(Quantity.count(count, "page"))." }
        return isCut ? "It is cut off after \(Quantity.count(readable, "page"))." : nil
    }

    /// The reason why nothing of the journal is played back, in a sentence; nil if it begins as it should, or is spent.
    package var headerFault: String? {
        count > 0 && readable == 0 && databaseSize == 0 ? "It does not begin like a journal; SQLite removes it." : nil
    }

    /// Returns the reason why the transaction may not be undone as a whole, in a sentence; nil where it is.
    ///
    /// - Parameter size: of the database, before the journal is played back.
    package func fault(besideDatabaseOf size: Int64) -> String? {
        if isZeroed {
            return "Its header is zeros, and it held pages: unless the app uses journal_mode PERSIST, which leaves "
                + "such a journal after each transaction, the header was lost."
        }
        if readable < count { return "SQLite reads \(readable) of its \(Quantity.count(count, "page"))." }
        if isCut { return "It is cut off after \(Quantity.count(readable, "page"))." }
        guard size < databaseSize else { return nil }
        return "The store had \(databaseSize) bytes before the transaction, and has \(size)."
    }

    /// Whether pages follow that SQLite would have played back.
    private func hasHeader(_ path: String, _ place: Int64, _ step: Int64, _ system: any System) throws -> Bool {
        var isFound = false
        try system.readPieces(of: path, from: place) { piece in
            // A piece has a mebibyte, which is many sectors, but for the last one.
            for offset in stride(from: 0, to: piece.count, by: Int(step)) where !isFound {
                isFound = piece[offset...].prefix(8).elementsEqual(Self.magic)
            }
        }
        return isFound
    }

    /// - Returns: false after a record that is damaged.
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
    /// By page, where its newest committed bytes begin in the log.
    private(set) var places: [Int: Int64] = [:]
    /// Pages of the database after the last commit; nil where there is none.
    private(set) var pageCount: Int?
    private(set) var pageSize: Int?
    /// Frames of the present round that cannot be applied, because one before them or they themselves are damaged.
    package private(set) var unreadable = 0
    /// Frames of the present round.
    package private(set) var count = 0
    package private(set) var isHeaderDamaged = false
    /// Whether the log ends inside a frame of the present round, where no process that dies leaves it: SQLite writes the
    /// header of a frame, then its page. A power cut does, and a copy that was cut off.
    package private(set) var isTorn = false

    /// - Parameter path: the log; none need be there.
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
            // What follows with other salts is left of an earlier round.
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
