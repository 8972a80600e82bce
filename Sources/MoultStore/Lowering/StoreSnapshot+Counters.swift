import MoultModel
import MoultSQLite

extension StoreSnapshot {
    /// A note for each table whose counter in `Z_PRIMARYKEY` is below a key that is taken, those of persistent history
    /// too. A migration sets the counter to the highest key, which is what a repair does.
    ///
    /// - Parameter highestKeys: by table, the highest key that is taken or was ever given out.
    func counterFindings(in layout: StoreLayout, _ highestKeys: [String: Int64]) -> [Finding] {
        let entities = layout.tables.map { (name: $0.rootEntityName, highest: highestKeys[$0.name]) }
        let history = historyKeys.sorted { $0.key < $1.key }.map {
            (name: String($0.key.dropFirst()), highest: $0.value)
        }
        return (entities + history).compactMap { name, highest in
            guard let highest, let row = primaryKeyRows.first(where: { $0.name == name }),
                row.isUncountable || row.max < highest
            else {
                return nil
            }
            guard highest < .max else {
                return Finding(
                    code: "key-counter", severity: .error, place: name,
                    message: "\(name) has an object with the key \(highest), the highest that there is: no other can "
                        + "follow it.",
                    remedy: "Give the object a lower key in SQL, there and in what refers to it, or delete it.")
            }
            let fault =
                row.isUncountable
                ? "holds no number of keys of \(name) that another one follows"
                : "counts \(row.max) keys of \(name), but the highest is \(highest)"
            return Finding(
                code: "key-counter", severity: .note, place: name,
                message: "Z_PRIMARYKEY of the store \(fault). The migration sets the counter to \(highest).",
                remedy: "\(.repair) sets the counter without a migration.")
        }
    }
}

extension EntityTable {
    /// The highest key that its rows have, as SQL.
    package var highestKeySQL: String { "ifnull((SELECT max(Z_PK) FROM main.\(name.quotedName)), 0)" }
}
