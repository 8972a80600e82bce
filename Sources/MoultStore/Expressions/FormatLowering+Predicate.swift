import MoultBasics
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
        // SQLite would parse a long flat list into a tree as deep as the list is long, and reject it.
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

    /// The test made by a comparison, apart from its two sides.
    struct Test {
        var `operator`: Predicate.Operator
        var options: Predicate.Options
        /// The printed form, for errors.
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

    /// Returns whether an element of `left` passes the test; with `isNegated`, whether an element fails it.
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
        // A single value is a collection of one element; nil is an empty collection.
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

    /// Lowers a test that `element` is among the values of `container`.
    func member(_ element: Lowered, of container: Lowered, _ test: Test) throws -> LoweredCondition {
        switch container {
        case .constant(.collection(let values)): return try member(element, of: values, test)
        case .elements(let elements):
            return Self.join(
                try elements.map { try compareSingle(element, $0, test.with(.equal)) }, " OR ", empty: false)
        case .collection(let collection):
            let condition = try compareSingle(collection.element, element, test.with(.equal))
            return LoweredCondition(collection.exists(condition.sql))
        // "a" IN "abc"
        case .constant, .value: return try compareSingle(container, element, test.with(.contains))
        case .object, .composite: throw refuse(test.format, "it names no collection")
        }
    }

    /// Lowers membership in a list of constants, which may have thousands of elements.
    private func member(_ element: Lowered, of values: [ExpressionValue], _ test: Test) throws -> LoweredCondition {
        switch element {
        case .object(let row): return member(row, of: values)
        case .value(let value) where value.kind != .opaque:
            let options = value.kind.family == .text ? test.options.folding : []
            let folded = options.isEmpty ? values : values.map { $0.folded(options) }
            return member(value.folded(options), of: folded)
        case .value, .constant:
            return Self.join(
                try values.map { try compareSingle(element, .constant($0), test.with(.equal)) }, " OR ", empty: false)
        case .collection, .elements, .composite:
            throw refuse(
                test.format, "what is looked up in a list must be one value; use ANY for a to-many relationship")
        }
    }

    private func member(_ row: RowReference, of values: [ExpressionValue]) -> LoweredCondition {
        let keys = values.compactMap { value -> SQLiteValue? in
            guard case .object(let id) = value else { return nil }
            return key(of: id, in: row.entity).map(SQLiteValue.integer)
        }
        return member(row.key, of: keys, orNull: row.mayBeNull && values.contains(where: \.isNull))
    }

    private func member(_ value: LoweredValue, of values: [ExpressionValue]) -> LoweredCondition {
        let stored = values.compactMap { candidate -> SQLiteValue? in
            guard let stored = candidate.stored, stored.kind.family == value.kind.family else { return nil }
            return stored.value
        }
        return member(value.sql, of: stored, orNull: value.mayBeNull && values.contains(where: \.isNull))
    }

    private func member(_ value: SQLText, of list: [SQLiteValue], orNull: Bool) -> LoweredCondition {
        let condition: SQLText = list.isEmpty ? "0" : "\(value) IN \(Self.list(list))"
        return orNull
            ? LoweredCondition("(\(condition)) OR \(value) IS NULL", mayBeNull: true)
            : LoweredCondition(condition, mayBeNull: true)
    }

    /// Passes few values as separate parameters and many as one, to stay within SQLite's limits and keep the statement
    /// short.
    private static func list(_ values: [SQLiteValue]) -> SQLText {
        guard values.count > 64 else { return "(\(values.map { "\(value: $0)" as SQLText }.joined(separator: ", ")))" }
        let packed = PackedList(values)
        return packed.isPlain
            ? "(SELECT value FROM json_each(\(value: .text(packed.json))))"
            : "(SELECT \(name: FormatFunctions.unpack)(value) FROM json_each(\(value: .text(packed.json))))"
    }
}

/// A list of values as one JSON text. Integers are written as numbers; values that JSON cannot carry exactly are
/// written in a form that ``FormatFunctions`` unpacks.
struct PackedList {
    private(set) var json = "["
    /// Whether SQLite's own JSON functions return the exact values.
    let isPlain: Bool

    init(_ values: [SQLiteValue]) {
        isPlain = values.allSatisfy { $0.storageClass == .integer }
        for (position, value) in values.enumerated() {
            if position > 0 { json += "," }
            switch value {
            case .integer(let number): json += String(number)
            case .real(let number): json += "\"r\(String(number.bitPattern, radix: 16))\""
            case .text(let text): json += "\"t\(Array(text.utf8).hexadecimal)\""
            case .blob(let bytes): json += "\"b\(bytes.hexadecimal)\""
            case .null: json += "null"
            }
        }
        json += "]"
    }

    static func unpacked(_ text: String) -> SQLiteValue {
        let digits = text.dropFirst()
        switch text.first {
        case "r": return UInt64(digits, radix: 16).map { .real(Double(bitPattern: $0)) } ?? .null
        case "t": return .text(String(decoding: bytes(digits), as: UTF8.self))
        case "b": return .blob(bytes(digits))
        default: return .null
        }
    }

    private static func bytes(_ digits: Substring) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(digits.utf8.count / 2)
        var high: UInt8?
        for digit in digits.utf8 {
            let nibble = digit < UInt8(ascii: "a") ? digit &- UInt8(ascii: "0") : digit &- UInt8(ascii: "a") &+ 10
            if let first = high {
                bytes.append(first << 4 | nibble & 15)
                high = nil
            } else {
                high = nibble
            }
        }
        return bytes
    }
}
