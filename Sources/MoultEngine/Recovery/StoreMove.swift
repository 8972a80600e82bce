import MoultBasics
import MoultSQLite
import MoultStore

/// A move of a store that has not ended, by its journal at the old place.
///
/// It has committed once the new path has the store, next to a record of the run (``StoreRecords/arrival``). The journal
/// stays until nothing else of the move is left at either place but that record.
package struct StoreMove {
    let journal: Journal
    /// The records at the old place.
    let old: StoreRecords
    /// The unfinished store next to the new path.
    package let staged: StagedStore
    private let new: StoreRecords
    private let system: any System

    /// Creates the move that a journal describes; nil if it describes another run.
    init?(_ journal: Journal, at old: StoreRecords, _ system: any System) {
        guard journal.operation == .move, journal.destination?.hasPrefix("/") == true, journal.run.isPlainFileName
        else { return nil }
        self.init(journal, old, system)
    }

    /// - Parameter journal: the journal of a move.
    package init(_ journal: Journal, _ old: StoreRecords, _ system: any System) {
        (self.journal, self.old, self.system) = (journal, old, system)
        new = StoreRecords(store: journal.destination ?? "")
        staged = StagedStore(ofMove: journal.run, to: new.store, system)
    }

    /// Finds the unfinished move from a place, or to it; nil if there is none.
    init?(at place: StoreRecords, _ system: any System) throws {
        if let journal = try Journal.unlessDamaged(place, system) {
            self.init(journal, at: place, system)
            return
        }
        guard let arrival = try StoreArrival(at: place, system) else { return nil }
        let old = StoreRecords(store: arrival.from)
        guard let journal = try? Journal.read(old, system), journal.run == arrival.run else { return nil }
        self.init(journal, at: old, system)
    }

    /// Whether a place has the record of a move to it, and the system can reach the old place.
    static func hasArrival(at place: StoreRecords, _ system: any System) throws -> Bool {
        try StoreArrival(at: place, system).map { try system.exists(StoreRecords(store: $0.from).folder) } ?? false
    }

    /// Removes the record at the new place of a move that has ended at the old one.
    ///
    /// - Returns: whether there was one.
    static func forgetArrival(at place: StoreRecords, _ system: any System) throws -> Bool {
        try hasArrival(at: place, system) && system.remove(place.arrival)
    }

    /// Whether a file or a folder among the records goes with the store.
    package static func isCarried(_ name: String) -> Bool {
        let own = ["lock", "journal.json", MovedStore.name, StoreRecords.arrivalName, StoreRecords.stoppedName]
        return !own.contains(name) && !name.hasPrefix("work-") && !name.hasPrefix("mirror.") && !name.hasSuffix(".part")
    }

    /// Whether the new path has the store.
    package var isCommitted: Bool {
        get throws {
            guard let arrival = try arrival, try !system.exists(staged.new),
                let there = try system.status(of: new.store)
            else { return false }
            guard let here = try system.status(of: old.store), !here.isSameFile(as: there) else { return true }
            // One of them may be another store: a program that misses its store at the old path makes a new one.
            return try uuid(at: new.store) == arrival.uuid
        }
    }

    /// The record of this run at the new place; nil if there is none.
    private var arrival: StoreArrival? {
        get throws { try StoreArrival(at: new, system).flatMap { $0.run == journal.run ? $0 : nil } }
    }

    private var backups: BackupFolder { BackupFolder(journal.backups, system) }

    /// Returns the UUID of the store at a path; nil if there is no sound store.
    private func uuid(at path: String) throws -> String? {
        do {
            return try ReadOnlyStore.read(path, system: system) { try StoreState($0.connection).uuid }
        } catch let error as MigrationError where ReadOnlyStore.unreadable.contains(error.code) {
            return nil
        }
    }

    // MARK: - The end

    /// Ends a committed move whose old file is still there: the process died between two volumes.
    ///
    /// If a program has written to the old store since, and none to the new one, the move is undone instead. If both
    /// were written to, the old one is backed up once more.
    ///
    /// - Parameter lock: the lock of the file at the old path.
    func settle(_ lock: StoreLock) throws -> RecoveryOutcome {
        let backup = try ownBackup
        let state = try StoreState(lock.connection)
        guard let backup, state.uuid == backup.manifest.uuid else {
            // Another store was made at the old path.
            try complete(.recovered, size: state.size, keeping: lock)
            return .completed
        }
        let pages = try PageDigests(ofFile: backup.store)
        if try PageDigests(lock.connection).firstDifference(from: pages) != nil {
            let arrived = try StoreLock(new.store, system, patience: 0)
            defer { arrived.release() }
            if try PageDigests(arrived.connection).firstDifference(from: pages) == nil, try hasExternalData {
                try undo()
                return try Recovery.conclude(journal, .undone, size: state.size, old, system)
            }
            let made = try backups.make(of: lock, version: journal.from, for: .request)
            MigrationLog(old, system).append(
                "Both stores were written to after the move. The old one is kept as the backup \(made.name).")
        }
        try complete(.recovered, size: state.size, removing: lock)
        return .completed
    }

    /// The backup that the move made; nil if it is gone or damaged.
    private var ownBackup: StoreBackup? {
        get throws {
            do {
                return try journal.backup.map(backups.backup(named:))
            } catch let error as MigrationError where [.backupNotFound, .backupInvalid].contains(error.code) {
                return nil
            }
        }
    }

    /// Whether the files of external data that the move carried are still at the old place.
    private var hasExternalData: Bool {
        get throws {
            try journal.droppedFiles.allSatisfy { name in
                try name.isPlainFileName && system.exists(Path.join(old.externalData, name))
            }
        }
    }

    /// Removes the copy at the new path, which nothing was written to.
    private func undo() throws {
        // While the store is there, a run finds a committed move.
        try system.removeTree(new.support)
        for suffix in ReadOnlyStore.sideFileSuffixes + [""] { try system.remove(new.store + suffix) }
        try system.synchronise(Path.folder(of: new.store))
        try discard()
    }

    /// Removes what a move that has not committed has made at the new place.
    package func discard() throws {
        guard try system.exists(Path.folder(of: new.store)) else { return }
        // A program may have made another store at the new path, which uses the files and the records there.
        let isTaken = try system.exists(new.store)
        try staged.discard(isInstalled: isTaken)
        if try !isTaken && arrival != nil { try system.removeTree(new.folder) }
        try system.synchronise(Path.folder(of: new.store))
    }

    /// Removes the rest of the move at both places, records at the old one where the store went, and ends the run.
    ///
    /// - Parameters:
    ///   - lock: the lock of the old file, which is removed; nil if there is none, or if another file is there.
    ///   - other: the lock of another store that was made at the old path.
    package func complete(
        _ result: StoreRun.Result, seconds: Double = 0, size: Int64, removing lock: StoreLock? = nil,
        keeping other: StoreLock? = nil
    ) throws {
        try staged.discard(isInstalled: true)
        // The new path must be safe from a power cut before anything at the old one goes.
        try system.synchronise(Path.folder(of: new.store))
        if try lock != nil || !system.exists(old.store) {
            for suffix in [""] + ReadOnlyStore.sideFileSuffixes { try system.remove(old.store + suffix) }
            try system.synchronise(Path.folder(of: old.store))
        }
        try removeExternalData(keeping: other)
        try removeCarriedBackups()
        try MovedStore(run: journal.run, destination: new.store, movedAt: system.now.iso8601)
            .write(from: old.store, rights, system)
        let history = RunHistory(old, system)
        if try history.last()?.run != journal.run {
            try history.append(
                journal.record(result, at: system.now, seconds: seconds, size: size, backup: journal.backup))
        }
        MigrationLog(old, system).append("Run \(journal.run): the store is at \(new.store).")
        try Recovery.removeLeftovers(old, backups, system)
        // No later run at the old place would look for them.
        try system.synchronise(old.folder)
        try Journal.remove(old, system)
        if try system.remove(new.arrival) { try system.synchronise(new.folder) }
    }

    /// The file rights at the old place, where the store is gone: those of the folder that it was kept by.
    private var rights: FileRights { .like(new.store) }

    /// Locks the file at the old path; nil if there is none, or one that is no store any more, which stays.
    func lockOld(patience: Int32, _ owner: FileLock) throws -> StoreLock? {
        guard try system.exists(old.store) else { return nil }
        do {
            return try StoreLock(old.store, system, patience: patience, owner: owner)
        } catch let error as MigrationError where ReadOnlyStore.unreadable.contains(error.code) {
            return nil
        }
    }

    /// - Parameter other: the lock of another store at the old path.
    private func removeExternalData(keeping other: StoreLock?) throws {
        let storage = ExternalStorage(store: old.store)
        let isTaken = try system.exists(old.store)
        // Nothing is known of a file that is no store.
        if isTaken, other == nil { return }
        if try isTaken || storage.isShared(by: old.store, on: system) {
            // A store with the same base name keeps its own files in this folder.
            var names = Set(journal.droppedFiles.filter(\.isPlainFileName))
            if let other { names.subtract(try ExternalStorage.names(in: other.connection)) }
            for name in try storage.droppable(names, of: old.store, on: system) {
                try system.remove(Path.join(storage.folder, name))
            }
        } else {
            try system.removeTree(storage.supportFolder)
        }
        try system.synchronise(Path.folder(of: old.store))
    }

    /// Removes the backups that the new place has too. The one that the move made stays.
    private func removeCarriedBackups() throws {
        guard try system.exists(old.backups), try system.exists(new.backups) else { return }
        let folder = BackupFolder(old.backups, system)
        for backup in try folder.list() where backup.name != journal.backup {
            let carried = Path.join(new.backups, backup.name)
            guard try system.exists(Path.join(carried, StoreBackup.manifestName)),
                try system.files(below: backup.folder) == system.files(below: carried)
            else { continue }
            try folder.remove(backup)
        }
        try folder.removeDrafts()
        try system.synchronise(old.backups)
    }
}

