import MoultTransform
import Synchronization

/// Takes down what the migration policies of a run have made, pass by pass.
package final class PolicyLedger: Sendable {
    private let entries = Mutex<[InstanceCounts]>([])

    package init() {}

    func add(_ counts: [InstanceCounts]) { entries.withLock { $0 += counts } }
    package var counts: [InstanceCounts] { entries.withLock { $0 } }
}
