import MoultBasics
import Synchronization

/// A machine whose clock stands still until a test moves it; its time of day never moves.
package final class HandSystem: ForwardingSystem {
    private let nanoseconds = Atomic<UInt64>(0)
    package let now = Timestamp(seconds: 1_772_355_907)

    package init() {}

    package var monotonicNanoseconds: UInt64 { nanoseconds.load(ordering: .relaxed) }
    /// How far the clock has been moved.
    package var seconds: Double { seconds(since: 0) }

    package func advance(by seconds: Double) { nanoseconds.add(UInt64(seconds * 1e9), ordering: .relaxed) }
}
