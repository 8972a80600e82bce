import MoultModel
import MoultSQLite
import MoultStore

/// Reads rows of values by the columns of a ``RowsLowering``.
final class RowReader {
    private let columns: [RowsLowering.Column]
    private let decoders: [AttributeDecoder?]
    private unowned let store: ObjectStore

    init(_ columns: [RowsLowering.Column], in store: ObjectStore) {
        self.columns = columns
        self.store = store
        decoders = columns.map { column in
            guard case .attribute(let attribute) = column.source else { return nil }
            return AttributeDecoder(
                type: attribute.type, isExternal: attribute.allowsExternalBinaryDataStorage,
                externalData: store.externalData)
        }
    }

    /// - Throws: `storeCorrupted` for a value that cannot be what the model declares.
    func values(_ row: Statement) throws -> [String: ExpressionValue] {
        var values: [String: ExpressionValue] = [:]
        values.reserveCapacity(columns.count)
        for (column, decoder) in zip(columns, decoders) { values[column.name] = try value(row, column, decoder) }
        return values
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
