import MoultBasics
import MoultModel
import TestSupport
import Testing

@Suite struct ExpressionFunctionTests {
    @Test(arguments: [
        ("sum:({1, 2, 3})", "6"), ("sum:({})", "0"), ("sum:({1, 0.5, nil})", "1.5"),
        ("sum:({9223372036854775807, 1})", "9.223372036854776e+18"),
        ("sum:(CAST('0.1', 'NSDecimalNumber'), 1)", "CAST(\"1.1\", \"NSDecimalNumber\")"),
        ("average:({1, 2})", "1.5"), ("average:({})", "nil"), ("average:({nil, 4})", "4.0"), ("count:({1, nil})", "2"),
        ("count:(nil)", "0"),
        ("max:({2, 10, 3.5})", "10"), ("min:({'b', 'B', nil})", "\"B\""), ("min:({nil})", "nil"),
        ("median:({3, 1, 2})", "2"), ("median:({4, 1, 2, 3})", "2.5"),
        ("median:({})", "nil"), ("mode:({1, 2, 2.0, 3, 3})", "{2, 3}"), ("mode:({})", "{}"),
        ("stddev:({2, 4, 4, 4, 5, 5, 7, 9})", "2.0"), ("stddev:({})", "nil"),
        ("uppercase:('straße')", "\"STRASSE\""), ("lowercase:('ÀB')", "\"àb\""), ("canonical:('Àb')", "\"ab\""),
        ("canonical:(nil)", "nil"),
        ("length:('e\u{301}👍')", "3"), ("length:(CAST('AAA=', 'NSData'))", "2"), ("onesComplement:(0)", "-1"),
        ("bitwiseXor:with:(6, 3)", "5"),
        ("6 & 3", "2"), ("6 | 3", "7"), ("6 ^ 3", "5"), ("~0", "-1"), ("1 << 4", "16"), ("16 >> 2 + 1", "2"),
        ("1 | 2 ^ 3 & 6", "1"), ("-~1", "2"), ("~-~1", "-3"), ("--3", "3"), ("abs(-3)", "3"), ("max(1, 2)", "2"),
        ("distinct:({2, 1, 2.0, nil})", "{2, 1}"), ("count(distinct({1, 1, 2}))", "2"), ("distinct:(nil)", "{}"),
        ("modulus:by:(-7, 3)", "-1"), ("modulus:by:(7, 0)", "nil"), ("2 ** 10", "1024.0"),
        ("2 ** 0.5 ", "1.4142135623730951"), ("(-8) ** (1.0 / 3)", "nil"),
        ("noindex:(a)", "nil"), ("now()", "CAST(1000.0, \"NSDate\")"), ("7 / 2", "3"), ("7 / 2.0", "3.5"),
        ("1 / 0", "nil"), ("1 / 0.0", "nil"),
        ("CAST(now(), 'NSNumber')", "1000.0"), ("CAST(1 + 1, 'NSString')", "\"2\""),
        ("CAST('12', 'NSNumber') + 0", "12.0"),
        ("CAST(0.1, 'NSDecimalNumber') * 3", "CAST(\"0.3\", \"NSDecimalNumber\")"),
        (
            "CAST(uppercase:('x-coredata://C22067D2-9C64-4412-8A30-16F2E3081D89/A/p1'), 'NSURL')",
            "CAST(\"X-COREDATA://C22067D2-9C64-4412-8A30-16F2E3081D89/A/P1\", \"NSURL\")"
        ),
        (
            "CAST(CAST('C22067D2-9C64-4412-8A30-16F2E3081D89', 'NSUUID'), 'NSString')",
            "\"C22067D2-9C64-4412-8A30-16F2E3081D89\""
        ),
        ("CAST(nil, 'NSDate')", "nil"), ("{1, 2}[1]", "2"), ("{1, 2}[LAST]", "2"), ("{}[FIRST]", "nil"),
        ("{1, 2}[SIZE]", "2"), ("nil[0]", "nil"),
    ])
    func `a function comes to what its page says`(text: String, expected: String) throws {
        let expression = try Expression(parsing: text)
        let value = try expression.value(for: .null, in: Bookshelf())
        #expect(Expression.constant(value).format == expected)
    }

    @Test(arguments: [
        "sum:({'a'})", "sum:(now())", "average:({now()})", "max:({1, 'a'})", "median:({'a', 'b'})", "uppercase:(1)",
        "length:(1)", "sqrt:('a')", "sqrt:(now())",
        "bitwiseAnd:with:('a', 1)", "now() + now()", "CAST('abc', 'NSNumber') + 0", "CAST(uppercase:('abc'), 'NSUUID')",
        "CAST(1, 'NSNothing')", "CAST(now(), 'NSString')",
        "{1}['x']", "x:y:(1, 2)", "random:(1, 2)", "FUNCTION(1, 'twice')",
    ])
    func `a wrong argument is an error with its place`(text: String) throws {
        let expression = try Expression(parsing: text)
        let error = #expect(throws: MigrationError.self) { try expression.value(for: .null, in: Bookshelf()) }
        #expect(error?.code == .invalidPredicate)
        #expect(error?.place.isEmpty == false)
    }

    @Test func `chance keeps to its range`() throws {
        for _ in 0..<100 {
            guard case .integer(let number) = try Expression(parsing: "random:(3)").value(for: .null, in: Bookshelf()),
                case .real(let real) = try Expression(parsing: "random()").value(for: .null, in: Bookshelf())
            else {
                Issue.record("another kind of number")
                return
            }
            #expect((0..<3).contains(number) && (0..<1).contains(real))
        }
    }

    /// Sorting needs an order that never contradicts itself, whatever is sorted.
    @Test func `the order of values is a total one`() throws {
        var values = (UInt64(0)..<60).map { seed in
            var sampler = ExpressionSampler(seed: seed)
            return sampler.value()
        }
        values += [
            .boolean(true), .real(.nan), .decimal("1.0"), .collection([]), .collection([.integer(1), .null]),
            .collection([.integer(1)]),
        ]
        values += [
            .object(Bookshelf.ann), .object(Bookshelf.bob), .object(Bookshelf.first),
            .object(ObjectID(temporary: 1, entityName: "Author")),
        ]
        var wrong = 0
        for options in [Predicate.Options(), [.caseInsensitive, .diacriticInsensitive]] {
            for left in values {
                for right in values {
                    let order = ExpressionValue.ordering(left, right, options).rawValue
                    if order != -ExpressionValue.ordering(right, left, options).rawValue { wrong += 1 }
                    if left.key == right.key, order != 0 { wrong += 1 }
                    if options.isEmpty, left.key != right.key, order == 0 { wrong += 1 }
                    for third in values.prefix(25) where order <= 0 {
                        let next = ExpressionValue.ordering(right, third, options).rawValue
                        if next <= 0, ExpressionValue.ordering(left, third, options).rawValue > 0 { wrong += 1 }
                    }
                }
            }
        }
        #expect(wrong == 0)
    }
}
