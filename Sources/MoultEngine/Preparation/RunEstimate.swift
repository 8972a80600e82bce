import MoultSQLite
import MoultStore

/// The seconds that each phase of a run is expected to take, from bytes and rows.
///
/// Only their proportions count: how fast the machine is shows while the run continues (``RunClock``).
struct RunEstimate: Sendable, Equatable {
    let seconds: [MigrationProgress.Phase: Double]
    /// Whether an app's code does part of the phase `change`, whose pace says nothing of SQLite's.
    let hasCode: Bool

    init(_ seconds: [MigrationProgress.Phase: Double], hasCode: Bool = false) {
        self.seconds = seconds
        self.hasCode = hasCode
    }

    /// The estimate where nothing is known: the backup made at 0.1, the change from 0.2 on.
    static let milestones = RunEstimate([.backup: 0.1, .copy: 0.1, .change: 0.6, .verify: 0.1, .commit: 0.1])

    var total: Double { MigrationProgress.Phase.allCases.reduce(0) { $0 + seconds[$1, default: 0] } }

    /// The part of the whole that a phase is, 0 to 1.
    func range(of phase: MigrationProgress.Phase) -> ClosedRange<Double> {
        let total = total
        guard total > 0, phase != .done else { return phase == .done ? 1...1 : 0...0 }
        let before = MigrationProgress.Phase.allCases.prefix { $0 != phase }.reduce(0) { $0 + seconds[$1, default: 0] }
        let start = min(before / total, 1)
        return start...max(start, min((before + seconds[phase, default: 0]) / total, 1))
    }
}

// MARK: - What is known before a run

extension RunEstimate {
    /// The part of a verified backup that is the copying of its pages.
    static let copyingShare = WorkCost.backup / (WorkCost.backup + WorkCost.proof)

    /// A migration of a store of `size` bytes.
    ///
    /// - Parameters:
    ///   - costs: seconds of each statement of the first pass.
    ///   - keepsNothing: whether it is a rehearsal, without a commit.
    init(_ migration: Migration, _ costs: [Double], size: Int64, keepsNothing: Bool = false) {
        let size = Double(size)
        let work = migration.work(costs).reduce(0, +)
        let isOfCatalogue = migration.script.isInPlace
        if isOfCatalogue || migration.staysInStore {
            let copied = migration.script.needsBackup ? size : 0
            // The backup is proven beside both, and the commit waits for it.
            let isWhole = migration.script.writesRows || !migration.verification.narrows
            let verification = isOfCatalogue ? 1e-3 : isWhole ? size * (WorkCost.verify + WorkCost.soundness) : 1e-2
            self.init([
                .backup: copied * WorkCost.backup, .change: work + 1e-3,
                .verify: max(verification, copied * WorkCost.proof - work),
                .commit: keepsNothing ? 0 : isOfCatalogue ? 1e-2 : 1e-2 + work,
            ])
            return
        }
        // Each further pass copies and verifies once more.
        let passes = 1 / max(migration.span.upperBound - migration.span.lowerBound, 0.01)
        let further = (passes - 1) * size * (WorkCost.copy + WorkCost.verify)
        let wait = keepsNothing ? 0 : max(0, size * (WorkCost.proof - WorkCost.copy) - work)
        self.init(
            [
                .backup: size * WorkCost.backup, .copy: size * WorkCost.copy, .change: work * passes + further + wait,
                .verify: size * WorkCost.verify, .commit: keepsNothing ? 0 : size * WorkCost.commit,
            ], hasCode: migration.policies != nil || !migration.steps.isEmpty)
    }

    /// A backup put back: of the bytes of the present store, which is backed up, and of those of the backup.
    init(restoring size: Int64, over present: Int64) {
        self.init([
            .backup: Double(present) * (WorkCost.backup + WorkCost.proof), .commit: Double(size) * WorkCost.commit,
        ])
    }

    /// Deferred tasks of so many seconds, after a backup of so many bytes.
    init(finishing seconds: Double, backup size: Int64) {
        self.init([.backup: Double(size) * (WorkCost.backup + WorkCost.proof), .change: seconds + 1e-3])
    }
}

extension Migration {
    /// Seconds of each piece of the phase `change` of this pass: the script, the policies, each step.
    func work(_ costs: [Double]) -> [Double] {
        [costs.reduce(WorkCost.statement, +)] + (policies.map { [Double($0.objects) * WorkCost.object] } ?? [])
            + steps.map { _ in Double(max(script.rows, 1)) * WorkCost.step }
    }
}

extension StoreScript {
    /// Rows of all statements, the unit of progress.
    var rows: Int64 { statements.reduce(0) { $0 + $1.rows.progress } }

    /// About how many seconds each statement takes.
    ///
    /// - Parameter connection: to the store, or the copy, before the script has run.
    func costs(over connection: Connection) throws -> [Double] {
        try costs(by: rows > 0 ? TableSizes(over: connection) : nil)
    }

    /// - Parameter sizes: may be nil where no statement has rows.
    func costs(by sizes: TableSizes?) -> [Double] {
        // The catalogue alone changes, which takes no time that could be told.
        guard rows > 0, let sizes else { return statements.map { _ in 1e-6 } }
        var last: Int64 = 0
        return statements.map { statement in
            if case .counted(let count) = statement.rows, count > 0 { last = count }
            return statement.seconds(statement.rowsTouched(sizes.rows, last), of: sizes.bytesOfRow)
        }
    }
}

