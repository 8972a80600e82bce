import MoultBasics
import MoultEngine
import MoultSQLite
import MoultStore

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// A user's own migration with every kind of fault at every moment, on a copy of a store in a scratch folder.
///
/// After each fault the store must be the old one or the new one, recover, and become the new one when the work is
/// repeated. The app's code runs in each trial, with its effects outside the store. Values that it makes anew in each
/// run, such as dates, are found by two runs and are not compared.
package struct CrashTest: Sendable {
    private let faultCase: FaultCase

    /// - Parameter run: everything that a program does, from examining the store to the end.
    package init(of store: String, run: @escaping @Sendable (_ store: String, _ system: any System) throws -> Void) {
        let name = Path.name(of: store)
        var faultCase = FaultCase(name, storeName: name, prepare: { try StoreCopy.make(of: store, at: $0) }, run: run)
        faultCase.hasCodeOfAnApp = true
        self.faultCase = faultCase
    }

    /// - Parameters:
    ///   - scratch: a folder for the copies; nil for the system's temporary folder.
    ///   - seconds: the time for all kinds of fault together; the rows show which moments were not tried.
    ///   - countsAllocations: whether SQLite's allocations should fail too, where that is possible: nothing else may
    ///     use SQLite in this process.
    ///   - isWanted: called before each kind of fault.
    ///   - report: called with each row when it is complete.
    /// - Throws: the errors of an undisturbed run.
    package func run(
        scratch: String? = nil, seconds: Double, countsAllocations: Bool = true, isWanted: () -> Bool = { true },
        report: (FaultRow) -> Void = { _ in }
    ) throws -> FaultMatrix {
        // Install before SQLite is first used; afterwards there can be no trials without memory.
        let countsAllocations = countsAllocations && AllocationFaults.isInstalled
        let system = POSIXSystem()
        let temporary = try TemporaryFolder("test", in: scratch, system)
        let folder = temporary.path
        defer { temporary.remove() }
        let ground = try FaultFixture(faultCase, in: system.resolve(folder), countsAllocations: countsAllocations)
        let kinds = Fault.Kind.allCases.filter { countsAllocations || !$0.isOfMemory }
        var matrix = FaultMatrix()
        matrix.changing = ground.changing
        for (number, kind) in kinds.enumerated() where isWanted() {
            let used = matrix.rows.reduce(0) { $0 + $1.seconds }
            let share = max(seconds - used, 0) / Double(kinds.count - number)
            let row = try FaultSeries(ground, kind, seeds: [0, 1]).run(seconds: share)
            matrix.rows.append(row)
            report(row)
        }
        return matrix
    }
}

