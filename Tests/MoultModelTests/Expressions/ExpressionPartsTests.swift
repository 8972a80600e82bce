import MoultModel
import Testing

@Suite struct ExpressionPartsTests {
    @Test func `variables and key paths are those of the evaluated object`() throws {
        let predicate = try Predicate(
            parsing:
                "a.b > $x AND SUBQUERY(books, $b, $b.title == $y AND ANY $b.tags.name == c).@count > 0 AND SELF == $z")
        #expect(predicate.variables == ["x", "y", "z"])
        #expect(predicate.keyPaths == ["a.b", "books", "books.title", "books.tags.name", "c"])
        #expect(try Expression(parsing: "SUBQUERY($x, $x, $x.a == 1)").variables == ["x"])
        #expect(try Expression(parsing: "sum:(books.price) + (a.b)[0].c").keyPaths == ["books.price", "a.b"])
    }

    @Test func `values stand where their variables were`() throws {
        let predicate = try Predicate(parsing: "a IN $x AND SUBQUERY(b, $x, $x == $y) == nil AND c == $z")
        let substituted = predicate.withSubstitutionVariables([
            "x": .collection([.integer(1), .string("q")]), "y": .null,
        ])
        #expect(substituted.format == "a IN {1, \"q\"} AND SUBQUERY(b, $x, $x == nil) == nil AND c == $z")
        #expect(substituted.variables == ["z"])
        #expect(try Predicate(parsing: substituted.format) == substituted)
    }
}
