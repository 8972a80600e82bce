import MoultBasics
import MoultModel
import MoultObjects
import MoultSQLite
import MoultStore

/// The work that one run does on a store, as values that can be printed and compared. The engine carries it out.
package struct Pass: Sendable {
    package var script: StoreScript
    /// The names of the versions, for the backup, the history and the messages.
    package var from: String
    package var to: String
    /// The kind of operation, for the history.
    package var operation = Journal.Operation.migrate
    /// The reason for the backup made at the start of the run.
    package var reason = StoreBackup.Manifest.Reason.migration
    /// The functions that the script calls.
    package var functions: [SQLiteFunction]
    /// Files that the new store refers to: written before the commit, and removed if it does not happen.
    package var newExternalFiles: [ExternalFile]
    /// The migration policies that fill what the statements leave to them, after the script and before the
    /// verification.
    var policies: PassPolicies?
    /// The reports of the passes: one ledger for all of them, updated by the code that they run.
    package var ledger = LossAccounting()
    /// The losses of the pass, settled after its policies have run and before its steps run.
    var losses: LossCheck?
    /// Steps that change objects freely, after the verification; their result is not compared with the old store.
    package var steps: [Step] = []
    /// The rules that the store must satisfy after the steps.
    var rules: RuleRun?
    /// The findings of rules; one log for all passes.
    package var ruleLog: RuleLog?
    /// Whether the steps may quarantine more than a quarter of an entity's objects.
    package var allowsLargeQuarantine = false
    /// The part of all passes' work that this pass does, 0 to 1.
    package var span: ClosedRange<Double> = 0...1
    /// The number of working copies that are kept until the end, because steps may have to be undone on them.
    package var keptCopies = 0
    /// The free pages of the store that are given back, once all else is done; nil to leave them.
    package var freePages: FreePages?
    var isCompacted: Bool { freePages != nil }
    /// The amount by which the store may grow; nil if it keeps its size, but for ``newBytes``.
    var growth: StoreGrowth?
    /// The most bytes by which a repair enlarges the store.
    package var newBytes: Int64 = 0
    /// The facts found in the rows when this was planned; nil if the rows were not read.
    package var rowFacts: BoundPlan.RowFacts?
    /// The checks made under the lock before any change, such as that the store is the one planned for.
    package var preconditions: [any StoreCheck]
    /// The error that refuses a run before the pass begins, because of an undeclared loss.
    package var lossRefusal: MigrationError?
    /// The verification of the new store: `main` is the new store, the schema `source` the old one. A change in place
    /// has no `source`.
    package var verification: Verification
    /// The verification that the steps have left a valid store of the version.
    package var stepVerification = StepVerification.none
    /// The files of external data that are moved away once the store is committed, under the same lock.
    package var unnamedFiles: UnnamedFiles?
    /// Entries of the metadata that the new store gets once it is verified.
    package var metadataEntries: [String: PropertyList] = [:]
    /// The pass after this one, if the path takes several. All passes run on working copies; the store sees one commit,
    /// of the last pass.
    package var next: NextPass?

    /// Creates a pass that by default only copies the store over itself: the identity migration.
    package init(
        _ script: StoreScript = StoreScript(statements: []), from: String = "", to: String = "",
        functions: [SQLiteFunction] = [], newExternalFiles: [ExternalFile] = [],
        preconditions: [any StoreCheck] = [], verification: Verification = .soundness
    ) {
        self.script = script
        self.from = from
        self.to = to
        self.functions = functions
        self.newExternalFiles = newExternalFiles
        self.preconditions = preconditions
        self.verification = verification
    }

    /// Whether the store itself is changed next to its backup: no table is rebuilt, and no code runs.
    var staysInStore: Bool {
        script.place == .store && policies == nil && steps.isEmpty && rules == nil && ruleLog == nil && next == nil
            && newExternalFiles.isEmpty
    }

    /// Returns the other options of the pass's command that help when space is short.
    package func ways(_ options: MigrationOptions) -> [SpaceRequirement.Way] {
        operation.ways.filter { way in
            !options.excludedWays.contains(way) && (way != .deferred || canBeDeferred)
        }
    }

    private var canBeDeferred: Bool {
        policies == nil && steps.isEmpty && rules == nil && ruleLog == nil && next == nil
            && growth?.plan.canBeDeferred == true
    }

    /// Whether only the size of the store bounds what is sorted at once, as with an app's code.
    var sortsUnknown: Bool {
        guard policies == nil, steps.isEmpty, rules == nil, next == nil else { return true }
        return growth == nil && script.statements.contains { $0.kind == .createIndex }
    }

    /// Reports the losses of the pass.
    ///
    /// - Throws: `lossNotAccepted`.
    func settleLosses() throws {
        guard let losses else { return }
        ledger.add(try losses.settled(by: ledger.reads(forPass: losses.position)))
    }

    /// Verifies the new store, as read from its file, and writes what must be in it from the commit on. Cancelling ends
    /// the verification at once.
    func verify(_ connection: Connection, _ timings: PhaseTimings, _ observer: MigrationObserver) throws {
        let isLast = next == nil && steps.isEmpty && !isCompacted
        try timings.measure(.verify) {
            let own = try Self.ownTables(of: connection)
            try connection.proveWrites()
            try connection.forgetPages()
            guard try Self.ownTables(of: connection) == own else {
                throw MigrationError.changedOnTheWay(connection.path)
            }
            let phase: MigrationProgress.Phase? = isLast ? .verify : nil
            if let phase { observer.report(phase, 0, rows: observer.totalRows) }
            try observer.watching(connection, as: phase) { try verification.run(on: connection) }
        }
        try writeMetadataEntries(connection)
    }

    /// Returns the catalogue and the store's own tables, which no verification compares value by value.
    private static func ownTables(of connection: Connection) throws -> [[SQLiteValue]] {
        let names = Set(try connection.catalogue().tables.map(\.name)).intersection(StoreSnapshot.coreTables)
        return try (["sqlite_master"] + names.sorted()).flatMap { name in
            try connection.rows("SELECT * FROM main.\(name.quotedName)") { row in
                (0..<row.columnCount).map { row.value($0) }
            }
        }
    }

    func writeMetadataEntries(_ connection: Connection) throws {
        guard !metadataEntries.isEmpty else { return }
        var metadata = try StoreMetadata(from: connection)
        metadata.entries.merge(metadataEntries) { $1 }
        try metadata.write(to: connection)
        try connection.proveWrites()
        try connection.forgetPages()
        guard try StoreMetadata(from: connection).entries == metadata.entries else {
            throw MigrationError.changedOnTheWay(connection.path)
        }
    }
}

