import MoultModel
import MoultSQLite
import MoultStore

/// A reader of the objects of one entity, without those of its sub-entities, in batches by key. However many there are,
/// only one row is in memory, and a value is decoded when it is requested.
package final class InstanceReader {
    package let entity: EntityColumns
    /// The key of the current row; nil before the first and after the last row of a batch.
    @exclusivity(unchecked) private var key: Int64?
    private let store: ObjectStore
    /// The current row.
    package let row: Statement
    private let keys: Statement
    private let fields: [RowField?]
    private let computed: RowReader
    private let values: [SQLiteValue]

    /// - Parameters:
    ///   - predicate: the condition for the objects to read.
    ///   - expressions: further values to compute for each object, from its properties.
    /// - Throws: `usage`, `invalidPredicate` and `fetchUnsupported`, as a fetch does.
    package init(
        _ entityName: String, predicate: Predicate? = nil, expressions: [Expression] = [], in store: ObjectStore
    ) throws {
        entity = try store.columns(of: entityName)
        self.store = store
        var fetch = ObjectFetch(entityName: entityName, predicate: predicate)
        fetch.includesSubentities = false
        fetch.columns = expressions.enumerated().map { ObjectFetch.Column("e\($0)", $1) }
        let lowering = try store.lowered(fetch)
        let alias = FetchLowering.alias
        var columns = RowColumns(["Z_PK"], of: alias, externalData: store.externalData)
        fields = entity.places.map { place in
            switch place {
            case .none, .toMany: nil
            case .attribute(let column, let attribute): columns.attribute(attribute, column)
            case .toOne(let column, let entityColumn, let relationship):
                columns.toOne(
                    relationship.destination, column, entityColumn: entityColumn,
                    order: relationship.inverseOrderColumn)
            }
        }
        let own = SQLText(selectList: columns.names.joined(separator: ", "))
        let more = try ComputedColumns(lowering, after: columns.names.count)
        computed = RowReader(more.columns, in: store)
        let list = ([own] + more.selected).joined(separator: ", ")
        let condition = SQLText.all([lowering.conditions, "\(name: alias).Z_PK > ?"].compactMap { $0 })
        let window: SQLText = " ORDER BY \(name: alias).Z_PK LIMIT ?"
        let select: SQLText = "\(lowering.scope.select(list, where: condition))\(window)"
        let selectKeys: SQLText = "\(lowering.scope.select("\(name: alias).Z_PK", where: condition))\(window)"
        values = selectKeys.values
        // The conditions and expressions may have parameters of their own; those of a batch come last.
        row = try store.connection.prepare(select.text)
        keys = try store.connection.prepare(selectKeys.text)
        try row.bind(select.values)
        try keys.bind(values)
    }

    /// Begins a batch of at most `count` objects, with the next greater keys.
    package func begin(after key: Int64, count: Int) throws {
        row.reset()
        self.key = nil
        try bind(key, count, to: row)
    }

    /// Moves to the next object of the batch and returns its key; nil at the end.
    package func next() throws -> Int64? {
        key = try row.step() ? row.integer(0) : nil
        return key
    }

    /// Whether the current row is that of the object with this key.
    package func isAt(_ key: Int64) -> Bool { self.key == key }

    /// Returns the keys of a batch.
    package func keys(after key: Int64, count: Int) throws -> [Int64] {
        try bind(key, count, to: keys)
        var found: [Int64] = []
        found.reserveCapacity(count)
        while try keys.step() { found.append(keys.integer(0)) }
        return found
    }

    private func bind(_ key: Int64, _ count: Int, to statement: Statement) throws {
        let last = statement.parameterCount
        try statement.bind(key, at: last - 1)
        try statement.bind(Int64(count), at: last)
    }

    // MARK: - The current row

    /// Returns a property's value in the current row; nil for a property that the row does not hold.
    package func value(_ position: Int) -> PropertyValue? { fields[position]?.value(row) }

    /// Returns the index of an attribute's column in the row.
    package func column(of position: Int) -> Int? {
        if case .attribute(_, let column)? = fields[position] { column } else { nil }
    }

    /// Returns the position of the attribute with this column index in the row.
    package func position(ofColumn column: Int) -> Int? {
        fields.firstIndex { if case .attribute(_, column)? = $0 { true } else { false } }
    }

    /// Returns the indexes of a to-one relationship's columns in the row: its key, and its place in the ordered list at
    /// the other end.
    package func toOneColumns(of position: Int) -> (key: Int, order: Int?)? {
        if case .toOne(_, let column, let order)? = fields[position] { (column, order) } else { nil }
    }

    /// Returns the value of one of the expressions.
    ///
    /// - Throws: `storeCorrupted` for a stored value that does not fit the declared type.
    package func value(ofExpression index: Int) throws -> ExpressionValue { try computed.value(at: index, row) }
}
