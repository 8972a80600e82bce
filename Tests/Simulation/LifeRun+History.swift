import Moult
import MoultEngine
import MoultModel

/// History that is deleted.
extension LifeRun {
    /// A repair deletes what is before a moment, but never the newest transaction, nor one between two that stay.
    func cuttingHistory(_ count: Int) -> Work {
        guard now.transactions != nil, let moment = count.moment(in: saves) else { return Work { nil } }
        var cut = now
        cut.transactions = count.left(of: saves).count
        let isRest = cut.transactions == saves.count
        var work = Work(new: cut, refusals: locks.union(now.isDeferred ? ["deferredWork"] : [])) {
            let faults = try self.face.cutHistory(before: moment)
            self.paused = nil
            if let fault = faults.first(where: { $0.rule != RepairRule.history.rawValue || isRest }) {
                throw LifeFailure(kind: "repaired", words: "\(fault.rule) at \(fault.place) of a sound store")
            }
            return nil
        }
        work.settleOutput = { self.lastRun = .unknown }
        return work
    }

    /// The transactions that the step leaves, of those that there were; nil where it deletes none.
    func left(of saves: [StoreWitness.Transaction]) -> [StoreWitness.Transaction]? {
        switch action {
        case .trimHistory(let trim): trim.left(of: saves)
        case .cutHistory(let count) where mirror == nil: count.left(of: saves)
        default: nil
        }
    }
}

extension Int {
    /// The whole second of the transaction with this number, counted from the newest.
    fileprivate func moment(in saves: [StoreWitness.Transaction]) -> Int? {
        saves.suffix(Swift.max(self, 1)).first.flatMap { Int(exactly: $0.time.rounded(.down)) }
    }

    /// The transactions from the first one on that is not older.
    fileprivate func left(of saves: [StoreWitness.Transaction]) -> [StoreWitness.Transaction] {
        guard let moment = moment(in: saves) else { return saves }
        let first = saves.filter { $0.time >= Double(moment) }.map(\.number).min()
        return saves.filter { $0.number >= first ?? 0 }
    }
}

extension Life.Trim? {
    /// The transactions that it leaves, of those that there are.
    func left(of saves: [StoreWitness.Transaction]) -> [StoreWitness.Transaction] {
        switch self {
        case nil: return []
        case .token(let count): return saves.suffix(max(count, 1))
        case .date(let count):
            guard let first = saves.suffix(max(count, 1)).first else { return [] }
            return saves.filter { $0.time >= first.time }
        }
    }
}
