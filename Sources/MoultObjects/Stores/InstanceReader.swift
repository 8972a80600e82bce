import MoultModel
import MoultSQLite
import MoultStore

/// Reads the objects of one entity, without those of its sub-entities, in batches by their keys: however many there
/// are, one row is in memory, and a value is decoded when it is requested.
package final class InstanceReader {
    package let entity: EntityColumns
    /// The key of the present row; nil before the first and after the last of a batch.
    @exclusivity(unchecked) private var key: Int64?
    private let store: ObjectStore
    /// The present row.
    package let row: Statement
    private let keys: Statement
    private let fields: [RowField?]
    private let computed: RowReader
    private let values: [SQLiteValue]

    /// - Parameters:
    ///   - predicate: which of the objects are read.
    ///   - expressions: further values to read with each object, over its properties.
    /// - Throws: `usage`, `invalidPredicate`, `fetchUnsupported` as a fetch does.
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
        // The conditions and what is computed may have values of their own; those of a batch come last.
        row = try store.connection.prepare(select.text)
        keys = try store.connection.prepare(selectKeys.text)
        try row.bind(select.values)
        try keys.bind(values)
    }

    /// Begins a batch of at most `count` objects, those with the next greater keys.
    package func begin(after key: Int64, count: Int) throws {
        row.reset()
        self.key = nil
        try bind(key, count, to: row)
    }

    /// Goes to the next object of the batch and gives its key; nil at its end.
    package func next() throws -> Int64? {
        key = try row.step() ? row.integer(0) : nil
        return key
    }

    /// Whether the present row is the object's with that key.
    package func isAt(_ key: Int64) -> Bool { self.key == key }

    /// The keys of a batch.
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

    // MARK: - The present row

    /// Returns the value that the present row holds of a property that lies in it; nil for one that does not.
    package func value(_ position: Int) -> PropertyValue? { fields[position]?.value(row) }

    /// The place of an attribute in the row.
    package func column(of position: Int) -> Int? {
        if case .attribute(_, let column)? = fields[position] { column } else { nil }
    }

    /// The position of the attribute that lies at a place in the row.
    package func position(ofColumn column: Int) -> Int? {
        fields.firstIndex { if case .attribute(_, column)? = $0 { true } else { false } }
    }

    /// The place of a to-one's key in the row, and that of its place in the ordered list at the other end.
    package func toOneColumns(of position: Int) -> (key: Int, order: Int?)? {
        if case .toOne(_, let column, let order)? = fields[position] { (column, order) } else { nil }
    }

    /// The value of one of the expressions.
    ///
    /// - Throws: `storeCorrupted` for a value that cannot be what the model declares.
    package func value(ofExpression index: Int) throws -> ExpressionValue { try computed.value(at: index, row) }
}
