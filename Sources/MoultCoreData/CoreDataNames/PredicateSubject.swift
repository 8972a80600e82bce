import Foundation
import MoultBasics
import MoultModel

/// Converts a value for predicates and batch requests, including Core Data's objects and Foundation's classes.
///
/// - Parameter element: converts the elements of a collection.
/// - Throws: `usage` for a value that a predicate cannot contain.
func expressionValue(
    _ value: Any?, _ element: (Any?) throws -> ExpressionValue = { try expressionValue($0) }
) throws -> ExpressionValue {
    switch value {
    case let object as NSManagedObject: return .object(object.objectID)
    // The value of the key `entity` is the entity's name.
    case let entity as NSEntityDescription: return .string(entity.name ?? "")
    case let number as NSDecimalNumber: return .decimal(number.decimalValue.digits)
    case let set as NSSet: return .collection(try set.allObjects.map(element))
    case let list as NSArray: return .collection(try list.map(element))
    case let list as NSOrderedSet: return .collection(try list.array.map(element))
    case let set as Set<AnyHashable>: return .collection(try set.map { try element($0.base) })
    case let list as [Any]: return .collection(try list.map(element))
    default: return try ExpressionValue(any: value.map(plainValue))
    }
}

/// The subject of a predicate evaluated outside a store: an object, a dictionary, or a plain value.
struct PredicateSubject {
    private let value: Any?

    init(_ value: Any?) { self.value = value }

    func holds(_ predicate: MoultModel.Predicate, _ variables: [String: ExpressionValue]) throws -> Bool {
        if let object = value as? NSManagedObject { return try object.holds(predicate, variables) }
        if let values = DictionaryValues(value) {
            return try predicate.holds(for: .object(values.root), variables: variables, in: values)
        }
        return try predicate.holds(for: constantValue(value), variables: variables, in: DictionaryValues([:]))
    }
}

/// The values of a dictionary, and of dictionaries in it, presented as object values.
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
        guard object == root else {
            throw MigrationError(
                .usage, "\(key) of a \(object.entityName) cannot be read by a predicate.",
                remedy: "Evaluate the predicate with a managed object or a dictionary.")
        }
        var found: Any? = values
        for part in key.split(separator: ".") { found = (found as? [String: Any])?[String(part)] }
        return constantValue(found)
    }

    func isComposite(_ key: String, of object: ObjectID) -> Bool {
        var found: Any? = values
        for part in key.split(separator: ".") { found = (found as? [String: Any])?[String(part)] }
        return found is [String: Any]
    }
}