/// A file of external data, by its name in `_EXTERNAL_DATA`.
package struct ExternalFile: Sendable, Equatable {
    package var name: String
    package var contents: [UInt8]

    package init(name: String, contents: [UInt8]) {
        self.name = name
        self.contents = contents
    }
}

/// The options of a run; the defaults are the safe ones.
package struct MigrationOptions: Sendable {
    /// The folder of the backups; nil for the sidecar.
    package var backupFolder: String?
    /// Whether the copy that the script reads is removed before the commit instead of being kept as a backup. A frugal
    /// run needs less space and cannot be rolled back.
    package var isFrugal: Bool
    package var retention: RetentionPolicy
    /// The folder for large sorts; nil for the sidecar, on the store's volume.
    package var temporaryFolder: String?
    /// The milliseconds to wait for a process that is about to release the store.
    package var patience: Int32
    /// The bytes of SQLite's cache for the store that is changed. Sorting takes as much again, and is fastest when it
    /// fits in the processor's cache: two mebibytes sort an index in six tenths of the time that sixteen take.
    package var cacheSize: Int64
    /// The number of consecutive runs between the same versions that may die before another run is refused.
    package var maximumAttempts = 5
    /// Whether everything runs on one thread, so that a run makes the same calls in the same order each time.
    package var isSequential = false
    /// The number of keys in the first piece of a long statement, in a run with a budget.
    package var keysPerPiece: Int64 = 20_000
    /// Whether the run has a budget.
    package var isPaced = false
    /// The options that the request excludes, although they would take less space.
    package var excludedWays: Set<SpaceRequirement.Way> = []
    /// The request that the run is part of, for its journal; nil if none is to be kept.
    package var request: JSONValue?

    package init(
        backupFolder: String? = nil, isFrugal: Bool = false, retention: RetentionPolicy = RetentionPolicy(),
        temporaryFolder: String? = nil, patience: Int32 = 2_000, cacheSize: Int64 = 2 << 20
    ) {
        self.backupFolder = backupFolder
        self.isFrugal = isFrugal
        self.retention = retention
        self.temporaryFolder = temporaryFolder
        self.patience = patience
        self.cacheSize = cacheSize
    }
}

