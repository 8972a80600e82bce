import MoultBasics
import MoultModel
import MoultObjects
import MoultSQLite
import MoultStore

/// The copy of a store that a script changes, with the unchanged store attached as `source`.
///
/// The copy of a dead process is never read, so it needs neither a journal nor synchronisation. The commit makes the
/// new store durable.
final class WorkingCopy {
    let path: String
    let connection: Connection
    let source: String
    /// The path of the store being migrated, next to its external data.
    private let store: String
    private let system: any System
    /// The relative times of the pieces of the pass.
    private var weights: [Double] = []

    /// - Parameters:
    ///   - source: a closed database file that does not change.
    ///   - path: the path of the new copy.
    ///   - store: the store being migrated.
    ///   - isKept: whether another process can continue with the copy if this one dies; the copy has a rollback journal
    ///     then.
    ///   - isMade: whether the copy already exists.
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
        // The first page, if the store uses a WAL: a call may end before anything else is written.
        try connection.proveWrites()
        try Self.limitMemory(of: connection, options)
        try connection.registerCoreDataStubs()
        try FormatFunctions.register(on: connection)
        try connection.attach(source, as: "source")
        try connection.execute("PRAGMA source.cache_size = -2048")
    }

    /// Limits the cache; larger sorts use files.
    static func limitMemory(of connection: Connection, _ options: MigrationOptions) throws {
        let kibibytes = max(options.cacheSize / 1024, 64)
        try connection.execute("PRAGMA temp_store = FILE; PRAGMA main.cache_size = -\(kibibytes)")
        if let folder = options.temporaryFolder { try connection.setTemporaryFolder(folder) }
    }

    func close() { connection.close() }

    /// Returns the rows of a pass that has run: those of its statements, and the objects that code has written.
    func rows(of pass: Pass) -> Int64 { pass.script.rows &+ connection.objectsWritten }

    /// Runs one pass to its end: the statements in one transaction, the policies, the verification, the steps and the
    /// rules.
    ///
    /// - Parameters:
    ///   - changed: called between the change and the verification.
    ///   - beforeSteps: called after the verification.
    /// - Throws: `verificationFailed`; `stageFailed` naming the step; `cancelled`.
    func perform(
        _ pass: Pass, noting trail: StepUndoLog, _ timings: PhaseTimings, _ observer: MigrationObserver,
        changed: () throws -> Void = {}, beforeSteps: () throws -> Void = {}
    ) throws {
        do {
            let begun = system.monotonicNanoseconds
            defer { timings.add(.change, since: begun) }
            for function in pass.functions { try connection.register(function) }
            weights = try pass.work(over: connection, size: try StoreState(connection).size)
            let runner = ScriptRunner(
                script: pass.script, observer: observer.piece(0, of: weights, in: pass))
            try connection.transaction { try runner.run(on: connection) }
            if let policies = pass.policies {
                let observer = observer.piece(1, of: weights, in: pass)
                try journalled { try policies.run(site(of: pass, observer)) }
                observer.report(.change, 1, rows: rows(of: pass))
            }
            try pass.settleLosses()
        }
        try changed()
        try pass.verify(connection, timings, observer)
        try beforeSteps()
        try timings.measure(.change) {
            try run(pass.steps, of: pass, noting: trail, observer)
            try pass.rules?.run(site(of: pass, observer))
            if pass.isCompacted {
                guard !observer.isCancelled() else { throw Executor.cancelled(store) }
                // It needs no journal: a copy that fails is not used.
                let observer = observer.piece(weights.count - 1, of: weights, in: pass)
                try observer.watching(
                    connection, as: .change, rows: { _ in self.rows(of: pass) },
                    during: { try StoreCompaction.run(on: connection, place: store) })
            }
            try connection.proveWrites()
        }
    }

    /// Runs the policies of a pass piece by piece, on a copy that has a journal.
    func perform(
        _ policies: PassPolicies, of pass: Pass, within pace: CallBudget, _ observer: MigrationObserver
    ) throws -> PolicyRecord {
        let record = try policies.run(site(of: pass, observer), within: pace)
        observer.report(.change, 1, rows: pass.script.rows &+ record.written)
        return record
    }

    private func run(
        _ steps: [Pass.Step], of pass: Pass, noting trail: StepUndoLog, _ observer: MigrationObserver
    ) throws {
        guard !pass.steps.isEmpty else { return }
        let digest = try StoreSnapshot(connection).catalogueDigest
        for (number, step) in pass.steps.enumerated() {
            guard !observer.isCancelled() else { throw Executor.cancelled(store) }
            let first = weights.count - pass.steps.count - (pass.isCompacted ? 1 : 0)
            let observer = observer.piece(first + number, of: weights, in: pass)
            trail.begin(step, on: self)
            do {
                // The code itself asks whether it is cancelled.
                try observer.watching(
                    connection, as: .change, isInterrupted: false, rows: { _ in self.rows(of: pass) },
                    during: { try journalled { try step.execute(site(of: pass, observer)) } })
            } catch {
                throw trail.failure(of: step, error)
            }
            observer.report(.change, 1, rows: rows(of: pass), step.sentence)
        }
        try pass.stepVerification.verify(connection, catalogueDigest: digest)
    }

    private func site(of pass: Pass, _ observer: MigrationObserver) -> CodeContext {
        CodeContext(
            connection: connection, source: source,
            external: ExternalStorage(ofWorkingCopy: path, of: store), system: system,
            report: { observer.report(.change, $0, rows: self.rows(of: pass), $1) },
            isCancelled: observer.isCancelled,
            allowsLargeQuarantine: pass.allowsLargeQuarantine)
    }

    /// Runs `body` with a rollback journal, because code may catch a failed transaction and continue.
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

/// The passes of a run or a rehearsal, each with a copy of the previous pass's result. A later pass is bound to that
/// copy.
final class PassCopies {
    private var pass: Pass
    private let folder: String
    private let store: String
    private let options: MigrationOptions
    private let system: any System
    /// The number of passes so far.
    private var count = 0
    private var copy: WorkingCopy?
    /// The file that the next pass copies; after the last pass, its result.
    private(set) var path: String

    /// - Parameters:
    ///   - source: the file that the first pass copies.
    ///   - folder: the folder of the copies.
    ///   - store: the store being migrated.
    init(
        of pass: Pass, on source: String, in folder: String, for store: String, _ options: MigrationOptions,
        _ system: any System
    ) {
        (self.pass, path, self.folder, self.store) = (pass, source, folder, store)
        (self.options, self.system) = (options, system)
    }

    /// Closes the copy of the previous pass and makes the next one; returns nil after the last pass.
    ///
    /// - Parameter size: the size of the store in bytes.
    func next(
        _ timings: PhaseTimings, _ observer: MigrationObserver, size: Int64
    ) throws -> (pass: Pass, copy: WorkingCopy)? {
        close()
        if count > 0, pass.next == nil { return nil }
        count += 1
        let name = count == 1 ? StoreRecords(store: store).nameOfCopy : "pass-\(count)"
        let copy = try timings.measure(.copy) {
            try system.makeFolder(folder)
            // A call in one piece that died may have left it.
            try system.removeDatabase(Path.join(folder, name))
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

extension System {
    /// Removes a database that a call which died may have left.
    func removeDatabase(_ path: String) throws {
        for suffix in ["", "-journal"] { try remove(path + suffix) }
    }
}
