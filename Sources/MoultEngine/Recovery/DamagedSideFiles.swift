import MoultBasics
import MoultSQLite

/// A WAL or a rollback journal that SQLite applies only in part, or not at all, and then removes silently.
///
/// Files of a dead Moult run are ignored: its journal decides about them.
package struct DamagedSideFiles {
    private let sidecar: StoreRecords
    private let system: any System

    init(_ sidecar: StoreRecords, _ system: any System) { (self.sidecar, self.system) = (sidecar, system) }

    /// Copies the parts that SQLite would leave out before a connection is opened, once for each damaged file.
    ///
    /// - Parameter isAlone: whether no other process is writing: the WAL or journal of a live writer can end anywhere.
    /// - Returns: the folder of the copies, and whether it is new; nil if nothing is damaged.
    /// - Throws: errors from the file system.
    func keep(isAlone: Bool) throws -> (folder: String, isNew: Bool)? {
        for _ in 0..<3 {
            let damaged = try damaged(isAlone: isAlone)
            guard !damaged.isEmpty else { return nil }
            do {
                return try keep(damaged)
            } catch {
                // A live process has removed it, so nothing was lost, and there may be a new one.
                let hasGone = try damaged.contains { try !system.exists(sidecar.store + $0.suffix) }
                guard hasGone else { throw error }
            }
        }
        return nil
    }

    private func damaged(isAlone: Bool) throws -> [(suffix: String, reason: String)] {
        guard try !system.exists(sidecar.journal) else { return [] }
        var damaged: [(suffix: String, reason: String)] = []
        if isAlone, let reason = try present("-wal", { try LogFrames($0, system).loss }) {
            damaged.append(("-wal", reason))
        }
        let journal = try present("-journal") { path in
            let journal = try RollbackJournal(path, system)
            guard isAlone else { return journal.headerFault }
            return journal.playbackFault ?? Self.zeroedFault(of: journal, sidecar, system)
        }
        if let journal { damaged.append(("-journal", journal)) }
        return damaged
    }

    private func keep(_ damaged: [(suffix: String, reason: String)]) throws -> (folder: String, isNew: Bool) {
        if let known = try copies(of: damaged.map(\.suffix)) { return (known, false) }
        let folder = Path.join(sidecar.damaged, "\(system.now.iso8601Basic)-\(system.uniqueName().prefix(8))")
        do {
            for path in [sidecar.damaged, folder] { try system.makeFolder(path, sidecar.rights) }
            for (suffix, _) in damaged {
                let copy = Path.join(folder, Path.name(of: sidecar.store) + suffix)
                try system.copy(sidecar.store + suffix, to: copy, sidecar.rights)
                try system.synchronise(copy)
            }
            for path in [folder, sidecar.damaged, sidecar.folder] { try system.synchronise(path) }
        } catch {
            discard(folder)
            throw error
        }
        for (suffix, reason) in damaged {
            MigrationLog(sidecar, system).append("A copy of the \(suffix) is in \(folder): \(reason)")
        }
        return (folder, true)
    }

    /// Removes a folder of unneeded copies, and its parent folder if that is empty.
    func discard(_ folder: String) {
        _ = try? system.removeTree(folder)
        // This fails while other copies are there.
        _ = try? system.remove(sidecar.damaged)
    }

    /// Returns the folder that has copies of the current files.
    private func copies(of suffixes: [String]) throws -> String? {
        guard try system.exists(sidecar.damaged) else { return nil }
        let name = Path.name(of: sidecar.store)
        return try system.list(sidecar.damaged).map { Path.join(sidecar.damaged, $0) }.first { folder in
            try suffixes.allSatisfy { suffix in
                let copy = Path.join(folder, name + suffix)
                return try system.exists(copy) && system.digest(of: copy) == system.digest(of: sidecar.store + suffix)
            }
        }
    }

    /// - Parameter find: returns the fault of the file at a path.
    /// - Returns: nil if the file is missing or disappeared while it was read.
    private func present(_ suffix: String, _ find: (String) throws -> String?) throws -> String? {
        let path = sidecar.store + suffix
        guard let size = try system.status(of: path)?.size, size > 0 else { return nil }
        do {
            return try find(path)
        } catch {
            guard try system.exists(path) else { return nil }
            throw error
        }
    }

    /// Returns findings about parts of a store's WAL and rollback journal that SQLite would leave out. Changes nothing.
    ///
    /// There are none while the journal of a Moult run is there: what the run had not committed is to be left out.
    ///
    /// - Parameter remedy: the suggested remedy.
    package static func findings(
        beside store: String, _ system: any System, remedy: Remedy = "\(.salvage) reads what is left of it."
    ) throws -> [Finding] {
        let records = StoreRecords(store: (try? system.resolve(store)) ?? store)
        guard try !system.exists(records.journal) else { return [] }
        return try ["-wal", "-journal"].compactMap { suffix in
            let path = store + suffix
            let before = try system.status(of: path)
            guard before?.kind == .file else { return nil }
            let log = suffix == "-wal" ? try LogFrames(path, system) : nil
            let journal = try log == nil ? RollbackJournal(path, system) : nil
            // A live writer's file can end anywhere.
            guard try system.status(of: path) == before else { return nil }
            guard let fault = log?.fault ?? journal?.playbackFault else {
                if let zeroed = journal.flatMap({ zeroedFault(of: $0, records, system) }) {
                    return zeroedFinding(zeroed, path, remedy)
                }
                return log?.isTorn == true ? LogFrames.tornFinding(path) : nil
            }
            return Finding(
                code: code, severity: .warning, place: path,
                message: "The \(suffix) next to the store is damaged, and what it held may be lost. \(fault)",
                remedy: remedy)
        }
    }

    package static let code = "side-file-damaged"
    package static let zeroedCode = "journal-zeroed"

    /// Returns a sentence about a journal with a header of zeros; nil for any other, and for that of a Moult run.
    private static func zeroedFault(
        of journal: RollbackJournal, _ sidecar: StoreRecords, _ system: any System
    ) -> String? {
        guard let fault = journal.zeroedFault else { return nil }
        let isOwn = (try? Recovery.hasSpentJournal(sidecar, system)) ?? false
        return isOwn ? nil : fault
    }

    /// Returns a note, not a fault of the store: each transaction in `journal_mode` PERSIST leaves such a journal.
    private static func zeroedFinding(_ fault: String, _ path: String, _ remedy: Remedy) -> Finding {
        Finding(
            code: zeroedCode, severity: .note, place: path, message: "SQLite ignores the -journal. \(fault)",
            remedy: remedy)
    }
}

