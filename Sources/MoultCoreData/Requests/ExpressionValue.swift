import Foundation
import MoultBasics
import MoultModel

extension FormatArgument {
    /// - Throws: `usage` for a value that a predicate cannot contain.
    package init(any value: Any?) throws { self = .value(try ExpressionValue(any: value)) }
}

extension ExpressionValue {
    /// - Throws: `usage` for a value that a predicate cannot contain.
    package init(any value: Any?) throws {
        switch value {
        case nil, is NSNull: self = .null
        case let value as ExpressionValue: self = value
        case let object as ManagedObject: self = .object(object.objectID)
        case let id as ManagedObjectID: self = .object(id)
        case let value as AttributeValue: self = ExpressionValue(value)
        case let value as any AttributeValueConvertible: self = ExpressionValue(value.attributeValue)
        case let value as any BinaryInteger where Int64(exactly: value) != nil:
            self = .integer(Int64(truncatingIfNeeded: value))
        case let number as NSNumber: self = .real(number.doubleValue)
        case let list as [Any?]: self = .collection(try list.map(ExpressionValue.init(any:)))
        case let set as Set<AnyHashable>: self = .collection(try set.map { try ExpressionValue(any: $0.base) })
        case let objects as Set<ManagedObject>: self = .collection(objects.map { .object($0.objectID) })
        case let ids as Set<ManagedObjectID>: self = .collection(ids.map(ExpressionValue.object))
        case let url as any StringProtocol: self = .string(String(url))
        case let other?:
            throw MigrationError(
                .usage, "A \(type(of: other)) cannot occur in a predicate.",
                remedy: "Give a text, number, date, data, UUID, URL, object, or a collection of them.")
        }
    }

    /// Returns the value in the form of a dictionary result or a key path, with objects of `context`.
    package func foundation(in context: ManagedObjectContext?) throws -> Any? {
        switch self {
        case .null: nil
        case .boolean(let flag): NSNumber(value: flag)
        case .integer(let number): NSNumber(value: number)
        case .real(let number): NSNumber(value: number)
        case .decimal(let digits): Decimal(string: digits) ?? Decimal.nan
        case .string(let text): text
        case .date(let seconds): Date(timeIntervalSinceReferenceDate: seconds)
        case .data(let bytes): Data(bytes)
        case .uuid(let bytes): UUID(bytes: bytes) as Any? ?? Data(bytes)
        case .uri(let text): URL(string: text) as Any? ?? text
        case .object(let id): try context.map { try $0.publicObject(with: id) } ?? id as Any
        case .collection(let values): try values.map { try $0.foundation(in: context) ?? NSNull() }
        }
    }
}