/// The result of a run.
package struct MigrationOutcome: Sendable, Equatable {
    package var run: String
    /// The backup to go back to; nil after a frugal run.
    package var backup: StoreBackup?
    /// The remaining backups of the intermediate versions, if the migration has stopped at each.
    package var backupsOnTheWay: [String] = []
    /// The rows that the scripts of all passes were estimated to touch.
    package var rows: Int64
    package var bytesBefore: Int64
    package var bytesAfter: Int64
    /// Seconds by phase, in the order of the phases.
    package var seconds: [Timing]
    /// The outcome of recovering an earlier, unfinished run.
    package var recovery: RecoveryOutcome
    /// The space that the run required, with each reason.
    package var space: SpaceRequirement
    /// Backups that the retention policy removed.
    package var pruned: [String]
    /// The reason why cleanup was left to the next run, as on a full volume; nil if all was cleaned up.
    package var untidied: MigrationError?
    /// The outcomes for objects of entity mappings with migration policies, pass by pass.
    package var policies: [InstanceCounts] = []
    /// The counted data that is not in the new store.
    package var losses: [MigrationLoss] = []
    /// The findings of rules, and the changes that their fixes have made.
    package var rules: [RuleReport] = []
    /// The number of objects that this run has quarantined.
    package var quarantined: Int64 = 0

    /// A sentence for each backup that the retention policy removed.
    package var removals: [String] { pruned.map(BackupFolder.removal) }

    package struct Timing: Sendable, Equatable {
        package var phase: MigrationProgress.Phase
        package var seconds: Double
    }

    package var totalSeconds: Double { seconds.reduce(0) { $0 + $1.seconds } }
}

extension Pass {
    /// Creates the pass for a bound plan: its script, the check that the store is still the one planned for, and the
    /// verification of the result.
    ///
    /// - Parameters:
    ///   - store: the resolved path of the store, next to which its external data lies.
    ///   - from: the name of the version that made the store.
    ///   - workingCopy: the path of the copy that an earlier pass has made, next to which new external data may lie.
    ///   - followsCode: whether an earlier pass runs code, which may leave required values empty.
    /// - Throws: `dataConflict` if the rows do not fit the new version; `unsupported` if the plan cannot run in place.
    package init(
        _ plan: BoundPlan, on store: String, from: String, workingCopy: String? = nil, followsCode: Bool = false,
        _ choice: StoreScript.Choice = .normalised, system: any System
    ) throws {
        if let obstacle = plan.obstacle { throw obstacle }
        let script = try StoreScript(plan, choice)
        let external =
            workingCopy.map { ExternalStorage(ofWorkingCopy: $0, of: store) } ?? ExternalStorage(store: store)
        let functions = script.functions { name in
            guard StoreVerification.isPlainName(name) else { throw StoreVerification.strangeFile(name, store) }
            return try external.contents(of: name, on: system) ?? system.read(Path.join(external.folder, name))
        }
        let check = StoreVerification(
            plan, store: store, keeping: script.kept, followsCode: followsCode, system: system)
        self.init(
            script, from: from, to: plan.target.name, functions: functions,
            preconditions: [UnchangedStore(binding: plan.binding, store: store)],
            verification: script.isInPlace ? Verification(CatalogueCheck(verification: check)) : Verification(of: check)
        )
        growth = StoreGrowth(plan: plan)
        stepVerification = .plan(check)
    }
}
