import MoultModel
import MoultSQLite

extension StoreMetadata {
    /// Reads the row of `Z_METADATA`.
    ///
    /// - Throws: `notAStore` if there is no such table, `metadataInvalid` if the row is missing or damaged.
    package init(from connection: Connection, schema: String = "main") throws {
        let place = "\(schema.quotedName).Z_METADATA"
        guard
            try connection.integer(
                "SELECT count(*) FROM \(schema.quotedName).sqlite_master WHERE type = 'table' AND name = 'Z_METADATA'")
                == 1
        else {
            throw MigrationError(
                .notAStore, "The database has no table Z_METADATA, which every Core Data store has.",
                place: connection.place, remedy: "Name the path of a Core Data store.")
        }
        let rows = try connection.rows("SELECT Z_UUID, Z_PLIST FROM \(place) ORDER BY Z_VERSION LIMIT 2") {
            (uuid: $0.text(0), list: $0.blob(1))
        }
        guard let row = rows.first else { throw Self.invalid("The metadata table has no row.") }
        guard rows.count == 1 else { throw Self.invalid("The metadata table has more than one row.") }
        guard let list = row.list else { throw Self.invalid("The metadata's property list is NULL.") }
        try self.init(uuid: row.uuid ?? "", propertyList: list)
    }

    /// Puts itself in place of the row that is there.
    package func write(to connection: Connection, schema: String = "main") throws {
        let table = "\(schema.quotedName).Z_METADATA"
        try connection.run("DELETE FROM \(table)")
        try connection.run(
            "INSERT INTO \(table) (Z_VERSION, Z_UUID, Z_PLIST) VALUES (1, ?, ?)", [.text(uuid), .blob(propertyList)])
    }
}
