import MoultSQLite

/// The rows whose derived attributes a trigger has computed, as the functions are told that Core Data's triggers call
/// for this.
///
/// Sendable as its functions have to be; it is used by the one thread that uses the connection.
final class RecomputedRows: @unchecked Sendable {
    struct Row: Hashable {
        let table: String
        /// `Z_ENT`
        let number: Int64
        let key: Int64
    }

    var rows: Set<Row> = []

    var functions: [SQLiteFunction] {
        ["NSCoreDataDATriggerUpdatedAffectedObjectValue", "NSCoreDataDATriggerInsertUpdatedAffectedObjectValue"]
            .map { name in
                SQLiteFunction(name, argumentCount: 5, isDeterministic: false, isCallableFromSchema: true) { values in
                    self.rows.insert(
                        Row(table: values.text(0) ?? "", number: values.integer(1), key: values.integer(2)))
                    return .null
                }
            }
    }
}
