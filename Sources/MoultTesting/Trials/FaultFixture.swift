import MoultBasics
import MoultEngine
import MoultSQLite

/// The place where the trials of one kind of migration run, with their initial state and the result of an undisturbed
/// run.
package final class FaultFixture {
    package let faultCase: FaultCase
    private let system = POSIXSystem()
    private let template: String
    /// The folder of a trial, with the store and everything that belongs to it.
    package let field: String
    let scratch: String
    private let left: String
    private let isReal: Bool
    /// The states that a store may be in after a fault, the old one first and the new one last.
    package private(set) var states: [LogicalState] = []
    /// The witness's description of each state.
    private(set) var witnessed: [String] = []
    /// The states of the backups at the start of a trial.
    private var earlier: [LogicalState] = []
    /// The columns that an app's code fills anew in each run.
    package private(set) var changing: Set<ChangingColumn> = []
    /// The calls of an undisturbed run, in order.
    package private(set) var operations: [DiskOperation] = []
    /// The number of SQLite's allocations in an undisturbed run; 0 if they cannot be counted.
    package private(set) var allocations = 0
    /// The number of readings of the clock in an undisturbed run.
    package private(set) var clockLooks = 0
    /// The error code of an undisturbed run that must fail.
    private(set) var refusal: MigrationError.Code?
    private(set) var tidyNames: [String] = []
    /// The syncs that only pretend to happen, for tests of the harness itself.
    package var lie = FaultDisk.Lie.none

    /// A digest of the disk after a run, and the end of the run.
    struct Left: Hashable {
        let disk: [UInt8]
        let ending: String
        let faultPersists: Bool
    }

    /// The outcome for each state of the disk after a trial so far.
    var outcomes: [Left: RecoveryCheck.Outcome] = [:]

    /// The position of the new store among the states.
    package var last: Int { max(states.count - 1, 1) }
    package var temporaryFolder: String { Path.join(field, FaultCase.temporaryName) }
    package var store: String { Path.join(field, faultCase.storeName) }

    /// Prepares the store and runs the work once, undisturbed.
    ///
    /// - Parameters:
    ///   - folder: an empty folder, without symbolic links in its path.
    ///   - countsAllocations: whether ``AllocationFaults`` are installed and nothing else uses SQLite in this process.
    ///   - isReal: whether the trials run on the machine itself, with its clock, as separate processes do.
    /// - Throws: `verificationFailed` if that run does not match the case, and the errors of the run.
    package init(
        _ faultCase: FaultCase, in folder: String, countsAllocations: Bool = false, isReal: Bool = false
    ) throws {
        self.faultCase = faultCase
        self.isReal = isReal
        template = Path.join(folder, "template")
        field = Path.join(folder, "field")
        scratch = Path.join(folder, "scratch")
        left = Path.join(folder, "left")
        // Make it where the trials run, because a journal may contain the path of its folder.
        try system.makeFolder(field)
        try faultCase.prepare(store)
        try system.makeFolder(temporaryFolder)
        try system.rename(field, to: template)
        if faultCase.hasCodeOfAnApp { changing = try changingColumns() }
        try reset()
        states = [try state()]
        witnessed = [try witness()]
        // The work may carry backups of the store that it reads.
        earlier = try Set([store, faultCase.opened(store) ?? store]).flatMap { try Migrator().backups(of: $0).list() }
            .map { try LogicalState(of: $0.store, scratch: scratch, changing: changing) }
        let before = try faultCase.contents?(store)
        for stop in faultCase.stops {
            try reset()
            try calm { try stop(store, $0) }
            states.append(try state())
            witnessed.append(try witness())
        }
        try measure(countsAllocations: countsAllocations)
        if let before, let after = try faultCase.contents?(store), before != after {
            throw wrong("An undisturbed run changes what it must not: \(Self.difference(before, after)).")
        }
    }

    /// Finds the changing columns by two runs, in different seconds of the clock.
    private func changingColumns() throws -> Set<ChangingColumn> {
        let runs = try (0..<2).map { run in
            if run > 0 { RunValues.pause() }
            try reset()
            try calm { try faultCase.run(store, $0) }
            return try RunValues(of: store, scratch: scratch)
        }
        return ChangingColumn.all(between: runs[0], and: runs[1])
    }

    private func measure(countsAllocations: Bool) throws {
        try reset()
        let disk = try FaultDisk(field, nil)
        if countsAllocations { AllocationFaults.begin() }
        let result = try disk.run { try faultCase.run(store, $0) }
        if countsAllocations { allocations = AllocationFaults.end() }
        switch (result, faultCase.isRefused) {
        case (.success, false): break
        case (.failure(let error as MigrationError), true): refusal = error.code
        case (.failure(let error), _): throw error
        case (.success, true): throw wrong("An undisturbed run is not refused.")
        }
        (operations, clockLooks) = (disk.operations, disk.clock.count)
        let new = try state()
        if faultCase.isRefused, new != states[0] { throw wrong("A refused run changes the store.") }
        if !states.contains(new) || !faultCase.isRefused {
            states.append(new)
            witnessed.append(try witness())
        }
        tidyNames = try names()
    }

    private func wrong(_ message: String) -> MigrationError {
        MigrationError(
            .verificationFailed, "\(faultCase.name): \(message)", place: faultCase.storeName,
            remedy: "Correct the kind of migration before it is tried with faults.")
    }

    // MARK: - One trial's field

    /// Keeps the files after a fault, for a second examination.
    func keepLeft() throws {
        try system.removeTree(left)
        try copy(field, to: left)
    }

    func putLeftBack() throws {
        try system.removeTree(field)
        try copy(left, to: field)
    }

    /// Restores the state in which a trial starts.
    package func reset() throws {
        try system.removeTree(field)
        try copy(template, to: field)
    }

    private func copy(_ folder: String, to copy: String) throws {
        try system.makeFolder(copy)
        for name in try system.list(folder) {
            let (source, destination) = (Path.join(folder, name), Path.join(copy, name))
            if try system.status(of: source)?.kind == .folder {
                try self.copy(source, to: destination)
            } else {
                try system.copy(source, to: destination, .like(source))
            }
        }
    }

    func disk(_ fault: Fault?, clock: TrialClock = TrialClock()) throws -> FaultDisk {
        try FaultDisk(field, fault, clock: clock, lie: lie)
    }

    /// Runs `body` on a machine without faults, at a later time than any run before.
    func calm(era: UInt64 = 1, _ body: (any System) throws -> Void) throws {
        if isReal { return try body(system) }
        let disk = try FaultDisk(field, nil, clock: TrialClock(era: era))
        try disk.run { try body($0) }.get()
    }

    package func state() throws -> LogicalState {
        var state = try LogicalState(of: store, scratch: scratch, changing: changing)
        if let table = faultCase.ignoredTable { state.rows.removeAll { $0.hasPrefix("row \(table) ") } }
        return state
    }

    /// Returns the description of the store by a program other than Moult; empty if the case has none.
    func witness() throws -> String {
        let words = try faultCase.witness?(store) ?? ""
        // An app's code fills some values anew each time, so only the soundness of the store is compared.
        return changing.isEmpty ? words : String(words.prefix { $0 != " " })
    }

    /// Returns a digest of every name and every byte in the field.
    func fingerprint() throws -> [UInt8] {
        var stream = SHA256Stream()
        try update(&stream, with: field)
        return stream.finish()
    }

    private func update(_ stream: inout SHA256Stream, with folder: String) throws {
        for name in try system.list(folder) {
            let path = Path.join(folder, name)
            let isFolder = try system.status(of: path)?.kind == .folder
            let bytes = try isFolder ? [] : system.read(path, limit: .max - 1)
            Array("\(path) \(isFolder) \(bytes.count)\n".utf8).withUnsafeBytes { stream.update($0) }
            bytes.withUnsafeBytes { stream.update($0) }
            if isFolder { try update(&stream, with: path) }
        }
    }

    /// Returns every file that the work leaves, except backups, files set aside, and the temporary folder, which a dead
    /// process cannot clear. Files of external data are only counted. The index of a WAL and a spent journal hold no
    /// data, and SQLite removes them.
    func names() throws -> [String] {
        var names: [String] = []
        var external = 0
        for name in try system.files(below: field) {
            if name.contains("_EXTERNAL_DATA/"), !name.contains(".moult/") {
                external += 1
            } else if try name.contains(".part") || !Self.isAside(name) && !isSpent(name) {
                names.append(name)
            }
        }
        return names + ["\(external) files of external data"]
    }

    private func isSpent(_ name: String) throws -> Bool {
        let path = Path.join(field, name)
        if name.hasSuffix("-wal") { return try system.status(of: path)?.size == 0 }
        // The SQLite file format, section 3: a rollback journal without the magic number in its header is not hot.
        if name.hasSuffix("-journal") { return try system.read(path, prefix: 8).allSatisfy { $0 == 0 } }
        return name.hasSuffix("-shm")
    }

    private static func isAside(_ name: String) -> Bool {
        name.contains(".moult/backups/") || name.contains(".moult/damaged/")
            || name.hasPrefix(FaultCase.temporaryName + "/")
    }

    /// Verifies every backup, and checks that it holds one of the known states.
    func checkBackups() throws {
        let folder = try Migrator().backups(of: store)
        let named = Set(try RunHistory(StoreRecords(store: store)).records().compactMap(\.backup))
        for backup in try folder.list() {
            // Backups made on request have no run; a later call names those made before deferred work.
            if ![.request, .imported, .finish].contains(backup.manifest.reason), !named.contains(backup.name) {
                throw wrong("No run names the backup \(backup.name).")
            }
            try folder.verify(backup)
            let state = try LogicalState(of: backup.store, scratch: scratch, changing: changing)
            guard (states + earlier).contains(where: { $0.rows == state.rows }) else {
                throw wrong("The backup \(backup.name) holds neither the old store nor the new one.")
            }
        }
    }

    static func difference(_ old: [String], _ new: [String]) -> String {
        let (gone, come) = (Set(old).subtracting(new).sorted(), Set(new).subtracting(old).sorted())
        // A line contains the values of its row, so only its kind and table are reported.
        func places(_ lines: [String], _ sign: String) -> [String] {
            Dictionary(grouping: lines) { $0.split(separator: " ").prefix(2).joined(separator: " ") }
                .sorted { $0.key < $1.key }.prefix(5).map { "\(sign) \($0.key) (\($0.value.count))" }
        }
        let words = places(gone, "-") + places(come, "+")
        return "\(gone.count) lines removed, \(come.count) added: \(words.joined(separator: " "))"
    }
}

