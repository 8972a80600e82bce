import MoultModel
import MoultObjects
import TestSupport
import Testing

struct RuleCycleTests {  // tier: long
    /// Who is on a cycle, by walking up from each object and looking who comes back.
    private static func reference(_ parents: [Int64: Int64]) -> Set<Int64> {
        Set(
            parents.keys.filter { start in
                var (here, steps) = (parents[start], 0)
                while let current = here, steps <= parents.count {
                    if current == start { return true }
                    here = parents[current]
                    steps += 1
                }
                return false
            })
    }

    private static func world(_ parents: [Int64: Int64], count: Int64) throws -> RuleWorld {
        let rows = (1...count).map { key in
            "(\(key), \(key % 3 == 0 ? 2 : 1), 1, \(parents[key].map { "\($0)" } ?? "NULL"))"
        }
        return try RuleWorld("INSERT INTO ZFORUM (Z_PK, Z_ENT, Z_OPT, ZPARENT) VALUES \(rows.joined(separator: ","))")
    }

    @Test(arguments: 1...60)
    func `random parents have the cycles that a slow walk finds`(seed: UInt64) throws {
        var generator = SeededNumbers(seed: seed)
        let count = Int64(generator.below(40) + 1)
        var parents: [Int64: Int64] = [:]
        for key in 1...count where generator.below(6) > 0 {
            // Some lead to rows that are not there.
            parents[key] = Int64(generator.below(UInt64(count) + 2)) + 1
        }
        let world = try Self.world(parents, count: count)
        let expected = Self.reference(parents)
        let cycles = try world.finding(.noCycle(relationship: "parent"), of: "Forum")
        #expect(cycles.count == Int64(expected.count))
        for example in cycles.examples { #expect(expected.contains(example.id.key)) }
        let below = try world.finding(.noCycle(relationship: "parent"), of: "Subforum")
        #expect(below.count == Int64(expected.count { $0 % 3 == 0 }))
    }

    @Test
    func `a cycle is found at the end of a chain of any length, and the way round is told`() throws {
        // 3 → 2 → 1 → 3 with 60,000 objects hanging below it in one line, and a line of 60,000 that ends.
        let world = try RuleWorld(
            """
            INSERT INTO ZFORUM (Z_PK, Z_ENT, Z_OPT, ZPARENT)
                SELECT value, 1, 1, iif(value = 1, 3, value - 1) FROM generate_series(1, 60000);
            INSERT INTO ZFORUM (Z_PK, Z_ENT, Z_OPT, ZPARENT)
                SELECT value, 1, 1, nullif(value - 1, 60000) FROM generate_series(60001, 120000)
            """)
        let finding = try world.finding(.noCycle(relationship: "parent"), of: "Forum")
        #expect(finding.count == 3)
        #expect(finding.examples.map(\.detail) == ["1 → 3 → 2 → 1", "3 → 2 → 1 → 3", "2 → 1 → 3 → 2"])
        let ring = try RuleWorld(
            """
            INSERT INTO ZFORUM (Z_PK, Z_ENT, Z_OPT, ZPARENT)
                SELECT value, 1, 1, value % 50000 + 1 FROM generate_series(1, 50000)
            """)
        let whole = try ring.finding(.noCycle(relationship: "parent"), of: "Forum")
        #expect(whole.count == 50_000)
        #expect(whole.examples.first?.detail.hasSuffix("… (50,000 objects) → 1") == true)
    }
}

/// Numbers that follow from a seed (SplitMix64).
struct SeededNumbers {
    private var state: UInt64
    init(seed: UInt64) { state = seed }

    mutating func below(_ limit: UInt64) -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = (state ^ (state >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return (mixed ^ (mixed >> 31)) % limit
    }
}
