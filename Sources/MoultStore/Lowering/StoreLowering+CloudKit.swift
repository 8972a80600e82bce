import MoultSQLite

extension StoreLowering {
    /// Returns statements that migrate only the record identities of a CloudKit mirror to the new entity numbers.
    /// Records of removed entities are deleted first. The others get temporary negative numbers, because of the unique
    /// index on entity and key.
    func cloudKitStatements() -> [StoreScript.Statement] {
        guard catalogue.table("ANSCKRECORDMETADATA") != nil else { return [] }
        let map = numberMap
        func change(_ kind: StoreScript.Statement.Kind, _ sql: String, _ sentence: String) -> StoreScript.Statement {
            .init(kind, "ANSCKRECORDMETADATA", sql, sentence, rows: .unknown)
        }
        let table = "main.ANSCKRECORDMETADATA"
        let known = Set(source.entityNumbers.values)
        // Records of an entity without a table would otherwise be assigned to the entity that gets its number.
        let stale = Set(destination.entityNumbers.values).subtracting(known)
        let removed = (known.filter { map[$0] == nil } + stale).sorted()
        var statements: [StoreScript.Statement] = []
        if !removed.isEmpty {
            statements.append(
                change(
                    .delete, "DELETE FROM \(table) WHERE ZENTITYID IN (\(removed.sqlList))",
                    "Leave out the CloudKit records of entities that are not there."))
        }
        for (number, shift) in shifts {
            // Use temporary negative keys, because of the same index.
            statements += [
                change(
                    .update, "UPDATE \(table) SET ZENTITYPK = -(ZENTITYPK + \(shift)) WHERE ZENTITYID = \(number)",
                    "Take CloudKit records to their new keys."),
                change(
                    .update, "UPDATE \(table) SET ZENTITYPK = -ZENTITYPK WHERE ZENTITYPK < 0",
                    "Settle the CloudKit keys there."),
            ]
        }
        let moved = map.filter { $0.key != $0.value }.sorted { $0.key < $1.key }
        guard !moved.isEmpty else { return statements }
        let cases = moved.map { " WHEN \($0.key) THEN -\($0.value)" }.joined()
        return statements + [
            change(
                .update,
                "UPDATE \(table) SET ZENTITYID = CASE ZENTITYID\(cases) END "
                    + "WHERE ZENTITYID IN (\(moved.map(\.key).sqlList))",
                "Take the CloudKit records to their new entity numbers."),
            change(
                .update, "UPDATE \(table) SET ZENTITYID = -ZENTITYID WHERE ZENTITYID < 0",
                "Settle the CloudKit records there."),
        ]
    }
}