/// A kind of migration for trials: the initial state, and the work, which is repeated after each fault.
package struct FaultCase: Sendable {
    /// The folder next to the store where the work's temporary files go.
    static let temporaryName = "temporary"

    package var name: String
    package var storeName: String
    /// Creates the store and everything else that a trial starts with, in an empty folder.
    package var prepare: @Sendable (_ store: String) throws -> Void
    /// Performs the complete work as a program does: examine, plan, run. It makes the same calls in the same order each
    /// time.
    package var run: @Sendable (_ store: String, _ system: any System) throws -> Void
    /// Closures that each bring a new store to an intermediate state at which the work may stop.
    package var stops: [@Sendable (_ store: String, _ system: any System) throws -> Void] = []
    /// Recovers the files of a dead program, as the next start of a program does.
    package var recover: @Sendable (_ store: String, _ system: any System) throws -> Void = { store, system in
        _ = try Migrator(system: system).recover(store)
    }
    /// Reads, by plain SQL, the contents that the old and the new store must share; nil if the work changes them.
    package var contents: (@Sendable (_ store: String) throws -> [String])?
    /// Describes the store at the path with a program other than Moult. Equal states must have equal descriptions. Nil
    /// if the states differ in randomly chosen data.
    package var witness: (@Sendable (_ store: String) throws -> String)?
    /// Returns the store that another program can have open during the work: this one, or one that the work reads. Nil
    /// if there is no store yet, because SQLite would create an empty one on opening it.
    package var opened: @Sendable (_ store: String) -> String? = { $0 }
    /// A table that is not compared, because its rows contain random data.
    package var ignoredTable: String?
    /// Returns what is wrong outside the store, if the work has effects there; nil if nothing is. `said` is the message
    /// of the run's error; empty if it succeeded or died.
    package var outside: (@Sendable (_ store: String, _ isNew: Bool, _ said: String) throws -> String?)?
    /// Whether an app's code runs, which may read the clock or make identifiers. Differences between two undisturbed
    /// runs are then not compared.
    package var hasCodeOfAnApp = false
    /// Whether the store itself records the remaining work. If the disk fails during the last commit and keeps failing,
    /// no journal then needs to record the attempt.
    package var tellsByItself = false
    /// Whether the complete new store may remain after an error if the disk cannot remove it; the error then names it.
    package var namesWhatIsLeft = false
    /// Whether the work must fail and leave the old store, as when its verification fails.
    package var isRefused = false

    package init(
        _ name: String, storeName: String = "store.sqlite", prepare: @escaping @Sendable (String) throws -> Void,
        run: @escaping @Sendable (String, any System) throws -> Void
    ) {
        (self.name, self.storeName, self.prepare, self.run) = (name, storeName, prepare, run)
    }
}

extension MigrationOptions {
    /// The options for a trial, which make the same calls in the same order each time.
    package static var sequential: MigrationOptions {
        var options = MigrationOptions(patience: 0)
        options.isSequential = true
        return options
    }
}
