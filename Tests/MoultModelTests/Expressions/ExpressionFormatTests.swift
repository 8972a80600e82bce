import MoultBasics
import MoultModel
import TestSupport
import Testing

/// The texts are those of Apple's documentation and of what Core Data is known to print.
@Suite struct ExpressionFormatTests {  // tier: long
    @Test(
        arguments: [
            ("pages.@count", "count:(pages)"), ("@count", "count:(SELF)"), ("canonical:(name)", "canonical:(name)"),
            ("now()", "now()"), ("sum:( pages.number )", "sum:(pages.number)"), ("publisher.name", "publisher.name"),
            ("SELF.name", "name"), ("$source.name", "$source.name"),
            ("FUNCTION($x , 'twice:', 2)", "FUNCTION($x, \"twice:\", 2)"),
            ("1 + 2 * x", "1 + (2 * x)"), ("(1 + 2) * x", "(1 + 2) * x"), ("a - b - c", "(a - b) - c"),
            ("-5", "-5"), ("2 ** 3", "2 ** 3"), ("add:to:(a, b)", "a + b"), ("{1, 'two', NULL}", "{1, \"two\", nil}"),
            ("0x1F", "31"), ("1.50", "1.5"), ("1e3", "1000.0"), ("'it''s'", nil), ("#first.size", "#first.#size"),
            ("#in", "#in"), ("a[0].b[FIRST]", "a[0].b[FIRST]"), ("a[ last ]", "a[LAST]"),
            ("(a + b)[#size]", "(a + b)[#size]"),
            ("a.@count.@count", "count:(count:(a))"), ("x[0].@count", "count:(x[0])"), ("0b101 + 0o17", "5 + 15"),
            ("(-5).x", "(-5).x"), ("-9223372036854775808", "-9223372036854775808"),
            ("'\\u00e9\\uD83D\\uDE00'", "\"é😀\""),
            ("9223372036854775808", "9.223372036854776e+18"),
            ("'a\\'b\"c\\n'", "\"a'b\\\"c\\n\""),
            ("CAST('1.50', 'NSDecimalNumber')", "CAST(\"1.50\", \"NSDecimalNumber\")"),
            ("CAST(x, 'NSDate')", "CAST(x, \"NSDate\")"), ("TERNARY(a > 1, 'x', 'y')", "TERNARY(a > 1, \"x\", \"y\")"),
            ("SUBQUERY(pages, $p, $p.number > 1).@count", "count:(SUBQUERY(pages, $p, $p.number > 1))"),
        ] as [(String, String?)])
    func `an expression prints as Core Data prints it`(text: String, expected: String?) throws {
        guard let expected else {
            #expect(throws: MigrationError.self) { try Expression(parsing: text) }
            return
        }
        let expression = try Expression(parsing: text)
        #expect(expression.format == expected)
        #expect(try Expression(parsing: expected) == expression)
    }

    @Test(arguments: [
        ("name = 'x'", "name == \"x\""), ("a <> 1 && b >= 2", "a != 1 AND b >= 2"),
        ("a == 1 or b == 2 and not c == 3", "a == 1 OR (b == 2 AND NOT c == 3)"),
        ("(a == 1 OR b == 2) AND c == 3", "(a == 1 OR b == 2) AND c == 3"),
        ("(a + b) > c", "a + b > c"), ("((a)) > 1", "a > 1"), ("NOT (a == 1 AND b == 2)", "NOT (a == 1 AND b == 2)"),
        ("name beginswith[cd] \"A\"", "name BEGINSWITH[cd] \"A\""), ("x BETWEEN {1, 10}", "x BETWEEN {1, 10}"),
        ("ANY pages.number > 3", "ANY pages.number > 3"), ("NONE tags.name == 'a'", "NOT ANY tags.name == \"a\""),
        ("ALL pages.number IN {1, 2}", "ALL pages.number IN {1, 2}"), ("flag == YES", "flag == 1"),
        ("authorAlias == $FETCH_SOURCE.alias", "authorAlias == $FETCH_SOURCE.alias"),
        ("TRUEPREDICATE", "TRUEPREDICATE"),
        ("name LIKE '*x?' AND name MATCHES '.*'", "name LIKE \"*x?\" AND name MATCHES \".*\""),
        ("SELF contains 'great'", "SELF CONTAINS \"great\""), ("deletedAt == nil", "deletedAt == nil"),
    ])
    func `a predicate prints as Core Data prints it`(text: String, expected: String) throws {
        let predicate = try Predicate(parsing: text)
        #expect(predicate.format == expected)
        #expect(try Predicate(parsing: expected).format == expected)
    }

    @Test(arguments: [
        ("(text LIK 'x')", 6, "LIKE"), ("NOT text CONTIANS 'x'", 9, "CONTAINS"),
    ])
    func `a misspelt operator is pointed at, and the one that was meant is named`(
        text: String, place: Int, meant: String
    ) throws {
        let error = try #require(throws: MigrationError.self) { try Predicate(parsing: text) }
        #expect(error.place == "character \(place)" && error.message.contains("Did you mean \(meant)?"), "\(error)")
    }

    /// The word with each letter left out, and with another one at each place.
    private static func misspelt(_ word: String) -> [String] {
        let letters = Array(word)
        let shorter = letters.indices.map { String(letters[..<$0] + letters[($0 + 1)...]) }
        return shorter + (0...letters.count).map { String(letters[..<$0] + ["X"] + letters[$0...]) }
    }

