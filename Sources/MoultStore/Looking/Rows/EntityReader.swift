import MoultModel
import MoultSQLite

/// Reads the objects of one entity: one query for its rows, one for each of its to-many relationships.
final class EntityReader {
    let shape: ObjectShape
    private let statement: Statement
    private let fields: [Field]
    private let number: Int

    /// How the value of one property is found.
    private enum Field {
        case attribute(AttributeDecoder, column: Int)
        case toOne(EntityChoice, column: Int)
        case toMany(ToManyCursor)
        /// The store has no column for it.
        case missing(String)
    }

    init(_ entity: EntityDescription, number: Int, table: EntityTable, reader: StoreReader) throws {
        self.number = number
        var query = RowQuery(table: table, schema: reader.schema)
        var named: [(name: String, field: Field)] = []
        for attribute in reader.layout.model.storedAttributes(of: entity) {
            named.append((attribute.name, Self.field(attribute, entity, reader, &query)))
        }
        for relationship in reader.layout.model.relationships(of: entity) where !relationship.isTransient {
            named.append((relationship.name, try Self.field(relationship, entity, reader, &query)))
        }
        named.sort { $0.name.precedesInByteOrder($1.name) }
        shape = ObjectShape(entityName: entity.name, properties: named.map(\.name))
        fields = named.map(\.field)
        statement = try reader.connection.prepare(query.sql)
    }

    func forEachObject(_ body: (ObjectRow) throws -> Void) throws {
        try statement.bind(Int64(number), at: 1)
        defer { statement.reset() }
        while try statement.step() {
            let key = statement.integer(0)
            let values = try fields.map { try value($0, key: key) }
            try body(ObjectRow(shape: shape, primaryKey: key, saves: statement.integer(1), values: values))
        }
    }

    private func value(_ field: Field, key: Int64) throws -> PropertyValue {
        switch field {
        case .attribute(let decoder, let column): return decoder.value(statement, column)
        case .toOne(let choice, let column):
            if statement.isNull(column) { return .toOne(nil) }
            if let reference = choice.reference(statement, key: column, entity: column + 1) {
                return .toOne(reference)
            }
            return .undecodable(
                UndecodableValue(reason: "a destination that is not an object of the store", statement, column))
        case .toMany(let cursor): return try cursor.destinations(of: key)
        case .missing(let what): return .undecodable(UndecodableValue(reason: what, bytes: []))
        }
    }
}

// MARK: - The fields

extension EntityReader {
    private static func field(
        _ attribute: StoredAttribute, _ entity: EntityDescription, _ reader: StoreReader, _ query: inout RowQuery
    ) -> Field {
        guard let column = reader.layout.column(forAttribute: attribute.name, in: entity) else {
            return .missing("the store has no column for it")
        }
        let decoder = AttributeDecoder(
            type: attribute.description.type, isExternal: attribute.description.allowsExternalBinaryDataStorage,
            externalData: reader.externalData)
        return .attribute(decoder, column: query.add(["t.\(column.quotedName)"]))
    }

    private static func field(
        _ relationship: RelationshipDescription, _ entity: EntityDescription, _ reader: StoreReader,
        _ query: inout RowQuery
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
        let columns = choice.columns(key: name, entity: entityColumn, of: "t", schema: reader.schema.quotedName)
        return .toOne(choice, column: query.add(columns))
    }

    /// The query for the rows of an entity, put together column by column: key, saves, then what is added.
    private struct RowQuery {
        private let table: String
        private var columns: [String]

        init(table: EntityTable, schema: String) {
            self.table = "\(schema.quotedName).\(table.name.quotedName)"
            columns = ["t.Z_PK", table.column(.optimisticLock).map { "t.\($0.quotedName)" } ?? "0"]
        }

        /// The place of the first of the columns in the row.
        mutating func add(_ more: [String]) -> Int {
            columns += more
            return columns.count - more.count
        }

        var sql: String {
            "SELECT \(columns.joined(separator: ", ")) FROM \(table) AS t WHERE t.Z_ENT = ?1 ORDER BY t.Z_PK"
        }
    }
}