/// The record at the new place of the run that moved the store there, while that run has not ended.
package struct StoreArrival {
    /// The name of the run.
    var run: String
    /// The old path.
    var from: String
    /// The store's `NSStoreUUID`.
    var uuid: String

    package init(run: String, from: String, uuid: String) { (self.run, self.from, self.uuid) = (run, from, uuid) }

    /// Reads the record at a place; nil if there is none.
    init?(at place: StoreRecords, _ system: any System) throws {
        guard try system.exists(place.arrival) else { return nil }
        let json: JSONValue
        do {
            json = try JSONValue(
                parsing: system.read(place.arrival, limit: 64 << 10, as: .metadataInvalid), place: place.arrival,
                code: .metadataInvalid)
        } catch let error as MigrationError where error.code == .metadataInvalid {
            return nil
        }
        guard let run = json["run"]?.string, let from = json["from"]?.string, let uuid = json["uuid"]?.string else {
            return nil
        }
        self.init(run: run, from: from, uuid: uuid)
    }

    package func write(to place: StoreRecords, _ system: any System) throws {
        let json: JSONValue = ["format": 1, "run": .string(run), "from": .string(from), "uuid": .string(uuid)]
        try system.write(Array((json.indented + "\n").utf8), to: place.arrival, place.rights)
        try system.synchronise(place.arrival)
    }
}

