import MoultSQLite
import MoultStore

/// Progress reports of a call.
extension DeferredRun {
    /// Tells how far all tasks are, by the time that they are expected to take, and ends what takes too long.
    func taskObserver(_ task: DeferredTask) -> MigrationObserver {
        let start = min(expected.done / expected.all, 1)
        var part = observer.spanning(start...max(start, min(start + task.parts.total / expected.all, 1)))
        part.onProgress = { [onProgress = observer.onProgress, rows = expected.rows] progress in
            var progress = progress
            progress.rows = rows + min(progress.rows, task.rows)
            onProgress(progress)
        }
        part.isCancelled = { [isCancelled = observer.isCancelled, isLate = lateness] in isCancelled() || isLate() }
        return part
    }

    /// A call with a budget takes no longer than that.
    func endingInTime(_ observer: MigrationObserver) -> MigrationObserver {
        guard case .seconds(let budget) = limit else { return observer }
        var observer = observer
        observer.onProgress = { [onProgress = observer.onProgress, system, started] progress in
            var progress = progress
            progress.estimatedTimeRemaining = progress.estimatedTimeRemaining.map {
                min($0, max(0, budget - system.seconds(since: started)))
            }
            onProgress(progress)
        }
        return observer
    }

    private var lateness: @Sendable () -> Bool {
        guard case .seconds(let budget) = limit else { return { false } }
        return { [system, started] in system.seconds(since: started) > budget }
    }

    /// Reports the progress of a table's proof, as estimated from the time.
    func watch(_ part: MigrationObserver, rows: Int64) {
        let begun = system.monotonicNanoseconds
        let expected = part.expectedSeconds(of: 1, at: begun)
        var last = begun
        connection.onProgress(every: 20_000) { [system] in
            let now = system.monotonicNanoseconds
            if now &- last > 50_000_000 {
                last = now
                part.report(.change, RunClock.approach(system.seconds(since: begun, to: now) / expected), rows: rows)
            }
            return !part.isCancelled()
        }
    }
}

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
