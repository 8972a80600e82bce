import Synchronization
import TestSupport

/// A clock that moves on by the same step whenever somebody looks at it.
final class SlowClock: ForwardingSystem {
    private let step: UInt64
    private let reading = Mutex<UInt64>(0)

    /// - Parameter step: nanoseconds.
    init(step: UInt64) { self.step = step }

    var monotonicNanoseconds: UInt64 {
        reading.withLock { reading in
            reading += step
            return reading
        }
    }
}
