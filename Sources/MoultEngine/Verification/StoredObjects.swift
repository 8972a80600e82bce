import MoultBasics
import MoultModel
import MoultSQLite
import MoultStore

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The objects of one schema of a connection, value by value, for the evaluation of expressions in memory.
final class StoredObjects: ObjectValues {
    let now = 0.0
    let layout: StoreLayout
    private let connection: Connection
    private let schema: String
    private let externalData: (String) throws -> [UInt8]?
    private var statements: [String: Statement] = [:]
    /// The table to look rows up in by table and column: the table itself, or a sorted copy.
    private var places: [[String]: String] = [:]
    private let names: [Int64: String]
    /// The store identifier used in object identifiers; its value does not matter here.
    private let store = UUID()

    init(
        _ connection: Connection, schema: String, layout: StoreLayout,
        externalData: @escaping (String) throws -> [UInt8]?
    ) {
        (self.connection, self.schema, self.layout, self.externalData) = (connection, schema, layout, externalData)
        names = Dictionary(layout.entityNumbers.map { (Int64($1), $0) }, uniquingKeysWith: { first, _ in first })
    }

    deinit {
        for statement in statements.values { statement.finalise() }
        for place in places.values where place.hasPrefix("temp.") { _ = try? connection.execute("DROP TABLE \(place)") }
    }

    func object(_ entity: String, _ key: Int64) -> ObjectID { ObjectID(store: store, entityName: entity, key: key) }

    /// Returns the object with the key in the entity's table, as its stored entity; nil if there is none.
    func find(_ key: Int64, in entity: String) throws -> ObjectID? {
        guard let table = layout.table(forEntity: entity)?.name else { return nil }
        let sql = "SELECT Z_ENT FROM \(schema).\(table.quotedName) WHERE Z_PK = ?"
        return try query(sql, key) { row in names[row.integer(0)].map { object($0, key) } }.first ?? nil
    }

    func isComposite(_ key: String, of object: ObjectID) -> Bool {
        guard let entity = layout.model.entity(object.entityName) else { return false }
        return layout.column(forAttribute: key, in: entity) == nil && layout.model.relationship(key, of: entity) == nil
    }

    func value(_ key: String, of object: ObjectID) throws -> ExpressionValue {
        guard let entity = layout.model.entity(object.entityName) else { return .null }
        let number = object.key
        if let relationship = layout.model.relationship(key, of: entity) {
            let found = try destinations(relationship, of: entity, number)
            return relationship.isToMany ? .collection(found) : found.first ?? .null
        }
        return ExpressionValue(try attribute(key, of: entity, number))
    }

    /// - Parameter path: an attribute, or an element of a composite one.
    func attribute(_ path: String, of entity: EntityDescription, _ key: Int64) throws -> AttributeValue? {
        guard let column = layout.column(forAttribute: path, in: entity), let table = layout.table(for: entity)?.name,
            let attribute = layout.model.attribute(path, of: entity)
        else { throw unreadable("\(entity.name).\(path)") }
        let decoder = AttributeDecoder(
            type: attribute.type, isExternal: attribute.allowsExternalBinaryDataStorage, externalData: externalData)
        let sql = "SELECT \(column.quotedName) FROM \(schema).\(table.quotedName) WHERE Z_PK = ?"
        let values = try query(sql, key) { row -> AttributeValue? in
            guard case .attribute(let value) = decoder.value(row, 0) else {
                throw unreadable("\(entity.name).\(path) of the object \(key)")
            }
            return value
        }
        return values.first ?? nil
    }

    private func destinations(_ relationship: RelationshipDescription, of entity: EntityDescription, _ key: Int64)
        throws -> [ExpressionValue]
    {
        let sql: String
        switch layout.storage(ofRelationship: relationship.name, in: entity) {
        case .foreignKey(let table, let column, _):
            sql = "SELECT \(column.quotedName) FROM \(schema).\(table.quotedName) WHERE Z_PK = ?"
        case .inverseForeignKey(let table, let column, _, let order), .inverseless(let table, let column, let order):
            let place = (order ?? "Z_PK").quotedName
            sql =
                "SELECT Z_PK FROM \(try rows(of: table, by: column)) WHERE \(column.quotedName) = ? ORDER BY \(place), Z_PK"
        case .joinTable(let table, let own, let other, let order, _, _):
            let place = (order ?? other).quotedName
            sql = """
                SELECT \(other.quotedName) FROM \(try rows(of: table, by: own)) WHERE \(own.quotedName) = ? \
                ORDER BY \(place), \(other.quotedName)
                """
        case nil: return []
        }
        return try query(sql, key) { $0.integer(0) }.compactMap { key in
            try find(key, in: relationship.destinationEntityName).map(ExpressionValue.object)
        }
    }

    /// Returns a table or a copy to look rows up in. A store may lack an index that Core Data makes; its rows are then
    /// sorted once.
    private func rows(of table: String, by column: String) throws -> String {
        if let place = places[[table, column]] { return place }
        let isIndexed = try connection.integer(
            """
            SELECT EXISTS (SELECT 1 FROM pragma_index_list(?1, ?2) AS l, pragma_index_info(l.name, ?2) AS i \
            WHERE i.seqno = 0 AND i.name = ?3 AND NOT l.partial)
            """, [.text(table), .text(schema), .text(column)])
        var place = "\(schema).\(table.quotedName)"
        if isIndexed != 1 {
            let copy = "moult_\(schema)_\(table)_\(column)"
            try connection.execute(
                """
                CREATE TEMP TABLE \(copy.quotedName) AS SELECT * FROM \(place);
                CREATE INDEX temp.\((copy + "_index").quotedName) ON \(copy.quotedName) (\(column.quotedName))
                """)
            place = "temp.\(copy.quotedName)"
        }
        places[[table, column]] = place
        return place
    }

    private func query<Value>(_ sql: String, _ key: Int64, _ read: (Statement) throws -> Value) throws -> [Value] {
        let statement = try statements[sql] ?? connection.prepare(sql)
        statements[sql] = statement
        try statement.bind(key, at: 1)
        defer { statement.reset() }
        var values: [Value] = []
        while try statement.step() { values.append(try read(statement)) }
        return values
    }

    private func unreadable(_ place: String) -> MigrationError {
        MigrationError(
            .storeCorrupted, "A value cannot be read: \(place).", place: place,
            remedy: MigrationError.damagedStoreRemedy)
    }
}
