import MoultSQLite

/// Rough costs of each kind of work, in seconds. They serve the phases of a whole run, the units of a call with a
/// budget, deferred tasks, and the choice between two ways to change a table.
///
/// Measured with optimisation on two slow cores, together with Documentation/Performance.md. A run measures the speed
/// of its machine; until then, only the proportions of the numbers matter.
package enum CostModel {
    // MARK: Per byte of the store

    /// A backup of all pages through SQLite.
    package static let backup = 1.25e-9
    /// Synchronising the written file, and checking its pages.
    package static let soundness = 1.8e-9
    package static let digest = 1.0e-9
    package static let proof = soundness + digest
    /// Copying the pages, and reading them back to compare them.
    package static let copy = 2.8e-9
    /// The whole verification, including the page check that runs alongside it.
    package static let verify = 6.3e-9
    /// Writing the pages to a log, synchronising it, and copying them into the store's own file; both are read back and
    /// compared.
    package static let commit = 6.0e-9
    /// The final copying into the store's own file, for a store in WAL mode.
    package static let writeBack = 1.6e-9
    /// Synchronising the data written by a call.
    package static let synchronisation = 1.5e-9
    package static let write = 2.5e-9

    // MARK: Per row

    /// Counting the row, and the queries of a plan before anything is done.
    package static let look = 0.2e-6
    package static let insert = 0.3e-6
    package static let update = 0.55e-6
    package static let drop = 0.2e-6
    /// A share of a large sort, as for an index.
    package static let sort = 0.45e-6
    package static let comparison = 0.6e-6
    /// One query over all rows, such as a check that the rows they refer to exist.
    package static let question = 0.1e-6
    /// Looking up a pair of keys on both sides.
    package static let link = 0.5e-6

    // MARK: Per object

    /// Passing through an app's migration policy. All other work is SQLite's, which is as fast without optimisation.
    #if DEBUG
        package static let object = 2e-5
    #else
        package static let object = 6e-6
    #endif
    /// Passing through a step.
    package static let step = 1e-5

    // MARK: Fixed costs

    /// A statement that affects no rows.
    package static let statement = 1e-3
    /// A statement that changes only the catalogue, in negligible time.
    package static let catalogue = 1e-6
    /// Opening, writing and synchronising files.
    package static let files = 5e-3
    /// The work of every call with a budget before its first unit.
    package static let call = 0.03
    /// A whole change in place, as one unit of a budget; the verification of a change of the catalogue; the
    /// verification of a store whose tables are kept; and the commit of either.
    package static let inPlace = 0.05
    package static let verificationInPlace = 1e-3
    package static let verificationOfChanges = 1e-2
    package static let smallCommit = 1e-2

    /// Returns the cost of all work on a store of which only the size is known, as for a fleet.
    package static func store(bytes: Int64) -> Double { 0.03 + Double(bytes) * 1.5e-8 }

    // MARK: Per object of the catalogue

    /// Returns the approximate seconds SQLite needs for each object of the catalogue, whose text it parses again.
    package static func parsing(for kind: StoreScript.Statement.Kind) -> Double {
        switch kind {
        case .addColumn, .retypeColumns: 12e-6
        case .renameColumn: 90e-6
        case .renameTable, .dropColumn: 50e-6
        default: 0
        }
    }

    /// Returns the approximate seconds of a migration that rebuilds every table; at least one second, because faster
    /// migrations are not compared.
    static func rebuilding(objects: Int, rows: Double, bytes: Int64 = 0) -> Double {
        max(Double(objects) * 1e-3 + rows * 5e-6 + Double(bytes) * 17e-9, 1)
    }

    // MARK: Per statement

    /// Returns the approximate seconds a statement takes for each row, in addition to its fixed cost.
    ///
    /// - Parameter bytes: the average size of a row and its index entries.
    package static func row(of kind: StoreScript.Statement.Kind, bytes: Double) -> Double {
        switch kind {
        case .fill: insert + bytes * write
        case .update, .dropColumn: update
        // Freeing the pages of a table.
        case .delete, .dropTable, .dropIndex, .dropTrigger, .dropView: drop
        case .createTable, .renameTable, .addColumn, .retypeColumns, .renameColumn, .createIndex, .createTrigger,
            .metadata:
            sort
        }
    }

    /// The size of a pair of keys with its indexes, which no object count includes.
    package static let bytesOfPair: Int64 = 60
}

