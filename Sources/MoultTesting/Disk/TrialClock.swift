import MoultSystem
import Synchronization

/// A clock that moves on by a millisecond with each look, so that every run of a trial sees the same times, and that
/// may jump.
package final class TrialClock: Sendable {
    private let looks = Mutex(0)
    private let names = Mutex<UInt64>(0)
    private let jump: (look: Int, seconds: Int64)?
    private let start: Int64
    let era: UInt64

    /// - Parameters:
    ///   - era: of two clocks the later has the higher one; their names never meet.
    ///   - jump: from that look on, counted from 1, the clock is wrong by so many seconds.
    package init(era: UInt64 = 0, jump: (look: Int, seconds: Int64)? = nil) {
        self.era = era
        self.jump = jump
        // 2026-03-01 in UTC; an hour between two runs.
        start = 1_772_323_200 + Int64(era) * 3_600
    }

    /// Looks so far.
    package var count: Int { looks.withLock { $0 } }

    package var now: Timestamp {
        let look = looks.withLock { looks in
            looks += 1
            return looks
        }
        let wrong = jump.map { look >= $0.look ? $0.seconds : 0 } ?? 0
        return Timestamp(
            seconds: start + wrong + Int64(look / 1_000), nanoseconds: Int32(look % 1_000) * 1_000_000)
    }

    var monotonicNanoseconds: UInt64 { UInt64(looks.withLock { $0 }) * 1_000_000 }

    func uniqueName() -> String {
        let number = names.withLock { number in
            number += 1
            return number
        }
        // The digits that tell two apart come first: some names are cut.
        let digits = String(number, radix: 16)
        let tail = String(era, radix: 16)
        return String(repeating: "0", count: max(0, 7 - digits.count)) + digits + tail
            + String(repeating: "0", count: max(0, 9 - tail.count))
    }
}
