import MoultModel
import MoultObjects
import MoultTransform
import Synchronization

/// The reports of the passes of one run: objects made by migration policies, losses, and properties that code has read.
package final class RunLedger: Sendable {
    private struct State {
        var counts: [InstanceCounts] = []
        var losses: [MigrationLoss] = []
        var reads: [Int: PropertyReads] = [:]
    }

    private let state = Mutex(State())

    package init() {}

    /// A run that was rehearsed first reports the same again.
    func begin() { state.withLock { $0 = State() } }

    func add(_ counts: [InstanceCounts]) { state.withLock { $0.counts += counts } }
    package var counts: [InstanceCounts] { state.withLock { $0.counts } }

    func add(_ losses: [MigrationLoss]) { state.withLock { $0.losses += losses } }
    package var losses: [MigrationLoss] { state.withLock { $0.losses } }

    /// Returns the record of the properties that code has read for the pass at a position of the plan: its policies,
    /// and the steps of its stage before it.
    func reads(forPass position: Int) -> PropertyReads {
        state.withLock { state in
            if let known = state.reads[position] { return known }
            let reads = PropertyReads()
            state.reads[position] = reads
            return reads
        }
    }
}
