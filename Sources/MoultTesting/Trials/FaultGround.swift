import MoultBasics
import MoultEngine
import MoultSQLite

/// The place where the trials of one kind of migration run, with what they begin with and what an undisturbed run makes
/// of it.
package final class FaultGround {
    package let faultCase: FaultCase
    private let system = POSIXSystem()
    private let template: String
    /// The folder where a trial takes place, with the store and all that belongs to it.
    package let field: String
    let scratch: String
    private let left: String
    private let isReal: Bool
    /// The states that a store may be in after a fault, the old one first and the new one last.
    package private(set) var states: [LogicalState] = []
    /// The description of each state by the witness.
    private(set) var witnessed: [String] = []
    /// The states of the backups that a trial begins with.
    private var earlier: [LogicalState] = []
    /// The columns whose values an app's code rebuilds in each run.
    package private(set) var changing: Set<ChangingColumn> = []
    /// The calls of an undisturbed run, in order.
    package private(set) var operations: [DiskOperation] = []
    /// SQLite's allocations in an undisturbed run; 0 where they cannot be counted.
    package private(set) var allocations = 0
    /// Looks at the clock in an undisturbed run.
    package private(set) var clockLooks = 0
    /// The error of an undisturbed run that must end with one.
    private(set) var refusal: MigrationError.Code?
    private(set) var tidyNames: [String] = []
    /// The synchronisations that the disk only pretends to make, for tests of the harness itself.
    package var lie = FaultDisk.Lie.none

    /// The disk that a run has left, as a digest, and the end of the run.
    struct Left: Hashable {
        let disk: [UInt8]
        let ending: String
        let faultPersists: Bool
    }

    /// The outcome for each disk that a trial has left so far.
    var outcomes: [Left: Aftermath.Outcome] = [:]

    /// The position of the new store among the states.
    package var last: Int { max(states.count - 1, 1) }
    package var temporaryFolder: String { Path.join(field, FaultCase.temporaryName) }
    package var store: String { Path.join(field, faultCase.storeName) }

    /// Prepares the store and runs the work once, undisturbed.
    ///
    /// - Parameters:
    ///   - folder: empty, without symbolic links.
    ///   - countsAllocations: whether ``AllocationFaults`` are installed and nothing else uses SQLite in this process.
    ///   - isReal: whether the trials run on the machine itself, with its clock, as processes of their own do.
    /// - Throws: `verificationFailed` if that run is not what the case says of it, and what the run throws.
    package init(
        _ faultCase: FaultCase, in folder: String, countsAllocations: Bool = false, isReal: Bool = false
    ) throws {
        self.faultCase = faultCase
        self.isReal = isReal
        template = Path.join(folder, "template")
        field = Path.join(folder, "field")
        scratch = Path.join(folder, "scratch")
        left = Path.join(folder, "left")
        // Made where the trials are: a journal may name its folder.
        try system.makeFolder(field)
        try faultCase.prepare(store)
        try system.makeFolder(temporaryFolder)
        try system.rename(field, to: template)
        if faultCase.hasCodeOfAnApp { changing = try changingColumns() }
        try reset()
        states = [try state()]
        witnessed = [try witness()]
        earlier = try Migrator().backups(of: store).list().map {
            try LogicalState(of: $0.store, scratch: scratch, changing: changing)
        }
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

    /// In two runs, the second in another second of the clock.
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

    /// Keeps what a fault has left, to look at it twice.
    func keepLeft() throws {
        try system.removeTree(left)
        try copy(field, to: left)
    }

    func putLeftBack() throws {
        try system.removeTree(field)
        try copy(left, to: field)
    }

    /// Puts everything back to what a trial begins with.
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

    /// Runs `body` on a machine without faults, later than any run before.
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

    /// Returns the description of the store by a program that is not Moult; empty where none is asked.
    func witness() throws -> String {
        let words = try faultCase.witness?(store) ?? ""
        // What an app's code rebuilds is another value each time: then only whether the store is whole is compared.
        return changing.isEmpty ? words : String(words.prefix { $0 != " " })
    }

    /// A digest of every name and every byte in the field.
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

    /// Every file that the work leaves, but for backups, what was set aside, and the temporary folder, which a dead
    /// process cannot clear. Files of external data count by their number; a WAL's index and a journal that is spent are
    /// nobody's data, and SQLite's to remove.
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
        // The SQLite file format, section 3: a rollback journal whose header is no magic number any more is not hot.
        if name.hasSuffix("-journal") { return try system.read(path, prefix: 8).allSatisfy { $0 == 0 } }
        return name.hasSuffix("-shm")
    }

    private static func isAside(_ name: String) -> Bool {
        name.contains(".moult/backups/") || name.contains(".moult/damaged/")
            || name.hasPrefix(FaultCase.temporaryName + "/")
    }

    /// Verifies every backup that is there, and that it holds one of the known states.
    func checkBackups() throws {
        let folder = try Migrator().backups(of: store)
        let named = Set(try RunHistory(StoreRecords(store: store)).records().compactMap(\.backup))
        for backup in try folder.list() {
            // What was made by request has no run, and a later call names what was made before deferred work.
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
        // A line has the values of its row: only its kind and its table are reported.
        func places(_ lines: [String], _ sign: String) -> [String] {
            Dictionary(grouping: lines) { $0.split(separator: " ").prefix(2).joined(separator: " ") }
                .sorted { $0.key < $1.key }.prefix(5).map { "\(sign) \($0.key) (\($0.value.count))" }
        }
        let words = places(gone, "-") + places(come, "+")
        return "\(gone.count) lines removed, \(come.count) added: \(words.joined(separator: " "))"
    }
}

/// A kind of migration as a trial needs it: what it begins with, and the work, which is begun again after each fault.
package struct FaultCase: Sendable {
    /// The folder next to the store where the work's temporary files go.
    static let temporaryName = "temporary"

    package var name: String
    package var storeName: String
    /// Makes, in an empty folder, the store and all that a trial begins with.
    package var prepare: @Sendable (_ store: String) throws -> Void
    /// The whole work as a program does it: look, plan, run. It makes the same calls in the same order each time.
    package var run: @Sendable (_ store: String, _ system: any System) throws -> Void
    /// Each takes a new store to a state on the way at which the work may stay.
    package var stops: [@Sendable (_ store: String, _ system: any System) throws -> Void] = []
    /// Recovers what a dead program has left, as the next start of a program does.
    package var recover: @Sendable (_ store: String, _ system: any System) throws -> Void = { store, system in
        _ = try Migrator(system: system).recover(store)
    }
    /// Reads, by plain SQL, what the old store and the new one must both hold; nil if the work is to change it.
    package var contents: (@Sendable (_ store: String) throws -> [String])?
    /// Describes the store at the path by a program that is not Moult: the description must be the same for equal
    /// states. Nil if the states differ in what is chosen at random.
    package var witness: (@Sendable (_ store: String) throws -> String)?
    /// The store that another program can have open during the work: this one, or one that the work reads. Nil if no
    /// store is there yet: SQLite would make an empty one for whoever opens it.
    package var opened: @Sendable (_ store: String) -> String? = { $0 }
    /// A table that is not compared, for its rows hold what is chosen at random.
    package var ignoredTable: String?
    /// Returns what is wrong outside the store, where the work does something there: nil when all is right. `said` is
    /// the error that the run ended with, in words; empty where it succeeded or died.
    package var outside: (@Sendable (_ store: String, _ isNew: Bool, _ said: String) throws -> String?)?
    /// Whether the code of an app runs, which may ask the clock or make identifiers: what two undisturbed runs leave
    /// different is not compared.
    package var hasCodeOfAnApp = false
    /// Whether the store itself says what is left to do, so that where the disk fails in the last commit, and continues
    /// failing, no journal need say that it was tried.
    package var tellsByItself = false
    /// Whether an error may leave the whole new store where the disk removes nothing any more: then it says so.
    package var namesWhatIsLeft = false
    /// Whether the work must end with an error and the old store, as one whose verification fails.
    package var isRefused = false

    package init(
        _ name: String, storeName: String = "store.sqlite", prepare: @escaping @Sendable (String) throws -> Void,
        run: @escaping @Sendable (String, any System) throws -> Void
    ) {
        (self.name, self.storeName, self.prepare, self.run) = (name, storeName, prepare, run)
    }
}

extension MigrationOptions {
    /// For a trial: the same calls in the same order each time.
    package static var sequential: MigrationOptions {
        var options = MigrationOptions(patience: 0)
        options.isSequential = true
        return options
    }
}
