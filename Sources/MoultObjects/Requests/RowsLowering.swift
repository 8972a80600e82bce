import MoultBasics
import MoultModel
import MoultSQLite
import MoultStore

/// A fetch of rows of values instead of objects (`NSDictionaryResultType`) as SQL: properties, key paths, computed
/// values, and aggregates over all rows or over the groups of ``ObjectFetch/groupBy``.
///
/// An aggregate function whose argument is a single value of each row (`sum:(price)`) is computed over rows; one whose
/// argument is a to-many relationship is computed over the destinations, for each row.
struct RowsLowering {
    let statement: SQLText
    /// The columns of the statement, and the way to read each.
    let columns: [Column]

    struct Column {
        let name: String
        let place: Int
        let source: Source

        enum Source {
            case value(ValueKind)
            /// An attribute, in its column's storage format.
            case attribute(AttributeDescription)
            /// A key, followed by its entity number.
            case object
        }
    }

    init(_ lowering: FetchLowering) throws {
        let computed = try ComputedColumns(lowering)
        columns = computed.columns
        statement = try Self.statement(lowering, computed.format, computed.selected)
    }

    private static func statement(_ lowering: FetchLowering, _ format: FormatLowering, _ selected: [SQLText]) throws
        -> SQLText
    {
        let fetch = lowering.fetch
        let groups = try fetch.groupBy.map { try single($0, format) }
        // A variable without a value stands for the column of its name.
        let having = try fetch.having.map { having in
            try format.lower(
                having.replacing { part in
                    guard case .variable(let name) = part, fetch.variables[name] == nil, format.columns[name] != nil
                    else { return nil }
                    return .keyPath(name)
                })
        }?.sql
        var order = try fetch.sort.map { try lowering.order($0, by: format) }
        let isGrouped = !groups.isEmpty || having != nil || fetch.columns.contains { $0.expression.isOverRows(format) }
        if !isGrouped, !fetch.returnsDistinct {
            order.append("\(name: FetchLowering.alias).Z_PK")
        } else {
            order += fetch.returnsDistinct ? selected : groups
        }
        let distinct: SQLText = fetch.returnsDistinct ? "DISTINCT " : ""
        let list = selected.joined(separator: ", ")
        var sql = lowering.scope.select("\(distinct)\(list)", where: lowering.conditions)
        if !groups.isEmpty { sql += " GROUP BY \(groups.joined(separator: ", "))" }
        // Without groups, all rows form one group.
        if let having { sql += groups.isEmpty ? " GROUP BY NULL HAVING \(having)" : " HAVING \(having)" }
        if !order.isEmpty { sql += " ORDER BY \(order.joined(separator: ", "))" }
        return "\(sql)\(lowering.window)"
    }

    private static func single(_ path: String, _ format: FormatLowering) throws -> SQLText {
        let expression = try Expression(parsing: path)
        if case .object(let row) = try format.lower(expression) { return row.key }
        return try format.single(try format.lower(expression), in: expression).sql
    }
}

/// The lowered columns of a fetch: the SQL to select for each, and the way to read it.
struct ComputedColumns {
    private(set) var selected: [SQLText] = []
    private(set) var columns: [RowsLowering.Column] = []
    /// The lowering, which knows the columns by name.
    private(set) var format: FormatLowering

    /// - Parameter first: the number of columns before these in the list.
    init(_ lowering: FetchLowering, after first: Int = 0) throws {
        format = lowering.format
        format.groupsRows = first == 0
        for column in lowering.fetch.columns {
            let lowered = try format.lower(column.expression)
            let source: RowsLowering.Column.Source
            let place = first + selected.count
            switch lowered {
            case .object(let row):
                guard let alias = row.alias(in: format.layout) else {
                    throw format.refuse(column.name, "it has no table")
                }
                selected += [row.key, "\(name: alias).Z_ENT"]
                source = .object
            case .value(let value):
                selected.append(value.sql)
                source = value.attribute.map(RowsLowering.Column.Source.attribute) ?? .value(value.kind)
            default:
                let value = try format.single(lowered, in: column.expression)
                selected.append(value.sql)
                source = .value(value.kind)
            }
            columns.append(RowsLowering.Column(name: column.name, place: place, source: source))
            // Later columns may refer to this one by its name, as conditions and sort terms do.
            format.columns[column.name] = lowered
        }
    }
}

extension Expression {
    /// Whether the value is an aggregate over rows.
    fileprivate func isOverRows(_ format: FormatLowering) -> Bool {
        switch self {
        case .function(let selector, let arguments):
            if case .aggregate? = ExpressionFunction(selector), arguments.count == 1,
                let argument = try? format.lower(arguments[0].distinctPart ?? arguments[0])
            {
                if case .collection = argument { return false }
                return true
            }
            return arguments.contains { $0.isOverRows(format) }
        case .conditional(_, let first, let second): return first.isOverRows(format) || second.isOverRows(format)
        case .constant, .evaluatedObject, .variable, .keyPath, .message, .aggregate, .subquery: return false
        }
    }
}

/// A row of a fetch of values.
package struct FetchedRow: Sendable {
    /// The place of each column's value. All rows of a fetch share them.
    package let places: [String: Int]
    /// A value for each column; ``ExpressionValue/null`` where it has none.
    package let values: [ExpressionValue]

    /// The value of a column; nil if the row has no such column.
    package subscript(name: String) -> ExpressionValue? { places[name].map { values[$0] } }

    /// Returns what becomes of the values, by the names of their columns; nil has none.
    package func compactMapValues(_ transform: (ExpressionValue) throws -> Any?) rethrows -> [String: Any] {
        try places.compactMapValues { try transform(values[$0]) }
    }
}

/// A reader of rows of values, by the columns of a ``RowsLowering``.
final class RowReader {
    private let columns: [RowsLowering.Column]
    private let places: [String: Int]
    private let decoders: [AttributeDecoder?]
    private unowned let store: ObjectStore

    init(_ columns: [RowsLowering.Column], in store: ObjectStore) {
        self.columns = columns
        // Of two columns with one name, the later counts.
        places = Dictionary(columns.enumerated().map { ($1.name, $0) }) { _, last in last }
        self.store = store
        decoders = columns.map { column in
            guard case .attribute(let attribute) = column.source else { return nil }
            return AttributeDecoder(
                type: attribute.type, isExternal: attribute.allowsExternalBinaryDataStorage,
                externalData: store.externalData)
        }
    }

    /// - Throws: `storeCorrupted` for a stored value that does not fit the declared type.
    func values(_ row: Statement) throws -> FetchedRow {
        FetchedRow(places: places, values: try columns.indices.map { try value(at: $0, row) })
    }

    func value(at index: Int, _ row: Statement) throws -> ExpressionValue {
        try value(row, columns[index], decoders[index])
    }

    private func value(_ row: Statement, _ column: RowsLowering.Column, _ decoder: AttributeDecoder?) throws
        -> ExpressionValue
    {
        switch column.source {
        case .value(let kind): return kind.value(row.value(column.place))
        case .attribute:
            switch decoder?.value(row, column.place) {
            case .attribute(let value): return ExpressionValue(value)
            case .undecodable(let value):
                throw MigrationError(
                    .storeCorrupted, "A value cannot be read: \(value.reason).", place: column.name,
                    remedy: MigrationError.damagedStoreRemedy)
            case .toOne, .toMany, nil: return .null
            }
        case .object:
            guard !row.isNull(column.place), let name = store.entityName(row.integer(column.place + 1)) else {
                return .null
            }
            return .object(store.id(name, key: row.integer(column.place)))
        }
    }
}
