import Synchronization
import Testing

@testable import MoultBasics

/// What a meter reports of work in parts, pieces and loops.
struct WorkMeterTests {
    private final class Told: Sendable {
        private let list = Mutex<[WorkMeter.Report]>([])
        private let time = Mutex<UInt64>(0)

        var all: [WorkMeter.Report] { list.withLock { $0 } }

        /// A meter whose clock advances by a tenth of a second whenever it is read.
        var meter: WorkMeter {
            WorkMeter(
                clock: {
                    self.time.withLock { time in
                        time += 100_000_000
                        return time
                    }
                },
                { report in self.list.withLock { $0.append(report) } })
        }
    }

    @Test func `rows are counted, and the time left falls`() throws {
        let told = Told()
        WorkMeter.$current.withValue(told.meter) {
            WorkMeter.expect(rows: 6_400, .write)
            for _ in 0..<6_400 { WorkMeter.current?.advance() }
        }
        let all = told.all
        #expect(all.count > 50 && all.map(\.fraction) == all.map(\.fraction).sorted())
        #expect(all.allSatisfy { $0.activity == .write && $0.totalRows == 6_400 && $0.rows <= 6_400 })
        let last = try #require(all.last)
        #expect(last.fraction == 1 && last.rows == 6_400 && last.remaining == 0)
        let half = try #require(all.first { $0.fraction >= 0.5 })
        #expect(abs((half.remaining ?? 0) - half.elapsed * (1 - half.fraction) / half.fraction) < 0.001)
    }

    @Test func `parts and pieces take their share, whatever is in them`() throws {
        let told = Told()
        let pieces: [WorkMeter.Piece<Int>] = [(1, { [1] }), (3, { [2, 3] })]
        let last: [WorkMeter.Piece<Int>] = [(1, { [4] })]
        let made = try WorkMeter.$current.withValue(told.meter) {
            WorkMeter.part(upTo: 0.2) {
                WorkMeter.expect(rows: 10)
                for _ in 0..<10 { WorkMeter.current?.advance() }
            }
            return try WorkMeter.part(upTo: 1) {
                try WorkMeter.each(pieces) + WorkMeter.each(last)
            }
        }
        #expect(made == [1, 2, 3, 4])
        let fractions = told.all.map(\.fraction)
        #expect(fractions == fractions.sorted() && fractions.allSatisfy { (0...1).contains($0) })
        // A quarter of the four fifths that follow the first part.
        #expect(fractions.contains { abs($0 - 0.4) < 1e-9 } && fractions.contains { abs($0 - 0.2) < 1e-9 })
    }

    @Test func `a piece advances with its pulses, never to its end`() throws {
        let told = Told()
        try WorkMeter.$current.withValue(told.meter) {
            let piece: WorkMeter.Piece<Void> = (
                100,
                {
                    for _ in 0..<500 { WorkMeter.current?.pulse(1) }
                    return []
                }
            )
            _ = try WorkMeter.each(beats: 1, [piece, piece])
        }
        let fractions = told.all.map(\.fraction)
        #expect(fractions == fractions.sorted() && fractions.last == 1)
        #expect(Set(fractions).count > 100)
        // Five times as many pulses as expected: the first piece waits before its end, the second has learned.
        #expect(fractions.count { abs($0 - 0.475) < 1e-9 } > 100)
        #expect(fractions.count { $0 > 0.5 && $0 < 0.95 } > 200)
    }

    @Test func `without a meter the work is done all the same`() throws {
        #expect(WorkMeter.part(upTo: 0.5) { 7 } == 7)
        let pieces: [WorkMeter.Piece<Int>] = [(1, { [1, 2] }), (0, { [3] })]
        #expect(try WorkMeter.each(pieces) == [1, 2, 3])
        let failing: [WorkMeter.Piece<Int>] = [(1, { throw CancellationError() })]
        #expect(throws: CancellationError.self) { try WorkMeter.each(failing) }
    }

    @Test func `an error ends its part, and the parts that follow go on from there`() throws {
        let told = Told()
        WorkMeter.$current.withValue(told.meter) {
            _ = try? WorkMeter.part(upTo: 0.5) { throw CancellationError() }
            WorkMeter.part(upTo: 1) {
                WorkMeter.expect(rows: 2)
                for _ in 0..<2 { WorkMeter.current?.advance() }
            }
        }
        let fractions = told.all.map(\.fraction)
        #expect(fractions.first.map { $0 >= 0.5 } == true && fractions.last == 1)
    }
}