extension Journal {
    /// Returns the record of a move for the history.
    ///
    /// - Parameter backup: the name of the backup of the move; nil in the history of the new place.
    package func record(_ result: StoreRun.Result, at end: Timestamp, seconds: Double, size: Int64, backup: String?)
        -> StoreRun
    {
        StoreRun(
            run: run, operation: operation, result: result, from: from, to: to, startTime: startedAt,
            endTime: end.iso8601, seconds: (seconds * 1000).rounded() / 1000, backup: backup,
            backups: backup.map { _ in backups }, rows: 0, bytes: size, error: nil)
    }
}

extension Migrator {
    /// Ends a committed move from a place, or to it, whose process died.
    ///
    /// - Returns: nil if there is none, or none that has committed; `nothing` if only its record was left.
    /// - Throws: `locked` if another process is ending it, or has a store that it concerns open.
    @discardableResult
    package func finishMove(_ place: StoreRecords) throws -> RecoveryOutcome? {
        guard let found = try StoreMove(at: place, system) else {
            return try StoreMove.forgetArrival(at: place, system) && !system.exists(place.journal) ? .nothing : nil
        }
        let owner = try RunOwner.take(found.old, system)
        defer { withExtendedLifetime(owner) {} }
        // Another process may have ended it meanwhile.
        guard let move = try StoreMove(at: place, system), try move.isCommitted else { return nil }
        guard let lock = try move.lockOld(patience: options.patience, owner) else {
            try move.complete(.recovered, size: system.status(of: move.journal.destination ?? "")?.size ?? 0)
            return .completed
        }
        defer { lock.release() }
        return try move.settle(lock)
    }
}
