import TestSupport
import Testing

@testable import MoultEngine

/// Cancels each kind of work at 32 random instants; outside the faults tier, at one.
@Suite("Cancelling at any instant")
struct CancellationFaultTests {  // tier: long
    @Test(arguments: CancellableKind.all)
    func `leaves the old store, or the whole new one, and nothing beside it`(kind: CancellableKind) throws {
        let trial = try CancellationTrial(kind)
        var random = SeededGenerator(seed: 500)
        var (cancelled, done) = (0, 0)
        for round in Tier.faults.rounds(quick: 1, full: 32, sharedBy: CancellableKind.all.count) {
            let instant = trial.instant(round, using: &random)
            if try trial.run(at: instant) { cancelled += 1 } else { done += 1 }
        }
        if Tier.faults.isAsked { print("\(kind.name): cancelled \(cancelled) times, done by then \(done) times") }
        #expect(cancelled > 0 || !Tier.faults.isAsked)
    }
}
