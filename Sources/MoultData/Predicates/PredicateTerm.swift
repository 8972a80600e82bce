import Foundation
import MoultModel

package typealias StoredPredicate = MoultModel.Predicate
package typealias StoredExpression = MoultModel.Expression

/// A part of a Swift predicate, translated for a store.
package indirect enum PredicateTerm {
    /// A Swift value that is already known, because it depends on no object.
    case constant(Any)
    /// A single value; null for nil.
    case value(StoredExpression)
    /// A value with several columns, the elements of a composite attribute; nil if all of them are null.
    case composite(StoredExpression, ValueForm)
    /// A model or its identity; null for nil.
    case object(StoredExpression, any PersistentModel.Type)
    /// A Bool; nil if `present` is false.
    case condition(StoredPredicate, present: StoredPredicate? = nil)
    /// The objects of a to-many relationship, or some of them; nil if `present` is false.
    case collection(StoredExpression, any PersistentModel.Type, present: StoredPredicate? = nil)
    /// A range of values; without a bound, it is unlimited on that side.
    case range(lower: PredicateTerm?, upper: PredicateTerm?, isClosed: Bool)
}

extension StoredPredicate {
    static func compare(
        _ left: StoredExpression, _ operator: Operator, _ right: StoredExpression, options: Options = []
    ) -> StoredPredicate {
        .comparison(Comparison(left, `operator`, right, options: options))
    }

    static func isNull(_ expression: StoredExpression) -> StoredPredicate {
        compare(expression, .equal, .constant(.null))
    }

    static func isPresent(_ expression: StoredExpression) -> StoredPredicate {
        compare(expression, .notEqual, .constant(.null))
    }

    /// Returns whether a collection has an element.
    static func hasElement(_ collection: StoredExpression) -> StoredPredicate {
        .comparison(Comparison(collection, .notEqual, .constant(.null), modifier: .any))
    }

    /// Joins two predicates with AND, without nesting their brackets.
    static func both(_ left: StoredPredicate, _ right: StoredPredicate) -> StoredPredicate {
        if left == .constant(true) { return right }
        if right == .constant(true) { return left }
        return .and(left.conjuncts + right.conjuncts)
    }

    static func either(_ left: StoredPredicate, _ right: StoredPredicate) -> StoredPredicate {
        if left == .constant(false) { return right }
        if right == .constant(false) { return left }
        return .or(left.disjuncts + right.disjuncts)
    }

    static func all(_ conditions: StoredPredicate?...) -> StoredPredicate? {
        let given = conditions.compactMap { $0 }
        return given.isEmpty ? nil : given.reduce(.constant(true), both)
    }

    private var conjuncts: [StoredPredicate] { if case .and(let parts) = self { parts } else { [self] } }
    private var disjuncts: [StoredPredicate] { if case .or(let parts) = self { parts } else { [self] } }

    var negated: StoredPredicate {
        switch self {
        case .constant(let holds): .constant(!holds)
        case .not(let inner): inner
        case .comparison(let test) where test.operator == .equal && test.modifier == .direct:
            .compare(test.left, .notEqual, test.right, options: test.options)
        case .comparison(let test) where test.operator == .notEqual && test.modifier == .direct:
            .compare(test.left, .equal, test.right, options: test.options)
        default: .not(self)
        }
    }
}

extension StoredExpression {
    /// Returns the value of a property of an object.
    func property(_ name: String) -> StoredExpression {
        switch self {
        case .constant(.null): self
        case .keyPath(let path, let base): .keyPath("\(path).\(name)", of: base)
        // The property of a choice between two objects is a choice between two properties: each path joins rows of its
        // own.
        case .conditional(let condition, let first, let second):
            .conditional(condition, first.property(name), second.property(name))
        default: .keyPath(name, of: self)
        }
    }

    /// Returns the object if it belongs to one of the entities, otherwise nil.
    func cast(to entities: [String]) -> StoredExpression {
        switch self {
        case .constant(.null): self
        case .conditional(let condition, let first, let second):
            .conditional(condition, first.cast(to: entities), second.cast(to: entities))
        default: .object(self, ofEntities: entities)
        }
    }

    static func boolean(_ condition: StoredPredicate) -> StoredExpression {
        switch condition {
        case .constant(let holds): .constant(.boolean(holds))
        default: .conditional(condition, .constant(.boolean(true)), .constant(.boolean(false)))
        }
    }

    /// Returns whether the expression is null wherever `other` is.
    func isNull(with other: StoredExpression) -> Bool {
        if self == other { return true }
        switch self {
        case .keyPath(let path, let base):
            if path.contains("@") { return false }
            if case .keyPath(let start, let same) = other, same == base, path.hasPrefix("\(start).") { return true }
            return base.isNull(with: other)
        case .function(let selector, let arguments):
            if case .aggregate? = ExpressionFunction(selector) { return false }
            return arguments.contains { $0.isNull(with: other) }
        case .message(_, let target, _): return target.isNull(with: other)
        default: return false
        }
    }
}

extension ExpressionValue {
    /// Creates the stored form of a value that a predicate captured; returns nil for a type without a column of its
    /// own.
    init?(predicateConstant value: Any) {
        switch value {
        case let optional as any NilTest:
            guard let wrapped = optional.wrapped else {
                self = .null
                return
            }
            self.init(predicateConstant: wrapped)
        case let model as any PersistentModel: self = .object(model.persistentModelID.objectID)
        case let identifier as PersistentIdentifier: self = .object(identifier.objectID)
        case let result as ComparisonResult: self = .integer(Int64(result.rawValue))
        case let number as UInt16: self = .integer(Int64(number))
        case let number as UInt32: self = .integer(Int64(number))
        case let value as any PersistentValue: self.init(value.attributeValue)
        case let text as Substring: self = .string(String(text))
        case let character as Character: self = .string(String(character))
        case let value as any RawRepresentable: self.init(predicateConstant: value.rawValue)
        default:
            guard let name = Self.caseName(value) else { return nil }
            self = .string(name)
        }
    }

    /// Returns the name of an enum's case without raw value and associated values, which its column holds.
    private static func caseName(_ value: Any) -> String? {
        func name<Value>(_ value: Value) -> String? {
            EnumCases.names(of: Value.self) == nil ? nil : EnumCases.name(of: value)
        }
        return _openExistential(value, do: name)
    }
}

/// An optional of an unknown type.
protocol NilTest {
    var wrapped: Any? { get }
    static var wrappedType: Any.Type { get }
}

extension Optional: NilTest {
    var wrapped: Any? { self }
    static var wrappedType: Any.Type { Wrapped.self }
}

/// Returns whether a value is an optional that is nil.
func isNilValue(_ value: Any) -> Bool { (value as? any NilTest).map { $0.wrapped == nil } ?? false }

/// Returns a type with all its optionals removed.
func withoutOptionals(_ type: Any.Type) -> Any.Type {
    (type as? any NilTest.Type).map { withoutOptionals($0.wrappedType) } ?? type
}
