import MoultModel
import MoultSQLite

extension FormatLowering {
    package func lower(_ predicate: Predicate) throws -> LoweredCondition {
        switch predicate {
        case .constant(let holds): .constant(holds)
        case .comparison(let comparison): try lower(comparison)
        case .and(let parts): Self.join(try parts.map(lower), " AND ", empty: true)
        case .or(let parts): Self.join(try parts.map(lower), " OR ", empty: false)
        case .not(let part): try lower(part).negated
        }
    }

    static func join(_ parts: [LoweredCondition], _ word: SQLText, empty: Bool) -> LoweredCondition {
        guard parts.count != 1 else { return parts[0] }
        guard !parts.isEmpty else { return .constant(empty) }
        // Of a long list SQLite would make a tree as deep as the list is long, which it then refuses.
        guard parts.count <= 100 else {
            let middle = parts.count / 2
            return join(
                [join(Array(parts[..<middle]), word, empty: empty), join(Array(parts[middle...]), word, empty: empty)],
                word, empty: empty)
        }
        return LoweredCondition(
            parts.map { "(\($0.sql))" }.joined(separator: word), mayBeNull: parts.contains { $0.mayBeNull })
    }

    // MARK: - Comparisons

    private func lower(_ comparison: Predicate.Comparison) throws -> LoweredCondition {
        let test = Test(comparison)
        let left = try lower(comparison.left)
        let right = try lower(comparison.right)
        switch comparison.modifier {
        case .direct: return try compare(left, right, test)
        case .any: return try any(of: left, right, test)
        case .all: return try any(of: left, right, test, isNegated: true).negated
        }
    }

    /// The test that a comparison makes, whatever its two sides are.
    struct Test {
        var `operator`: Predicate.Operator
        var options: Predicate.Options
        /// As it is printed, for errors.
        var format: String

        init(_ comparison: Predicate.Comparison) {
            `operator` = comparison.operator
            options = comparison.options
            format = Predicate.comparison(comparison).format
        }

        func with(_ operator: Predicate.Operator) -> Test {
            var test = self
            test.operator = `operator`
            return test
        }
    }

    /// Whether an element of `left` passes the test; with `isNegated`, whether one does not.
    private func any(of left: Lowered, _ right: Lowered, _ test: Test, isNegated: Bool = false) throws
        -> LoweredCondition
    {
        func compareElement(_ element: Lowered) throws -> LoweredCondition {
            let condition = try compare(element, right, test)
            return isNegated ? condition.negated : condition
        }
        switch left {
        case .collection(let collection):
            return LoweredCondition(collection.exists(try compareElement(collection.element).sql))
        case .constant(.collection(let values)):
            return Self.join(try values.map { try compareElement(.constant($0)) }, " OR ", empty: false)
        case .elements(let elements):
            return Self.join(try elements.map(compareElement), " OR ", empty: false)
        case .constant(let value):
            return value.isNull ? .constant(false) : try compareElement(left)
        // A single value is the one element of itself, nil of nothing.
        case .value(let value):
            let condition = try compareElement(left)
            return Self.join([LoweredCondition("\(value.sql) IS NOT NULL"), condition], " AND ", empty: true)
        case .object(let row):
            let condition = try compareElement(left)
            return Self.join([LoweredCondition("\(row.key) IS NOT NULL"), condition], " AND ", empty: true)
        case .composite: return try compareElement(left)
        }
    }

    func compare(_ left: Lowered, _ right: Lowered, _ test: Test) throws -> LoweredCondition {
        switch (test.operator, left, right) {
        case (.in, _, _): return try member(left, of: right, test)
        case (.contains, .collection, _), (.contains, .constant(.collection), _), (.contains, .elements, _):
            return try member(right, of: left, test)
        case (.between, _, .constant(.collection(let bounds))):
            return try between(left, bounds.map(Lowered.constant), test)
        case (.between, _, .elements(let bounds)): return try between(left, bounds, test)
        default: return try compareSingle(left, right, test)
        }
    }

    private func between(_ value: Lowered, _ bounds: [Lowered], _ test: Test) throws -> LoweredCondition {
        guard bounds.count == 2 else { throw refuse(test.format, "BETWEEN needs two bounds") }
        return Self.join(
            [
                try compareSingle(value, bounds[0], test.with(.greaterThanOrEqual)),
                try compareSingle(value, bounds[1], test.with(.lessThanOrEqual)),
            ], " AND ", empty: true)
    }
}
