import FaultCases
import Foundation
import MoultBasics
import MoultTesting
import TestSupport
import Testing

/// Every kind of migration meets faults; old or new, and the next run finishes. `moult-faults` tries them all.
struct FaultTests {  // tier: long
    static let cases = (try? FaultCases.all) ?? []
    static let kinds = Fault.Kind.tried.filter { !$0.isOfMemory }

    /// A moment of a few series, in every test run.
    @Test(arguments: cases.indices)
    func `a fault leaves the old store or the new one, and the next run finishes`(number: Int) throws {
        let folder = try ScratchFolder()
        let ground = try FaultFixture(Self.cases[number], in: POSIXSystem().resolve(folder.path))
        for kind in [0, 3].map({ Self.kinds[(number + $0) % Self.kinds.count] }) {
            let row = try FaultSeries(ground, kind, seeds: [UInt64(number % 4)]).run(seconds: 0)
            #expect(row.broken == [])
            #expect(row.tried > 0 || row.moments == 0, "\(row)")
            #expect(row.untouched == 0, "the run makes other calls than the undisturbed one")
        }
    }

    @Test func `every kind of migration is there`() throws { #expect(try FaultCases.all.count == Self.cases.count) }
}