    @Test(arguments: ["BEGINSWITH", "BETWEEN", "CONTAINS", "ENDSWITH", "IN", "LIKE", "MATCHES", "AND", "OR"])
    func `every operator with a letter too few or too many is pointed at, and named`(`operator`: String) throws {
        let before = ["AND", "OR"].contains(`operator`) ? "name == 1 " : "name "
        for word in Self.misspelt(`operator`).flatMap({ [$0, $0.lowercased()] }) {
            for text in ["\(before)\(word) 'x' == 1", "\(before)\(word) {1}"] {
                let error = try #require(throws: MigrationError.self) { try Predicate(parsing: text) }
                #expect(error.place == "character \(before.count)", "\(text): \(error)")
                #expect(error.message.hasSuffix(" Did you mean \(`operator`)?"), "\(text): \(error)")
            }
        }
    }

    @Test func `the operators of the test are all that are words`() {
        let words = Predicate.Operator.allCases.map(\.symbol).filter { $0.allSatisfy(\.isLetter) }
        #expect(words.sorted() == ["BEGINSWITH", "BETWEEN", "CONTAINS", "ENDSWITH", "IN", "LIKE", "MATCHES"])
    }

    @Test(arguments: ["ALL", "ANY", "NONE", "NOT", "SOME"])
    func `every word before a comparison with a letter too few or too many is pointed at, and named`(
        prefix: String
    ) throws {
        // NO is a value.
        for word in Self.misspelt(prefix) where word != "NO" {
            let error = try #require(throws: MigrationError.self) { try Predicate(parsing: "\(word) pages.number > 3") }
            #expect(error.place == "character 0", "\(word): \(error)")
            #expect(error.message.hasSuffix(" Did you mean \(prefix)?"), "\(word): \(error)")
        }
    }

    @Test(arguments: [
        ("name STARTSWITH 'x'", 5, "STARTSWITH stands where an operator is expected."), ("name", 0, "there is a value"),
        ("a AND b == 1", 0, "there is a value"), ("name LIKE[in] 'x'", 10, "in stands where c, d, n or l is expected."),
    ])
    func `a word that is near to none is pointed at too, and no operator is named where none can stand`(
        text: String, place: Int, says: String
    ) throws {
        let error = try #require(throws: MigrationError.self) { try Predicate(parsing: text) }
        #expect(error.place == "character \(place)" && error.message.contains(says), "\(error)")
        #expect(!error.message.contains("Did you mean"), "\(error)")
    }

    @Test(arguments: [
        ("", 0), ("pages.", 6), ("count:(pages", 12), ("a ==", 4), ("a == 1", 0), ("(a", 2), ("{1,", 3), ("'open", 0),
        ("a b", 2), ("$x ? 1", 3), ("FUNCTION(a)", 9), ("AND", 0),
        // A number behind # would be printed as a number.
        ("1 + #00", 5), ("$1", 1), ("a[", 2), ("a[0", 3), ("'\\uD800'", 1), ("'\\u12'", 1), ("0x", 0), ("1 + 0b2", 4),
        ("%d", 0),
        ("SUBQUERY(a, b, c)", 12), ("TERNARY(a, b, c)", 8), ("a.", 2), ("e\u{301} ==", 5),
    ])
    func `a fault is found where it stands`(text: String, character: Int) {
        let error = #expect(throws: MigrationError.self) { try Expression(parsing: text) }
        #expect(error?.code == .invalidPredicate)
        #expect(error?.place == "character \(character)")
    }

    @Test func `endless nesting is refused`() {
        let texts = [
            String(repeating: "(", count: 20_000), String(repeating: "NOT ", count: 20_000) + "a == 1",
            "a" + String(repeating: " + a", count: 20_000), String(repeating: "{", count: 20_000),
            "a" + String(repeating: "[0]", count: 20_000), String(repeating: "x[", count: 20_000),
            "a == 1" + String(repeating: " AND (b == 2 OR c == 3", count: 20_000),
        ]
        for text in texts { #expect(throws: MigrationError.self) { try Predicate(parsing: text) } }
        #expect((try? Expression(parsing: "a" + String(repeating: ".a", count: 10_000))) != nil)
        #expect((try? Predicate(parsing: "a == 1" + String(repeating: " OR a == 1", count: 10_000))) != nil)
    }

    @Test(arguments: [" + a", "[0]", "[0].a", " * (a - 1)"])
    func `what is just not too deep is read as printed`(link: String) throws {
        var count = 0
        while let expression = try? Expression(parsing: "a" + String(repeating: link, count: count)) {
            #expect(try Expression(parsing: expression.format) == expression, "\(count)")
            count += 1
        }
        #expect(count > 20)
    }

    @Test func `mutated texts never crash, and what parses prints and parses again`() throws {
        let text =
            "ANY pages.number > 3 AND (name BEGINSWITH[cd] \"A\" OR SUBQUERY(a, $b, $b.c IN {1, 2.5}).@count == -1)"
        var parsed = 0
        for seed in UInt64(0)..<5000 {
            let mutated = String(decoding: Array(text.utf8).mutated(seed: seed), as: UTF8.self)
            guard let predicate = try? Predicate(parsing: mutated) else { continue }
            #expect((try? Predicate(parsing: predicate.format))?.format == predicate.format, "\(mutated)")
            parsed += 1
        }
        #expect(parsed > 100)
    }
}
