import Foundation
import MoultBasics
import MoultModel
import MoultStore
import TestSupport
import Testing

@testable import MoultObjects

/// Runs random fetches in SQL and in memory and compares what they find, in order.
struct FetchDifference {
    var compared = 0
    var refused = 0
    /// Fetches that the evaluation in memory throws for, such as the order of a number and a text.
    var invalid = 0
    var nonEmpty = 0
    var reasons: [String: Int] = [:]

    mutating func run(seeds: Range<UInt64>, perWorld: Int, until end: Date = .distantFuture) throws {
        let model = try FetchModel.make()
        for seed in seeds where Date() < end {
            let world = try FetchWorld(seed: seed, model: model)
            var random = RandomFetch(world, seed: seed &* 1_000_003)
            for number in 0..<perWorld {
                let fetch = random.fetch()
                try compare(fetch, in: world, "seed \(seed), fetch \(number)")
            }
        }
    }

    private mutating func compare(_ fetch: ObjectFetch, in world: FetchWorld, _ place: String) throws {
        let found: [ObjectID]
        let count: Int64?
        do {
            found = try world.fetched(fetch)
            count = try world.counted(fetch)
        } catch let error as MigrationError where error.code == .fetchUnsupported {
            refused += 1
            reasons[error.message.components(separatedBy: ": ").last ?? "", default: 0] += 1
            return
        } catch {
            Issue.record("\(place): SQL throws \(error)\n\(describe(fetch, in: world))")
            return
        }
        guard let expected = try? world.expected(fetch) else {
            invalid += 1
            return
        }
        compared += 1
        if !expected.isEmpty { nonEmpty += 1 }
        if found != expected || count != Int64(expected.count) {
            Issue.record(
                """
                \(place): SQL finds \(found.map(\.key)), counts \(count ?? -1); in memory \(expected.map(\.key))
                \(describe(fetch, in: world))
                """)
        }
    }

    private func describe(_ fetch: ObjectFetch, in world: FetchWorld) -> String {
        let sort = fetch.sort.map { "\($0.keyPath) \($0.isAscending) \($0.options.rawValue)" }.joined(separator: ", ")
        let lowering = try? FetchLowering(fetch, layout: world.layout, store: FetchWorld.store, now: FetchWorld.now)
        let sql = try? lowering?.select("Z_PK")
        return """
            \(fetch.entityName) \(fetch.predicate?.format ?? "-")
            sort \(sort); limit \(fetch.limit) offset \(fetch.offset) sub \(fetch.includesSubentities)
            \(sql?.text ?? "") \(sql?.values ?? [])
            """
    }
}

@Suite("Fetches in SQL and in memory")
struct FetchDifferenceTests {  // tier: long
    @Test func `a few hundred random fetches find the same objects in the same order`() throws {
        var difference = FetchDifference()
        try difference.run(seeds: 1..<4, perWorld: 120)
        #expect(difference.compared > 300, "\(difference)")
        #expect(difference.nonEmpty * 2 > difference.compared, "\(difference)")
    }
}
