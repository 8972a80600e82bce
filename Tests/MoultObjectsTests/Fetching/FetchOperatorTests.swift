import MoultBasics
import MoultModel
import MoultStore
import TestSupport
import Testing

@testable import MoultObjects

/// Every operator between every two values that are easily compared wrongly.
@Suite("Operators in SQL and in memory")
struct FetchOperatorTests {  // tier: long
    private let world: FetchWorld

    init() throws { world = try FetchWorld(seed: 11, model: FetchModel.make(), texts: ValuePool.texts) }

    private func check(_ predicate: Predicate, of entity: String = "Tag") throws {
        let fetch = ObjectFetch(entityName: entity, predicate: predicate)
        let (found, expected) = (try world.fetched(fetch), try world.expected(fetch))
        #expect(found == expected, "\(predicate.format)")
    }

    @Test func `texts, under all options`() throws {
        let operators: [Predicate.Operator] = [
            .equal, .notEqual, .lessThan, .greaterThanOrEqual, .beginsWith, .endsWith, .contains, .like,
        ]
        let label = Expression.keyPath("label")
        for text in ValuePool.texts {
            for comparison in operators {
                for options: Predicate.Options in [[], [.caseInsensitive, .diacriticInsensitive]] {
                    try check(.comparison(.init(label, comparison, .constant(.string(text)), options: options)))
                }
            }
            try check(.comparison(.init(.constant(.string(text)), .contains, label)))
            // As many as travel in one parameter.
            let many = [ExpressionValue](repeating: .string(text), count: 70)
            try check(.comparison(.init(label, .in, .constant(.collection(many)))))
        }
        #expect(world.objects["Tag"]?.count == ValuePool.texts.count)
    }

    @Test func `numbers, between columns and constants of every type`() throws {
        let constants =
            ValuePool.integers.map(ExpressionValue.integer) + ValuePool.reals.map(ExpressionValue.real)
            + ValuePool.decimals.map(ExpressionValue.decimal) + ValuePool.dates.map(ExpressionValue.date)
            + [.boolean(true), .real(.nan)]
        for name in ["age", "big", "score", "fee", "born", "isActive"] {
            for constant in constants {
                for comparison: Predicate.Operator in [.equal, .notEqual, .lessThan, .greaterThanOrEqual] {
                    try check(.comparison(.init(.keyPath(name), comparison, .constant(constant))), of: "Writer")
                }
                let many = [ExpressionValue](repeating: constant, count: 70)
                try check(.comparison(.init(.keyPath(name), .in, .constant(.collection(many)))), of: "Writer")
            }
        }
    }

    private static let edges = [
        // Exact decimals between two functions.
        "(fee + 9223372036854775807) - 9223372036854775807 == fee", "(fee * 1000000000000000001) - fee != 0",
        "(books.@sum.price * 10000000000000001) - books.@sum.price > 0",
        // The order of a sum of reals.
        "books.@sum.stars == books.@avg.stars * books.@count", "shelf.@sum.stars > 0.3",
        "tags.@sum.rank == 9223372036854775807", "friends.@sum.score > friends.@max.score",
        // Whole seconds beside large integers.
        "born + big > 0", "born - big == born", "born - born == 0",
        // Nil among distinct values.
        "count:(books.@distinctUnionOfObjects.title) == books.@count",
        "ANY books.@distinctUnionOfObjects.title == nil", "ANY books.title == nil",
        // Nil on the way to a to-many.
        "ANY shelf.author.tags.label == nil", "ALL books.author.mentor.friends != nil",
        "SUBQUERY(friends, $f, $f.age > age).@count > 0", "SUBQUERY(pupils, $p, $p.mentor == SELF).@count > 0",
        "SUBQUERY(books, $b, SUBQUERY($b.tags, $t, $t IN SELF.tags).@count > 0).@count > 0",
        "objectFrom:withIndex:(books, 0).title == nil", "objectFrom:withIndex:(books, \"LAST\").author == SELF",
        "NOT (age > 1)", "NOT (name BEGINSWITH \"a\")", "NOT (ANY friends.age > 1)",
        "NONE tags.label CONTAINS \"a\"",
        "address.point.lat < 1", "ANY friends.address.city == \"a\"", "modulus:by:(big, 7) == 1", "now() > born",
        "TERNARY(isActive == 1, name, motto) BEGINSWITH \"a\"", "entity == \"Poet\" OR entity.name == \"Laureate\"",
        "lastRead.author.home.number > -1000", "SELF IN lastRead.author.friends", "name IN friends.name",
    ]

    @Test func `what only shows in the last digits and on the way to nil`() throws {
        for seed: UInt64 in [21, 22] {
            let world = try FetchWorld(seed: seed, model: FetchModel.make(), count: 12)
            for format in Self.edges {
                let fetch = ObjectFetch(entityName: "Writer", predicate: try Predicate(parsing: format))
                let (found, expected) = (try world.fetched(fetch), try world.expected(fetch))
                #expect(found == expected, "\(format), seed \(seed)")
            }
        }
    }
}
