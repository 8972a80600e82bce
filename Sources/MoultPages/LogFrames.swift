import MoultModel
import MoultSystem

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
