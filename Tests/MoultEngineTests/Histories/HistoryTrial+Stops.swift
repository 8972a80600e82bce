import Foundation
import MoultModel
import MoultObjects
import MoultPlan
import MoultStore
import TestSupport

@testable import MoultEngine

extension HistoryTrial {
    /// Goes to the end with a durable stop at each version, on a machine that dies again and again: whatever version
    /// the store has in between, it is whole.
    func stop(_ tally: inout Tally, _ random: inout HistoryRandom) throws {
        let store = try copy("stops")
        for _ in 0..<3 {
            let calls = Int.random(in: 0..<30 * (to - from), using: &random)
            let machine = FaultySystem { $0 < calls ? nil : EIO }
            do {
                try runWithStops(store, Migrator(system: machine))
                break
            } catch  where machine.hasFailed {
                _ = try Migrator().recover(store)
                let position = try position(of: store)
                try compare(store, with: world(at: position), at: position, "stopped at V\(position + 1)")
                if position > from { tally.outcomes["stopped", default: 0] += 1 }
            }
        }
        try way("after stops") { try runWithStops(store, Migrator()) }
        try compare(store, with: world(at: to), at: to, "with stops")
    }

    private func runWithStops(_ store: String, _ migrator: Migrator) throws {
        let prepared = try PreparedMigration(
            store, versions: history.versions, to: history.versions.versions[to].name,
            options: .init(
                answers: Answers(history.answers), registry: history.registry, stopsAtEachVersion: true),
            system: migrator.system)
        _ = try migrator.run(prepared)
    }

    private func position(of store: String) throws -> Int {
        let hashes = try ReadOnlyStore.read(store) { try StoreSnapshot($0.connection).metadata.hashes }
        guard let hashes,
            let position = history.versions.versions.firstIndex(where: { $0.hashes.isCompatible(with: hashes) })
        else {
            throw Difference(description: "the store is of no version")
        }
        return position
    }
}
