#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension ExpressionValue {
    /// Whether the values are equal in a predicate: of one kind, and alike (``Predicate/holds(for:variables:in:)``).
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

    /// The total order of sort terms, which is that of SQLite's ORDER BY: nil first, then numbers, texts and bytes;
    /// objects by key, then by entity; collections element by element.
    ///
    /// - Parameter options: `caseInsensitive` and `diacriticInsensitive` order texts by their folded forms; texts that
    ///   fold alike are the same, so that the next sort term decides.
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
            // What is not saved comes behind all that is.
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
}
