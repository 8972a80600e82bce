import MoultBasics
import MoultModel
import MoultStore

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A fetch as SQL over the tables of a store. The rows of the fetched entity have the alias ``alias``.
///
/// The statement needs the functions of ``FormatFunctions`` on its connection.
package struct FetchLowering {
    package static let alias = "t0"

    let fetch: ObjectFetch
    let entity: EntityDescription
    let scope: QueryScope
    let format: FormatLowering
    private let condition: SQLText?
    private let layout: StoreLayout

    /// - Parameters:
    ///   - store: the `NSStoreUUID` that identifies the store's objects in the predicate.
    ///   - now: the value of `now()`, in seconds since 2001-01-01 00:00:00 UTC.
    /// - Throws: `usage` for an entity that the store does not hold, `invalidPredicate`, and `fetchUnsupported` with
    ///   the part of the predicate that can only be evaluated in memory.
    package init(_ fetch: ObjectFetch, layout: StoreLayout, store: UUID, now: Double) throws {
        guard let entity = layout.model.entity(fetch.entityName), let table = layout.table(for: entity) else {
            throw MigrationError(
                .usage, "The store contains no objects of \(fetch.entityName).", place: fetch.entityName,
                remedy: "Use one of: \(layout.model.entities.map(\.name).joined(separator: ", ")).")
        }
        (self.fetch, self.entity, self.layout) = (fetch, entity, layout)
        let aliases = AliasCounter()
        let alias = aliases.make()
        scope = QueryScope("\(name: table.name) AS \(name: alias)", link: nil, aliases: aliases)
        format = FormatLowering(
            layout: layout, store: store, aliases: aliases, evaluated: RowReference(scope, entity, alias: alias),
            variables: fetch.variables.mapValues(Lowered.constant), now: now, format: fetch.predicate?.format ?? "")
        condition = try fetch.predicate.map(format.lower)?.sql
    }

    // MARK: - Statements

    /// Returns a statement that selects columns of every object that the fetch finds, in its order and within its
    /// limit.
    ///
    /// - Parameter columns: the columns, each prefixed with ``alias``.
    package func select(_ columns: SQLText) throws -> SQLText {
        let order = try order()
        return "\(scope.select(columns, where: conditions)) ORDER BY \(order)\(window)"
    }

    /// Returns the same statement for the objects whose keys are in a range.
    package func select(_ columns: SQLText, keys: ClosedRange<Int64>) throws -> SQLText {
        let range: SQLText = "\(name: Self.alias).Z_PK BETWEEN \(keys.lowerBound) AND \(keys.upperBound)"
        let found = SQLText.all([range] + (conditions.map { [$0] } ?? []))
        return "\(scope.select(columns, where: found)) ORDER BY \(try order())\(window)"
    }

    package func selectCount() -> SQLText {
        guard fetch.limit > 0 || fetch.offset > 0 else { return scope.select("count(*)", where: conditions) }
        return "SELECT count(*) FROM (\(scope.select("1", where: conditions))\(window))"
    }

    var conditions: SQLText? { SQLText.all([restriction, condition].compactMap { $0 }) }

    /// The condition that leaves out rows of other entities in the same table.
    private var restriction: SQLText? {
        let model = layout.model
        let isWhole = model.subentities(of: entity).isEmpty || fetch.includesSubentities
        guard entity.superentityName != nil || !isWhole else { return nil }
        let numbers =
            fetch.includesSubentities
            ? layout.numbers(ofEntityAndDescendants: entity) : [layout.entityNumbers[entity.name] ?? 0]
        let list = numbers.map { "\($0)" as SQLText }.joined(separator: ", ")
        return "\(name: Self.alias).Z_ENT IN (\(list))"
    }

    var window: SQLText {
        guard fetch.limit > 0 || fetch.offset > 0 else { return "" }
        return " LIMIT \(fetch.limit > 0 ? fetch.limit : -1) OFFSET \(max(fetch.offset, 0))"
    }

    // MARK: - Order

    /// Returns the sort terms followed by the key, so that two fetches of the same objects give the same order.
    private func order() throws -> SQLText {
        let terms = try fetch.sort.map { try order($0, by: format) }
        return (terms + ["\(name: Self.alias).Z_PK"]).joined(separator: ", ")
    }

    func order(_ term: ObjectFetch.SortTerm, by format: FormatLowering) throws -> SQLText {
        let direction: SQLText = term.isAscending ? "" : " DESC"
        let expression = try Expression(parsing: term.keyPath)
        switch try format.lower(expression) {
        case .value(let value) where value.kind != .opaque:
            let options = value.kind.family == .text ? term.options.folding : []
            return "\(value.folded(options).sql)\(direction)"
        case .object(let row): return "\(row.key)\(direction)"
        case .constant: return "NULL"
        case .value, .collection, .composite, .elements:
            throw format.refuse(term.keyPath, "objects can only be sorted by a single value of each")
        }
    }
}
