import MoultModel
import MoultSQLite
import MoultSystem

/// Reads the objects of a store, one after the other, their values under the names of the model.
///
/// Nothing is kept of an object after it was handed on, so memory does not grow with the store. A value that is not
/// what the model declares is a value of its own (``PropertyValue/undecodable(_:)``), never an error.
package struct StoreReader {
    package let connection: Connection
    package let layout: StoreLayout
    /// The schema of the connection that holds the store.
    package let schema: String
    /// The contents of a file of external storage by its name; nil if there is no such file.
    package let externalData: (String) throws -> [UInt8]?

    package init(
        connection: Connection, layout: StoreLayout, schema: String = "main",
        externalData: @escaping (String) throws -> [UInt8]?
    ) {
        self.connection = connection
        self.layout = layout
        self.schema = schema
        self.externalData = externalData
    }

    /// A reader that takes external data from the files next to a store.
    ///
    /// - Parameter path: the store's own, also where the connection reads a copy.
    package init(
        connection: Connection, layout: StoreLayout, schema: String = "main", store path: String,
        system: any System = POSIXSystem()
    ) {
        let external = ExternalStorage(store: path)
        self.init(connection: connection, layout: layout, schema: schema) { name in
            try external.contents(of: name, on: system)
        }
    }

    /// Calls `body` for each object of an entity in the order of keys.
    ///
    /// With sub-entities, they come entity by entity in the byte order of their names. All is read in one transaction,
    /// so that a writer in between shows in nothing.
    package func forEachObject(
        of entity: EntityDescription, includingSubentities: Bool = false, _ body: (ObjectRow) throws -> Void
    ) throws {
        let below = includingSubentities ? layout.model.descendants(of: entity) : []
        let entities = ([entity] + below).sorted { $0.name.precedesInByteOrder($1.name) }
        try inTransaction {
            for entity in entities { try reader(for: entity)?.forEachObject(body) }
        }
    }

    /// The properties that each row of an entity has values for.
    package func shape(of entity: EntityDescription) throws -> ObjectShape? { try reader(for: entity)?.shape }

    /// Nil for an entity that the store does not hold.
    private func reader(for entity: EntityDescription) throws -> EntityReader? {
        guard let number = layout.entityNumbers[entity.name], let table = layout.table(for: entity) else { return nil }
        return try EntityReader(entity, number: number, table: table, reader: self)
    }

    private func inTransaction(_ body: () throws -> Void) throws {
        if connection.isInTransaction { try body() } else { try connection.transaction(.deferred, body) }
    }
}
