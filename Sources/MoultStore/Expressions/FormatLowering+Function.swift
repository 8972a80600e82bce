import MoultBasics
import MoultModel
import MoultSQLite

extension FormatLowering {
    /// Lowers a function of the format language. A call with constants is evaluated immediately, and a call with a
    /// collection becomes a SELECT. Otherwise it becomes an equivalent SQLite operator, or else a call of the in-memory
    /// evaluation from SQL.
    func call(_ selector: String, _ arguments: [Expression], in expression: Expression) throws -> Lowered {
        guard let function = ExpressionFunction(selector) else {
            throw MigrationError(
                .invalidPredicate, "There is no function \(selector).", place: expression.format,
                remedy: "Correct its name.")
        }
        if case .aggregate(let aggregate) = function, arguments.count == 1, let part = arguments[0].distinctPart {
            let lowered = try lower(part)
            switch lowered {
            case .collection(let collection):
                return try self.aggregate(aggregate, of: try distinct(collection, expression), in: expression.format)
            case .constant: break
            default:
                guard groupsRows else { throw refuse(expression.format, "distinct: needs a collection") }
                return try overRows(aggregate, lowered, isDistinct: true, in: expression)
            }
        }
        let lowered = try arguments.map(lower)
        switch (function, lowered.first) {
        case (.random, _), (.randomBelow, _):
            throw refuse(expression.format, "a random number would differ for each row")
        case (.now, _):
            return nowText.map { .value(LoweredValue(sql: $0, kind: .date, mayBeNull: false)) } ?? .constant(.date(now))
        case (.aggregate(let aggregate), .collection(let collection)?) where lowered.count == 1:
            return try self.aggregate(aggregate, of: collection, in: expression.format)
        case (.aggregate(let aggregate), let value?) where groupsRows && lowered.count == 1:
            return try overRows(aggregate, value, in: expression)
        case (.aggregate(.count), .object(let row)?) where lowered.count == 1:
            return .value(LoweredValue(sql: "(\(row.key) IS NOT NULL)", kind: .integer, mayBeNull: false))
        case (.element, .collection(let collection)?):
            return try element(lowered.last, of: collection, in: expression)
        case (.distinct, .collection(let collection)?):
            return .collection(try distinct(collection, expression))
        case (.noIndex, let value?):
            guard case .value(var value) = value else { return lowered[0] }
            value.sql = "+\(value.sql)"
            return .value(value)
        default: break
        }
        let constants = lowered.compactMap { if case .constant(let value) = $0 { value } else { nil } }
        if constants.count == lowered.count {
            do throws(MigrationError) {
                return .constant(try function.value(constants, now: now))
            } catch {
                throw refuse(expression.format, error.message)
            }
        }
        let values = try lowered.map { try single($0, in: expression) }
        if case .arithmetic(let arithmetic) = function, values.count == 2,
            let native = native(arithmetic, values[0], values[1])
        {
            return .value(native)
        }
        let result = try kind(of: function, values, in: expression)
        let list = values.map { ", \(Int($0.kind.rawValue)), \($0.exact ?? $0.sql)" as SQLText }.joined(separator: "")
        var leniency = 0
        if case .cast = function, conversions != nil { leniency = 2 }
        func call(isExact: Bool) -> SQLText {
            "\(name: FormatFunctions.function)(\(value: .text(selector)), \((isExact ? 1 : 0) | leniency)\(list))"
        }
        if leniency != 0 { conversions?.add(values[0].sql, call(isExact: false)) }
        return .value(
            LoweredValue(
                sql: call(isExact: false), kind: result, exact: result == .decimal ? call(isExact: true) : nil))
    }

    /// Returns the elements of a collection, each once, without nil.
    private func distinct(_ collection: LoweredCollection, _ expression: Expression) throws -> LoweredCollection {
        var collection = collection
        collection.conditions.append("\(try value(of: collection, in: expression.format).sql) IS NOT NULL")
        collection.isDistinct = true
        return collection
    }

    // MARK: - Arithmetic