extension StoreScript.Statement {
    /// One whose rows were not counted, such as an index, goes through the largest table that it changes or reads.
    fileprivate func rowsTouched(_ sizes: [String: Int64], _ last: Int64) -> Int64 {
        if case .counted(let count) = rows { return count }
        return reads.union([table]).compactMap { sizes[$0] }.max() ?? rows.bound ?? last
    }

    /// About how long it takes, beside what any statement takes.
    ///
    /// - Parameters:
    ///   - rows: how many it touches.
    ///   - bytes: what a row and its index entries take, on average.
    func seconds(_ rows: Int64, of bytes: Double) -> Double {
        let secondsForEachRow =
            switch kind {
            case .fill: WorkCost.insert + bytes * WorkCost.write
            case .update, .dropColumn: WorkCost.update
            // A table's pages become free.
            case .delete, .dropTable, .dropIndex, .dropTrigger, .dropView: WorkCost.drop
            case .createTable, .renameTable, .addColumn, .retypeColumns, .renameColumn, .createIndex, .createTrigger,
                .metadata:
                WorkCost.sort
            }
        return Double(rows) * secondsForEachRow
    }
}

/// About what the tables of a store hold.
struct TableSizes {
    /// By table, its highest key: no row is counted.
    private(set) var rows: [String: Int64] = [:]
    /// The average number of bytes of a row and its index entries.
    let bytesOfRow: Double

    init(over connection: Connection) throws {
        let tables = "SELECT name FROM main.sqlite_master WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL%'"
        for name in try connection.attempt({ try connection.rows(tables) { $0.text(0) ?? "" } }) ?? [] {
            // One without a rowid has none to be told.
            let highest = try connection.attempt {
                try connection.integer("SELECT max(rowid) FROM main.\(name.quotedName)")
            }
            rows[name] = highest ?? nil
        }
        let size = try connection.attempt { try StoreState(connection).size } ?? 0
        bytesOfRow = Double(size) / max(rows.values.reduce(0.0) { $0 + Double($1) }, 1)
    }
}

/// About how many seconds each kind of work takes: for the phases of a whole run (``RunEstimate``), and for the units
/// of one with a budget (``MigrationUnits``).
///
/// Measured with optimisation on two slow cores, next to Documentation/Performance.md. A run finds out how fast its
/// machine is (``RunClock``, ``MigrationPace``); what counts before it is how long one kind of work takes next to
/// another.
enum WorkCost {
    // MARK: A byte of the store

    /// All pages through SQLite.
    static let backup = 1.25e-9
    /// Synchronising what was written, and checking its pages.
    static let soundness = 1.8e-9
    static let digest = 1.0e-9
    static let proof = soundness + digest
    static let copy = 1.2e-9
    /// All of the verification, its pages checked next to it.
    static let verify = 6.3e-9
    /// The pages through a log, synchronised, and from there into the store's own file.
    static let commit = 2.6e-9
    /// The second part of it, for a store in WAL mode.
    static let writeBack = 0.8e-9
    /// Synchronising what a call has written.
    static let synchronisation = 1.5e-9
    static let write = 2.5e-9

    // MARK: A row

    /// Counting it, and what a plan asks before anything is done.
    static let look = 0.2e-6
    static let insert = 0.3e-6
    static let update = 0.55e-6
    static let drop = 0.2e-6
    /// A large sort, as for an index.
    static let sort = 0.45e-6
    static let comparison = 0.6e-6
    /// One question to all rows, such as whether what they refer to is there.
    static let question = 0.1e-6
    /// A pair of keys looked up on both sides.
    static let link = 0.5e-6

    // MARK: An object

    /// Through an app's migration policy. All others are SQLite's work, which a build without optimisation does as fast.
    #if DEBUG
        static let object = 2e-5
    #else
        static let object = 6e-6
    #endif
    /// Through a step.
    static let step = 1e-5

    // MARK: What takes some time whatever the size

    /// A statement that touches no row.
    static let statement = 1e-3
    /// Files opened, written and synchronised.
    static let files = 5e-3
    /// The work that every call with a budget does before its first unit.
    static let call = 0.03
}

/// The expected needs of a run of a migration, before it begins.
package struct RunNeeds: Sendable, Equatable {
    /// The time of all of it, from bytes and rows.
    package var seconds: Double
    /// The room that the run will ask for.
    package var space: SpaceRequirement
    /// The same by volume.
    package var volumes: [SpaceRequirement.Volume]
}

extension Migrator {
    /// - Throws: what reading a damaged store throws.
    package func needs(of migration: Migration, on store: String) throws -> RunNeeds {
        try StoreProbe.read(store, system: system) { probe in
            let state = try StoreState(probe.connection)
            let estimate = RunEstimate(
                migration, try migration.script.costs(over: probe.connection), size: state.size)
            let space = try SpaceRequirement(
                migration, on: state, Sidecar(store: probe.path), options, backups: backups(of: probe.path).folder,
                system)
            return RunNeeds(seconds: estimate.total, space: space, volumes: try space.volumes(system))
        }
    }
}
