import MoultModel
import MoultSystem

// MARK: - The end of a call

extension MigrationRun {
    /// Writes down how far the work has come, for a process that dies.
    func save(_ pace: MigrationPace) throws {
        let start = pace.elapsed
        pace.checkpoint.timings = timings.all
        pace.checkpoint.fraction = observer.reached
        pace.checkpoint.store = try MigrationCheckpoint.facts(ofStore: sidecar.store, system)
        try pace.checkpoint.write(sidecar, system)
        pace.lastSave = pace.elapsed - start
    }

    /// Makes durable what was done, for the next call.
    func pause(_ pace: MigrationPace, before next: MigrationUnit) throws -> MigrationPause {
        let start = pace.elapsed
        if pace.checkpoint.hasCopy { try system.synchronise(pathOfCopy) }
        if pace.checkpoint.draft != nil { try system.synchronise(pathOfSource(pace)) }
        pace.checkpoint.calls += 1
        let facts = try MigrationCheckpoint.facts(ofStore: sidecar.store, system)
        // The store was written to a moment ago, by the app or by its log.
        if facts == .null { BackgroundWork<Void>.wait(seconds: 1.5 * MigrationCheckpoint.clockGrain) }
        // The checkpoint, the journal and the history are still to be written.
        pace.checkpoint.endSeconds = pace.elapsed - start + 3 * pace.lastSave
        try save(pace)
        journal.state = .paused
        try journal.write(sidecar, system)
        var call = record(.paused, nil)
        call.run += "-\(pace.checkpoint.calls)"
        try RunHistory(sidecar, system).append(call)
        let pause = MigrationPause(
            run: identifier, from: migration.from, to: migration.to, fraction: observer.reached,
            calls: pace.checkpoint.calls, seconds: pace.elapsed, next: next.sentence)
        log.append("Run \(identifier): paused after \(Int(observer.reached * 100)) %, before: \(next.sentence)")
        return pause
    }

    /// Returns the error that a call ends with where its budget or its observer ended it: a pause, or an error with the
    /// work kept; nil if something else ended it.
    ///
    /// - Throws: where nothing of the work can be kept.
    func endOfCall(_ pace: MigrationPace, after error: any Error) throws -> (any Error)? {
        guard !isCommitted, !isUnsettled else { return nil }
        if let stop = error as? MigrationPace.Stop { return try pause(pace, before: stop.next) }
        guard let unit = pace.unit, (error as? MigrationError)?.code == .cancelled else { return nil }
        if isAskedToEnd() {
            guard canGoOn(pace) else { return nil }
            _ = try pause(pace, before: unit)
            return MigrationRun.cancelled(sidecar.store)
        }
        guard case .seconds(let budget) = pace.limit, pace.isLate() else { return nil }
        let taken = max(unit.seconds, pace.elapsed - pace.begun)
        let tooSmall = MigrationError.budgetTooSmall(budget, taken * 2, unit.sentence, after: pace.begun)
        guard canGoOn(pace) else { throw tooSmall }
        let pause = try pause(pace, before: unit)
        return pace.gained > 0 ? pause : tooSmall
    }

    /// Whether the work is in pieces, and one of them is done. Before there is a backup, that is the look at the rows.
    private func canGoOn(_ pace: MigrationPace) -> Bool {
        guard pace.checkpoint.sourceFolder(backups) != nil else { return pace.gained > 0 || pace.isResumed }
        return units.reasonForOne == nil
    }

    // MARK: - The last call

    /// Whether what the commit has left in the log is written back in this call. Else the next process that opens the
    /// store does that, as with every log: the commit has made it durable.
    var hasTimeToWriteBack: Bool {
        pace.map { $0.left >= $0.seconds(of: units.writeBack) * MigrationPace.margin } ?? true
    }

    /// Whether expired backups can be looked for in this call, which may read a whole one; otherwise the next run does
    /// it.
    var hasTimeToPrune: Bool {
        pace.map { $0.left > 2 * $0.seconds(of: units.soundness) + 2 * $0.seconds(of: units.digest) } ?? true
    }
}
