/// An expression of Core Data's format language, as used in derived attributes, predicates and mappings.
public indirect enum Expression: Sendable, Hashable {
    case constant(ExpressionValue)
    /// `SELF`
    case evaluatedObject
    /// `$name`
    case variable(String)
    /// `name`, `address.city`, `$source.name`: a path that starts at an expression, usually at the evaluated object.
    case keyPath(String, of: Expression)
    /// `canonical:(name)`, `now()`, `count:(pages)`; also arithmetic, by its selector (``Arithmetic``).
    case function(String, [Expression])
    /// `FUNCTION(target, "selector:", argument)`
    case message(String, to: Expression, [Expression])
    /// `{1, 2}`
    case aggregate([Expression])
    /// `SUBQUERY(pages, $page, $page.number > 1)`
    case subquery(Expression, variable: String, Predicate)
    /// `TERNARY(isDone, 1, 0)`
    case conditional(Predicate, Expression, Expression)

    /// Returns a path that starts at the evaluated object.
    public static func keyPath(_ path: String) -> Expression { .keyPath(path, of: .evaluatedObject) }

    /// The operators of arithmetic, with their selectors in Foundation.
    public enum Arithmetic: String, Sendable, Hashable, CaseIterable {
        case add = "add:to:"
        case subtract = "from:subtract:"
        case multiply = "multiply:by:"
        case divide = "divide:by:"
        case power = "raise:toPower:"

        /// The operator's sign in the format language.
        public var symbol: String {
            switch self {
            case .add: "+"
            case .subtract: "-"
            case .multiply: "*"
            case .divide: "/"
            case .power: "**"
            }
        }
    }

    /// Returns the expression with parts replaced, the outermost first. If `replacement` returns nil for a part, the
    /// search continues inside it.
    package func replacing(_ replacement: (Expression) -> Expression?) -> Expression {
        if let new = replacement(self) { return new }
        switch self {
        case .constant, .evaluatedObject, .variable: return self
        case .keyPath(let path, let base): return .keyPath(path, of: base.replacing(replacement))
        case .function(let selector, let arguments):
            return .function(selector, arguments.map { $0.replacing(replacement) })
        case .message(let selector, let target, let arguments):
            return .message(selector, to: target.replacing(replacement), arguments.map { $0.replacing(replacement) })
        case .aggregate(let elements): return .aggregate(elements.map { $0.replacing(replacement) })
        case .subquery(let collection, let variable, let predicate):
            return .subquery(collection.replacing(replacement), variable: variable, predicate.replacing(replacement))
        case .conditional(let predicate, let first, let second):
            return .conditional(
                predicate.replacing(replacement), first.replacing(replacement), second.replacing(replacement))
        }
    }

    /// The variables that need values for an evaluation; those of its subqueries are not included.
    package var variables: Set<String> {
        var variables: Set<String> = []
        _ = replacing { part in
            switch part {
            case .variable(let name): variables.insert(name)
            case .subquery(let collection, let variable, let predicate):
                variables.formUnion(collection.variables.union(predicate.variables.subtracting([variable])))
                return part
            default: break
            }
            return nil
        }
        return variables
    }

    /// Returns the expression with variables replaced by values (`NSPredicate.withSubstitutionVariables`). Variables
    /// without a value stay, and so do those of subqueries.
    package func withSubstitutionVariables(_ values: [String: ExpressionValue]) -> Expression {
        if values.isEmpty { return self }
        return replacing { part in
            switch part {
            case .variable(let name): return values[name]?.literal
            case .subquery(let collection, let variable, let predicate):
                var inner = values
                inner[variable] = nil
                return .subquery(
                    collection.withSubstitutionVariables(values), variable: variable,
                    predicate.withSubstitutionVariables(inner))
            default: return nil
            }
        }
    }

    /// The key paths that are read from the evaluated object, with collection operators among their names. A path from
    /// the variable of a subquery is appended to the path of the subquery's collection.
    package var keyPaths: Set<String> { keyPaths(of: [:]) }

    fileprivate func keyPaths(of variables: [String: String]) -> Set<String> {
        var paths: Set<String> = []
        _ = replacing { part in
            switch part {
            case .keyPath: if let path = part.path(variables) { paths.insert(path) } else { return nil }
            case .variable(let name): if let path = variables[name] { paths.insert(path) }
            case .subquery(let collection, let variable, let predicate):
                var inner = variables
                inner[variable] = collection.path(variables)
                paths.formUnion(collection.keyPaths(of: variables).union(predicate.keyPaths(of: inner)))
            default: return nil
            }
            return part
        }
        return paths
    }

    /// Returns the path from the evaluated object; nil if the expression is not such a path.
    ///
    /// - Parameter variables: the paths of the collections that the variables of subqueries stand for.
    package func path(_ variables: [String: String]) -> String? {
        switch self {
        case .keyPath(let path, of: .evaluatedObject): path
        case .keyPath(let path, let base): base.path(variables).map { "\($0).\(path)" }
        case .variable(let name): variables[name]
        case .subquery(let collection, _, _): collection.path(variables)
        default: nil
        }
    }

    /// The argument of `distinct:`; nil for any other expression.
    package var distinctPart: Expression? {
        guard case .function(ExpressionFunction.distinct.selector, let parts) = self, parts.count == 1 else {
            return nil
        }
        return parts[0]
    }

    package static let ofEntities = "objectOfEntities:"

    /// Returns an expression for an object that is nil unless the object has one of these entities.
    ///
    /// - Parameter names: an entity, first, and those below it. The result's properties are that entity's.
    package static func object(_ object: Expression, ofEntities names: [String]) -> Expression {
        .message(ofEntities, to: object, [.constant(.collection(names.map(ExpressionValue.string)))])
    }
}

extension Predicate {
    /// Replaces parts in all expressions, as ``Expression/replacing(_:)`` does.
    package func replacing(_ replacement: (Expression) -> Expression?) -> Predicate {
        switch self {
        case .constant: return self
        case .comparison(var comparison):
            comparison.left = comparison.left.replacing(replacement)
            comparison.right = comparison.right.replacing(replacement)
            return .comparison(comparison)
        case .and(let parts): return .and(parts.map { $0.replacing(replacement) })
        case .or(let parts): return .or(parts.map { $0.replacing(replacement) })
        case .not(let part): return .not(part.replacing(replacement))
        }
    }

    /// The variables of all expressions; see ``Expression/variables``.
    package var variables: Set<String> {
        var variables: Set<String> = []
        _ = replacing { part in
            variables.formUnion(part.variables)
            return part
        }
        return variables
    }

    /// Substitutes variables in all expressions; see ``Expression/withSubstitutionVariables(_:)``.
    package func withSubstitutionVariables(_ values: [String: ExpressionValue]) -> Predicate {
        values.isEmpty ? self : replacing { $0.withSubstitutionVariables(values) }
    }

    /// The key paths of all expressions; see ``Expression/keyPaths``.
    package var keyPaths: Set<String> { keyPaths(of: [:]) }

    fileprivate func keyPaths(of variables: [String: String]) -> Set<String> {
        var paths: Set<String> = []
        _ = replacing { part in
            paths.formUnion(part.keyPaths(of: variables))
            return part
        }
        return paths
    }
}

extension ExpressionValue {
    /// The expression that the value's printed form parses as: a list of elements for a collection, else a constant.
    package var literal: Expression {
        if case .collection(let elements) = self { return .aggregate(elements.map(\.literal)) }
        return .constant(self)
    }
}
