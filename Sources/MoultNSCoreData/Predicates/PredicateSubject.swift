import Foundation
import MoultModel

/// The subject of a predicate that is evaluated outside a store: an object, a dictionary, or a plain value.
struct PredicateSubject {
    private let value: Any?

    init(_ value: Any?) { self.value = value }

    func holds(_ predicate: MoultModel.Predicate, _ variables: [String: ExpressionValue]) throws -> Bool {
        if let object = value as? NSManagedObject { return try object.holds(predicate, variables) }
        if let values = DictionaryValues(value) {
            return try predicate.holds(for: .object(values.root), variables: variables, in: values)
        }
        return try predicate.holds(for: try expressionValue(value), variables: variables, in: DictionaryValues([:]))
    }
}

/// The values of a dictionary, and of those in it, as those of objects.
private struct DictionaryValues: ObjectValues {
    let root = ObjectID(temporary: 0, entityName: "Dictionary")
    let now = Date().timeIntervalSinceReferenceDate
    private let values: [String: Any]

    init(_ values: [String: Any]) { self.values = values }

    init?(_ value: Any?) {
        switch value {
        case let values as [String: Any]: self.values = values
        case let values as NSDictionary:
            self.values = values.reduce(into: [:]) { all, entry in (entry.key as? String).map { all[$0] = entry.value }
            }
        default: return nil
        }
    }

    func value(_ key: String, of object: ObjectID) throws -> ExpressionValue {
        var found: Any? = values
        for part in key.split(separator: ".") { found = (found as? [String: Any])?[String(part)] }
        return try expressionValue(found)
    }

    func isComposite(_ key: String, of object: ObjectID) -> Bool {
        var found: Any? = values
        for part in key.split(separator: ".") { found = (found as? [String: Any])?[String(part)] }
        return found is [String: Any]
    }
}
