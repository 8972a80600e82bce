import MoultBasics
import MoultModel
import Testing

@Suite struct FormatArgumentTests {
    private static let cases: [(String, [FormatArgument], String)] = [
        ("name == %@", [.value(.string("O'Hara \"x\""))], "name == \"O'Hara \\\"x\\\"\""),
        ("%K == %@", [.keyPath("address.city"), .value(.null)], "address.city == nil"),
        ("%K == %d", [.value(.string("size")), .value(.integer(3))], "#size == 3"),
        ("ANY %K.name ==[cd] %@", [.keyPath("tags"), .value(.string("x"))], "ANY tags.name ==[cd] \"x\""),
        ("$x.%K > %f", [.keyPath("a"), .value(.real(1.5))], "$x.a > 1.5"),
        ("tags.@max.%K < %ld", [.keyPath("n"), .value(.integer(-7))], "tags.@max.n < -7"),
        ("%K > %lu", [.keyPath("pages.@count"), .value(.integer(1))], "count:(pages) > 1"),
        ("a IN %@", [.value(.collection([.integer(1), .string("b")]))], "a IN {1, \"b\"}"),
        ("a BETWEEN {%i, %u}", [.value(.integer(1)), .value(.integer(2))], "a BETWEEN {1, 2}"),
        ("a == %f", [.value(.integer(2))], "a == 2.0"), ("a == %d", [.value(.boolean(true))], "a == 1"),
        ("a == '%@'", [], "a == \"%@\""),
        ("a == %llu + %hhd", [.value(.integer(1)), .value(.integer(2))], "a == 1 + 2"),
        ("a == %@", [.value(.decimal("1.10"))], "a == CAST(\"1.10\", \"NSDecimalNumber\")"),
        ("a == %s", [.value(.string("x"))], "a == \"x\""),
    ]

    @Test(arguments: cases.indices)
    func `arguments stand where their placeholders are`(index: Int) throws {
        let (text, arguments, expected) = Self.cases[index]
        #expect(try Predicate(parsing: text, arguments: arguments).format == expected)
    }

    private static let faults: [(String, [FormatArgument], Int)] = [
        ("a == %@", [], 5), ("a == %@ AND b == %d", [.value(.null)], 17), ("a == 1", [.value(.null)], 6),
        ("a == %d", [.value(.string("1"))], 5), ("a == %d", [.value(.real(1))], 5), ("a == %f", [.value(.null)], 5),
        ("%K == 1", [.value(.integer(1))], 0), ("%K == 1", [.keyPath("a b")], 0), ("%K == 1", [.keyPath("a..b")], 0),
        ("%K == 1", [.keyPath("")], 0), ("a == %@", [.keyPath("b")], 5), ("a == %y", [.value(.null)], 5),
        ("a == %", [], 5), ("a == %%", [], 5), ("%K == 1", [.keyPath("a) OR (1")], 0),
        ("a.%@ == 1", [.value(.null)], 2),
    ]

    @Test(arguments: faults.indices)
    func `an argument of a wrong number or kind is found where it stands`(index: Int) {
        let (text, arguments, character) = Self.faults[index]
        let error = #expect(throws: MigrationError.self) { try Predicate(parsing: text, arguments: arguments) }
        #expect(error?.place == "character \(character)", "\(error?.description ?? "")")
        #expect(error?.code == .invalidPredicate)
    }
}
