/// One evaluation: what `SELF` and the variables stand for, and where objects have their values.
struct Evaluation<Objects: ObjectValues> {
    let subject: ExpressionValue
    var variables: [String: ExpressionValue]
    let objects: Objects

    // MARK: Conditions

    func holds(_ predicate: Predicate) throws -> Bool {
        switch predicate {
        case .constant(let value): value
        case .and(let parts): try parts.allSatisfy(holds)
        case .or(let parts): try parts.contains(where: holds)
        case .not(let part): try !holds(part)
        case .comparison(let comparison): try holds(comparison)
        }
    }

    private func holds(_ comparison: Predicate.Comparison) throws -> Bool {
        let left = try value(comparison.left)
        let right = try value(comparison.right)
        func test(_ element: ExpressionValue) throws(MigrationError) -> Bool {
            try comparison.operator.holds(element, right, comparison.options)
        }
        do throws(MigrationError) {
            switch comparison.modifier {
            case .direct: return try test(left)
            case .any:
                for element in left.elements where try test(element) { return true }
                return false
            case .all:
                for element in left.elements where try !test(element) { return false }
                return true
            }
        } catch {
            throw error.at(Predicate.comparison(comparison).format)
        }
    }

    // MARK: Values

    func value(_ expression: Expression) throws -> ExpressionValue {
        switch expression {
        case .constant(let value): return value
        case .evaluatedObject: return subject
        case .variable(let name):
            guard let value = variables[name] else {
                throw MigrationError.predicate(
                    "The variable $\(name) has no value.", place: expression.format,
                    remedy: "Give it one, or correct its name.")
            }
            return value
        case .keyPath(let path, let base): return try value(at: path, of: value(base))
        case .function(let selector, let arguments): return try call(selector, arguments, in: expression)
        case .message(let selector, let target, let arguments):
            return try send(selector, to: target, arguments, in: expression)
        case .aggregate(let elements): return .collection(try elements.map(value))
        case .subquery(let collection, let variable, let predicate):
            var inner = self
            return .collection(
                try value(collection).elements.filter { element in
                    inner.variables[variable] = element
                    return try inner.holds(predicate)
                })
        case .conditional(let predicate, let first, let second):
            return try value(try holds(predicate) ? first : second)
        }
    }

    private func call(
        _ selector: String, _ arguments: [Expression], in expression: Expression
    ) throws -> ExpressionValue {
        guard let function = ExpressionFunction(selector) else {
            throw MigrationError.predicate(
                "There is no function \(selector).", place: expression.format, remedy: "Correct its name.")
        }
        let values = try arguments.map(value)
        do throws(MigrationError) {
            return try function.value(values, now: objects.now)
        } catch {
            throw error.at(expression.format)
        }
    }

    /// `FUNCTION(object, "valueForKeyPath:", "a.b")` is the one message that everything understands; the other one is
    /// Moult's own (``Expression/object(_:ofEntities:)``).
    private func send(
        _ selector: String, to target: Expression, _ arguments: [Expression], in expression: Expression
    ) throws -> ExpressionValue {
        if selector == Expression.ofEntities, let list = arguments.first {
            let object = try value(target)
            guard case .object(let id) = object else { return .null }
            return try value(list).elements.contains(.string(id.entityName)) ? object : .null
        }
        guard ["valueForKey:", "valueForKeyPath:"].contains(selector), arguments.count == 1,
            case .string(let path) = try value(arguments[0])
        else {
            throw MigrationError.predicate(
                "\(selector) is not known here.", place: expression.format,
                remedy: "Use a function of the predicate format, such as uppercase:(name).")
        }
        return try value(at: path, of: value(target))
    }
}

extension ExpressionValue {
    /// The elements that `ANY`, `ALL`, `SUBQUERY` and collection operators go through: none for nil, one for a single
    /// value.
    package var elements: [ExpressionValue] {
        switch self {
        case .collection(let elements): elements
        case .null: []
        default: [self]
        }
    }
}
