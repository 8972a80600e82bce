import MoultModel
import MoultSQLite

extension FormatLowering {
    package func lower(_ expression: Expression) throws -> Lowered {
        switch expression {
        case .constant(let value): return .constant(value)
        case .evaluatedObject: return .object(evaluated)
        case .variable(let name):
            if let value = variables[name] { return value }
            throw MigrationError(
                .invalidPredicate, "The variable $\(name) has no value.", place: format,
                remedy: "Give it one, or correct its name.")
        case .keyPath(let path, let base): return try lower(path, of: try lower(base))
        case .function(let selector, let arguments): return try call(selector, arguments, in: expression)
        case .message(let selector, .variable("entityPolicy"), let arguments):
            return try transform(selector, arguments, in: expression)
        case .message(Expression.ofEntities, let target, let arguments):
            return try object(try lower(target), ofEntities: arguments, in: expression)
        case .message(let selector, let target, let arguments):
            guard ["valueForKey:", "valueForKeyPath:"].contains(selector), arguments.count == 1,
                case .constant(.string(let path)) = arguments[0]
            else { throw refuse(expression.format, "\(selector) is not a function of the store") }
            return try lower(path, of: try lower(target))
        case .aggregate(let elements):
            let lowered = try elements.map(lower)
            let constants = lowered.compactMap { if case .constant(let value) = $0 { value } else { nil } }
            return constants.count == lowered.count ? .constant(.collection(constants)) : .elements(lowered)
        case .subquery(let collection, let variable, let predicate):
            return try subquery(try lower(collection), variable, predicate, in: expression)
        case .conditional(let predicate, let first, let second):
            return try conditional(try lower(predicate), try lower(first), try lower(second), in: expression)
        }
    }

    private func subquery(
        _ collection: Lowered, _ variable: String, _ predicate: Predicate, in expression: Expression
    ) throws -> Lowered {
        if case .constant(let value) = collection, value.isNull { return .constant(.collection([])) }
        guard case .collection(var collection) = collection else {
            throw refuse(expression.format, "SUBQUERY needs a to-many relationship")
        }
        var inner = self
        inner.variables[variable] = collection.element
        collection.conditions.append(try inner.lower(predicate).sql)
        return .collection(collection)
    }

    /// A row where it is of one of the entities, the first of which has the others below it.
    private func object(_ base: Lowered, ofEntities arguments: [Expression], in expression: Expression) throws
        -> Lowered
    {
        if case .constant(let value) = base, value.isNull { return base }
        guard case .object(let row) = base, case .constant(let list)? = arguments.first,
            let entity = list.elements.first?.text.flatMap(model.entity), let alias = row.alias(in: layout)
        else { throw refuse(expression.format, "it needs an object and the names of its entities") }
        let numbers = list.elements.compactMap {
            $0.text.flatMap { layout.entityNumbers[$0] }.map { "\($0)" as SQLText }
        }
        let key: SQLText = """
            (CASE WHEN \(name: alias).Z_ENT IN (\(numbers.joined(separator: ", "))) THEN \(row.key) END)
            """
        return .object(RowReference(row.scope, entity, foreignKey: key))
    }

    private func conditional(
        _ condition: LoweredCondition, _ first: Lowered, _ second: Lowered, in expression: Expression
    ) throws -> Lowered {
        if let row = try chosenRow(condition, first, second) { return .object(row) }
        let (first, second) = (try single(first, in: expression), try single(second, in: expression))
        let kind = first.kind == .null ? second.kind : first.kind
        let isAlike = second.kind == kind || second.kind == .null
        // An integer and a real make a number; a decimal or a date next to another kind would lose what it is.
        let plain: Set<ValueKind> = [.integer, .boolean, .real, .number]
        guard isAlike || plain.isSuperset(of: [first.kind, second.kind]) else {
            throw refuse(expression.format, "its two values are of different kinds")
        }
        func choice(_ first: SQLText, _ second: SQLText) -> SQLText {
            "(CASE WHEN \(condition.sql) THEN \(first) ELSE \(second) END)"
        }
        let isExact = first.exact != nil || second.exact != nil
        return .value(
            LoweredValue(
                sql: choice(first.sql, second.sql), kind: isAlike ? kind : .number,
                exact: isExact ? choice(first.exact ?? first.sql, second.exact ?? second.sql) : nil))
    }

    /// One of two objects of one tree of entities; nil if the two are not objects.
    private func chosenRow(_ condition: LoweredCondition, _ first: Lowered, _ second: Lowered) throws -> RowReference? {
        func key(_ lowered: Lowered, like row: RowReference) -> SQLText? {
            switch lowered {
            case .object(let other) where model.root(of: other.entity).name == model.root(of: row.entity).name:
                other.key
            case .constant(let value) where value.isNull: "NULL"
            default: nil
            }
        }
        guard let row = first.row ?? second.row, let one = key(first, like: row), let other = key(second, like: row)
        else { return nil }
        // Of two entities the upper one has what both have.
        let entities = [first.row, second.row].compactMap(\.?.entity)
        let upper = entities.min { model.lineage(of: $0).count < model.lineage(of: $1).count } ?? row.entity
        return RowReference(
            row.scope, upper, foreignKey: "(CASE WHEN \(condition.sql) THEN \(one) ELSE \(other) END)")
    }

    /// Returns a lowered expression as one value, which must not be an object.
    package func single(_ lowered: Lowered, in expression: Expression) throws -> LoweredValue {
        switch lowered {
        case .value(let value) where value.kind != .opaque: return value
        case .constant(let constant):
            if let stored = constant.stored {
                var value = LoweredValue(
                    sql: "\(value: stored.value)", kind: stored.kind, mayBeNull: constant.isNull)
                // Reckoning begins with every digit that was written, also where no number holds them all.
                if case .decimal(let digits) = constant, DecimalStorage.equal(to: digits) == nil {
                    value.exact = "\(value: .text(digits))"
                }
                return value
            }
        case .value, .object, .collection, .composite, .elements: break
        }
        throw refuse(expression.format, "it needs a value that the store can calculate with")
    }
}