/// A user's own migration in a process that is killed with SIGKILL, at moments spread over its duration.
package struct KillTest: Sendable {
    /// The counts of the store's states after a number of kills.
    package struct Tally: Sendable, Hashable {
        /// The processes that were killed, and those that had already ended.
        package var (killed, ended) = (0, 0)
        /// The number of times that the store was the old one, and the new one.
        package var (old, new) = (0, 0)
        package var broken: [String] = []
        /// The columns that an app's code fills anew in each run, and that were not compared.
        package var changing: Set<ChangingColumn> = []
    }

    private struct Broken: Error { let words: String }

    private let store: String
    private let program: String
    private let arguments: @Sendable (_ copy: String) -> [String]
    private let system = POSIXSystem()

    /// - Parameters:
    ///   - program: the path of the program that runs the migration.
    ///   - arguments: returns the arguments with which it migrates the copy.
    package init(of store: String, program: String, arguments: @escaping @Sendable (_ copy: String) -> [String]) {
        (self.store, self.program, self.arguments) = (store, program, arguments)
    }

    private func start(_ copy: String) throws -> ChildProgram {
        // A path, so that PATH is not searched.
        let path = program.contains("/") ? program : "./" + program
        guard let child = try ChildProgram(path, arguments(copy)) else {
            throw MigrationError.system("start", program, error: ENOENT)
        }
        return child
    }

    /// - Throws: `migrationFailed` if the undisturbed program fails.
    package func run(
        kills: Int, scratch: String? = nil, isWanted: () -> Bool = { true }, report: (Tally) -> Void = { _ in }
    ) throws -> Tally {
        let temporary = try TemporaryFolder("test", in: scratch, system)
        let folder = temporary.path
        defer { temporary.remove() }
        let field = Path.join(try system.resolve(folder), "field")
        let copy = Path.join(field, Path.name(of: store))
        let look = Path.join(folder, "look")
        var tally = Tally()
        var runs: [RunValues] = []
        var whole = 0.0
        for run in 0..<2 {
            try reset(copy)
            // Two runs must also differ in times that an app stores in whole seconds.
            if run > 0 { RunValues.pause() }
            let start = system.monotonicNanoseconds
            try finish(copy)
            whole = system.seconds(since: start)
            runs.append(try RunValues(of: copy, scratch: look))
        }
        tally.changing = ChangingColumn.all(between: runs[0], and: runs[1])
        let state = { [changing = tally.changing] in try LogicalState(of: copy, scratch: look, changing: changing) }
        let new = try state()
        try reset(copy)
        let old = try state()
        for kill in 0..<kills where isWanted() {
            // The golden ratio spreads the kills, so that every part of the run is tried early.
            let part = (Double(kill) * 0.618_033_988_75).truncatingRemainder(dividingBy: 1)
            do {
                try killOnce(copy, after: part * whole * 1.05, old, new, &tally, state)
            } catch let broken as Broken {
                tally.broken.append("Kill \(kill + 1), after \(Int(part * 100)) % of a run: \(broken.words)")
            }
            report(tally)
        }
        return tally
    }

    private func reset(_ copy: String) throws {
        try system.removeTree(Path.folder(of: copy))
        try system.makeFolder(Path.folder(of: copy))
        try StoreCopy.make(of: store, at: copy)
    }

    private func finish(_ copy: String) throws {
        let status = try start(copy).wait()
        guard status == 0 else {
            throw MigrationError(
                .migrationFailed, "The program ended with \(status).", place: store,
                remedy: "Run it to see why: \(([program] + arguments(store)).joined(separator: " "))")
        }
    }

    private func killOnce(
        _ copy: String, after seconds: Double, _ old: LogicalState, _ new: LogicalState, _ tally: inout Tally,
        _ state: () throws -> LogicalState
    ) throws {
        try reset(copy)
        let child = try start(copy)
        usleep(UInt32(min(seconds * 1e6, 4e9)))
        if child.kill() { tally.killed += 1 } else { tally.ended += 1 }
        let left = try state()
        guard left.rows == old.rows || left.rows == new.rows else {
            throw Broken(words: "the store is neither old nor new")
        }
        if left.rows == old.rows { tally.old += 1 } else { tally.new += 1 }
        do {
            _ = try Migrator().recover(copy)
            guard try state().rows == left.rows else { throw Broken(words: "the recovery changes the store") }
            try finish(copy)
        } catch let error as MigrationError {
            throw Broken(words: error.message)
        }
        let end = try state()
        guard end.rows == new.rows else {
            let difference = FaultFixture.difference(new.rows, end.rows)
            throw Broken(words: "the next run does not make the new store: \(difference)")
        }
    }
}

/// A copy of a user's store for trials; the store itself and all files next to it are not changed.
struct StoreCopy {
    /// Copies the pages with SQLite, and the external data.
    static func make(of store: String, at copy: String) throws {
        let system = POSIXSystem()
        try ReadOnlyStore.read(store, system: system) { probe in
            _ = try system.remove(copy)
            try system.makeFile(copy, .own)
            let destination = try Connection(copy, mode: .readWrite)
            defer { destination.close() }
            try destination.execute("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF")
            try Backup(from: probe.connection, to: destination).run(stepPages: -1) { _, _ in true }
            let source = ExternalStorage(store: probe.path).supportFolder
            let support = ExternalStorage(store: copy).supportFolder
            if try system.exists(source) { try system.copyTree(source, to: support) }
        }
    }
}
