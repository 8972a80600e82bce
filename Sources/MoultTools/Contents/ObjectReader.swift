import MoultBasics
import MoultModel
import MoultObjects
import MoultSQLite
import MoultStore

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A reader of a few objects of a store: a page of an entity, one object by its key, or the destinations of a
/// relationship.
///
/// Paging is by key, so that the last page of a large store takes as long as the first.
package struct ObjectReader {
    package let contents: StoreContents
    /// The attribute that names the objects of an entity, by the entity's name; empty for none. Other entities use the
    /// automatic one.
    package var labels: [String: String] = [:]
    let probe: ReadOnlyStore
    let uuid: UUID

    /// - Parameter versions: the versions among which to find the store's; nil to use the model inside the store, or
    ///   none.
    /// - Throws: `storeUnknown` if the store is of none of the versions.
    package init(_ probe: ReadOnlyStore, versions: ModelVersions?) throws {
        contents = try StoreContents(probe, in: versions)
        self.probe = probe
        uuid = UUID(uuidString: try StoreSnapshot(probe.connection).metadata.uuid) ?? UUID()
        try FormatFunctions.register(on: probe.connection)
    }

    /// Returns the objects of an entity, including those of its sub-entities.
    ///
    /// - Throws: `usage` for an entity that the store does not have.
    package func entity(_ name: String) throws -> EntityContents {
        if let entity = contents.whole(name) { return entity }
        throw MigrationError(
            .usage, "The store has no entity \(name).", place: name,
            remedy: "Its entities are: \(contents.entities.map(\.name).joined(separator: ", ")).")
    }

    // MARK: - Objects

    /// An object, with its columns and its values in the form that an export uses.
    package struct Object: Sendable {
        package let key: Int64
        package let columns: [EntityContents.Column]
        package let values: [SQLiteValue]

        package func value(of name: String) -> SQLiteValue? {
            columns.firstIndex { $0.name == name }.map { values[$0] }
        }
    }

    /// Some objects in the order of a list.
    package struct Page: Sendable {
        package let objects: [Object]
        /// The key before which the previous page ends; nil if there is none.
        package let previous: Int64?
        /// The key after which the next page begins; nil if there is none.
        package let next: Int64?
    }

    /// Returns a page of the objects of an entity, in the order of their keys.
    ///
    /// - Parameters:
    ///   - predicate: the predicate that selects the objects; nil for all objects.
    ///   - limit: the maximum number of objects in a page.
    ///   - isLongEnough: called after each range of keys; if it returns true, the page ends early, and `next`, or
    ///     `previous` of a page that is read backwards, continues it.
    /// - Throws: `invalidPredicate`, `fetchUnsupported`; `modelNotFound` for a predicate on a store without a model.
    package func page(
        of entity: EntityContents, at place: PagePlace<Int64> = .first, matching predicate: MoultModel.Predicate? = nil,
        limit: Int = 50, isLongEnough: () -> Bool = { false }
    ) throws -> Page {
        var bound = place.element
        var keys: [Int64] = []
        var (count, isAtEnd) = (Int64(10_000), false)
        // Search range by range, because millions of keys may have no match. Each range begins at an existing key.
        while keys.count <= limit {
            guard let start = try outerKey(of: entity, isHighest: place.isBackward, beyond: bound) else {
                isAtEnd = true
                break
            }
            let range: ClosedRange<Int64>
            if place.isBackward {
                let (end, isBeyond) = start.subtractingReportingOverflow(count)
                range = (isBeyond ? Int64.min : end)...start
            } else {
                let (end, isBeyond) = start.addingReportingOverflow(count)
                range = start...(isBeyond ? Int64.max : end)
            }
            bound = place.isBackward ? range.lowerBound : range.upperBound
            keys += try self.keys(of: entity, range, predicate, place.isBackward, limit: limit + 1 - keys.count)
            count = min(count * 2, 1_000_000)
            if isLongEnough() { break }
        }
        let shown = Array(keys.prefix(limit))
        return try page(of: entity, shown, at: place, more: keys.count > limit ? shown.last : isAtEnd ? nil : bound)
    }

    /// Returns the page with some objects.
    ///
    /// - Parameters:
    ///   - keys: the keys in the direction in which they were read.
    ///   - more: the key beyond which reading continues in this direction; nil at the end of the list.
    func page(of entity: EntityContents, _ keys: [Int64], at place: PagePlace<Int64>, more: Int64?) throws -> Page {
        let keys = place.isBackward ? keys.reversed() : keys
        let places = Dictionary(zip(keys, keys.indices), uniquingKeysWith: { first, _ in first })
        let objects = try objects(of: entity, keys).sorted { places[$0.key] ?? 0 < places[$1.key] ?? 0 }
        let (previous, next) = place.neighbours(keys, more: more)
        return Page(objects: objects, previous: previous, next: next)
    }

    /// Returns an object and its own entity; nil if the entity's table has no such key.
    package func object(_ key: Int64, of entity: EntityContents) throws -> (entity: EntityContents, object: Object)? {
        let sql = "SELECT Z_ENT FROM \(entity.table.quotedName) WHERE Z_PK = ?"
        guard let number = try probe.connection.integer(sql, [.integer(key)]) else { return nil }
        let own = contents.entities.first { $0.table == entity.table && $0.numbers == [Int(clamping: number)] }
        guard let own, let object = try objects(of: own, [key]).first else { return nil }
        return (own, object)
    }

    func rows<Element>(
        _ sql: String, _ values: [SQLiteValue] = [], _ element: (Statement) throws -> Element
    ) throws -> [Element] {
        try probe.connection.rows(sql, values, element)
    }

    func objects(of entity: EntityContents, _ keys: [Int64]) throws -> [Object] {
        guard !keys.isEmpty else { return [] }
        let part = ExportPart(
            entity, columns: entity.columns, keys: keys.map(String.init).joined(separator: ", "), name: entity.name,
            contents.externalFolder, isWhole: false)
        let place = entity.columns.firstIndex { $0.name == "Z_PK" }
        var objects: [Object] = []
        try probe.connection.forEachRow(part.sql) { row in
            let values = part.row(of: row)
            let key = place.flatMap { values[$0].integer } ?? keys[min(objects.count, keys.count - 1)]
            objects.append(Object(key: key, columns: entity.columns, values: values))
        }
        return objects
    }

    private func keys(
        of entity: EntityContents, _ range: ClosedRange<Int64>, _ predicate: MoultModel.Predicate?, _ isBackward: Bool,
        limit: Int
    ) throws -> [Int64] {
        guard let predicate else {
            let condition = entity.restriction.map { $0 + " AND " } ?? ""
            return try rows(
                "SELECT Z_PK FROM \(entity.table.quotedName) WHERE \(condition)Z_PK BETWEEN ? AND ? "
                    + "ORDER BY Z_PK\(isBackward ? " DESC" : "") LIMIT ?",
                [.integer(range.lowerBound), .integer(range.upperBound), .integer(Int64(limit))]
            ) { $0.integer(0) }
        }
        let sort = isBackward ? [ObjectFetch.SortTerm("SELF", isAscending: false)] : []
        let lowering = try lowering(of: entity, predicate, sort: sort, limit: limit)
        let key: SQLText = "\(name: FetchLowering.alias).Z_PK"
        let sql = try lowering.select(key, keys: range)
        return try rows(sql.text, sql.values) { $0.integer(0) }
    }

    /// Returns the lowering of a fetch of an entity's objects.
    ///
    /// - Throws: `invalidPredicate`, `fetchUnsupported`; `modelNotFound` for a store without a model.
    func lowering(
        of entity: EntityContents, _ predicate: MoultModel.Predicate, sort: [ObjectFetch.SortTerm] = [], limit: Int = 0
    ) throws -> FetchLowering {
        guard let layout = contents.layout else {
            throw MigrationError(
                .modelNotFound, "The store contains no readable model, which a predicate needs.", place: probe.path,
                remedy: "Name the model that made it: \(option: .model("PATH")).")
        }
        var fetch = ObjectFetch(entityName: entity.name, predicate: predicate, sort: sort)
        fetch.limit = limit
        return try FetchLowering(fetch, layout: layout, store: uuid, now: Date().timeIntervalSinceReferenceDate)
    }

    // MARK: - Counts

    /// Returns the highest key in the entity's table; nil if the table is empty. Deleted objects may leave gaps below
    /// it.
    package func highestKey(of entity: EntityContents) throws -> Int64? { try outerKey(of: entity, isHighest: true) }

    /// Returns the lowest key in the entity's table above another, or the highest one below it; nil if there is none.
    private func outerKey(of entity: EntityContents, isHighest: Bool, beyond key: Int64? = nil) throws -> Int64? {
        let (function, sign) = isHighest ? ("max", "<") : ("min", ">")
        let condition = key.map { " WHERE Z_PK \(sign) \($0)" } ?? ""
        return try probe.connection.integer("SELECT \(function)(Z_PK) FROM \(entity.table.quotedName)\(condition)")
    }

    /// Returns the number of objects of each entity, without those of its sub-entities. Entities in a table whose
    /// highest key is above `limit` are left out, because counting them takes too long.
    package func counts(upTo limit: Int64 = 200_000) throws -> [String: Int64] {
        var counts: [String: Int64] = [:]
        for (table, entities) in Dictionary(grouping: contents.entities, by: \.table) {
            guard let some = entities.first, try highestKey(of: some) ?? 0 <= limit else { continue }
            for entity in entities { counts[entity.name] = 0 }
            try probe.connection.forEachRow("SELECT Z_ENT, count(*) FROM \(table.quotedName) GROUP BY Z_ENT") { row in
                let own = entities.first { $0.numbers == [Int(clamping: row.integer(0))] }
                if let own { counts[own.name] = row.integer(1) }
            }
        }
        return counts
    }
}

extension EntityContents {
    var list: String { "(\(numbers.map(String.init).joined(separator: ", ")))" }

    /// The condition for the entity's rows in a table that it shares; nil if it has the table to itself.
    var restriction: String? { sharesTable ? "+Z_ENT IN \(list)" : nil }
}
