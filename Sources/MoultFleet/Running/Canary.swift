import MoultModel
import MoultSystem

/// The stores of a shard that come first, and whether the others may follow.
package struct Canary: Sendable, Equatable {
    package enum State: String, Sendable {
        /// Its stores are not all done.
        case running
        /// All are done, and somebody has to approve.
        case waiting
        /// More of them failed than was tolerated.
        case failed
        case approved
    }

    package var state: State
    package var stores: Int
    package var failures: Int

    /// Chooses evenly among the versions and the sizes, at least one store.
    package static func chosen(_ entries: [FleetEntry], share: Double) -> Set<Int> {
        guard !entries.isEmpty else { return [] }
        let sorted = entries.sorted { ($0.version, $0.size, $0.number) < ($1.version, $1.size, $1.number) }
        let count = min(max(Int((Double(sorted.count) * share).rounded(.up)), 1), sorted.count)
        return Set((0..<count).map { sorted[(2 * $0 + 1) * sorted.count / (2 * count)].number })
    }

    /// Reads the record of a shard's canary; nil if there was none.
    package init?(of shard: ShardFolder) {
        guard let bytes = try? POSIXSystem().read(shard.canaryPath),
            let json = try? JSONValue(parsing: bytes, place: shard.canaryPath, code: .metadataInvalid),
            let state = json["state"]?.string.flatMap(State.init)
        else { return nil }
        self.init(
            state: state, stores: Int(clamping: json["stores"]?.integer ?? 0),
            failures: Int(clamping: json["failures"]?.integer ?? 0))
    }

    package init(state: State, stores: Int, failures: Int) {
        (self.state, self.stores, self.failures) = (state, stores, failures)
    }

    package func write(to shard: ShardFolder) throws {
        try POSIXSystem().writeAtomically(Array((json.compact + "\n").utf8), to: shard.canaryPath)
    }

    package var json: JSONValue {
        ["state": .string(state.rawValue), "stores": JSONValue(stores), "failures": JSONValue(failures)]
    }
}
