import FaultCases
import Foundation
import MoultSystem
import MoultTesting
import TestSupport
import Testing

/// Every kind of migration meets faults; old or new, and the next run finishes.
struct FaultTests {
    static let cases = (try? FaultCases.all) ?? []
    static let kinds = Fault.Kind.allCases.filter { !$0.isOfMemory }

    /// A moment of a few series, in every test run.
    @Test(arguments: cases.indices)
    func `a fault leaves the old store or the new one, and the next run finishes`(number: Int) throws {
        let kinds = [0, 1, 3].map { Self.kinds[(number + $0) % Self.kinds.count] }
        try Self.run(number, kinds, seconds: 0, seeds: [UInt64(number % 4)])
    }

    static func run(_ number: Int, _ kinds: [Fault.Kind], seconds: Double, seeds: [UInt64]) throws {
        let folder = try ScratchFolder()
        let ground = try FaultGround(cases[number], in: POSIXSystem().resolve(folder.path))
        for kind in kinds {
            let row = try FaultSeries(ground, kind, seeds: seeds).run(seconds: seconds)
            #expect(row.broken == [])
            #expect(row.tried > 0)
            #expect(row.untouched == 0, "the run makes other calls than the undisturbed one")
        }
    }

    @Test func `every kind of migration is there`() throws { #expect(try FaultCases.all.count == Self.cases.count) }
}

@Suite(.enabled(if: Tier.faults.isAsked))
struct EveryFaultTests {
    /// Each kind of migration gets its share of the tier's time; two run side by side.
    @Test(arguments: FaultTests.cases.indices)
    func `a fault leaves the old store or the new one, and the next run finishes`(number: Int) throws {
        let shares = Double(FaultTests.cases.count * FaultTests.kinds.count) / 2
        try FaultTests.run(number, FaultTests.kinds, seconds: Tier.faults.seconds / shares, seeds: [0, 1, 2, 3])
    }
}
