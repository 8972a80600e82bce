import MoultModel
import MoultSQLite

/// The SQL functions that a lowered fetch calls for operations that SQLite has no operator for. They run the in-memory
/// evaluation.
package enum FormatFunctions {
    static let holds = "moult_holds"
    static let fold = "moult_fold"
    static let function = "moult_function"
    static let unpack = "moult_unpack"

    /// Registers the functions on a connection. Call it once, before the first lowered statement.
    package static func register(on connection: Connection) throws {
        let conversions = [ValueConversion.function, ValueConversion.roundsFunction]
        for function in [holdsFunction, foldFunction, callFunction, unpackFunction] + conversions {
            try connection.register(function)
        }
        for aggregate in Aggregate.allCases { try connection.register(function(for: aggregate)) }
    }

    /// `moult_holds(operator, options, text, text)`
    private static let holdsFunction = SQLiteFunction(holds, argumentCount: 4) { arguments in
        guard let found = Predicate.Operator(rawValue: Int(arguments.integer(0))), let left = arguments.text(2),
            let right = arguments.text(3)
        else { return 0 }
        let options = Predicate.Options(rawValue: Int(arguments.integer(1)))
        return try found.holds(.string(left), .string(right), options) ? 1 : 0
    }

    /// `moult_fold(options, text)`
    private static let foldFunction = SQLiteFunction(fold, argumentCount: 2) { arguments in
        let options = Predicate.Options(rawValue: Int(arguments.integer(0)))
        return arguments.text(1).map { .text($0.folded(options)) } ?? .null
    }

    /// `moult_function(selector, flags, kind, argument, …)`; flag 1 asks for exact digits, flag 2 for nil if the
    /// arguments have no result.
    private static let callFunction = SQLiteFunction(function, argumentCount: -1) { arguments in
        let values = stride(from: 2, to: arguments.count - 1, by: 2).map { index in
            ValueKind(rawValue: arguments.integer(index))?.value(arguments[index + 1]) ?? .null
        }
        let flags = arguments.integer(1)
        do {
            return try value(of: arguments.text(0) ?? "", values).result(isExact: flags & 1 != 0)
        } catch  where flags & 2 != 0 {
            return .null
        }
    }

    static func value(of selector: String, _ arguments: [ExpressionValue]) throws -> ExpressionValue {
        try Expression.function(selector, arguments.map(Expression.constant)).value(for: .null, in: NoObjects())
    }

    /// Returns the name of the SQL function: `moult_sum` for `sum:`, and so on.
    static func name(of aggregate: Aggregate) -> String { "moult_" + aggregate.rawValue.dropLast() }

    /// `moult_sum(flags, kind, value)`; flag 1 asks for distinct elements, flag 2 for exact digits.
    private static func function(for aggregate: Aggregate) -> SQLiteAggregate {
        SQLiteAggregate(name(of: aggregate), argumentCount: 3) { FormatAggregation(aggregate) }
    }

    /// Unpacks a value of a ``PackedList``.
    private static let unpackFunction = SQLiteFunction(unpack, argumentCount: 1) { arguments in
        switch arguments[0] {
        case .text(let text): PackedList.unpacked(text)
        case let other: other
        }
    }

    private struct NoObjects: ObjectValues {
        let now = 0.0
        func value(_ key: String, of object: ObjectID) throws -> ExpressionValue { .null }
    }
}

/// An aggregate over the values that SQLite passes. Every aggregate except a sum has to keep them.
private final class FormatAggregation: SQLiteAggregation {
    private let aggregate: Aggregate
    private var elements: [ExpressionValue] = []
    private var isDistinct = false
    private var isExact = false

    init(_ aggregate: Aggregate) { self.aggregate = aggregate }

    func add(_ arguments: SQLiteArguments) throws {
        isDistinct = arguments.integer(0) & 1 != 0
        isExact = arguments.integer(0) & 2 != 0
        elements.append((ValueKind(rawValue: arguments.integer(1)) ?? .null).value(arguments[2]))
        guard aggregate == .sum, !isDistinct, elements.count > 1 else { return }
        // A sum that overflows stays nil. It cannot replace the elements, because nil elements are skipped.
        let sum = try aggregate.value(of: elements)
        if sum != .null { elements = [sum] }
    }

    func value() throws -> SQLiteValue {
        let counted = isDistinct ? try CollectionOperator.distinctUnionOfObjects.value(of: elements).elements : elements
        return try aggregate.value(of: counted).result(isExact: isExact)
    }
}

extension ExpressionValue {
    /// Returns the SQL value of the result.
    fileprivate func result(isExact: Bool) -> SQLiteValue {
        if isExact, case .decimal(let digits) = self { return .text(digits) }
        return stored?.value ?? .null
    }
}
