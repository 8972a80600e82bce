import MoultSQLite

/// About how many seconds each kind of work takes: for the phases of a whole run, for the units of a call with a budget,
/// for deferred tasks, and for the choice between two ways of changing a table.
///
/// Measured with optimisation on two slow cores, next to Documentation/Performance.md. A run finds out how fast its
/// machine is; before that only the proportions of the numbers count.
package enum CostModel {
    // MARK: A byte of the store

    /// All pages through SQLite.
    package static let backup = 1.25e-9
    /// Synchronising what was written, and checking its pages.
    package static let soundness = 1.8e-9
    package static let digest = 1.0e-9
    package static let proof = soundness + digest
    package static let copy = 1.2e-9
    /// All of the verification, its pages checked next to it.
    package static let verify = 6.3e-9
    /// The pages through a log, synchronised, and from there into the store's own file.
    package static let commit = 2.6e-9
    /// The second part of it, for a store in WAL mode.
    package static let writeBack = 0.8e-9
    /// Synchronising what a call has written.
    package static let synchronisation = 1.5e-9
    package static let write = 2.5e-9

    // MARK: A row

    /// Counting it, and what a plan asks before anything is done.
    package static let look = 0.2e-6
    package static let insert = 0.3e-6
    package static let update = 0.55e-6
    package static let drop = 0.2e-6
    /// A large sort, as for an index.
    package static let sort = 0.45e-6
    package static let comparison = 0.6e-6
    /// One question to all rows, such as whether what they refer to is there.
    package static let question = 0.1e-6
    /// A pair of keys looked up on both sides.
    package static let link = 0.5e-6

    // MARK: An object

    /// Through an app's migration policy. All others are SQLite's work, which a build without optimisation does as fast.
    #if DEBUG
        package static let object = 2e-5
    #else
        package static let object = 6e-6
    #endif
    /// Through a step.
    package static let step = 1e-5

    // MARK: What takes some time whatever the size

    /// A statement that touches no row.
    package static let statement = 1e-3
    /// A statement where only the catalogue changes, which takes no time that could be told.
    package static let catalogue = 1e-6
    /// Files opened, written and synchronised.
    package static let files = 5e-3
    /// The work that every call with a budget does before its first unit.
    package static let call = 0.03
    /// A whole change in place, as a unit of a budget; its verification, its commit, and that of a store whose tables stay.
    package static let inPlace = 0.05
    package static let verificationInPlace = 1e-3
    package static let verificationOfChanges = 1e-2
    package static let smallCommit = 1e-2

    /// All of the work on a store of which only the size is known, as for a fleet.
    package static func store(bytes: Int64) -> Double { 0.03 + Double(bytes) * 1.5e-8 }

    // MARK: An object of the catalogue

    /// About how many seconds SQLite takes for each object of the catalogue, whose text it parses again.
    package static func parsing(for kind: StoreScript.Statement.Kind) -> Double {
        switch kind {
        case .addColumn, .retypeColumns: 12e-6
        case .renameColumn: 90e-6
        case .renameTable, .dropColumn: 50e-6
        default: 0
        }
    }

    /// About how long a migration takes that makes every table anew; one that takes less than a second is not looked at.
    static func rebuilding(objects: Int, rows: Double, bytes: Int64 = 0) -> Double {
        max(Double(objects) * 1e-3 + rows * 5e-6 + Double(bytes) * 17e-9, 1)
    }

    // MARK: A statement

    /// About how many seconds a statement takes for each row, beside what any statement takes.
    ///
    /// - Parameter bytes: the size of a row and its index entries, on average.
    package static func row(of kind: StoreScript.Statement.Kind, bytes: Double) -> Double {
        switch kind {
        case .fill: insert + bytes * write
        case .update, .dropColumn: update
        // A table's pages become free.
        case .delete, .dropTable, .dropIndex, .dropTrigger, .dropView: drop
        case .createTable, .renameTable, .addColumn, .retypeColumns, .renameColumn, .createIndex, .createTrigger,
            .metadata:
            sort
        }
    }

    /// The size of a pair of keys with its indexes, which no count of objects has.
    package static let bytesOfPair: Int64 = 60
}

// MARK: - Budgets

extension CostModel {
    /// The factor by which a unit may exceed its expected time before its call ends late.
    package static let margin = 1.3
    /// The same for a commit: how long a disk takes to synchronise varies more than anything else, and nothing can end one.
    package static let commitMargin = 2.5
    /// The factor on the longest unit that a budget has to have room for: one index takes longer than another.
    package static let spare = 1.2
    /// The end of a call, beside what the last one took: for the units, it counts twice.
    package static let end = 0.03
    /// A unit that takes less says nothing of the machine.
    package static let smallUnit = 0.02
    /// The seconds of a range of keys: long next to a transaction of the working copy, short next to a budget.
    package static let range = 0.1
    /// The least that is begun where the time that is left is short.
    package static let leastRange = 0.01

    /// The seconds of a call after which a unit is ended, with half of the budget for the units at least.
    ///
    /// - Parameter end: the seconds that the end of the last call took.
    package static func deadline(_ budget: Double, end: Double) -> Double {
        max(budget / 2, budget - end * 1.5 - 0.02)
    }
}

// MARK: - Deferred tasks

extension DeferredTask {
    /// About how long it takes at most, and so how long it cannot be interrupted without losing what it has done.
    ///
    /// A row of a table that is made anew is written, compared, and left out once, and each of its indexes is sorted
    /// again.
    package var seconds: Double {
        let bytes = Double(bytes ?? rows * Self.bytesOfRow)
        return switch kind {
        case .dropTable, .dropIndex: 0.001 + bytes * 3e-9
        case .rebuildTable: 0.002 + aside + Double(rows) * (1.5e-6 + Double(indexes) * 0.6e-6) + bytes * 12e-9
        case .makeIndex: 0.001 + Double(rows) * 1.2e-6
        }
    }

    /// About how long it takes to copy the rows once more, to compare them and to leave them out.
    var secondsOfCopy: Double { Double(rows) * 2.5e-6 + Double(bytes ?? rows * Self.bytesOfRow) * 12e-9 }

    /// About how long it takes to rename a table: SQLite parses the text of every object for it.
    static func secondsOfRename(in catalogue: Catalogue) -> Double {
        Double(catalogue.entries.count) * CostModel.parsing(for: .renameTable)
    }

    /// The size of a row where SQLite cannot tell it.
    private static let bytesOfRow: Int64 = 100

    /// The seconds that the parts of a task are expected to take, in the order in which they are done.
    ///
    /// Unlike ``DeferredTask/seconds``, which a budget has to have room for, they are what a task takes on average; only
    /// their proportions count, and those to the phases of an estimate.
    package struct Parts {
        /// Of the new table with its rows.
        let making: Double
        /// That it has the rows of the old one.
        let proof: Double
        /// The old table and its indexes go; all of a task of another kind.
        let leaving: Double
        /// The new table gets its indexes.
        let indexing: Double
        /// The log is written, and written back.
        let commit: Double

        package var total: Double { making + proof + leaving + indexing + commit }

        /// The fraction of the task, 0 to 1, that is done at the end of each part.
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
