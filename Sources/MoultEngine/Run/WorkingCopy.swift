import MoultBasics
import MoultModel
import MoultSQLite
import MoultStore

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// The copy of a store that a script changes, with the unchanged store attached as `source`.
///
/// A working copy whose process died is never read, so it needs neither journal nor synchronisation; that the new store
/// is durable is the commit's business.
final class WorkingCopy {
    let path: String
    let connection: Connection
    let source: String
    /// The store that is migrated, next to which its external data lie.
    private let store: String
    private let system: any System
    /// The relative times of the pieces of the pass.
    private var weights: [Double] = []

    /// - Parameters:
    ///   - source: a closed database file that does not change.
    ///   - path: where the copy is made.
    ///   - store: the store that is migrated.
    ///   - isKept: whether a process that dies leaves the copy to the next one, which goes on with it; then it is
    ///     journalled.
    ///   - isMade: whether the copy is there already.
    init(
        of source: String, at path: String, for store: String, _ options: MigrationOptions, _ system: any System,
        isKept: Bool = false, isMade: Bool = false
    ) throws {
        self.path = path
        self.source = source
        self.store = store
        self.system = system
        if !isMade {
            try system.copyExactly(source, to: path)
        }
        connection = try Connection(path, mode: .readWrite, isProven: true)
        try connection.execute(
            """
            PRAGMA locking_mode = EXCLUSIVE;
            PRAGMA journal_mode = \(isKept ? "TRUNCATE" : "OFF");
            PRAGMA synchronous = OFF;
            PRAGMA secure_delete = OFF
            """)
        try Self.limitMemory(of: connection, options)
        try connection.registerCoreDataStubs()
        try FormatFunctions.register(on: connection)
        try connection.attach(source, as: "source")
        try connection.execute("PRAGMA source.cache_size = -2048")
    }

    /// Limits the cache; larger sorts go to files.
    static func limitMemory(of connection: Connection, _ options: MigrationOptions) throws {
        let kibibytes = max(options.cacheSize / 1024, 64)
        try connection.execute("PRAGMA temp_store = FILE; PRAGMA main.cache_size = -\(kibibytes)")
        if let folder = options.temporaryFolder { try connection.setTemporaryFolder(folder) }
    }

    func close() { connection.close() }

    /// Runs one pass to its end: the statements in one transaction, the policies, the verification, the steps and the
    /// rules.
    ///
    /// - Parameters:
    ///   - changed: called between the change and the verification.
    ///   - beforeSteps: called after the verification.
    /// - Throws: `verificationFailed`; `stageFailed` naming the step; `cancelled`.
    func perform(
        _ pass: Migration, noting trail: StepTrail, _ timings: PhaseTimings, _ observer: MigrationObserver,
        changed: () throws -> Void = {}, beforeSteps: () throws -> Void = {}
    ) throws {
        do {
            let begun = system.monotonicNanoseconds
            defer { timings.add(.change, since: begun) }
            for function in pass.functions { try connection.register(function) }
            weights = pass.work(try pass.script.costs(over: connection))
            let runner = ScriptRunner(
                script: pass.script, observer: observer.piece(0, of: weights, in: pass), system: system)
            try connection.transaction { try runner.run(on: connection) }
            if let policies = pass.policies {
                let observer = observer.piece(1, of: weights, in: pass)
                try journalled { try policies.run(site(of: pass, observer)) }
                observer.report(.change, 1)
            }
            try pass.settleLosses()
        }
        try changed()
        try pass.verify(connection, timings, observer)
        try beforeSteps()
        try timings.measure(.change) {
            try run(pass.steps, of: pass, noting: trail, observer)
            try pass.rules?.run(site(of: pass, observer))
            try connection.proveWrites()
        }
    }

    private func run(
        _ steps: [Migration.Step], of pass: Migration, noting trail: StepTrail, _ observer: MigrationObserver
    ) throws {
        guard !pass.steps.isEmpty else { return }
        let digest = try StoreSnapshot(connection).catalogueDigest
        for (number, step) in pass.steps.enumerated() {
            guard !observer.isCancelled() else { throw MigrationRun.cancelled(store) }
            let observer = observer.piece(weights.count - pass.steps.count + number, of: weights, in: pass)
            trail.begin(step, on: self)
            do {
                try journalled { try step.execute(site(of: pass, observer)) }
            } catch {
                throw trail.failure(of: step, error)
            }
            observer.report(.change, 1, rows: observer.totalRows, step.sentence)
        }
        try pass.stepVerification.verify(connection, catalogueDigest: digest)
    }

