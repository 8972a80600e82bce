import MoultBasics
import MoultEngine

/// The checks after a run, however it ended.
///
/// The checks depend only on the files on disk, and their own work uses a separate clock. A disk that matches an
/// earlier trial's byte for byte is therefore not checked again.
package struct RecoveryCheck {
    /// The end of a run. Nothing more is known about a run that died.
    package enum Ending {
        case died
        case failed(any Error)
        case succeeded

        package init(_ result: Result<Void, any Error>) {
            switch result {
            case .success: self = .succeeded
            case .failure(let error): self = .failed(error)
            }
        }
    }

    package enum Outcome: Sendable, Hashable {
        /// The run ended before its fault.
        case untouched
        /// The store was the state at that position in the list of permitted states, and every promise was kept.
        case kept(state: Int)
        /// A broken promise, in words.
        case broken(String)
    }

    private struct Broken: Error { let words: String }

    private let ground: FaultFixture
    private let faultPersists: Bool

    /// - Parameter faultPersists: whether the fault persists until the end of the run.
    package init(_ ground: FaultFixture, faultPersists: Bool = false) {
        self.ground = ground
        // It makes a difference only in this case.
        self.faultPersists = faultPersists && ground.faultCase.tellsByItself
    }

    package func outcome(of ending: Ending) throws -> Outcome {
        let isSaid = ground.faultCase.outside != nil
        let left = FaultFixture.Left(
            disk: try ground.fingerprint(), ending: isSaid ? ending.words : ending.name, faultPersists: faultPersists)
        if let known = ground.outcomes[left] { return known }
        let outcome: Outcome
        do {
            outcome = .kept(state: try check(ending))
        } catch let broken as Broken {
            outcome = .broken(broken.words + ending.words)
        } catch {
            outcome = .broken("\(error)" + ending.words)
        }
        ground.outcomes[left] = outcome
        return outcome
    }

    // MARK: - The promises

    private func check(_ ending: Ending) throws -> Int {
        let found = try ground.state()
        guard let position = ground.states.firstIndex(where: { $0.rows == found.rows }) else {
            throw Broken(words: "the store is neither old nor new: \(nearest(found))")
        }
        let witnessed = try ground.witness()
        guard
            ground.states.indices.contains(where: {
                ground.states[$0].rows == found.rows && ground.witnessed[$0] == witnessed
            })
        else { throw Broken(words: "another program finds neither the old store nor the new one: \(witnessed)") }
        try checkPromise(ending, position)
        try ground.keepLeft()
        try recover(position, ending)
        guard !ground.faultCase.isRefused || position > 0 else {
            try refuseAgain()
            return position
        }
        try runAgain()
        try ground.putLeftBack()
        try runAgainUnrecovered()
        return position
    }

    /// Checks that a run that returned has done its work. A run that threw in a process that survived has done nothing,
    /// or keeps its journal because the disk prevents it from finding out.
    private func checkPromise(_ ending: Ending, _ position: Int) throws {
        let last = ground.states.count - 1
        // Work that leaves the store unchanged makes promises elsewhere.
        guard last == 0 || ground.states[0].rows != ground.states[last].rows else { return }
        switch ending {
        case .succeeded where position != last:
            throw Broken(words: "the run succeeded and left the state \(position) of \(last)")
        case .failed
        where try position == last && last > 0 && !faultPersists
            && !Migrator().isUnfinished(ground.store)
            && !(ground.faultCase.namesWhatIsLeft && ending.words.contains("could not be removed")):
            throw Broken(words: "the run failed and left the new store")
        default: break
        }
    }

    private func recover(_ position: Int, _ ending: Ending) throws {
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
            let words = FaultFixture.difference(ground.states[position].quarantine, healed.quarantine)
            throw Broken(words: "the quarantine does not fit the store: \(words)")
        }
        let isNew = position == ground.states.count - 1
        if let complaint = try ground.faultCase.outside?(ground.store, isNew, ending.words) {
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
        if let complaint = try ground.faultCase.outside?(ground.store, true, "") { throw Broken(words: complaint) }
        try checkTidiness()
    }

    /// Repeats the work without a recovery first, as a user does who runs the same command again.
    private func runAgainUnrecovered() throws {
        let sidecar = StoreRecords(store: ground.store)
        let dead = try Journal.read(sidecar, POSIXSystem())
        do {
            try runAgain()
        } catch let broken as Broken {
            throw Broken(words: "without a recovery before it, \(broken.words)")
        }
        guard let dead else { return }
        guard try RunHistory(sidecar).records().contains(where: { $0.run == dead.run }) else {
            throw Broken(words: "the history does not know the run \(dead.run)")
        }
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
            throw Broken(words: "files are left: \(FaultFixture.difference(ground.tidyNames, names))")
        }
        do {
            try ground.checkBackups()
        } catch {
            throw Broken(words: "a backup is not sound: \(error)")
        }
    }

    /// Returns the difference between a state and the nearest known one.
    private func nearest(_ state: LogicalState) -> String {
        let known = ground.states.map { ($0, Set($0.rows).symmetricDifference(state.rows).count) }
        guard let nearest = known.min(by: { $0.1 < $1.1 })?.0 else { return "" }
        return FaultFixture.difference(nearest.rows + nearest.quarantine, state.rows + state.quarantine)
    }
}

extension RecoveryCheck.Ending {
    fileprivate var name: String {
        switch self {
        case .died: "died"
        case .failed: "failed"
        case .succeeded: "succeeded"
        }
    }

    fileprivate var words: String {
        switch self {
        case .died: ""
        case .failed(let error): " (the run ended with: \(error))"
        case .succeeded: " (the run succeeded)"
        }
    }
}
