import MoultBasics
import MoultSQLite
import MoultStore

/// The seconds that each phase of a run is expected to take, from bytes and rows.
///
/// Only their proportions matter: the speed of the machine shows while the run continues (``MachineSpeed``).
package struct Estimate: Sendable, Equatable {
    let seconds: [MigrationProgress.Phase: Double]
    /// Whether app code does part of the phase `change`, so that its pace does not reflect SQLite's.
    let hasCode: Bool

    init(_ seconds: [MigrationProgress.Phase: Double], hasCode: Bool = false) {
        self.seconds = seconds
        self.hasCode = hasCode
    }

    /// The estimate for an unknown run: the backup is done at 0.1, and the change begins at 0.2.
    static let milestones = Estimate([.backup: 0.1, .copy: 0.1, .change: 0.6, .verify: 0.1, .commit: 0.1])

    var total: Double { MigrationProgress.Phase.allCases.reduce(0) { $0 + seconds[$1, default: 0] } }

    /// Returns the part of the whole run that a phase takes, 0 to 1.
    func range(of phase: MigrationProgress.Phase) -> ClosedRange<Double> {
        let total = total
        guard total > 0, phase != .done else { return phase == .done ? 1...1 : 0...0 }
        let before = MigrationProgress.Phase.allCases.prefix { $0 != phase }.reduce(0) { $0 + seconds[$1, default: 0] }
        let start = min(before / total, 1)
        return start...max(start, min((before + seconds[phase, default: 0]) / total, 1))
    }
}

// MARK: - Estimates before a run

extension Estimate {
    /// The share of copying pages in making a verified backup.
    static let copyingShare = CostModel.backup / (CostModel.backup + CostModel.proof)

    /// Estimates a migration of a store of `size` bytes.
    ///
    /// - Parameters:
    ///   - connection: the connection to the store.
    ///   - keepsNothing: whether it is a rehearsal, without a commit.
    init(_ migration: Pass, over connection: Connection, size: Int64, keepsNothing: Bool = false) throws {
        let work = try migration.work(over: connection, size: size).reduce(0, +)
        let size = Double(size)
        let isOfCatalogue = migration.script.isInPlace
        if isOfCatalogue || migration.staysInStore {
            let copied = migration.script.needsBackup ? size : 0
            // The backup is proven alongside both, and the commit waits for it.
            let isWhole = migration.script.writesRows || !migration.verification.narrows
            let verification =
                isOfCatalogue
                ? CostModel.verificationInPlace
                : isWhole ? size * (CostModel.verify + CostModel.soundness) : CostModel.verificationOfChanges
            self.init([
                .backup: copied * CostModel.backup, .change: work + CostModel.statement,
                .verify: max(verification, copied * CostModel.proof - work),
                .commit: keepsNothing ? 0 : CostModel.smallCommit + (isOfCatalogue ? 0 : work),
            ])
            return
        }
        // Each further pass copies and verifies once more.
        let passes = 1 / max(migration.span.upperBound - migration.span.lowerBound, 0.01)
        let further = (passes - 1) * size * (CostModel.copy + CostModel.verify)
        let wait = keepsNothing ? 0 : max(0, size * (CostModel.proof - CostModel.copy) - work)
        self.init(
            [
                .backup: size * CostModel.backup, .copy: size * CostModel.copy, .change: work * passes + further + wait,
                .verify: size * CostModel.verify, .commit: keepsNothing ? 0 : size * CostModel.commit,
            ], hasCode: migration.policies != nil || !migration.steps.isEmpty)
    }

    /// Estimates restoring a backup, from its size and the size of the present store, which is backed up first.
    package init(restoring size: Int64, over present: Int64) {
        self.init([
            .backup: Double(present) * (CostModel.backup + CostModel.proof), .commit: Double(size) * CostModel.commit,
        ])
    }

    /// Estimates deferred tasks of `seconds`, after a backup of `size` bytes.
    init(finishing seconds: Double, backup size: Int64) {
        self.init([
            .backup: Double(size) * (CostModel.backup + CostModel.proof), .change: seconds + CostModel.statement,
        ])
    }
}

