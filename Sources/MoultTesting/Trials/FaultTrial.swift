import MoultEngine
import MoultModel
import MoultSQLite
import MoultSystem

/// One run with one fault, and everything that must be true after it.
package struct FaultTrial {
    package enum Outcome: Sendable, Hashable {
        /// The fault lay behind the end of the run.
        case untouched
        /// The store was the state of that position, of those a store may be in, and all that was promised is true.
        case kept(state: Int)
        /// What was promised and is not true.
        case broken(String)
    }

    private struct Broken: Error { let words: String }

    private let ground: FaultGround
    private let fault: Fault

    package init(_ ground: FaultGround, _ fault: Fault) {
        (self.ground, self.fault) = (ground, fault)
    }

    package func run() throws -> Outcome {
        try ground.reset()
        // A year back, or ten ahead.
        let jump: Int64 = fault.seed % 2 == 0 ? -31_536_000 : 315_360_000
        let clock = fault.kind == .clock ? TrialClock(jump: (look: fault.number, seconds: jump)) : TrialClock()
        let disk = try ground.disk(fault, clock: clock)
        if fault.kind.isOfMemory {
            AllocationFaults.begin(failing: fault.number, staysOut: fault.kind == .memoryOn)
        }
        let result = try disk.run { try ground.faultCase.run(ground.store, $0) }
        let allocations = fault.kind.isOfMemory ? AllocationFaults.end() : 0
        let hasMet =
            fault.kind.isOfMemory
            ? allocations >= fault.number : fault.kind == .clock ? clock.count >= fault.number : disk.hasMet
        guard hasMet else { return .untouched }
        do {
            if disk.filesLeftOpen != 0 { throw Broken(words: "\(disk.filesLeftOpen) files stay open") }
            return .kept(state: try check(result))
        } catch let broken as Broken {
            return .broken(broken.words + told(result))
        } catch {
            return .broken("\(error)" + told(result))
        }
    }

    private func told(_ result: Result<Void, any Error>) -> String {
        if case .failure(let error) = result { " (the run ended with: \(error))" } else { " (the run succeeded)" }
    }

    // MARK: - What must be true

    private func check(_ result: Result<Void, any Error>) throws -> Int {
        let found = try ground.state()
        guard let position = ground.states.firstIndex(where: { $0.rows == found.rows }) else {
            throw Broken(words: "the store is neither old nor new: \(nearest(found))")
        }
        try checkPromise(result, position)
        try recover(position)
        if !ground.faultCase.isRefused || position > 0 { try runAgain() } else { try refuseAgain() }
        return position
    }

    /// A run that returns has done its work; one that throws, and whose process lives on, has done nothing, or keeps its
    /// journal because the disk does not let it find out.
    private func checkPromise(_ result: Result<Void, any Error>, _ position: Int) throws {
        guard !fault.kind.isDeath else { return }
        let last = ground.states.count - 1
        switch result {
        case .success where position != last:
            throw Broken(words: "the run succeeded and left the state \(position) of \(last)")
        case .failure where try position == last && last > 0 && !Migrator().isUnfinished(ground.store):
            throw Broken(words: "the run failed and left the new store")
        default: break
        }
    }

    private func recover(_ position: Int) throws {
        do {
            try ground.calm { try ground.faultCase.recover(ground.store, $0) }
        } catch {
            throw Broken(words: "the recovery fails: \(error)")
        }
        let healed = try ground.state()
        guard healed.rows == ground.states[position].rows else {
            throw Broken(words: "the recovery changes the store: \(nearest(healed))")
        }
        guard healed.quarantine == ground.states[position].quarantine else {
            let words = FaultGround.difference(ground.states[position].quarantine, healed.quarantine)
            throw Broken(words: "the quarantine does not fit the store: \(words)")
        }
        if let complaint = try ground.faultCase.outside?(ground.store, position == ground.states.count - 1) {
            throw Broken(words: complaint)
        }
    }

    private func runAgain() throws {
        do {
            try ground.calm(era: 2) { try ground.faultCase.run(ground.store, $0) }
        } catch {
            throw Broken(words: "the next run fails: \(error)")
        }
        let state = try ground.state()
        guard let new = ground.states.last, state == new else {
            throw Broken(words: "the next run does not make the new store: \(nearest(state))")
        }
        if let complaint = try ground.faultCase.outside?(ground.store, true) { throw Broken(words: complaint) }
        try checkTidiness()
    }

    private func refuseAgain() throws {
        do {
            try ground.calm(era: 2) { try ground.faultCase.run(ground.store, $0) }
        } catch let error as MigrationError where error.code == ground.refusal {
            guard try ground.state() == ground.states[0] else { throw Broken(words: "a refused run changes the store") }
            return try checkTidiness()
        }
        throw Broken(words: "the next run is not refused")
    }

    private func checkTidiness() throws {
        let names = try ground.names()
        guard names == ground.tidyNames else {
            throw Broken(words: "files are left: \(FaultGround.difference(ground.tidyNames, names))")
        }
        do {
            try ground.checkBackups()
        } catch {
            throw Broken(words: "a backup is not sound: \(error)")
        }
    }

    /// How a state differs from the known one that it is nearest to.
    private func nearest(_ state: LogicalState) -> String {
        let known = ground.states.map { ($0, Set($0.rows).symmetricDifference(state.rows).count) }
        guard let nearest = known.min(by: { $0.1 < $1.1 })?.0 else { return "" }
        return FaultGround.difference(nearest.rows + nearest.quarantine, state.rows + state.quarantine)
    }
}
