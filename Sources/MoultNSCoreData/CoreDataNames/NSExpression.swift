import Foundation
import MoultCoreData
import MoultModel

/// An expression composed of parts, for dictionary results and comparisons.
///
/// Foundation has an empty class with this name on Linux. A file that also imports Foundation must write
/// `CoreData.NSExpression`.
open class NSExpression: NSObject {
    let expression: MoultModel.Expression
    /// The constant as it was given.
    private var given: Any?

    init(moult expression: MoultModel.Expression) { self.expression = expression }

    /// The kinds of expressions, with Foundation's numbers.
    public enum ExpressionType: UInt, Sendable {
        case constantValue = 0
        case evaluatedObject = 1
        case variable = 2
        case keyPath = 3
        case function = 4
        case unionSet = 5
        case intersectSet = 6
        case minusSet = 7
        case subquery = 13
        case aggregate = 14
        case anyKey = 15
        case block = 19
        case conditional = 20
    }

    /// Creates an expression for a constant value.
    public convenience init(forConstantValue value: Any?) {
        self.init(moult: .constant(predicateValue(value)))
        given = value
    }

    /// Creates an expression for the value at a key path.
    public convenience init(forKeyPath keyPath: String) { self.init(moult: .keyPath(keyPath)) }

    /// Creates an expression for the value of a property of a class.
    public convenience init<Root: NSManagedObject, Value>(forKeyPath keyPath: KeyPath<Root, Value>) {
        self.init(forKeyPath: ManagedKey.name(of: keyPath))
    }

    /// Creates an expression for a variable, `$name`.
    public convenience init(forVariable name: String) { self.init(moult: .variable(name)) }

    /// Creates an expression for a collection of expressions.
    public convenience init(forAggregate parts: [NSExpression]) {
        self.init(moult: .aggregate(parts.map(\.expression)))
    }

    /// Creates an expression for a function such as `sum:`, `max:`, `count:`, `lowercase:`.
    public convenience init(forFunction name: String, arguments: [Any]) {
        self.init(moult: .function(name, arguments.map(expressionPart)))
    }

    /// Creates an expression for a message to the value of an expression.
    public convenience init(forFunction target: NSExpression, selectorName name: String, arguments: [Any]?) {
        self.init(moult: .message(name, to: target.expression, (arguments ?? []).map(expressionPart)))
    }

    /// Creates an expression for the elements of a collection for which a predicate about `$variable` holds.
    public convenience init(
        forSubquery expression: NSExpression, usingIteratorVariable variable: String, predicate: NSPredicate
    ) {
        let condition = settled(predicate, "NSExpression(forSubquery:usingIteratorVariable:predicate:)")
        self.init(moult: .subquery(expression.expression, variable: variable, condition))
    }

    /// Creates an expression for one of two values.
    public convenience init(
        forConditional predicate: NSPredicate, trueExpression: NSExpression, falseExpression: NSExpression
    ) {
        let condition = settled(predicate, "NSExpression(forConditional:trueExpression:falseExpression:)")
        self.init(moult: .conditional(condition, trueExpression.expression, falseExpression.expression))
    }

    /// Returns an expression for the object being evaluated.
    open class func expressionForEvaluatedObject() -> NSExpression { NSExpression(moult: .evaluatedObject) }

    /// The expression in the format language.
    open override var description: String { expression.format }

    /// Whether both are the same expression.
    open override func isEqual(_ object: Any?) -> Bool { (object as? NSExpression)?.expression == expression }
    /// The hash of the expression.
    open override var hash: Int { expression.hashValue }

    // MARK: - Parts

    /// The kind of the expression.
    open var expressionType: ExpressionType {
        switch expression {
        case .constant: .constantValue
        case .evaluatedObject: .evaluatedObject
        case .variable: .variable
        case .keyPath: .keyPath
        case .function, .message: .function
        case .aggregate: .aggregate
        case .subquery: .subquery
        case .conditional: .conditional
        }
    }

