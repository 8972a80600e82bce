import MoultModel
import MoultSQLite
import MoultSystem

/// A `-wal` file as bytes, to tell whether it belongs to the file that it lies next to (the WAL file format of SQLite,
/// sections 4.1 and 4.2).
///
/// Only for files that this process has no connection to.
package struct WriteAheadLog {
    private let store: String
    private let path: String
    private let pageSize: Int64
    private let salts: [UInt8]
    private let size: Int64
    private let system: any System

    private static let headerSize: Int64 = 32
    private static let frameHeaderSize: Int64 = 24

    /// Nil if there is none, or an empty one.
    package init?(beside store: String, _ system: any System) throws {
        path = store + "-wal"
        guard let size = try system.status(of: path)?.size, size > 0 else { return nil }
        self.store = store
        self.system = system
        self.size = size
        let header = try system.read(path, prefix: Int(Self.headerSize))
        let isWhole = header.count == 32 && [0x377f_0682, 0x377f_0683].contains(Self.number(header, 0))
        pageSize = isWhole ? Self.number(header, 8) : 0
        salts = isWhole ? Array(header[16..<24]) : []
    }

    /// Whether it begins like a log.
    package var isLog: Bool { pageSize >= 512 && !salts.isEmpty }

    /// A reason why a log may not be the store's own.
    package struct Strangeness: Equatable {
        package let sentence: String
        /// Whether it cannot be the store's own. Otherwise nothing shows that it is.
        package let isCertain: Bool

        init(_ sentence: String, isCertain: Bool = true) { (self.sentence, self.isCertain) = (sentence, isCertain) }
    }

    /// Returns the reason why the log may not be the store's own; nil if nothing speaks against it.
    package func strangeness() throws -> Strangeness? {
        guard isLog else { return Strangeness("it does not begin like a WAL.") }
        guard let own = try system.read(store, prefix: 18).databasePageSize else {
            return Strangeness("the store has no header.")
        }
        guard own == pageSize else {
            return Strangeness("its pages have \(pageSize) bytes, and those of the store have \(own).")
        }
        guard let main = try system.status(of: store), let log = try system.status(of: path),
            main.modified > log.modified
        else { return nil }
        // Only a checkpoint writes to a store in WAL mode. One that came after the log's last frame has copied the
        // first page that the log holds, in one of the versions that are there.
        let frames = try frames()
        guard let first = frames.first else { return nil }
        let versions = try frames.filter { $0.page == first.page }.map {
            try system.bytes(of: path, from: $0.place, count: pageSize)
        }
        let present = try system.bytes(of: store, from: (first.page - 1) * pageSize, count: pageSize)
        guard try !versions.contains(present) && !beganOn(frames) else { return nil }
        return Strangeness(
            "the store was written after it, and page \(first.page) has none of its versions.",
            isCertain: frames.contains { $0.page == 1 })
    }

    /// Whether the log was begun on the store as it is: a store that was copied after its log is newer, and is its own.
    ///
    /// The first transaction of a log that writes page 1 counts the file change counter up by one (or, after another
    /// connection's, by none), and changes the schema cookie only with the schema (the SQLite file format, sections
    /// 1.3.7 and 1.3.12). A backup that SQLite has made has counters of its own. A log without page 1 says nothing.
    private func beganOn(_ frames: [Frame]) throws -> Bool {
        let pages = try frames.filter { $0.page == 1 }.map {
            try system.bytes(of: path, from: $0.place, count: pageSize)
        }
        let own = try system.bytes(of: store, from: 0, count: pageSize)
        guard let first = pages.first, first.count == Int(pageSize), own.count == Int(pageSize), !pages.contains(own)
        else { return false }
        let counts = Self.number(first, 24) - Self.number(own, 24)
        let cookies = Self.number(first, 40) - Self.number(own, 40)
        let hasItsSize = try system.status(of: store)?.size == Self.number(own, 28) * pageSize
        return (0...1).contains(counts) && (0...counts).contains(cookies) && hasItsSize
    }

    private struct Frame {
        let page: Int64
        /// The offset of the page's bytes in the log.
        let place: Int64
    }

    /// The frames of the log's present round; those of an earlier one have other salts.
    private func frames() throws -> [Frame] {
        var frames: [Frame] = []
        var place = Self.headerSize
        while place + Self.frameHeaderSize + pageSize <= size, frames.count < 100_000 {
            let header = try system.bytes(of: path, from: place, count: Self.frameHeaderSize)
            guard header.count == Int(Self.frameHeaderSize), Array(header[8..<16]) == salts else { break }
            let page = Self.number(header, 0)
            guard page > 0 else { break }
            frames.append(Frame(page: page, place: place + Self.frameHeaderSize))
            place += Self.frameHeaderSize + pageSize
        }
        return frames
    }

    private static func number(_ bytes: [UInt8], _ place: Int) -> Int64 {
        bytes[place..<(place + 4)].reduce(0) { $0 << 8 | Int64($1) }
    }
}
