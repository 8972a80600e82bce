import MoultBasics
import MoultModel
import MoultObjects
import MoultSQLite
import MoultStore

/// The order of a list of objects: by the values of one column, then by key.
package struct ObjectOrder: Sendable, Hashable {
    /// The name of the column.
    package var column: String
    package var isDescending: Bool

    package init(_ column: String, isDescending: Bool = false) {
        (self.column, self.isDescending) = (column, isDescending)
    }

    /// The order by key, which needs no sorting.
    package var isByKey: Bool { column == "Z_PK" }

    fileprivate var reversed: ObjectOrder { ObjectOrder(column, isDescending: !isDescending) }
}

extension ObjectReader {
    /// Returns a page of the objects of an entity in an order. Nil values come first, and a descending order is the
    /// ascending one reversed.
    ///
    /// The page begins or ends at an object, not at an offset: with an index of the column, the last page takes as long
    /// as the first.
    ///
    /// - Parameter seconds: the time after which sorting is given up.
    /// - Throws: `usage` for a column that has no order, for an object that was deleted, and if sorting takes longer; the
    ///   errors of ``page(of:at:matching:limit:isLongEnough:)``.
    package func page(
        of entity: EntityContents, in order: ObjectOrder, at place: PagePlace<Int64> = .first,
        matching predicate: MoultModel.Predicate? = nil, limit: Int = 50, seconds: Double = 10
    ) throws -> Page {
        let (value, condition) = (try expression(of: order, in: entity), try self.condition(of: entity, predicate))
        let direction = place.isBackward ? order.reversed : order
        let keys: [Int64]? = try limited(to: seconds) {
            let start = try place.element.map { try position($0, value, entity) }
            var keys: [Int64] = []
            for part in Self.parts(of: value, direction, after: start) where keys.count <= limit {
                let sql =
                    "SELECT Z_PK FROM \(entity.table.quotedName) WHERE \(condition) AND \(part.condition) "
                    + "ORDER BY \(part.order) LIMIT \(limit + 1 - keys.count)"
                keys += try rows(sql, part.values) { $0.integer(0) }
            }
            return keys
        }
        guard let keys else {
            throw MigrationError(
                .usage, "Sorting by \(order.column) takes longer than \(Quantity.duration(seconds)) in this store.",
                place: entity.name, remedy: "Reduce the list by a filter first, or sort it by key.")
        }
        let shown = Array(keys.prefix(limit))
        return try page(of: entity, shown, at: place, more: keys.count > limit ? shown.last : nil)
    }

    /// Returns the number of objects that match; nil if counting takes longer.
    ///
    /// - Throws: the errors of ``page(of:at:matching:limit:isLongEnough:)``.
    package func count(
        of entity: EntityContents, matching predicate: MoultModel.Predicate? = nil, seconds: Double = 0.5
    ) throws -> Int64? {
        let sql: SQLText
        if let predicate {
            sql = try lowering(of: entity, predicate).selectCount()
        } else {
            sql = SQLText(
                selectList: "SELECT count(*) FROM \(entity.table.quotedName) WHERE \(try condition(of: entity, nil))")
        }
        return try limited(to: seconds) { try probe.connection.integer(sql.text, sql.values) } ?? nil
    }

    /// Returns the part of an export that has the matching objects in an order.
    package func part(
        of entity: EntityContents, columns: [EntityContents.Column], matching predicate: MoultModel.Predicate?,
        in order: ObjectOrder?
    ) throws -> ExportPart {
        let direction = order?.isDescending == true ? " DESC" : ""
        let values = try order.map { try "\(expression(of: $0, in: entity))\(direction), Z_PK\(direction)" }
        return ExportPart(
            entity, columns: columns, keys: try predicate.map { try keys(of: entity, $0) }, name: entity.name,
            contents.externalFolder, order: values ?? "Z_PK", isWhole: false)
    }

    /// Calls `body` for each row of a part until it returns false.
    package func forEachRow(of part: ExportPart, _ body: (Statement) throws -> Bool) throws {
        let statement = try probe.connection.prepare(part.sql)
        defer { statement.finalise() }
        while try statement.step() {
            guard try body(statement) else { return }
        }
    }

    /// Whether the values of a column have an order for people.
    package func isSortable(_ column: EntityContents.Column) -> Bool {
        switch column.source {
        case .attribute(_, let type, _): ![.binary, .transformable, .composite].contains(type)
        case .key, .entity, .toOne, .raw: true
        case .toOneEntity: false
        }
    }

