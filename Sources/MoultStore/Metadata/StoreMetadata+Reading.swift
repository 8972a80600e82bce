import MoultModel
import MoultSQLite

extension StoreMetadata {
    /// The row of a store's `Z_METADATA`.
    init(_ connection: Connection, columns: [Catalogue.Column], findings: inout [Finding]) throws {
        for name in ["Z_UUID", "Z_PLIST"] where !columns.contains(where: { $0.name == name }) {
            throw Self.invalid("the table has no column \(name)")
        }
        let rows = try connection.rows("SELECT Z_UUID, Z_PLIST FROM Z_METADATA ORDER BY rowid LIMIT 2") {
            (uuid: $0.text(0), list: $0.blob(1))
        }
        guard let row = rows.first else { throw Self.invalid("the table has no row") }
        if rows.count > 1 {
            findings.append(
                Finding(
                    code: "metadata-rows", severity: .warning, place: "Z_METADATA",
                    message: "Z_METADATA has more than one row; the first one counts."))
        }
        try self.init(uuid: row.uuid, propertyList: row.list)
    }
}
