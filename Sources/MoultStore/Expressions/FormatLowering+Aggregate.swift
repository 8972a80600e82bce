import MoultBasics
import MoultModel
import MoultSQLite

extension FormatLowering {
    /// Lowers `@count`, `@sum.price` and so on, applied to a collection.
    func collect(_ name: String, _ rest: String, of base: Lowered, path: String) throws -> Lowered {
        guard let collector = CollectionOperator(rawValue: name) else {
            throw MigrationError(
                .invalidPredicate, "There is no collection operator \(name).", place: path,
                remedy: "Use one of \(CollectionOperator.allCases.map(\.rawValue).joined(separator: ", ")).")
        }
        guard collector.takesPath || rest.isEmpty else { throw refuse(path, "nothing can follow \(name)") }
        let found = rest.isEmpty ? base : try lower(rest, of: base)
        if case .constant(let constant) = found, case .constant = base {
            return .constant(try collector.value(of: constant.elements))
        }
        guard case .collection = base, case .collection(var collection) = found else {
            throw refuse(path, "\(name) follows something that is not a collection")
        }
        if let aggregate = collector.aggregate { return try self.aggregate(aggregate, of: collection, in: path) }
        collection.conditions.append("\(try value(of: collection, in: path).sql) IS NOT NULL")
        switch collector {
        case .distinctUnionOfObjects, .distinctUnionOfArrays, .distinctUnionOfSets: collection.isDistinct = true
        default: break
        }
        return .collection(collection)
    }

    /// Lowers an aggregate over all elements of a collection.
    func aggregate(_ aggregate: Aggregate, of collection: LoweredCollection, in format: String) throws -> Lowered {
        let value = try value(of: collection, in: format)
        if aggregate == .count {
            let counted: SQLText = collection.isDistinct ? "count(DISTINCT \(value.sql))" : "count(*)"
            return .value(LoweredValue(sql: "(\(collection.select(counted)))", kind: .integer, mayBeNull: false))
        }
        let kind = try aggregateKind(aggregate, [value.kind], in: format)
        switch aggregate {
        case .minimum, .maximum:
            let name: SQLText = aggregate == .minimum ? "min" : "max"
            return .value(LoweredValue(sql: "(\(collection.select("\(name)(\(value.sql))")))", kind: kind))
        default:
            // The order affects the last digits of a sum of reals. SQLite preserves it only if there is a LIMIT.
            let elements = collection.select("\(value.sql) AS v")
            let order = collection.order.joined(separator: ", ")
            func call(isExact: Bool) -> SQLText {
                let flags = (collection.isDistinct ? 1 : 0) | (isExact ? 2 : 0)
                let call: SQLText = """
                    \(name: FormatFunctions.name(of: aggregate))(\(flags), \(Int(value.kind.rawValue)), v)
                    """
                return "(SELECT \(call) FROM (\(elements) ORDER BY \(order) LIMIT -1))"
            }
            return .value(
                LoweredValue(
                    sql: call(isExact: false), kind: kind, exact: kind == .decimal ? call(isExact: true) : nil))
        }
    }

    /// Lowers an aggregate over the rows of the statement. Nil values are skipped, in a count too (Core Data's
    /// `COUNT(column)`).
    func overRows(
        _ aggregate: Aggregate, _ argument: Lowered, isDistinct: Bool = false, in expression: Expression
    ) throws -> Lowered {
        let distinct: SQLText = isDistinct ? "DISTINCT " : ""
        if aggregate == .count {
            var counted: SQLText = "*"
            switch argument {
            case .object(let row): counted = row.key
            case .value(let value): counted = value.sql
            case .constant, .collection, .composite, .elements: break
            }
            return .value(LoweredValue(sql: "count(\(distinct)\(counted))", kind: .integer, mayBeNull: false))
        }
        let value = try single(argument, in: expression)
        let kind = try aggregateKind(aggregate, [value.kind], in: expression.format)
        switch aggregate {
        case .minimum: return .value(LoweredValue(sql: "min(\(value.sql))", kind: kind))
        case .maximum: return .value(LoweredValue(sql: "max(\(value.sql))", kind: kind))
        case .sum where value.kind == .real:
            return .value(LoweredValue(sql: "total(\(distinct)\(value.sql))", kind: .real))
        case .average where value.kind != .decimal:
            return .value(LoweredValue(sql: "avg(\(distinct)\(value.sql))", kind: .real))
        default:
            let arguments: SQLText = "\(isDistinct ? 1 : 0), \(Int(value.kind.rawValue)), \(value.sql)"
            return .value(LoweredValue(sql: "\(name: FormatFunctions.name(of: aggregate))(\(arguments))", kind: kind))
        }
    }

