/// An expression of Core Data's format language: derived attributes, predicates and mappings are made of them.
public indirect enum Expression: Sendable, Hashable {
    case constant(ExpressionValue)
    /// `SELF`
    case evaluatedObject
    /// `$name`
    case variable(String)
    /// `name`, `address.city`, `$source.name`: a path that starts at an expression, mostly at the evaluated object.
    case keyPath(String, of: Expression)
    /// `canonical:(name)`, `now()`, `count:(pages)`; arithmetic too, by its selector (``Arithmetic``).
    case function(String, [Expression])
    /// `FUNCTION(target, "selector:", argument)`
    case message(String, to: Expression, [Expression])
    /// `{1, 2}`
    case aggregate([Expression])
    /// `SUBQUERY(pages, $page, $page.number > 1)`
    case subquery(Expression, variable: String, Predicate)
    /// `TERNARY(isDone, 1, 0)`
    case conditional(Predicate, Expression, Expression)

    /// A path that starts at the evaluated object.
    public static func keyPath(_ path: String) -> Expression { .keyPath(path, of: .evaluatedObject) }

    /// The operators of arithmetic, with the selectors that Foundation keeps them under.
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

    /// The expression with parts of it replaced, the outermost first; what `replacement` gives nil for is searched
    /// further.
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

    /// The variables that whoever evaluates has to give values for; those of its subqueries are not among them.
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

    /// The expression with values in place of variables (`NSPredicate.withSubstitutionVariables`); those without a value
    /// stay, and so do the variables of subqueries.
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

    /// The key paths that it asks the evaluated object for, collection operators among their names. A path that starts
    /// at the variable of a subquery is one behind that of the subquery's collection.
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

    /// The path from the evaluated object, where the expression is one.
    private func path(_ variables: [String: String]) -> String? {
        switch self {
        case .keyPath(let path, of: .evaluatedObject): path
        case .keyPath(let path, let base): base.path(variables).map { "\($0).\(path)" }
        case .variable(let name): variables[name]
        case .subquery(let collection, _, _): collection.path(variables)
        default: nil
        }
    }

    package static let ofEntities = "objectOfEntities:"

    /// An object where it is of one of these entities, otherwise nil.
    ///
    /// - Parameter names: an entity and those below it, itself first: what behind it is asked for are its properties.
    package static func object(_ object: Expression, ofEntities names: [String]) -> Expression {
        .message(ofEntities, to: object, [.constant(.collection(names.map(ExpressionValue.string)))])
    }
}

extension Predicate {
    /// As ``Expression/replacing(_:)``, in all of its expressions.
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

    /// As ``Expression/variables``.
    package var variables: Set<String> {
        var variables: Set<String> = []
        _ = replacing { part in
            variables.formUnion(part.variables)
            return part
        }
        return variables
    }

    /// As ``Expression/withSubstitutionVariables(_:)``.
    package func withSubstitutionVariables(_ values: [String: ExpressionValue]) -> Predicate {
        values.isEmpty ? self : replacing { $0.withSubstitutionVariables(values) }
    }

    /// As ``Expression/keyPaths``.
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
    /// The expression that its printed form is read as: of a collection a list of its elements, otherwise a constant.
    package var literal: Expression {
        if case .collection(let elements) = self { return .aggregate(elements.map(\.literal)) }
        return .constant(self)
    }
}
