import MoultBasics

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A constant in an expression, or the result of evaluating one, in memory or in a store.
public enum ExpressionValue: Sendable, Hashable {
    case null
    case boolean(Bool)
    case integer(Int64)
    case real(Double)
    /// The exact digits.
    case decimal(String)
    case string(String)
    /// The seconds since 2001-01-01 00:00:00 UTC.
    case date(Double)
    case data([UInt8])
    /// The sixteen bytes of a UUID.
    case uuid([UInt8])
    case uri(String)
    case object(ObjectID)
    case collection([ExpressionValue])

    /// Creates the value of an attribute: ``null`` for nil; transformable attributes become ``data(_:)`` too.
    public init(_ value: AttributeValue?) {
        switch value {
        case nil: self = .null
        case .integer(let number): self = .integer(number)
        case .boolean(let flag): self = .boolean(flag)
        case .double(let number): self = .real(number)
        case .decimal(let digits): self = .decimal(digits)
        case .string(let text): self = .string(text)
        case .date(let seconds): self = .date(seconds)
        case .binary(let bytes), .transformable(let bytes): self = .data(bytes)
        case .uuid(let bytes): self = .uuid(bytes)
        case .uri(let text): self = .uri(text)
        }
    }

    /// The kinds of values that can be compared with each other, in sort order.
    package enum Kind: Int, Sendable, Hashable {
        case null, number, text, bytes, object, collection

        var name: String {
            switch self {
            case .null: "nil"
            case .number: "a number"
            case .text: "a text"
            case .bytes: "data"
            case .object: "an object"
            case .collection: "a collection"
            }
        }
    }

    package var kind: Kind {
        switch self {
        case .null: .null
        case .real(let number), .date(let number): number.isNaN ? .null : .number
        case .boolean, .integer: .number
        case .decimal: number == nil ? .null : .number
        case .string, .uri: .text
        case .data, .uuid: .bytes
        case .object: .object
        case .collection: .collection
        }
    }

    /// Whether the value is nil, or NaN, which no column can hold.
    package var isNull: Bool { kind == .null }

    /// The number in a column of the value's type; nil for NaN and for a value that is not a number.
    package var number: ExpressionNumber? {
        switch self {
        case .boolean(let flag): .integer(flag ? 1 : 0)
        case .integer(let number): .integer(number)
        case .real(let number), .date(let number): number.isNaN ? nil : .real(number)
        case .decimal(let digits): ExpressionNumber(digits: digits)
        case .null, .string, .data, .uuid, .uri, .object, .collection: nil
        }
    }

    /// The text of a string or URI.
    package var text: String? {
        switch self {
        case .string(let text), .uri(let text): text
        default: nil
        }
    }

    /// A key that is equal for values that are equal in a predicate, unlike the values themselves: numbers by value,
    /// and texts by scalars.
    package enum Key: Hashable, Sendable {
        case null
        case integer(Int64)
        case real(Double)
        case text([UInt8])
        case bytes([UInt8])
        case object(ObjectID)
        case collection([Key])
    }

    package var key: Key {
        switch self {
        case .string(let text), .uri(let text): .text(Array(text.utf8))
        case .data(let bytes), .uuid(let bytes): .bytes(bytes)
        case .object(let id): .object(id)
        case .collection(let elements): .collection(elements.map(\.key))
        case .null, .boolean, .integer, .real, .decimal, .date:
            switch number {
            case .integer(let number): .integer(number)
            case .real(let number): Int64(exactly: number).map(Key.integer) ?? .real(number)
            case nil: .null
            }
        }
    }

    /// Whether the values are equal in a predicate: the same kind and equal (``Predicate/holds(for:variables:in:)``).
    package func equals(_ other: ExpressionValue, _ options: Predicate.Options = []) -> Bool {
        if let left = text, let right = other.text {
            return left.folded(options).utf8.elementsEqual(right.folded(options).utf8)
        }
        switch (self, other) {
        case (.collection(let left), .collection(let right)):
            return left.count == right.count && zip(left, right).allSatisfy { $0.equals($1, options) }
        default: return Self.ordering(self, other) == .orderedSame
        }
    }

