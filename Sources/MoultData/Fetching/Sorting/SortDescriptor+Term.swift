import Foundation
import MoultModel
import MoultObjects

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
            return owner.isEmpty
                ? count : .conditional(.isPresent(.keyPath(owner)), count, .constant(.null))
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
