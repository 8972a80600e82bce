import MoultModel
import MoultSQLite

/// Reads the objects of one entity: one query for its rows, one for each of its to-many relationships.
final class EntityReader {
    let shape: ObjectShape
    private let statement: Statement
    private let fields: [Field]
    private let number: Int
    /// Whether the table has the column with the number of saves.
    private let hasSaves: Bool

    /// The source of the value of one property.
    private enum Field {
        case column(RowField)
        case toMany(ToManyCursor)
        /// The store has no column for it.
        case missing(String)
    }

    init(_ entity: EntityDescription, number: Int, table: EntityTable, reader: StoreReader) throws {
        self.number = number
        var columns = RowColumns(
            ["Z_PK"] + [table.column(.optimisticLock)].compactMap { $0 }, schema: reader.schema,
            externalData: reader.externalData)
        hasSaves = columns.names.count == 2
        var named: [(name: String, field: Field)] = []
        for attribute in reader.layout.model.storedAttributes(of: entity) {
            named.append((attribute.name, Self.field(attribute, entity, reader, &columns)))
        }
        for relationship in reader.layout.model.relationships(of: entity) where !relationship.isTransient {
            named.append((relationship.name, try Self.field(relationship, entity, reader, &columns)))
        }
        named.sort { $0.name.precedesInByteOrder($1.name) }
        shape = ObjectShape(entityName: entity.name, properties: named.map(\.name))
        fields = named.map(\.field)
        statement = try reader.connection.prepare(
            """
            SELECT \(columns.names.joined(separator: ", ")) FROM \(reader.schema.quotedName).\(table.name.quotedName) AS t \
            WHERE t.Z_ENT = ?1 ORDER BY t.Z_PK
            """)
    }

    func forEachObject(_ body: (ObjectRow) throws -> Void) throws {
        try statement.bind(Int64(number), at: 1)
        defer { statement.reset() }
        while try statement.step() {
            let key = statement.integer(0)
            let values = try fields.map { try value($0, key: key) }
            try body(
                ObjectRow(shape: shape, primaryKey: key, saves: hasSaves ? statement.integer(1) : 0, values: values))
        }
    }

    private func value(_ field: Field, key: Int64) throws -> PropertyValue {
        switch field {
        case .column(let field): return field.value(statement)
        case .toMany(let cursor): return try cursor.destinations(of: key)
        case .missing(let what): return .undecodable(UndecodableValue(reason: what, bytes: []))
        }
    }
}

// MARK: - The fields

extension EntityReader {
    private static func field(
        _ attribute: StoredAttribute, _ entity: EntityDescription, _ reader: StoreReader, _ columns: inout RowColumns
    ) -> Field {
        guard let column = reader.layout.column(forAttribute: attribute.name, in: entity) else {
            return .missing("the store has no column for it")
        }
        return .column(columns.attribute(attribute.description, column))
    }

    private static func field(
        _ relationship: RelationshipDescription, _ entity: EntityDescription, _ reader: StoreReader,
        _ columns: inout RowColumns
    ) throws -> Field {
        guard let storage = reader.layout.storage(ofRelationship: relationship.name, in: entity) else {
            return .missing("the store has no column or table for it")
        }
        guard let choice = EntityChoice(relationship, in: reader.layout) else {
            return .missing("the store does not contain its destination \(relationship.destinationEntityName)")
        }
        guard case .foreignKey(_, let name, let entityColumn) = storage else {
            return .toMany(
                try ToManyCursor(storage, destination: choice, over: reader.connection, schema: reader.schema))
        }
        return .column(columns.toOne(choice, name, entityColumn: entityColumn))
    }
}
