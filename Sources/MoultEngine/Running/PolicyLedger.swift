import MoultTransform
import Synchronization

/// Takes down what the migration policies of a run have made, pass by pass.
package final class PolicyLedger: Sendable {
    private let entries = Mutex<[InstanceCounts]>([])

    package init() {}

    /// A run that was rehearsed first says the same again.
    func begin() { entries.withLock { $0 = [] } }
    func add(_ counts: [InstanceCounts]) { entries.withLock { $0 += counts } }
    package var counts: [InstanceCounts] { entries.withLock { $0 } }
}
