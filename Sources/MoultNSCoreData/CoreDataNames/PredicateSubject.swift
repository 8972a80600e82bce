import Foundation
import MoultBasics
import MoultCoreData
import MoultModel

/// Converts a value for predicates and batch requests, including Core Data's objects and Foundation's classes.
///
/// - Throws: `usage` for a value that a predicate cannot contain.
func expressionValue(_ value: Any?) throws -> ExpressionValue {
    try expressionValue(value, elements: { try expressionValue($0) })
}

/// - Parameter element: converts the elements of a collection.
func expressionValue(_ value: Any?, elements element: (Any?) throws -> ExpressionValue) throws -> ExpressionValue {
    switch value {
    case let object as NSManagedObject: return .object(object.objectID)
    // The value of the key `entity` is the entity's name.
    case let entity as NSEntityDescription: return .string(entity.name ?? "")
    case let number as any BinaryFloatingPoint: return .real(Double(number))
    case let number as NSDecimalNumber: return .decimal(number.decimalValue.digits)
    case let set as NSSet: return .collection(try set.allObjects.map(element))
    case let list as NSArray: return .collection(try list.map(element))
    case let list as NSOrderedSet: return .collection(try list.array.map(element))
    case let set as Set<AnyHashable>: return .collection(try set.map { try element($0.base) })
    case let list as [Any]: return .collection(try list.map(element))
    default: return try (value as? NSNumber)?.wholeValue(of: value) ?? ExpressionValue(any: value.map(plainValue))
    }
}

extension NSNumber {
    /// Returns the integer of a number that was made from one; nil for a number that Swift has made from `value`.
    fileprivate func wholeValue(of value: Any?) -> ExpressionValue? {
        guard let value, type(of: value) is NSNumber.Type, !["d", "f"].contains(String(cString: objCType)),
            Int64(exactly: self) != nil
        else { return nil }
        return .integer(int64Value)
    }
}

/// The subject of a predicate evaluated outside a store: an object, a dictionary, or a plain value.
struct PredicateSubject {
    private let value: Any?

    init(_ value: Any?) { self.value = value }

    func holds(_ predicate: MoultModel.Predicate, _ variables: [String: ExpressionValue]) throws -> Bool {
        if let object = value as? NSManagedObject { return try object.holds(predicate, variables) }
        let values = KeyedValues()
        return try predicate.holds(for: values.value(value), variables: variables, in: values)
    }
}

/// The values of objects, dictionaries, and those in them, read by their keys.
final class KeyedValues: ObjectValues {
    let now = Date().timeIntervalSinceReferenceDate
    private var known: [ObjectID: Any] = [:]

    /// Returns the value, an identity for an object, a dictionary, or a value that no attribute can have.
    func value(_ value: Any?) -> ExpressionValue {
        switch value {
        case let object as NSManagedObject:
            known[object.objectID] = object
            return .object(object.objectID)
        case let values as [String: Any]: return remember(values)
        case let values as NSDictionary:
            return remember(
                values.reduce(into: [String: Any]()) { all, entry in
                    if let key = entry.key as? String { all[key] = entry.value }
                })
        default:
            if let known = try? expressionValue(value, elements: { self.value($0) }) { return known }
            let opaque = predicateValue(value)
            if case .object(let id) = opaque { known[id] = value }
            return opaque
        }
    }

    private func remember(_ values: [String: Any]) -> ExpressionValue {
        let id = ObjectID(temporary: Int64(known.count), entityName: "Dictionary")
        known[id] = values
        return .object(id)
    }

    /// Returns the value in Core Data's form.
    func foundation(_ value: ExpressionValue) -> Any? {
        switch value {
        case .object(let id): known[id] ?? id
        case .decimal(let digits): NSDecimalNumber(string: digits)
        case .collection(let elements): elements.map { foundation($0) ?? NSNull() }
        default: (try? value.foundation(in: nil)) ?? nil
        }
    }

    func value(_ key: String, of object: ObjectID) throws -> ExpressionValue {
        switch known[object] {
        case let object as NSManagedObject: return value(object.value(forKey: key))
        case let values as [String: Any]: return value(values[key])
        default:
            throw MigrationError(
                .usage, "\(key) of a \(object.entityName) cannot be read.",
                remedy: "Evaluate it with a managed object or a dictionary.")
        }
    }

    func isComposite(_ key: String, of object: ObjectID) -> Bool { false }
}