    // MARK: - SQL

    /// Returns a query for the keys of the matching objects.
    private func keys(of entity: EntityContents, _ predicate: MoultModel.Predicate) throws -> String {
        try lowering(of: entity, predicate).select("\(name: FetchLowering.alias).Z_PK").inlined
    }

    private func condition(of entity: EntityContents, _ predicate: MoultModel.Predicate?) throws -> String {
        let conditions =
            try [entity.restriction].compactMap(\.self)
            + (predicate.map { ["Z_PK IN (\(try keys(of: entity, $0)))"] } ?? [])
        return conditions.isEmpty ? "1" : conditions.joined(separator: " AND ")
    }

    /// Returns the value that orders the rows of an entity's table.
    private func expression(of order: ObjectOrder, in entity: EntityContents) throws -> String {
        guard let column = entity.column(order.column), isSortable(column) else {
            throw MigrationError(
                .usage, "A list of \(entity.name) cannot be sorted by \(order.column).", place: entity.name,
                remedy: "Choose another column.")
        }
        let table = entity.table.quotedName
        switch column.source {
        case .key: return "\(table).Z_PK"
        case .attribute(let name, _, _), .raw(let name), .toOneEntity(let name, _):
            return "\(table).\(name.quotedName)"
        case .entity(let names):
            let choices = names.sorted { $0.key < $1.key }.map { "WHEN \($0) THEN \($1.quotedLiteral)" }
            return choices.isEmpty ? "NULL" : "CASE \(table).Z_ENT \(choices.joined(separator: " ")) END"
        case .toOne(let name, _):
            // As the list shows it: by the name of the destination.
            let key = "\(table).\(name.quotedName)"
            guard let destination = destination(of: column, in: entity.name), let whole = contents.whole(destination),
                case .attribute(let label, _, _)? = labelColumn(of: destination)?.source
            else { return key }
            return
                "(SELECT destination.\(label.quotedName) FROM \(whole.table.quotedName) AS destination "
                + "WHERE destination.Z_PK = \(key))"
        }
    }

    private func position(
        _ key: Int64, _ value: String, _ entity: EntityContents
    ) throws -> (value: SQLiteValue, key: Int64) {
        let sql = "SELECT \(value) FROM \(entity.table.quotedName) WHERE Z_PK = ?"
        guard let found = try rows(sql, [.integer(key)], { $0.value(0) }).first else {
            throw MigrationError(
                .usage, "The object next to this page was deleted.", place: "\(entity.name) \(key)",
                remedy: "Go back to the first page.")
        }
        return (found, key)
    }

    /// A part of the order: the objects without a value, or those with one.
    private struct OrderPart {
        var condition: String
        var values: [SQLiteValue] = []
        let order: String
    }

    /// Returns the parts that follow a position, in order, each with a condition that an index can serve.
    private static func parts(
        of value: String, _ order: ObjectOrder, after start: (value: SQLiteValue, key: Int64)?
    ) -> [OrderPart] {
        let (direction, beyond) = order.isDescending ? (" DESC", "<") : ("", ">")
        var nils = OrderPart(condition: "\(value) IS NULL", order: "Z_PK\(direction)")
        var others = OrderPart(
            condition: "\(value) IS NOT NULL", order: "\(value)\(direction), Z_PK\(direction)")
        guard let start else { return order.isDescending ? [others, nils] : [nils, others] }
        guard start.value != .null else {
            nils.condition += " AND Z_PK \(beyond) ?"
            nils.values = [.integer(start.key)]
            return order.isDescending ? [nils] : [nils, others]
        }
        others.condition += " AND \(value) \(beyond)= ? AND (\(value) \(beyond) ? OR Z_PK \(beyond) ?)"
        others.values = [start.value, start.value, .integer(start.key)]
        return order.isDescending ? [others, nils] : [others]
    }

    // MARK: - Time

    /// Returns the result of statements; nil if they take longer.
    func limited<Result>(to seconds: Double, _ body: () throws -> Result) throws -> Result? {
        let system = POSIXSystem()
        let (start, limit) = (system.monotonicNanoseconds, UInt64(seconds * 1e9))
        var isOver = false
        do {
            return try probe.connection.watched(
                by: {
                    isOver = system.monotonicNanoseconds - start > limit
                    return !isOver
                }, during: body)
        } catch  where isOver {
            return nil
        }
    }
}
