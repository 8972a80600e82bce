import MoultStore

extension DeferredTask {
    /// The seconds that the parts of a task are expected to take, in the order in which they are done.
    ///
    /// Unlike ``DeferredTask/seconds``, which a budget has to have room for, they are what a task takes on average; only
    /// their proportions count, and those to the phases of a ``RunEstimate``.
    struct Parts {
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

        var total: Double { making + proof + leaving + indexing + commit }

        /// The fraction of the task, 0 to 1, that is done at the end of each part.
        var ends: (made: Double, proven: Double, left: Double, indexed: Double) {
            var done = 0.0
            let ends = [making, proof, leaving, indexing].map { part in
                done += part
                return min(done / total, 1)
            }
            return (ends[0], ends[1], ends[2], ends[3])
        }
    }

    var parts: Parts {
        let (rows, bytes) = (Double(rows), Double(bytes ?? rows * 100))
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
