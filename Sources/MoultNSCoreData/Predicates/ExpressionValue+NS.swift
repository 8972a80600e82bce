import Foundation
import MoultBasics
import MoultCoreData
import MoultModel

/// A value as predicates and batch requests take it, Core Data's objects included.
///
/// - Throws: `usage` for a value that no predicate can hold.
func expressionValue(_ value: Any?) throws -> ExpressionValue {
    switch value {
    case let object as NSManagedObject: return .object(object.objectID)
    case let number as NSDecimalNumber: return .decimal(number.decimalValue.digits)
    case let text as NSString: return .string(text._bridgeToSwift())
    case let date as NSDate: return .date(date.timeIntervalSinceReferenceDate)
    case let set as NSSet: return .collection(try set.allObjects.map(expressionValue))
    case let list as NSArray: return .collection(try list.map(expressionValue))
    case let list as NSOrderedSet: return .collection(try list.array.map(expressionValue))
    case let set as Set<AnyHashable>: return .collection(try set.map { try expressionValue($0.base) })
    case let list as [Any]: return .collection(try list.map(expressionValue))
    default: return try ExpressionValue(any: value)
    }
}

extension NSString {
    fileprivate func _bridgeToSwift() -> String { String(describing: self) }
}