    private func site(of pass: Migration, _ observer: MigrationObserver) -> MigrationSite {
        MigrationSite(
            connection: connection, source: source,
            external: ExternalStorage(ofWorkingCopy: path, of: store), system: system,
            report: { observer.report(.change, $0, $1) }, isCancelled: observer.isCancelled,
            allowsLargeQuarantine: pass.allowsLargeQuarantine)
    }

    /// Code may make a transaction that fails and continue: then there must be a way back.
    private func journalled(_ body: () throws -> Void) throws {
        try connection.execute("PRAGMA main.journal_mode = TRUNCATE")
        try body()
        guard !connection.isInTransaction else {
            throw MigrationError(
                .stageFailed, "The code left a transaction open.", place: store,
                remedy: "End every transaction that it begins. The store is unchanged.")
        }
        try connection.execute("PRAGMA main.journal_mode = OFF")
    }
}

/// The passes of a run or a rehearsal, each with a copy of what the one before it has made; a further one is bound to
/// that copy.
final class PassCopies {
    private var pass: Migration
    private let folder: String
    private let store: String
    private let options: MigrationOptions
    private let system: any System
    /// The number of passes so far.
    private var count = 0
    private var copy: WorkingCopy?
    /// The file that the next pass gets a copy of; after the last one, what it has made.
    private(set) var path: String

    /// - Parameters:
    ///   - source: the file that the first pass gets a copy of.
    ///   - folder: where the copies are made.
    ///   - store: the store that is migrated.
    init(
        of pass: Migration, on source: String, in folder: String, for store: String, _ options: MigrationOptions,
        _ system: any System
    ) {
        (self.pass, path, self.folder, self.store) = (pass, source, folder, store)
        (self.options, self.system) = (options, system)
    }

    /// Closes the copy of the pass before, and makes that of the next one; nil after the last.
    ///
    /// - Parameter size: bytes of the store.
    func next(
        _ timings: PhaseTimings, _ observer: MigrationObserver, size: Int64
    ) throws -> (pass: Migration, copy: WorkingCopy)? {
        close()
        if count > 0, pass.next == nil { return nil }
        count += 1
        let name = count == 1 ? Sidecar(store: store).nameOfCopy : "pass-\(count)"
        let copy = try timings.measure(.copy) {
            try system.makeFolder(folder)
            return try WorkingCopy(of: path, at: Path.join(folder, name), for: store, options, system)
        }
        self.copy = copy
        if count == 1 { observer.report(.copy, 1, bytes: size) }
        if count > 1, let next = pass.next { pass = try next.bound(to: copy.connection, pass.ledger) }
        return (pass, copy)
    }

    func close() {
        guard let copy else { return }
        copy.close()
        path = copy.path
        self.copy = nil
    }
}

/// Runs the statements of a script in order, with progress and cancellation inside each.
struct ScriptRunner {
    let script: StoreScript
    let observer: MigrationObserver
    let system: any System
    /// The sizes of the tables, if they were read already.
    var sizes: TableSizes?

    /// The place of a statement, or of a piece of one, in the whole script.
    struct Place {
        /// Rows that are done before it, and its own.
        let rowsBefore: Int64
        let rows: Int64
        /// The part of the script that is done before it, 0 to 1, and its own.
        let start: Double
        let part: Double

        /// The piece of so many of its rows that follows others.
        func piece(after done: Int64, rows count: Int64) -> Place {
            let share = part / Double(max(rows, 1))
            let done = min(done, rows)
            return Place(
                rowsBefore: rowsBefore + done, rows: min(count, rows - done), start: start + share * Double(done),
                part: share * Double(min(count, rows - done)))
        }
    }

    /// The place of each statement, by what it is expected to cost.
    ///
    /// - Parameter connection: to the copy, before the script has run.
    func places(on connection: Connection) throws -> [Place] {
        let costs = try sizes.map { script.costs(by: $0) } ?? script.costs(over: connection)
        let all = max(costs.reduce(0, +), 1e-9)
        var (rows, start): (Int64, Double) = (0, 0)
        return zip(script.statements, costs).map { statement, cost in
            let count = statement.rows.progress
            defer { (rows, start) = (rows + count, start + cost / all) }
            return Place(rowsBefore: rows, rows: count, start: start, part: cost / all)
        }
    }

