import Synchronization
import TestSupport
import Testing

@testable import MoultEngine

/// The arithmetic of the time left, on a clock that a test moves.
@Suite("The time that a run still takes")
struct MachineSpeedTests {
    private struct Sample {
        let fraction: Double
        let time: Double
        let told: Double?
    }

    private typealias Phase = MigrationProgress.Phase
    private static let expected: [Phase: Double] = [.backup: 1, .copy: 1, .change: 6, .verify: 2, .commit: 2]

    /// A run whose phases take `actual` seconds, told a hundred times in each that tells something of itself.
    private func samples(_ actual: [Phase: Double], hasCode: Bool = false) -> [Sample] {
        let system = HandSystem()
        let told = Mutex<[Sample]>([])
        let observer = MigrationObserver(onProgress: { progress in
            let sample = Sample(
                fraction: progress.fraction, time: system.seconds, told: progress.estimatedTimeRemaining)
            told.withLock { $0.append(sample) }
        }).timed(by: Estimate(Self.expected, hasCode: hasCode), system)
        observer.report(.lock, 1)
        for phase in [Phase.backup, .copy, .change, .verify, .commit] {
            let isSilent = phase == .copy || phase == .verify
            let steps = isSilent ? 1 : 100
            if phase != .copy { observer.report(phase, 0) }
            for step in 1...steps {
                system.advance(by: (actual[phase] ?? 0) / Double(steps))
                observer.report(phase, Double(step) / Double(steps))
            }
        }
        observer.report(.done, 1)
        return told.withLock { $0 }
    }

    private func errors(_ samples: [Sample], from fraction: Double = 0.1) -> [Double] {
        let end = samples.last?.time ?? 0
        return samples.filter { $0.fraction >= fraction && end - $0.time > 0.01 }.map { sample in
            abs((sample.told ?? .infinity) - (end - sample.time)) / (end - sample.time)
        }
    }

    @Test func `is nil before anything was measured, never negative, and nothing at the end`() {
        let all = samples(Self.expected)
        #expect(all.first?.told == nil)
        #expect(all.allSatisfy { ($0.told ?? 0) >= 0 } && all.last?.told == 0)
        #expect(all.map(\.fraction) == all.map(\.fraction).sorted() && all.last?.fraction == 1)
    }

    @Test(arguments: [0.3, 0.7, 1, 2, 5])
    func `is right after a tenth on a machine that is as expected, or slower, or faster`(factor: Double) {
        let all = samples(Self.expected.mapValues { $0 * factor })
        let worst = errors(all).max() ?? .infinity
        // At the very beginning some of what is assumed is what was expected.
        #expect(worst < (factor == 1 ? 0.01 : 0.5), "\(worst)")
        let later = errors(all, from: 0.2).max() ?? .infinity
        #expect(later < 0.3, "\(later)")
    }

    @Test
    func `code that is slower than expected is judged by its own pace, and says nothing of what comes after it`() {
        var actual = Self.expected
        actual[.change] = 60
        let all = samples(actual, hasCode: true)
        // From a tenth of the change on: it begins at 2/12 of the whole.
        let errors = errors(all, from: (2 + 0.6) / 12)
        #expect((errors.max() ?? .infinity) < 0.3, "\(errors.max() ?? 0)")
    }

    @Test func `rows never decrease, and never exceed all rows, when code writes more than was expected`() {
        let told = Mutex<[MigrationProgress]>([])
        var observer = MigrationObserver(onProgress: { progress in told.withLock { $0.append(progress) } })
            .timed(by: Estimate(Self.expected), HandSystem())
        observer.totalRows = 40
        observer.report(.change, 0.5, rows: 30)
        observer.report(.change, 1, rows: 50)
        observer.report(.verify, 1, rows: observer.totalRows)
        observer.report(.done, 1, rows: 50)
        let all = told.withLock { $0 }
        #expect(all.map(\.rows) == [30, 50, 50, 50] && all.map(\.totalRows) == [40, 50, 50, 50])
    }

    @Test func `a phase that tells nothing of itself comes ever closer to its end and never reaches it`() {
        let system = HandSystem()
        let clock = MachineSpeed(Estimate(Self.expected), system)
        let begin = MigrationProgress(phase: .verify, fraction: 0.7, rows: 0, totalRows: 0, bytes: 0)
        _ = clock.timing(begin)
        let expected = clock.expectedSeconds(of: 1, in: .verify, at: clock.now)
        let all = (1...100).map { MachineSpeed.approach(Double($0) * 0.1 / expected) }
        #expect(all == all.sorted() && all.allSatisfy { $0 > 0 && $0 < 1 } && (all.last ?? 0) > 0.95)
    }
}
