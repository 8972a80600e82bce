import Moult
import MoultEngine
import MoultPlan

/// Migrations that whoever comes next finishes, with the settings that they have kept.
extension LifeRun {
    /// A migration that a machine that died has left, or a call whose time was over.
    struct Stopped {
        let target: Int
        let way: Life.Way
        let answers: [Answer]
        /// The state that it leads to.
        let last: Snapshot
        /// Whether it waits for its next call for certain.
        var isPaused = false
    }

    func resuming(_ stopped: Stopped?) -> Work {
        guard let stopped else { return Work { nil } }
        let (last, isThere) = (stopped.last, now.version == stopped.target)
        var refusals = locks.union(unfit(last))
        if stopped.way == .inPlace, mayWriteRows(to: stopped.target) { refusals.insert("unsupported") }
        // A call of the command line has kept its time.
        if stopped.way.hasBudget { refusals.insert("budgetTooSmall") }
        var work = Work(
            new: isThere ? nil : last, between: stopped.way == .deferred && !isThere ? [last.deferred] : [],
            refusals: refusals
        ) {
            defer { if self.disk.hasDied, stopped.way.hasBudget { self.paused = stopped.target } }
            return try self.resume(stopped, isThere: isThere)
        }
        // Its backup may be of the step before.
        work.settleOutput = { self.lastRun = .unknown }
        return work
    }

    private func resume(_ stopped: Stopped, isThere: Bool) throws -> Snapshot? {
        let said = try face.resume(stopped.answers)
        paused = said.end == .paused ? stopped.target : nil
        switch said.end {
        case .paused:
            var next = stopped
            next.isPaused = true
            self.stopped = next
            return now
        case .done where !isThere:
            // The call before may have died before it began, over the run of a call that failed.
            let target = versions.firstIndex { $0.name == said.to } ?? stopped.target
            let last = target == stopped.target ? stopped.last : way(to: target).last ?? now
            guard last.conflict < .mustRefuse else {
                throw LifeFailure(kind: "not refused", words: "a value has no equal in its new type")
            }
            let waits = try stopped.way == .deferred && Migrator().hasDeferredWork(store)
            return waits ? last.deferred : last
        case .done: return now
        // What died early has left nothing that could be finished.
        case .nothing, nil:
            guard isThere || !stopped.isPaused || hasMet else {
                throw LifeFailure(kind: "not resumed", words: "the way to \(name(stopped.target))")
            }
            return now
        }
    }
}