extension LogFrames {
    /// A sentence about the part of the log that SQLite leaves out; nil if there is none.
    var fault: String? {
        if isHeaderDamaged { return "It does not begin like a log; SQLite ignores it." }
        guard unreadable > 0 else { return nil }
        return "SQLite leaves out the last \(unreadable) of its \(Quantity.count(count, "frame"))."
    }

    /// A sentence about what the log may have held that SQLite drops; nil if there is nothing.
    fileprivate var loss: String? { fault ?? (isTorn ? "It ends inside a frame." : nil) }

    /// The possible meanings of a WAL that ends inside a frame.
    package static let tornTail =
        "if a copy of it was cut off, the last commits are missing. After a power cut only an unfinished one is."

    /// Returns a note, not a fault of the store: the part that SQLite leaves out may never have been committed.
    static func tornFinding(_ path: String) -> Finding {
        Finding(
            code: "side-file-torn", severity: .note, place: path,
            message: "The -wal next to the store ends inside a frame, which SQLite ignores: \(tornTail)",
            remedy: "If the store was copied, copy it and its -wal again.")
    }
}

/// A `-wal` file as bytes, to tell whether it belongs to the database next to it (the WAL file format of SQLite,
/// sections 4.1 and 4.2).
///
/// Use it only for files that this process has no connection to.
package struct WriteAheadLog {
    private let store: String
    private let path: String
    private let pageSize: Int64
    private let salts: [UInt8]
    private let size: Int64
    private let system: any System

    private static let headerSize: Int64 = 32
    private static let frameHeaderSize: Int64 = 24

    /// Returns nil if there is no WAL, or an empty one.
    package init?(beside store: String, _ system: any System) throws {
        path = store + "-wal"
        guard let size = try system.status(of: path)?.size, size > 0 else { return nil }
        (self.store, self.system, self.size) = (store, system, size)
        let header = try system.read(path, prefix: Int(Self.headerSize))
        let isWhole = header.count == 32 && [0x377f_0682, 0x377f_0683].contains(Self.number(header, 0))
        pageSize = isWhole ? Self.number(header, 8) : 0
        salts = isWhole ? Array(header[16..<24]) : []
    }

    /// Whether the file begins like a WAL.
    package var isLog: Bool { pageSize >= 512 && !salts.isEmpty }

    /// A reason why a WAL may not be the store's own.
    package struct Strangeness: Equatable {
        package let sentence: String
        /// Whether the WAL certainly is not the store's own. Otherwise its origin is merely unproven.
        package let isCertain: Bool

        init(_ sentence: String, isCertain: Bool = true) { (self.sentence, self.isCertain) = (sentence, isCertain) }
    }

    /// Returns the finding about a WAL that is not the store's own, or may not be; empty if there is no such WAL.
    package static func findings(beside store: String, _ system: any System) throws -> [Finding] {
        guard let log = try WriteAheadLog(beside: store, system), log.isLog, let reason = try log.strangeness() else {
            return []
        }
        return [
            Finding(
                code: "stale-wal", severity: reason.isCertain ? .error : .warning, place: log.path,
                message:
                    "The -wal next to the store may belong to another file: \(reason.sentence) SQLite would mix the "
                    + "two and report no error.",
                remedy: """
                    Copy the store and its -wal again from where they came from, with their times (`cp -p`). Move the -wal \
                    away (`mv \(log.path.shellQuoted) \((log.path + ".old").shellQuoted)`) only if the store is complete \
                    without it.
                    """)
        ]
    }

    /// Returns the reason why the WAL may not be the store's own; nil if there is none.
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
        // Only a checkpoint writes to a store in WAL mode. A checkpoint after the WAL's last frame has copied the first
        // page in the WAL to the store, in one of its versions there.
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

    /// Whether the WAL was begun on the store as it is: a store copied after its WAL was begun is newer, and the WAL is
    /// still its own.
    ///
    /// The first transaction of a WAL that writes page 1 raises the file change counter by one (or, after another
    /// connection's, by none), and changes the schema cookie only with the schema (the SQLite file format, sections
    /// 1.3.7 and 1.3.12). A backup made by SQLite has its own counters. A WAL without page 1 proves nothing.
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
        /// The offset of the page's bytes in the WAL.
        let place: Int64
    }

    /// Returns the frames of the current WAL generation; earlier generations have other salts.
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
