import MoultBasics
import MoultModel
import TestSupport
import Testing

/// The witness is the sqlite3 shell.
@Suite struct ExpressionNumberTests {
    private static let integers: [Int64] = [
        0, 1, -1, 2, 3, 7, -7, 63, 64, 65, -64, 1 << 53, (1 << 53) + 1, -(1 << 53) - 1, .max, .max - 1, .min, .min + 1,
        1000, 4_611_686_018_427_387_904,
    ]
    private static let reals: [Double] = [
        0, 1, -1, 0.5, -0.5, 1.5, 2, 3, -7.9, 9_007_199_254_740_992, 9_007_199_254_740_994, 0x1p62, 0x1p63, -0x1p63,
        1e300, -1e300, 0.1, 1e-300, 63.9,
    ]
    private static let values = integers.map(ExpressionValue.integer) + reals.map(ExpressionValue.real)

    /// Asks the shell about every pair of values, and the code under test too.
    private func compare(
        _ sql: (String, String) -> String, _ own: (ExpressionValue, ExpressionValue) throws -> ExpressionValue
    ) throws {
        let shell = try SQLiteProcess(":memory:")
        let literals = Self.values.map(\.sql)
        for (left, leftLiteral) in zip(Self.values, literals) {
            let question = "SELECT " + literals.map { "quote(\(sql(leftLiteral, $0)))" }.joined(separator: ", ")
            let answers = try shell.run(question).dropLast().split(separator: "|").map { ExpressionValue(quoted: $0) }
            #expect(answers.count == Self.values.count)
            let wrong = try zip(Self.values, answers).filter { try own(left, $0) != $1 }
            #expect(wrong.isEmpty, "\(left)")
        }
    }

    @Test func `integers and reals compare as SQLite compares them`() throws {
        try compare(
            { "2 * (\($0) < \($1)) + (\($0) = \($1))" },
            { left, right in
                let isLess = try Predicate.Operator.lessThan.holds(left, right)
                return .integer((isLess ? 2 : 0) + (left.equals(right) ? 1 : 0))
            })
    }

    @Test(arguments: Expression.Arithmetic.allCases.filter { $0 != .power })
    func `arithmetic comes to what SQLite comes to`(arithmetic: Expression.Arithmetic) throws {
        try compare({ "\($0) \(arithmetic.symbol) \($1)" }, { try arithmetic.value($0, $1) })
    }

    @Test(arguments: [
        ("&", "bitwiseAnd:with:"), ("|", "bitwiseOr:with:"), ("<<", "leftshift:by:"), (">>", "rightshift:by:"),
        ("%", "modulus:by:"),
    ])
    func `remainders, bits and shifts are SQLite's`(sign: String, selector: String) throws {
        let function = try #require(ExpressionFunction(selector))
        try compare(
            { "CAST(\($0) AS INTEGER) \(sign) CAST(\($1) AS INTEGER)" },
            { try function.value([$0, $1], now: 0) })
    }

    @Test(arguments: [
        ("abs:", "abs"), ("floor:", "floor"), ("ceiling:", "ceil"), ("trunc:", "trunc"), ("sqrt:", "sqrt"),
        ("ln:", "ln"), ("log:", "log"), ("exp:", "exp"),
    ])
    func `functions of one number are SQLite's`(selector: String, name: String) throws {
        let function = try #require(ExpressionFunction(selector))
        let shell = try SQLiteProcess(":memory:")
        // abs(-9223372036854775808) is an error there and a real here.
        for value in Self.values where value != .integer(.min) {
            let expected = ExpressionValue(quoted: try shell.run("SELECT quote(\(name)(\(value.sql)))").dropLast())
            let result = try function.value([value], now: 0)
            // SQLite divides natural logarithms, which is off by a digit.
            if name == "log", case .real(let left) = result, case .real(let right) = expected {
                #expect(abs(left - right) <= 1e-15 * abs(right), "log(\(value))")
            } else {
                #expect(result == expected, "\(name)(\(value))")
            }
        }
    }

    @Test func `sorting puts values where SQLite's ORDER BY puts them`() throws {
        var values =
            Self.values + [.null, .boolean(true), .date(12.5), .data([]), .data([0]), .data([0, 1]), .data([255])]
        values += ["", "a", "A", "b", "é", "e\u{301}", "日", "👍", "ﬀ", "z"].map(ExpressionValue.string)
        let shell = try SQLiteProcess(":memory:")
        try shell.run("CREATE TABLE t (x)")
        try shell.run("INSERT INTO t VALUES " + values.map { "(\($0.sql))" }.joined(separator: ", "))
        let expected = try shell.run("SELECT rowid - 1 FROM t ORDER BY x, rowid").split(separator: "\n").map { Int($0) }
        let sorted = values.enumerated().sorted { left, right in
            let order = ExpressionValue.ordering(left.element, right.element)
            return order == .orderedSame ? left.offset < right.offset : order == .orderedAscending
        }
        #expect(sorted.map(\.offset) == expected)
    }

    @Test(arguments: [
        ("0.1", "+", "0.2", "0.3"), ("0.1", "*", "3", "0.3"), ("1", "/", "4", "0.25"),
        ("99999999999999999999.5", "-", "0.5", "99999999999999999999"),
        ("1.10", "+", "1", "2.1"),
    ])
    func `decimals keep their digits`(left: String, symbol: String, right: String, expected: String) throws {
        let arithmetic = try #require(Expression.Arithmetic.allCases.first { $0.symbol == symbol })
        #expect(try arithmetic.value(.decimal(left), .decimal(right)) == .decimal(expected))
    }

    @Test func `dates, decimals and nil keep to their rules`() throws {
        let (add, subtract, divide) = (
            Expression.Arithmetic.add, Expression.Arithmetic.subtract, Expression.Arithmetic.divide
        )
        #expect(try add.value(.date(10), .integer(5)) == .date(15))
        #expect(try subtract.value(.date(10), .date(4)) == .real(6))
        #expect(try subtract.value(.date(10), .real(0.5)) == .date(9.5))
        #expect(try add.value(.decimal("0.1"), .integer(1)) == .decimal("1.1"))
        #expect(try add.value(.decimal("0.5"), .real(1)) == .real(1.5))
        #expect(try divide.value(.decimal("1"), .decimal("0")) == .null)
        #expect(try divide.value(.decimal("1"), .integer(3)) == .decimal("0." + String(repeating: "3", count: 38)))
        #expect(try add.value(.null, .string("x")) == .null)
        #expect(try add.value(.decimal("NaN"), .integer(1)) == .null)
        #expect(throws: MigrationError.self) { try add.value(.date(1), .date(1)) }
        #expect(throws: MigrationError.self) { try subtract.value(.integer(1), .date(1)) }
        #expect(throws: MigrationError.self) { try add.value(.string("1"), .integer(1)) }
    }
}

extension ExpressionValue {
    fileprivate var sql: String {
        switch self {
        case .string(let text): "'\(text)'"
        case .data(let bytes): "x'\(bytes.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined())'"
        case .integer(.min): "(-9223372036854775807 - 1)"
        case .null: "NULL"
        case .boolean, .integer, .real: "(\(Expression.constant(self).format))"
        case .date(let seconds): "(\(seconds))"
        default: "?"
        }
    }

    /// Reads what SQLite's `quote()` wrote.
    fileprivate init(quoted text: Substring) {
        if text == "NULL" {
            self = .null
        } else if let number = Int64(text) {
            self = .integer(number)
        } else {
            self = Double(text).map(ExpressionValue.real) ?? .string(String(text))
        }
    }
}