    /// In the transaction that is open.
    func run(on connection: Connection) throws {
        defer { connection.onProgress(nil) }
        for (statement, place) in zip(script.statements, try places(on: connection)) {
            try run(statement, at: place, on: connection)
            report(endOf: place, statement)
        }
    }

    /// - Parameter statement: what has ended; nil for a part of a statement.
    func report(endOf place: Place, _ statement: StoreScript.Statement? = nil) {
        observer.report(
            .change, place.start + place.part, rows: place.rowsBefore + place.rows, statement?.sentence,
            table: statement?.table)
    }

    /// In the transaction that is open.
    func run(_ statement: StoreScript.Statement, at place: Place, on connection: Connection) throws {
        // Outside of one it would be durable by itself.
        guard connection.isInTransaction else {
            throw MigrationError(
                .migrationFailed, "SQLite ended the transaction before: \(statement.sentence)",
                place: connection.path, remedy: "Check whether memory or disk space ran out, and run the command again."
            )
        }
        do {
            if statement.kind == .retypeColumns { return try connection.editSchema(statement.sql) }
            let compiled = try connection.prepare(statement.sql)
            defer { compiled.finalise() }
            watch(compiled, at: place, try estimatedSteps(statement, connection))
            try compiled.run()
        } catch let error as MigrationError where error.code == .sqlite {
            throw MigrationError(
                .migrationFailed, "A step of the migration failed: \(statement.sentence)", place: connection.path,
                remedy: "Check the cause. The store is unchanged.", cause: error.cause)
        }
    }

    /// The steps of SQLite's machine: a statement over many rows runs the loops of its program once for each.
    private func estimatedSteps(_ statement: StoreScript.Statement, _ connection: Connection) throws -> Double {
        guard statement.rows.progress > 10_000 else { return .infinity }
        var loops: Int64 = 0
        try connection.forEachRow("EXPLAIN \(statement.sql)") { row in
            // Next and SorterNext jump back to where their loop begins, which their second operand says; so does the Goto of
            // an INSERT that takes its rows from another loop. The Goto to 1 ends the preparations, which come last.
            guard let opcode = row.text(1), opcode.hasSuffix("Next") || opcode == "Goto" && row.integer(3) > 1 else {
                return
            }
            loops += max(row.integer(0) - row.integer(3) + 1, 0)
        }
        return Double(statement.rows.progress) * Double(max(loops, 1))
    }

    private func watch(_ compiled: Statement, at place: Place, _ steps: Double) {
        let (observer, system) = (observer, system)
        var last = system.monotonicNanoseconds
        // SQLite adds a statement's steps up when it pauses, and these never do.
        var taken = 0.0
        // One whose steps are not known, such as an index, is judged by the time.
        let (begun, expected) = (last, observer.expectedSeconds(of: place.part, at: last))
        compiled.connection.onProgress(every: 20_000) {
            taken += 20_000
            let now = system.monotonicNanoseconds
            guard now &- last > 50_000_000 else { return true }
            last = now
            let share =
                steps.isFinite
                ? min(taken / steps, 0.99) : RunClock.approach(system.seconds(since: begun, to: now) / expected)
            let rows = place.rowsBefore + Int64(share * Double(place.rows))
            observer.report(.change, place.start + share * place.part, rows: rows)
            return !observer.isCancelled()
        }
    }
}

/// One piece of work on another thread, or on this one at once, whose result is waited for.
///
/// The thread is not one of Dispatch's: a process that was forked, as for each store of a fleet, has none of those.
final class BackgroundWork<Value: Sendable>: @unchecked Sendable {
    // Written once before the thread ends, read only after it was waited for.
    private var result: Result<Value, any Error>?
    private var thread: JoinedThread?

    init(isSequential: Bool = false, _ body: @escaping @Sendable () throws -> Value) {
        thread = isSequential ? nil : .start { self.result = Result { try body() } }
        if thread == nil { result = Result { try body() } }
    }

    func wait() throws -> Value {
        thread?.wait()
        thread = nil
        guard let result else { throw CancellationError() }
        return try result.get()
    }

    /// Does nothing for a while.
    static func wait(seconds: Double) { usleep(UInt32(min(max(seconds, 0), 1_000) * 1e6)) }
}
