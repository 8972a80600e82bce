import Foundation
import MoultBasics
import MoultCoreData
import MoultModel

/// A key path as key-value coding follows it: each key is asked of the value to which the keys before it have led.
struct KeyPathWalk {
    /// The first key and the path after it; nil for a single key.
    let steps: (first: String, rest: String)?
    private let path: String

    init(_ path: String) {
        self.path = path
        let parts = path.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        steps = parts.count == 2 ? (parts[0], parts[1]) : nil
    }

    private struct NoSuchKey: Error {}

    /// Returns the value for the path of an object; nil if an object on the way has no value.
    ///
    /// - Throws: `invalidPredicate` for an unknown operator, and for values that an operator cannot combine.
    func value(of object: NSManagedObject) throws -> Any? {
        guard let steps else { return object.value(forKey: path) }
        guard let found = object.value(forKey: steps.first) else { return nil }
        do {
            return try Self(steps.rest).value(in: found)
        } catch is NoSuchKey {
            return object.evaluated(path)
        }
    }

    private func value(in found: Any) throws -> Any? {
        switch found {
        case let object as NSManagedObject: return object.value(forKeyPath: path)
        case let set as NSSet: return try value(over: set.allObjects) { NSSet(array: $0.compactMap(\.self)) }
        case let list as NSOrderedSet:
            return try value(over: list.array) { NSOrderedSet(array: Self.distinct($0.compactMap(\.self))) }
        case let set as Set<AnyHashable>: return try value(over: Array(set)) { NSSet(array: $0.compactMap(\.self)) }
        case let values as [String: Any]:
            guard let steps else { return values[path] }
            return try values[steps.first].flatMap { try Self(steps.rest).value(in: $0) }
        case let list as [Any]: return try value(over: list) { NSArray(array: $0.map { $0 ?? NSNull() }) }
        default: throw NoSuchKey()
        }
    }

    private func value(over members: [Any], _ grouping: ([Any?]) -> Any) throws -> Any? {
        if path.hasPrefix("@") { return try combined(members) }
        return grouping(try members.map(value(in:)))
    }

    /// Applies the operator with which the path begins.
    private func combined(_ members: [Any]) throws -> Any? {
        let name = steps?.first ?? path
        let operands = try steps.map { steps in
            try members.compactMap(Self(steps.rest).value(in:)).flatMap(Self.members)
        }
        switch CollectionOperator(rawValue: name) {
        case .count?: return NSNumber(value: members.count)
        case .unionOfObjects?, .unionOfArrays?: return NSArray(array: operands ?? members)
        case .distinctUnionOfObjects?, .distinctUnionOfArrays?:
            return NSArray(array: Self.distinct(operands ?? members))
        case .distinctUnionOfSets?: return NSSet(array: operands ?? members)
        case let other?:
            let value = try other.value(of: (operands ?? members).map(Self.operand))
            if case .decimal(let digits) = value { return NSDecimalNumber(string: digits) }
            return try value.foundation(in: nil)
        case nil:
            throw MigrationError(
                .invalidPredicate, "There is no collection operator \(name).", place: path,
                remedy: "Use one of \(CollectionOperator.allCases.map(\.rawValue).joined(separator: ", ")).")
        }
    }

    /// Leaves out repeated values, which Foundation's `NSOrderedSet(array:)` keeps on Linux.
    private static func distinct(_ values: [Any]) -> [Any] {
        var seen: Set<AnyHashable> = []
        return values.filter { value in (value as? AnyHashable).map { seen.insert($0).inserted } ?? true }
    }

    private static func operand(_ value: Any) throws -> ExpressionValue {
        if let number = value as? NSNumber, !(number is NSDecimalNumber), let whole = NumberReading.integer(number) {
            return .integer(whole)
        }
        return try expressionValue(value)
    }

    private static func members(_ value: Any) -> [Any] {
        switch value {
        case let set as NSSet: set.allObjects
        case let list as NSOrderedSet: list.array
        case let list as [Any]: list
        default: [value]
        }
    }
}
