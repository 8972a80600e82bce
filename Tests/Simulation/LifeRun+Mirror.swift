import Foundation
import Moult
import MoultBasics
import MoultCare
import MoultEngine
import MoultModel
import MoultPlan

/// A mirror: after each sync, the second store is what a migration of the first is.
extension LifeRun {
    /// The second store, as the reference has it.
    struct Mirror {
        let path: String
        let target: Int
        let answers: [Answer]
        /// What it holds.
        var state: Snapshot
    }

    func mirroring(_ act: Life.MirrorAct) throws -> Work {
        switch act {
        case .start(let target): return try starting(min(target, models.count - 1))
        case .sync(let all):
            return following { mirror in
                _ = try mirror.synchronise(all: all)
            }
        case .verify:
            return following { mirror in
                let result = try mirror.verify()
                guard result.isEqual || self.disk.hasMet else {
                    throw LifeFailure(kind: "mirror differs", words: result.lines.joined(separator: "; "))
                }
            }
        case .stop:
            guard mirror != nil else { return Work { nil } }
            return Work {
                try MirroredStore.stop(self.store, system: self.disk.system)
                return nil
            }
        }
    }

    private func starting(_ target: Int) throws -> Work {
        guard mirror == nil, target > now.version, !now.isDeferred else { return Work { nil } }
        let answers = try history.path(from: now.version, to: target, keepsReturned: false).answers
        guard let last = way(to: target).last else { return Work { nil } }
        let second = Mirror(path: "\(field)/Second.sqlite", target: target, answers: answers, state: unhistoric(last))
        return Work(second: second) {
            var options = RunOptions()
            options.patience = .zero
            options.acceptedLosses = .all
            options.configuration = self.history.configuration
            let request = StoreRequest(self.store, to: self.name(target), .migrateInto(second.path), options)
            _ = try MirroredStore.start(request, self.context(answers, .plain), on: self.disk.system)
            return nil
        }
    }

    /// What the history of a second store has is not the reference's to say.
    private func unhistoric(_ state: Snapshot) -> Snapshot {
        var state = state
        state.transactions = nil
        return state
    }

    private func following(_ body: @escaping (inout MirroredStore) throws -> Void) -> Work {
        guard var second = mirror, let last = way(to: second.target).last else { return Work { nil } }
        second.state = unhistoric(last)
        return Work(second: second) { [answers = second.answers] in
            var mirror = try MirroredStore(
                of: self.store, self.context(answers, .plain), on: self.disk.system)
            try body(&mirror)
            return nil
        }
    }

    /// Finds what a step has left of the mirror, which must be old or new.
    func settleMirror(_ work: Work, _ ending: Ending, isDamageAllowed: Bool) throws {
        let record = try MirrorRecord.read(StoreRecords(store: store), system)
        let path = (work.second ?? mirror)?.path ?? ""
        guard let record, record.state != .starting else {
            if case .done = ending, let mirror, work.second != nil {
                throw LifeFailure(kind: "mirror lost", words: "of \(mirror.path)")
            }
            let isStopped = mirror != nil
            if record != nil { try MirroredStore.stop(store) }
            mirror = nil
            // A start that failed leaves nothing; both stores of a mirror that ended stay.
            if !isStopped, try system.exists(path) {
                throw LifeFailure(kind: "second store left", words: "at \(path)")
            }
            return try clear(path)
        }
        var states = work.second.map { [$0.state] } ?? []
        if case .done = ending, !states.isEmpty {} else if let mirror { states.append(mirror.state) }
        do {
            let found = try identify(path, among: states, "the second store")
            mirror = work.second ?? mirror
            mirror?.state = unhistoric(found)
        } catch let failure as LifeFailure where isDamageAllowed {
            tally["second store given up: \(failure.kind)", default: 0] += 1
            try endMirror()
        }
    }

    /// Ends the mirror, and removes the second store.
    func endMirror() throws {
        guard let path = mirror?.path else { return }
        mirror = nil
        if try MirrorRecord.read(StoreRecords(store: store), system) != nil { try MirroredStore.stop(store) }
        try clear(path)
    }
}
