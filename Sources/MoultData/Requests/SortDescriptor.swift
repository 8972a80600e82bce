import Foundation
import MoultBasics
import MoultModel
import MoultObjects

/// A comparison of strings in natural order, for `SortDescriptor(\.name, comparator: .localizedStandard)`: on Linux,
/// Foundation has only `.lexical`. The order is independent of any language, so that it is the same on every machine.
public struct LocalizedStringComparator: Sendable, Hashable {
    let isNumeric: Bool

    /// A comparison that considers diacritics and case only if the letters are the same, and compares numbers in
    /// strings by value, as file lists do. It is the default for sorting by a `String`.
    public static let localizedStandard = LocalizedStringComparator(isNumeric: true)
    /// A comparison that considers diacritics and case only if the letters are the same.
    public static let localized = LocalizedStringComparator(isNumeric: false)
}

extension SortDescriptor {
    /// Sorts strings in natural order: ``LocalizedStringComparator/localizedStandard``.
    public init(_ keyPath: any KeyPath<Compared, String> & Sendable, order: SortOrder = .forward) {
        self.init(keyPath, comparator: LocalizedStringComparator.localizedStandard, order: order)
    }

    /// Sorts optional strings in natural order, nil first.
    public init(_ keyPath: any KeyPath<Compared, String?> & Sendable, order: SortOrder = .forward) {
        self.init(keyPath, comparator: LocalizedStringComparator.localizedStandard, order: order)
    }

    /// Sorts strings with a comparator.
    public init(
        _ keyPath: any KeyPath<Compared, String> & Sendable, comparator: LocalizedStringComparator,
        order: SortOrder = .forward
    ) {
        self =
            comparator.isNumeric
            ? .ordered(keyPath, by: \._localizedStandardOrder, order) : .ordered(keyPath, by: \._localizedOrder, order)
    }

    /// Sorts optional strings with a comparator, nil first.
    public init(
        _ keyPath: any KeyPath<Compared, String?> & Sendable, comparator: LocalizedStringComparator,
        order: SortOrder = .forward
    ) {
        self =
            comparator.isNumeric
            ? .ordered(keyPath, by: \._localizedStandardOrder, order) : .ordered(keyPath, by: \._localizedOrder, order)
    }

    private static func ordered<Text, Order: Comparable>(
        _ keyPath: any KeyPath<Compared, Text> & Sendable, by path: any KeyPath<Text, Order> & Sendable,
        _ order: SortOrder
    ) -> SortDescriptor {
        SortDescriptor(keyPath.appending(path: path).sendable, order: order)
    }

    private static func ordered<Text, Order: Comparable>(
        _ keyPath: any KeyPath<Compared, Text> & Sendable, by path: any KeyPath<Text, Order?> & Sendable,
        _ order: SortOrder
    ) -> SortDescriptor {
        SortDescriptor(keyPath.appending(path: path).sendable, order: order)
    }
}

extension KeyPath {
    /// The same key path as a `Sendable` one. A key path of stored properties captures nothing, but neither its type
    /// nor that of an appended key path says so.
    var sendable: any KeyPath<Root, Value> & Sendable {
        unsafeBitCast(self, to: (any KeyPath<Root, Value> & Sendable).self)
    }
}

/// A string in natural order.
public struct _LocalizedOrder: Comparable, Sendable {
    let key: String
    /// Returns whether the left string comes first, comparing the bytes of their sort keys.
    public static func < (left: Self, right: Self) -> Bool { left.key.utf8.lexicographicallyPrecedes(right.key.utf8) }
}

extension String {
    /// The string's sort key for ``LocalizedStringComparator/localized``; key paths of sort descriptors end in this
    /// property.
    public var _localizedOrder: _LocalizedOrder { _LocalizedOrder(key: collationKey(isNumeric: false)) }
    /// The string's sort key for ``LocalizedStringComparator/localizedStandard``.
    public var _localizedStandardOrder: _LocalizedOrder { _LocalizedOrder(key: collationKey(isNumeric: true)) }
}

extension Optional where Wrapped == String {
    /// The wrapped string's sort key for ``LocalizedStringComparator/localized``; nil for nil.
    public var _localizedOrder: _LocalizedOrder? { self?._localizedOrder }
    /// The wrapped string's sort key for ``LocalizedStringComparator/localizedStandard``; nil for nil.
    public var _localizedStandardOrder: _LocalizedOrder? { self?._localizedStandardOrder }
}

extension SortDescriptor where Compared: PersistentModel {
    /// Returns the sort in the form for a store.
    ///
    /// - Throws: `fetchUnsupported` for a key path that does not lead to a stored value.
    func sortTerm() throws -> ObjectFetch.SortTerm {
        guard let keyPath, let found = StoredPath(keyPath), found.hasOrder else {
            throw MigrationError(
                .fetchUnsupported, "A store cannot sort by \(keyPath?.spelling ?? "\(self)").",
                place: ModelProperties.of(Compared.self).entityName,
                remedy: "Sort by a stored property, of the model or of another that to-one relationships lead to, or "
                    + "set allowsInMemoryEvaluation of the fetch, which reads every object of the model.")
        }
        return ObjectFetch.SortTerm(
            found.sortExpression(isLexical: stringComparator != nil).format, isAscending: order == .forward)
    }
}

extension StoredPath {
    /// Returns the expression for the value in ORDER BY.
    fileprivate func sortExpression(isLexical: Bool) -> StoredExpression {
        let value: StoredExpression = names.isEmpty ? .evaluatedObject : .keyPath(names.joined(separator: "."))
        switch end {
        case .localizedOrder: return .function(StoredText.InSwift.localizedKey.rawValue, [value])
        case .localizedStandardOrder: return .function(StoredText.InSwift.standardKey.rawValue, [value])
        case .count:
            let count = StoredExpression.keyPath((names + ["@count"]).joined(separator: "."))
            let owner = names.dropLast().joined(separator: ".")
            // Nil has no objects, and so no count of them.
            return owner.isEmpty ? count : .conditional(.isPresent(.keyPath(owner)), count, .constant(.null))
        // Sort by the key, which is the order of insertion within an entity.
        case .relationship, .identity: return value
        case .attribute(let type):
            if isLexical { return value }
            if StoredText.isText(type) { return .function(StoredText.InSwift.composed.rawValue, [value]) }
            if StoredNumber.isFolded(type) { return StoredNumber.ordered(value) }
            return StoredNumber.expression(value, of: type)
        }
    }
}
