import MoultBasics
import MoultModel
import MoultSQLite

/// Reads the objects of a store one after the other, with their values under the names in the model.
///
/// Objects are not kept after they are passed on, so memory use does not grow with the store. A value that does not
/// match the model is returned as ``PropertyValue/undecodable(_:)`` and never causes an error.
package struct StoreReader {
    package let connection: Connection
    package let layout: StoreLayout
    /// The connection's schema that contains the store.
    package let schema: String
    /// Returns the contents of the external storage file with a name; nil if there is no such file.
    package let externalData: (String) throws -> [UInt8]?

    package init(
        connection: Connection, layout: StoreLayout, schema: String = "main",
        externalData: @escaping (String) throws -> [UInt8]?
    ) {
        (self.connection, self.layout, self.schema, self.externalData) = (connection, layout, schema, externalData)
    }

    /// Creates a reader that reads external data from the files next to a store.
    ///
    /// - Parameter path: the store's own path, even if the connection reads a copy.
    package init(
        connection: Connection, layout: StoreLayout, schema: String = "main", store path: String,
        system: any System = POSIXSystem()
    ) {
        let external = ExternalStorage(store: path)
        self.init(connection: connection, layout: layout, schema: schema) { name in
            try external.contents(of: name, on: system)
        }
    }

    /// Calls `body` for each object of an entity, in the order of keys.
    ///
    /// Objects of sub-entities follow entity by entity, in the byte order of the names. All objects are read in one
    /// transaction, so that no concurrent write is visible.
    package func forEachObject(
        of entity: EntityDescription, includingSubentities: Bool = false, _ body: (ObjectRow) throws -> Void
    ) throws {
        let below = includingSubentities ? layout.model.descendants(of: entity) : []
        let entities = ([entity] + below).inByteOrder { $0.name }
        try inTransaction {
            for entity in entities { try reader(for: entity)?.forEachObject(body) }
        }
    }

    /// Returns the properties that each row of an entity has values for.
    package func shape(of entity: EntityDescription) throws -> ObjectShape? { try reader(for: entity)?.shape }

    /// Returns nil for an entity that the store does not contain.
    private func reader(for entity: EntityDescription) throws -> EntityReader? {
        guard let number = layout.entityNumbers[entity.name], let table = layout.table(for: entity) else { return nil }
        return try EntityReader(entity, number: number, table: table, reader: self)
    }

    private func inTransaction(_ body: () throws -> Void) throws {
        if connection.isInTransaction { try body() } else { try connection.transaction(.deferred, body) }
    }
}

/// Reads the objects of one entity, with one query for its rows and one for each to-many relationship.
final class EntityReader {
    let shape: ObjectShape
    private let statement: Statement
    private let fields: [Field]
    private let number: Int
    /// Whether the table has the column that counts saves.
    private let hasSaves: Bool

    /// The source of a property's value.
    private enum Field {
        case column(RowField)
        case toMany(ToManyCursor)
        /// The store has no column for the property.
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

    // MARK: - Fields

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

/// The destinations of one to-many relationship for all objects of a table, in the order of the objects' keys. Its
/// query runs alongside the one for the objects.
final class ToManyCursor {
    private let statement: Statement
    private let destination: EntityChoice
    private var isAtEnd = false
    private var owner: Int64?

    init(_ storage: RelationshipStorage, destination: EntityChoice, over connection: Connection, schema: String) throws
    {
        self.destination = destination
        statement = try connection.prepare(
            storage.destinationsQuery(destination, schema: schema.quotedName) { "typeof(\($0)) = 'integer'" })
    }

    /// Returns the destinations of the object with that key. Calls must pass keys in ascending order.
    func destinations(of key: Int64) throws -> PropertyValue {
        var references: [ObjectReference] = []
        var fault: UndecodableValue?
        if owner == nil { try advance() }
        while let owner, owner <= key {
            if owner == key {
                if let reference = destination.reference(statement, key: 1, entity: 2) {
                    references.append(reference)
                } else if fault == nil {
                    fault = UndecodableValue(
                        reason: "a destination that is not an object of the store", bytes: statement.cell(1).bytes)
                }
            }
            try advance()
        }
        return fault.map(PropertyValue.undecodable) ?? .toMany(references)
    }

    private func advance() throws {
        // Stepping a statement after its end would restart it.
        guard !isAtEnd else { return }
        isAtEnd = try !statement.step()
        owner = isAtEnd ? nil : statement.integer(0)
    }
}

extension RelationshipStorage {
    /// Returns a query for the owner's key, the destination's key and, if the destination's entity is not fixed, its
    /// number. The rows are sorted by owner, then by the order of the relationship.
    ///
    /// - Parameter condition: returns a condition, given the name of the column that holds the owner's key.
    /// - Throws: `internal` for a to-one, which has no list.
    package func destinationsQuery(
        _ destination: EntityChoice, schema: String, where condition: (_ ownerKey: String) -> String
    ) throws -> String {
        switch self {
        case .inverseForeignKey(let table, let column, _, let order), .inverseless(let table, let column, let order):
            let key = column.quotedName
            let entity = destination.isFixed ? "" : ", Z_ENT"
            let place = order.map { "\($0.quotedName), " } ?? ""
            return """
                SELECT \(key), Z_PK\(entity) FROM \(schema).\(table.quotedName)
                WHERE \(condition(key)) ORDER BY \(key), \(place)Z_PK
                """
        case .joinTable(let table, let ownColumn, let otherColumn, let order, _, _):
            let (own, other) = ("j.\(ownColumn.quotedName)", "j.\(otherColumn.quotedName)")
            let place = order.map { "j.\($0.quotedName), " } ?? ""
            let entity = destination.isFixed ? "" : ", d.Z_ENT"
            let join =
                destination.isFixed
                ? "" : " LEFT JOIN \(schema).\(destination.table.quotedName) AS d ON d.Z_PK = \(other)"
            return """
                SELECT \(own), \(other)\(entity) FROM \(schema).\(table.quotedName) AS j\(join)
                WHERE \(condition(own)) ORDER BY \(own), \(place)\(other)
                """
        case .foreignKey:
            throw MigrationError(
                .internal, "A to-one relationship has no list of destinations.", remedy: "Report this as a bug.")
        }
    }
}
