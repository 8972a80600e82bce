import MoultModel
import MoultSQLite
import MoultStore

extension StoreSnapshot {
    /// Objects by entity, without those of its sub-entities, for every entity that `Z_PRIMARYKEY` names; nil for one
    /// whose table is not found.
    ///
    /// - Parameter model: the store's; without one, tables are found by Core Data's rule for their names.
    package func objectCounts(of model: ManagedObjectModel?, over connection: Connection) throws -> [String: Int64?] {
        let layout = model.flatMap { try? StoreLayout(actual: self, model: $0) }
        let rows = Dictionary(entityRows.map { ($0.number, $0) }) { first, _ in first }
        var byTable: [String: [Int: Int64]] = [:]
        var counts: [String: Int64?] = [:]
        for row in entityRows {
            var root = row
            // Each step leads to a parent; a damaged table may lead in circles.
            for _ in rows where rows[root.superNumber] != nil { root = rows[root.superNumber] ?? root }
            let table = layout?.table(forEntity: row.name)?.name ?? "Z" + root.name.uppercased()
            guard columns[table]?.contains(where: { $0.name == "Z_ENT" }) == true else {
                counts[row.name] = .some(nil)
                continue
            }
            let found = try byTable[table] ?? rowCounts(of: table, over: connection)
            byTable[table] = found
            counts[row.name] = found[row.number] ?? 0
        }
        return counts
    }
}