    /// Returns SQLite's own operator, except for powers and for decimals, whose digits are exact.
    private func native(_ arithmetic: Expression.Arithmetic, _ left: LoweredValue, _ right: LoweredValue)
        -> LoweredValue?
    {
        let symbol: SQLText
        switch arithmetic {
        case .add: symbol = "+"
        case .subtract: symbol = "-"
        case .multiply: symbol = "*"
        case .divide: symbol = "/"
        case .power: return nil
        }
        let plain: Set<ValueKind> = [.integer, .boolean, .real, .number]
        switch (left.kind, right.kind) {
        case _ where plain.isSuperset(of: [left.kind, right.kind]):
            let areWhole = Set([ValueKind.integer, .boolean]).isSuperset(of: [left.kind, right.kind])
            let isReal = left.kind == .real || right.kind == .real
            // An integer result that overflows becomes a real.
            let kind: ValueKind = isReal ? .real : areWhole || !isReal ? .number : .real
            return LoweredValue(sql: "(\(left.sql) \(symbol) \(right.sql))", kind: kind)
        case (.date, .date) where arithmetic == .subtract:
            return LoweredValue(sql: "(\(left.asReal) - \(right.asReal))", kind: .real)
        case (.date, _) where plain.contains(right.kind) && (arithmetic == .subtract || arithmetic == .add),
            (_, .date) where plain.contains(left.kind) && arithmetic == .add:
            return LoweredValue(sql: "(\(left.asReal) \(symbol) \(right.asReal))", kind: .date)
        default: return nil
        }
    }

    // MARK: - Kinds of results

    private func kind(of function: ExpressionFunction, _ arguments: [LoweredValue], in expression: Expression) throws
        -> ValueKind
    {
        let kinds = arguments.map(\.kind)
        func check(_ allowed: Set<ValueKind>) throws {
            if let other = kinds.first(where: { !allowed.contains($0) && $0 != .null }) {
                throw refuse(expression.format, "\(function.selector) cannot take \(other.name)")
            }
        }
        let numbers: Set<ValueKind> = [.integer, .boolean, .real, .decimal, .number]
        switch function {
        case .arithmetic(let arithmetic):
            guard !kinds.contains(.date) else {
                throw refuse(expression.format, "\(arithmetic.symbol) has no meaning for these values")
            }
            try check(numbers)
            return arithmetic == .power || kinds.contains(.real) ? .real : .decimal
        case .mathematics(let mathematics):
            try check(numbers)
            switch mathematics {
            case .squareRoot, .logarithm, .naturalLogarithm, .exponential: return .real
            case .floor, .ceiling, .truncation, .magnitude: return kinds == [.real] ? .real : .number
            case .modulus: return .integer
            }
        case .bits:
            try check(numbers)
            return .integer
        case .text(.length):
            try check([.string, .uri, .data])
            return .integer
        case .text:
            try check([.string, .uri])
            return .string
        case .inSwift(.singlePrecision), .inSwift(.quotient):
            try check(numbers)
            return .real
        case .inSwift(let function):
            try check([.string, .uri])
            return function.kind
        case .cast: return try castKind(arguments, in: expression)
        case .aggregate(let aggregate):
            return try aggregateKind(aggregate, Set(kinds.filter { $0 != .null }), in: expression.format)
        case .element, .now, .random, .randomBelow, .noIndex, .distinct:
            throw refuse(expression.format, "\(function.selector) does not apply to these values")
        }
    }

    private func castKind(_ arguments: [LoweredValue], in expression: Expression) throws -> ValueKind {
        guard arguments.count == 2, case .text(let type)? = arguments[1].sql.values.first,
            arguments[1].sql.text == "?"
        else { throw refuse(expression.format, "the type must be a constant") }
        switch (type, arguments[0].kind) {
        // The column of a decimal does not preserve its spelling.
        case ("NSString", let kind) where kind != .decimal: return .string
        case ("NSNumber", .decimal), ("NSDecimalNumber", _): return .decimal
        case ("NSNumber", .real), ("NSNumber", .date): return .real
        case ("NSNumber", _): return .number
        case ("NSDate", _): return .date
        case ("NSData", _): return .data
        case ("NSUUID", _): return .uuid
        case ("NSURL", _): return .uri
        default: throw refuse(expression.format, "the store cannot convert it to \(type)")
        }
    }
}

extension ExpressionFunction.InSwift {
    fileprivate var kind: ValueKind {
        switch self {
        case .composed, .localizedKey, .standardKey: .string
        case .contains, .starts: .boolean
        case .characterCount, .caseInsensitiveOrder, .localizedOrder: .integer
        case .singlePrecision, .quotient: .real
        }
    }
}

extension LoweredValue {
    /// The value as a REAL; a column stores a whole number of seconds as an INTEGER.
    fileprivate var asReal: SQLText { kind == .real ? sql : "CAST(\(sql) AS REAL)" }
}