    /// Returns the total order of sort terms, as in SQLite's ORDER BY: nil, then numbers, texts and bytes; objects by
    /// key, then by entity; collections element by element.
    ///
    /// - Parameter options: `caseInsensitive` and `diacriticInsensitive` order texts by their folded forms. Texts with
    ///   the same folded form are equal, so that the next sort term decides.
    package static func ordering(
        _ left: ExpressionValue, _ right: ExpressionValue, _ options: Predicate.Options = []
    ) -> ComparisonResult {
        let (leftKind, rightKind) = (left.kind, right.kind)
        if leftKind != rightKind { return order(leftKind.rawValue, rightKind.rawValue) }
        switch (left, right) {
        case (.string(let left), .string(let right)), (.string(let left), .uri(let right)),
            (.uri(let left), .string(let right)), (.uri(let left), .uri(let right)):
            return order(left.folded(options).utf8, right.folded(options).utf8)
        case (.data(let left), .data(let right)), (.data(let left), .uuid(let right)),
            (.uuid(let left), .data(let right)), (.uuid(let left), .uuid(let right)):
            return order(left, right)
        case (.object(let left), .object(let right)):
            // Unsaved objects come after saved ones.
            if left.isTemporary != right.isTemporary {
                return right.isTemporary ? .orderedAscending : .orderedDescending
            }
            if left.key != right.key { return order(left.key, right.key) }
            if left.entityName != right.entityName { return order(left.entityName.utf8, right.entityName.utf8) }
            return order((left.store?.uuidString ?? "").utf8, (right.store?.uuidString ?? "").utf8)
        case (.collection(let left), .collection(let right)):
            for (left, right) in zip(left, right) {
                let result = ordering(left, right, options)
                if result != .orderedSame { return result }
            }
            return order(left.count, right.count)
        default:
            guard let left = left.number, let right = right.number else { return .orderedSame }
            return order(left, right)
        }
    }

    private static func order<Value: Comparable>(_ left: Value, _ right: Value) -> ComparisonResult {
        left < right ? .orderedAscending : right < left ? .orderedDescending : .orderedSame
    }

    private static func order<Bytes: Sequence<UInt8>>(_ left: Bytes, _ right: Bytes) -> ComparisonResult {
        if left.lexicographicallyPrecedes(right) { return .orderedAscending }
        return right.lexicographicallyPrecedes(left) ? .orderedDescending : .orderedSame
    }

    /// Returns the value converted by `CAST(value, "type")`; nil stays nil.
    ///
    /// - Parameter type: the name of one of Foundation's classes: `NSString`, `NSNumber`, `NSDecimalNumber`, `NSDate`
    ///   (of seconds since 2001), `NSData` (of base64), `NSUUID`, `NSURL`, `NSManagedObjectID`.
    /// - Throws: `MigrationError` with code `invalidPredicate` for another type, or a value that cannot be converted.
    package func cast(to type: String) throws(MigrationError) -> ExpressionValue {
        if isNull { return .null }
        let result: ExpressionValue? =
            switch type {
            case "NSString": asText.map(ExpressionValue.string)
            case "NSNumber": asNumber
            case "NSDecimalNumber": asDecimal
            case "NSDate": (number ?? text.flatMap(ExpressionNumber.init(digits:))).map { .date($0.double) }
            case "NSData": asData
            case "NSUUID": asUUID
            case "NSURL": text.map(ExpressionValue.uri)
            case "NSManagedObjectID": asObject
            default:
                throw .predicate(
                    "There is no conversion to \(type).",
                    remedy: "Use NSString, NSNumber, NSDecimalNumber, NSDate, NSData, NSUUID or NSURL.")
            }
        guard let result else {
            throw .predicate("\(format) cannot be converted to \(type).", remedy: "Convert another value.")
        }
        return result
    }

    private var asText: String? {
        switch self {
        case .string(let text), .uri(let text), .decimal(let text): text
        case .boolean, .integer: format
        case .real(let number): String(describing: number)
        case .uuid(let bytes): bytes.uuidText
        case .object(let id): "\(id)"
        case .null, .date, .data, .collection: nil
        }
    }

    private var asNumber: ExpressionValue? {
        switch self {
        case .boolean, .integer, .real, .decimal: return self
        case .date(let seconds): return .real(seconds)
        default:
            switch text.flatMap(ExpressionNumber.init(digits:)) {
            case .integer(let number): return .integer(number)
            case .real(let number): return .real(number)
            case nil: return nil
            }
        }
    }

    private var asDecimal: ExpressionValue? {
        if case .real(let number) = self { return ExactDecimal(String(describing: number)).map { .decimal($0.digits) } }
        if let text { return ExactDecimal(text).map { .decimal($0.digits) } }
        return ExactDecimal(self).map { .decimal($0.digits) }
    }

    private var asData: ExpressionValue? {
        switch self {
        case .data: self
        case .uuid(let bytes): .data(bytes)
        default: text.flatMap { [UInt8](base64: $0) }.map(ExpressionValue.data)
        }
    }

    private var asUUID: ExpressionValue? {
        switch self {
        case .uuid: self
        case .data(let bytes): bytes.count == 16 ? .uuid(bytes) : nil
        default: text.flatMap(UUID.init(uuidString:)).map { .uuid(withUnsafeBytes(of: $0.uuid) { Array($0) }) }
        }
    }

    private var asObject: ExpressionValue? {
        if case .object = self { return self }
        return text.flatMap(ObjectID.init(uri:)).map(ExpressionValue.object)
    }
}