// MARK: - Budgets

extension CostModel {
    /// The factor by which a unit may exceed its expected time before its call ends late.
    package static let margin = 1.3
    /// The same factor for a commit. Synchronisation time varies most of all, and a commit cannot be interrupted.
    package static let commitMargin = 2.5
    /// The factor on the longest unit that must fit into a budget, because some indexes take longer than others.
    package static let spare = 1.2
    /// The time reserved for the end of a call, in addition to twice the time the last end took.
    package static let end = 0.03
    /// The duration below which a unit says nothing about the machine's speed.
    package static let smallUnit = 0.02
    /// The seconds for a range of keys: long compared to a transaction of the working copy, short compared to a budget.
    package static let range = 0.1
    /// The shortest range to start when little time is left.
    package static let leastRange = 0.01

    /// Returns the seconds into a call after which a unit is interrupted; units get at least half of the budget.
    ///
    /// - Parameter end: the seconds that the end of the last call took.
    package static func deadline(_ budget: Double, end: Double) -> Double {
        max(budget / 2, budget - end * 1.5 - 0.02)
    }
}

// MARK: - Deferred tasks

extension DeferredTask {
    /// The approximate maximum duration, during which an interruption loses the task's work.
    ///
    /// Each row of a rebuilt table is written, compared and removed once, and each of its indexes is sorted again.
    package var seconds: Double {
        let bytes = Double(bytes ?? rows * Self.bytesOfRow)
        return switch kind {
        case .dropTable, .dropIndex: 0.001 + bytes * 3e-9
        case .rebuildTable: 0.002 + aside + Double(rows) * (1.5e-6 + Double(indexes) * 0.6e-6) + bytes * 12e-9
        case .makeIndex: 0.001 + Double(rows) * 1.2e-6
        }
    }

    /// The approximate seconds needed to copy the rows once more, compare them and remove them.
    var secondsOfCopy: Double { Double(rows) * 2.5e-6 + Double(bytes ?? rows * Self.bytesOfRow) * 12e-9 }

    /// Returns the approximate seconds needed to rename a table, for which SQLite parses the text of every object.
    static func secondsOfRename(in catalogue: Catalogue) -> Double {
        Double(catalogue.entries.count) * CostModel.parsing(for: .renameTable)
    }

    /// The assumed size of a row if SQLite cannot determine it.
    private static let bytesOfRow: Int64 = 100

    /// The expected seconds of the parts of a task, in the order of execution.
    ///
    /// Unlike ``DeferredTask/seconds``, for which a budget must have room, they are averages. Only their proportions
    /// matter, and only for the phases of an estimate.
    package struct Parts {
        /// Creating the new table with its rows.
        let making: Double
        /// Checking that it has the rows of the old one.
        let proof: Double
        /// Dropping the old table and its indexes; the whole task if it is of another kind.
        let leaving: Double
        /// Creating the indexes of the new table.
        let indexing: Double
        /// Writing the log, and writing it back.
        let commit: Double

        package var total: Double { making + proof + leaving + indexing + commit }

        /// The fraction of the task, 0 to 1, that is complete at the end of each part.
        package var ends: (made: Double, proven: Double, left: Double, indexed: Double) {
            var done = 0.0
            let ends = [making, proof, leaving, indexing].map { part in
                done += part
                return min(done / total, 1)
            }
            return (ends[0], ends[1], ends[2], ends[3])
        }
    }

    package var parts: Parts {
        let (rows, bytes) = (Double(rows), Double(bytes ?? rows * Self.bytesOfRow))
        let entries = rows * Double(indexes)
        switch kind {
        case .rebuildTable:
            return Parts(
                making: rows * 0.27e-6 + bytes * 3.4e-9, proof: rows * 0.34e-6 + bytes * 3.4e-9,
                leaving: bytes * 2e-9 + entries * 0.09e-6, indexing: entries * 0.43e-6,
                commit: 1e-3 + (bytes + entries * 25) * 3e-9)
        case .dropTable, .dropIndex:
            return Parts(
                making: 0, proof: 0, leaving: bytes * 3e-9 + entries * 0.09e-6, indexing: 0,
                commit: 1e-3 + bytes * 2.2e-9)
        case .makeIndex:
            return Parts(making: 0, proof: 0, leaving: rows * 0.44e-6, indexing: 0, commit: 1e-3 + rows * 0.09e-6)
        }
    }
}
