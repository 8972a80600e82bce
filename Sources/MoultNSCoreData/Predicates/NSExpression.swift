import Foundation
import MoultModel

/// An expression that is built from parts, for dictionary results and comparisons.
///
/// Foundation has an empty class of this name on Linux: a file that imports Foundation too writes `CoreData.NSExpression`.
open class NSExpression: NSObject {
    let expression: MoultModel.Expression

    init(moult expression: MoultModel.Expression) { self.expression = expression }

    /// A value of its own.
    public convenience init(forConstantValue value: Any?) {
        self.init(moult: .constant(orRaise("NSExpression(forConstantValue:)") { try expressionValue(value) }))
    }

    /// The value of a property, by its key path.
    public convenience init(forKeyPath keyPath: String) { self.init(moult: .keyPath(keyPath)) }

    /// A variable, `$name`.
    public convenience init(forVariable name: String) { self.init(moult: .variable(name)) }

    /// A collection of expressions.
    public convenience init(forAggregate parts: [NSExpression]) {
        self.init(moult: .aggregate(parts.map(\.expression)))
    }

    /// A function such as `sum:`, `max:`, `count:`, `lowercase:`.
    public convenience init(forFunction name: String, arguments: [Any]) {
        let parts = arguments.map { argument -> MoultModel.Expression in
            if let part = argument as? NSExpression { return part.expression }
            return .constant(orRaise("NSExpression(forFunction: \"\(name)\")") { try expressionValue(argument) })
        }
        self.init(moult: .function(name, parts))
    }

    /// An expression in Core Data's format language. Ends the program where it does not parse.
    public convenience init(format: String, _ arguments: Any?...) {
        self.init(
            moult: orRaise("NSExpression(format: \"\(format)\")") {
                try MoultModel.Expression(
                    parsing: format, arguments: try arguments.map { FormatArgument.value(try expressionValue($0)) })
            })
    }

    /// The object that a predicate is evaluated for.
    open class func expressionForEvaluatedObject() -> NSExpression { NSExpression(moult: .evaluatedObject) }

    /// The expression in the format language.
    open override var description: String { expression.format }
}
