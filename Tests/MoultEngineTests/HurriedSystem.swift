import Synchronization
import TestSupport

/// A machine on which a tenth of a second passes between two looks at the clock, however fast it is.
struct HurriedSystem: ForwardingSystem {
    private let looks = Looks()

    private final class Looks: Sendable {
        let count = Atomic<UInt64>(0)
    }

    var monotonicNanoseconds: UInt64 { looks.count.add(100_000_000, ordering: .relaxed).newValue }
}