    /// The value of a constant. Ends the program for another kind of expression, as the other parts do.
    open var constantValue: Any? {
        guard case .constant(let value) = expression else { noPart("constantValue") }
        return given ?? KeyedValues().foundation(value)
    }

    /// The path of a key path.
    open var keyPath: String {
        guard case .keyPath(let path, _) = expression else { noPart("keyPath") }
        return path
    }

    /// The name of a variable, without its `$`; the iterator of a subquery.
    open var variable: String {
        switch expression {
        case .variable(let name): return name
        case .subquery(_, let name, _): return name
        default: noPart("variable")
        }
    }

    /// The selector of a function or message.
    open var function: String {
        switch expression {
        case .function(let name, _), .message(let name, _, _): return name
        case .keyPath: return "valueForKeyPath:"
        default: noPart("function")
        }
    }

    /// The arguments of a function or message.
    open var arguments: [NSExpression]? {
        switch expression {
        case .function(_, let parts), .message(_, _, let parts): return parts.map { NSExpression(moult: $0) }
        case .keyPath(let path, _): return [NSExpression(forConstantValue: path)]
        default: noPart("arguments")
        }
    }

    /// The object to which a message is sent, or at which a key path starts. For a function, it is the name of
    /// Foundation's class of functions.
    open var operand: NSExpression {
        switch expression {
        case .message(_, let target, _): return NSExpression(moult: target)
        case .keyPath(_, let base): return NSExpression(moult: base)
        case .function: return NSExpression(forConstantValue: "_NSPredicateUtilities")
        default: noPart("operand")
        }
    }

    /// The expressions of an aggregate, as an array; the collection of a subquery, as an expression.
    open var collection: Any {
        switch expression {
        case .aggregate(let parts): return parts.map { NSExpression(moult: $0) }
        case .subquery(let collection, _, _): return NSExpression(moult: collection)
        default: noPart("collection")
        }
    }

    /// The condition of a subquery or of a choice between two values.
    open var predicate: NSPredicate {
        switch expression {
        case .subquery(_, _, let predicate), .conditional(let predicate, _, _): return NSPredicate(moult: predicate)
        default: noPart("predicate")
        }
    }

    /// The value if the condition holds.
    open var `true`: NSExpression {
        guard case .conditional(_, let first, _) = expression else { noPart("true") }
        return NSExpression(moult: first)
    }

    /// The value if the condition does not hold.
    open var `false`: NSExpression {
        guard case .conditional(_, _, let second) = expression else { noPart("false") }
        return NSExpression(moult: second)
    }

    /// The left side of a union, intersection or difference of sets. There are no such expressions here.
    open var left: NSExpression { noPart("left") }

    /// The right side of a union, intersection or difference of sets. There are no such expressions here.
    open var right: NSExpression { noPart("right") }

    private func noPart(_ name: String) -> Never {
        raise("NSExpression.\(name)", "\(expression.format) has no such part.")
    }

    // MARK: - Evaluation

    /// Returns the value for an object, a dictionary or another value. Ends the program if it has none.
    ///
    /// - Parameter context: the values of variables by name, such as `manager` and `source` in a mapping.
    open func expressionValue(with object: Any?, context: NSMutableDictionary?) -> Any? {
        let values = KeyedValues()
        var variables: [String: ExpressionValue] = [:]
        for (name, value) in context ?? [:] { if let name = name as? String { variables[name] = values.value(value) } }
        return orRaise("NSExpression.expressionValue(with:context:) \(expression.format)") {
            let subject = values.value(object)
            let manager = context?["manager"] as? NSMigrationManager
            let resolved = try expression.replacingInstances { kind, name, source in
                guard let manager, kind == .ofEntityMapping else { return nil }
                let found = values.foundation(try source.value(for: subject, variables: variables, in: values))
                let sources = (found as? [Any] ?? [found as Any]).compactMap { $0 as? NSManagedObject }
                return values.value(
                    manager.destinationInstances(forEntityMappingName: name, sourceInstances: sources))
            }
            return values.foundation(try resolved.value(for: subject, variables: variables, in: values))
        }
    }
}

