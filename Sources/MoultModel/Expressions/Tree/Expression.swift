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
}
