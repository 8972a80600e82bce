import MoultSQLite
import MoultStore

/// Progress reports of a call.
extension DeferredRun {
    /// Returns an observer that reports the progress of all tasks by their expected times, and ends a task that takes
    /// too long.
    func taskObserver(_ task: DeferredTask) -> MigrationObserver {
        let start = min(expected.done / expected.all, 1)
        var part = observer.spanning(start...max(start, min(start + task.parts.total / expected.all, 1)))
        part.onProgress = {
            [onProgress = observer.onProgress, rows = expected.rows, all = observer.totalRows] progress in
            var progress = progress
            (progress.rows, progress.totalRows) = (rows + min(progress.rows, task.rows), all)
            onProgress(progress)
        }
        part.isCancelled = { [isCancelled = observer.isCancelled, clock] in isCancelled() || clock.isOver }
        return part
    }

    /// Returns an observer that ends the call when its budget is used up.
    func endingInTime(_ observer: MigrationObserver) -> MigrationObserver {
        guard case .seconds(let budget) = clock.limit else { return observer }
        var observer = observer
        observer.onProgress = { [onProgress = observer.onProgress, clock] progress in
            var progress = progress
            progress.estimatedTimeRemaining = progress.estimatedTimeRemaining.map {
                min($0, max(0, budget - clock.elapsed))
            }
            onProgress(progress)
        }
        return observer
    }
}