/// Returns an argument of a function or an element of a list, which is an expression or a constant.
func expressionPart(_ argument: Any) -> MoultModel.Expression {
    (argument as? NSExpression)?.expression ?? .constant(predicateValue(argument))
}

/// Returns a predicate with its variables substituted.
private func settled(_ predicate: NSPredicate, _ call: String) -> MoultModel.Predicate {
    orRaise(call) {
        let (condition, variables) = try predicate.moult(for: call)
        return condition.withSubstitutionVariables(variables)
    }
}

extension MoultModel.Expression {
    /// Returns the expression with the destination instances that it asks the manager for in place of the messages.
    fileprivate func replacingInstances(
        _ find: (DestinationInstances, String, MoultModel.Expression) throws -> ExpressionValue?
    ) throws -> MoultModel.Expression {
        var failure: (any Error)?
        let replaced = replacing { part in
            guard let instances = part.destinationInstances else { return nil }
            do {
                return try find(instances.kind, instances.name, instances.sourceInstances).map(Self.constant)
            } catch {
                failure = error
                return nil
            }
        }
        if let failure { throw failure }
        return replaced
    }

    /// The parts of `FETCH(request, context, countOnly)`; nil for any other expression.
    var fetch: (request: MoultModel.Expression, context: MoultModel.Expression, isCountOnly: Bool)? {
        guard case .function(let name, let parts) = self, name.uppercased() == "FETCH", parts.count == 3,
            case .constant(let flag) = parts[2]
        else { return nil }
        return (parts[0], parts[1], flag.number?.whole != 0)
    }
}

/// A class that creates an expression of a subclass by `NSExpression(format:)`. `NSExpression` is the only one.
public protocol _NSExpressionDynamicInit {}

extension NSExpression: _NSExpressionDynamicInit {
    fileprivate static func parsed(_ format: String, _ arguments: [Any?]) -> NSExpression {
        let expression = orRaise("NSExpression(format: \"\(format)\")") {
            try MoultModel.Expression(parsing: format, arguments: try formatArguments(arguments, for: format))
        }
        guard let fetch = expression.fetch else { return NSExpression(moult: expression) }
        return NSFetchRequestExpression(
            NSExpression(moult: fetch.request), NSExpression(moult: fetch.context), isCountOnly: fetch.isCountOnly)
    }
}

extension _NSExpressionDynamicInit {
    /// Creates an expression from Core Data's format language; `FETCH(…)` is an ``NSFetchRequestExpression``. Ends the
    /// program if the format is invalid.
    public init(format: String, _ arguments: Any?...) { self.init(format: format, argumentArray: arguments) }

    /// Creates an expression from a format and an array of arguments. Ends the program if the format is invalid.
    public init(format: String, argumentArray arguments: [Any?]?) {
        guard let made = NSExpression.parsed(format, arguments ?? []) as? Self else {
            raise("\(Self.self)(format: \"\(format)\")", "The format is an expression of another class.")
        }
        self = made
    }
}

/// A fetch as an expression, such as the source of an entity mapping.
open class NSFetchRequestExpression: NSExpression {
    /// The expression of the fetch request.
    public let requestExpression: NSExpression
    /// The expression of the context in which it is run.
    public let contextExpression: NSExpression
    /// Whether the result is the number of objects.
    public let isCountOnlyRequest: Bool

    init(_ fetch: NSExpression, _ context: NSExpression, isCountOnly: Bool) {
        (requestExpression, contextExpression, isCountOnlyRequest) = (fetch, context, isCountOnly)
        super.init(
            moult: .function("FETCH", [fetch.expression, context.expression, .constant(.boolean(isCountOnly))]))
    }

    /// Returns the expression of a fetch.
    open class func expression(
        forFetch fetch: NSExpression, context: NSExpression, countOnly countFlag: Bool
    ) -> NSExpression { NSFetchRequestExpression(fetch, context, isCountOnly: countFlag) }

    /// The expression in the format language.
    open override var description: String {
        "FETCH(\(requestExpression), \(contextExpression), \(isCountOnlyRequest ? "YES" : "NO"))"
    }
}