extension Pass {
    /// Returns the seconds of each piece of this pass's phase `change`: the script, the policies, each step, and giving
    /// back the free pages.
    ///
    /// - Parameters:
    ///   - connection: the connection to the store or the copy, before the script has run.
    ///   - size: the size of the store in bytes.
    func work(over connection: Connection, size: Int64) throws -> [Double] {
        let sizes = script.rows > 0 || !steps.isEmpty ? try TableSizes(over: connection) : nil
        let code = policies.map { [Double($0.objects) * CostModel.object] } ?? []
        // A step without statements before it, such as a repair, passes through all rows.
        let rows = script.rows > 0 ? script.rows : sizes?.all ?? 0
        return [script.costs(by: sizes).reduce(CostModel.statement, +)] + code
            + steps.map { _ in Double(max(rows, 1)) * CostModel.step }
            + (isCompacted ? [Double(size) * (CostModel.write + CostModel.copy)] : [])
    }
}

extension StoreScript {
    /// The rows of all statements, the unit of progress.
    var rows: Int64 { statements.reduce(0) { $0 + $1.rows.progress } }

    /// Returns about how many seconds each statement takes.
    ///
    /// - Parameter connection: the connection to the store or the copy, before the script has run.
    func costs(over connection: Connection) throws -> [Double] {
        try costs(by: rows > 0 ? TableSizes(over: connection) : nil)
    }

    /// - Parameter sizes: the table sizes; may be nil if no statement touches rows.
    func costs(by sizes: TableSizes?) -> [Double] {
        guard rows > 0, let sizes else { return statements.map { _ in CostModel.catalogue } }
        var last: Int64 = 0
        return statements.map { statement in
            if case .counted(let count) = statement.rows, count > 0 { last = count }
            return statement.seconds(statement.rowsTouched(sizes.rows, last), of: sizes.bytesOfRow)
        }
    }
}

extension StoreScript.Statement {
    /// Returns the rows that a statement touches. A statement without a count, such as an index, reads the largest
    /// table that it uses.
    fileprivate func rowsTouched(_ sizes: [String: Int64], _ last: Int64) -> Int64 {
        if case .counted(let count) = rows { return count }
        return reads.union([table]).compactMap { sizes[$0] }.max() ?? rows.bound ?? last
    }

    /// Returns about how long the statement takes, beyond the cost of any statement.
    ///
    /// - Parameters:
    ///   - rows: the number of rows that it touches.
    ///   - bytes: the average size of a row and its index entries.
    func seconds(_ rows: Int64, of bytes: Double) -> Double {
        Double(rows) * CostModel.row(of: kind, bytes: bytes)
    }
}

/// The approximate sizes of a store's tables.
package struct TableSizes {
    /// The highest key by table; no row is counted.
    private(set) var rows: [String: Int64] = [:]
    /// The average number of bytes of a row and its index entries.
    let bytesOfRow: Double

    init(over connection: Connection) throws {
        let tables = "SELECT name FROM main.sqlite_master WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL%'"
        for name in try connection.attempt({ try connection.rows(tables) { $0.text(0) ?? "" } }) ?? [] {
            // A table without a rowid has no highest one.
            let highest = try connection.attempt {
                try connection.integer("SELECT max(rowid) FROM main.\(name.quotedName)")
            }
            rows[name] = highest ?? nil
        }
        let size = try connection.attempt { try StoreState(connection).size } ?? 0
        bytesOfRow = Double(size) / max(rows.values.reduce(0.0) { $0 + Double($1) }, 1)
    }

    /// The approximate number of rows of all tables. The keys of a damaged store can be any number.
    var all: Int64 { rows.values.reduce(0) { $0 &+ min(max($1, 0), 1 << 40) } }

    /// Returns the rows of all tables, as the size of pieces of metered work; 1 without a meter.
    package static func metered(over connection: Connection) throws -> Int64 {
        WorkMeter.current == nil ? 1 : try TableSizes(over: connection).all
    }
}

/// The expected needs of a migration, before it begins.
package struct RunNeeds: Sendable, Equatable {
    /// The expected total time, from bytes and rows.
    package var seconds: Double
    /// The space that the run will need.
    package var space: SpaceRequirement
    /// The same space by volume.
    package var volumes: [SpaceRequirement.Volume]
}

extension Migrator {
    /// - Throws: what reading a damaged store throws.
    package func needs(of migration: Pass, on store: String) throws -> RunNeeds {
        try ReadOnlyStore.read(store, system: system) { probe in
            let estimate = try Estimate(
                migration, over: probe.connection, size: StoreState(probe.connection).size)
            let space = try SpaceRequirement(
                migration, over: probe.connection, StoreRecords(store: probe.path), options,
                backups: backups(of: probe.path).folder, isPaced: options.isPaced, system)
            return RunNeeds(seconds: estimate.total, space: space, volumes: try space.volumes(system))
        }
    }
}
