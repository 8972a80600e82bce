import Foundation
import MoultBasics
import MoultModel
import MoultObjects

/// A comparison of texts as people order them, for `SortDescriptor(\.name, comparator: .localizedStandard)`:
/// Foundation's on Linux knows `.lexical` only. The order is that of no language in particular, so that it is the same
/// on every machine.
public struct LocalizedStringComparator: Sendable, Hashable {
    let isNumeric: Bool

    /// Marks and case count only where the letters are the same, and numbers in a text by their value, as file names
    /// are listed. It is what a sort by a `String` has where none is given.
    public static let localizedStandard = LocalizedStringComparator(isNumeric: true)
    /// Marks and case count only where the letters are the same.
    public static let localized = LocalizedStringComparator(isNumeric: false)
}

extension SortDescriptor {
    /// Sorts texts as people do: ``LocalizedStringComparator/localizedStandard``.
    public init(_ keyPath: any KeyPath<Compared, String> & Sendable, order: SortOrder = .forward) {
        self.init(keyPath, comparator: LocalizedStringComparator.localizedStandard, order: order)
    }

    /// Sorts texts as people do, nil first.
    public init(_ keyPath: any KeyPath<Compared, String?> & Sendable, order: SortOrder = .forward) {
        self.init(keyPath, comparator: LocalizedStringComparator.localizedStandard, order: order)
    }

    /// Sorts texts as the comparator does.
    public init(
        _ keyPath: any KeyPath<Compared, String> & Sendable, comparator: LocalizedStringComparator,
        order: SortOrder = .forward
    ) {
        self =
            comparator.isNumeric
            ? .ordered(keyPath, by: \._localizedStandardOrder, order) : .ordered(keyPath, by: \._localizedOrder, order)
    }

    /// Sorts optional texts as the comparator does, nil first.
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
    /// The same key path, to be sent: one of stored properties captures nothing, which its type does not say, nor that of
    /// one that `appending` makes.
    var sendable: any KeyPath<Root, Value> & Sendable {
        unsafeBitCast(self, to: (any KeyPath<Root, Value> & Sendable).self)
    }
}

/// A text in the order of people.
public struct _LocalizedOrder: Comparable, Sendable {
    let key: String
    /// Whether the left text comes first; the bytes of their sort keys are compared.
    public static func < (left: Self, right: Self) -> Bool { left.key.utf8.lexicographicallyPrecedes(right.key.utf8) }
}

extension String {
    /// The text's place in the order of ``LocalizedStringComparator/localized``; key paths of sort descriptors end
    /// here.
    public var _localizedOrder: _LocalizedOrder { _LocalizedOrder(key: collationKey(isNumeric: false)) }
    /// The text's place in the order of ``LocalizedStringComparator/localizedStandard``.
    public var _localizedStandardOrder: _LocalizedOrder { _LocalizedOrder(key: collationKey(isNumeric: true)) }
}

extension Optional where Wrapped == String {
    /// The wrapped text's place in the order of ``LocalizedStringComparator/localized``; nil for nil.
    public var _localizedOrder: _LocalizedOrder? { self?._localizedOrder }
    /// The wrapped text's place in the order of ``LocalizedStringComparator/localizedStandard``; nil for nil.
    public var _localizedStandardOrder: _LocalizedOrder? { self?._localizedStandardOrder }
}

extension SortDescriptor where Compared: PersistentModel {
    /// The sort as a store is asked for it.
    ///
    /// - Throws: `fetchUnsupported` for a key path that leads to no stored value.
    func sortTerm() throws -> ObjectFetch.SortTerm {
        guard let keyPath, let found = StoredPath(keyPath), found.hasOrder else {
            throw MigrationError(
                .fetchUnsupported, "A store cannot sort by \(keyPath.map { "\($0)" } ?? "\(self)").",
                place: ModelProperties.of(Compared.self).entityName,
                remedy: "Sort by a stored property, of the model or of another that to-one relationships lead to, or "
                    + "sort the objects in memory.")
        }
        return ObjectFetch.SortTerm(
            found.sortExpression(isLexical: stringComparator != nil).format, isAscending: order == .forward)
    }
}

extension StoredPath {
    /// Returns the expression that stands behind ORDER BY for the value.
    fileprivate func sortExpression(isLexical: Bool) -> StoredExpression {
        let value: StoredExpression = names.isEmpty ? .evaluatedObject : .keyPath(names.joined(separator: "."))
        switch end {
        case .localizedOrder: return .function(StoredText.InSwift.localizedKey.rawValue, [value])
        case .localizedStandardOrder: return .function(StoredText.InSwift.standardKey.rawValue, [value])
        case .count:
            let count = StoredExpression.keyPath((names + ["@count"]).joined(separator: "."))
            let owner = names.dropLast().joined(separator: ".")
            // Nil has no objects, and no number of them either.
            return owner.isEmpty ? count : .conditional(.isPresent(.keyPath(owner)), count, .constant(.null))
        // By its key: the order of insertion within an entity.
        case .relationship, .identity: return value
        case .attribute(let type):
            if isLexical { return value }
            if StoredText.isText(type) { return .function(StoredText.InSwift.composed.rawValue, [value]) }
            if StoredNumber.isFolded(type) { return StoredNumber.ordered(value) }
            return StoredNumber.expression(value, of: type)
        }
    }
}