    func value(of collection: LoweredCollection, in format: String) throws -> LoweredValue {
        switch collection.element {
        case .value(let value): return value
        case .object(let row): return LoweredValue(sql: row.key, kind: .object, mayBeNull: row.mayBeNull)
        case .constant, .collection, .composite, .elements:
            throw refuse(format, "the elements have no single value")
        }
    }

    func aggregateKind(_ aggregate: Aggregate, _ kinds: Set<ValueKind>, in format: String) throws -> ValueKind {
        let plain: Set<ValueKind> = [.integer, .boolean, .real, .number]
        let numbers = plain.union([.decimal])
        switch aggregate {
        case .count: return .integer
        case .minimum, .maximum:
            if let kind = kinds.first, kinds.count == 1, kind != .object, kind != .opaque { return kind }
            if plain.isSuperset(of: kinds) { return .number }
        case .sum, .median:
            if numbers.isSuperset(of: kinds) { return plain.isSuperset(of: kinds) ? .number : .decimal }
        case .average:
            if numbers.isSuperset(of: kinds) { return plain.isSuperset(of: kinds) ? .real : .decimal }
        case .standardDeviation: if numbers.isSuperset(of: kinds) { return .real }
        case .mode: break
        }
        throw refuse(format, "\(aggregate.rawValue) does not apply to these values")
    }

    /// Lowers `pages[0]`, `pages[FIRST]`, `pages[LAST]` and `pages[SIZE]`.
    func element(_ index: Lowered?, of collection: LoweredCollection, in expression: Expression) throws -> Lowered {
        guard case .constant(let index)? = index, !collection.isDistinct else {
            throw refuse(expression.format, "the index must be a constant")
        }
        var position: Int64 = 0
        var isFromEnd = false
        switch index {
        case .string(Expression.Index.size.rawValue):
            return try aggregate(.count, of: collection, in: expression.format)
        case .string(Expression.Index.first.rawValue): break
        case .string(Expression.Index.last.rawValue): isFromEnd = true
        default:
            guard let number = index.number?.integer else {
                throw refuse(expression.format, "the index is not a number")
            }
            guard number >= 0 else { return .constant(.null) }
            position = number
        }
        let order = collection.order.map { "\($0)\(isFromEnd ? " DESC" : "")" as SQLText }.joined(separator: ", ")
        let value = try value(of: collection, in: expression.format)
        let found: SQLText = """
            (\(collection.select(value.sql)) ORDER BY \(order) LIMIT 1 OFFSET \(value: .integer(position)))
            """
        if case .object(let row) = collection.element {
            return .object(RowReference(collection.owner, row.entity, foreignKey: found))
        }
        return .value(LoweredValue(sql: found, kind: value.kind))
    }
}

extension CollectionOperator {
    fileprivate var aggregate: Aggregate? {
        switch self {
        case .count: .count
        case .sum: .sum
        case .average: .average
        case .minimum: .minimum
        case .maximum: .maximum
        case .unionOfObjects, .distinctUnionOfObjects, .unionOfArrays, .distinctUnionOfArrays, .distinctUnionOfSets:
            nil
        }
    }
}
