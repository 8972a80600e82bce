import MoultEngine
import MoultSQLite
import MoultStore

/// One table of the store that follows: which of its rows are kept in step, and by what they are known.
struct MirroredTable: Sendable {
    var name: String
    var columns: [String]
    /// The columns by which a row of both sides is the same.
    var key: [String]
    /// The columns that nothing of the other store fills; they keep what they hold.
    var kept: [String] = []
    /// A condition on a row `r` of the store that follows, in SQL: the rows that may differ; nil for all.
    var scope: String?

    init(name: String, columns: [String], key: [String], kept: [String] = [], scope: String? = nil) {
        self.name = name
        self.columns = columns
        self.key = key
        self.kept = kept
        self.scope = scope
    }

    /// - Parameter isListed: whether only listed objects are looked at, where the table allows it.
    init(_ table: PartialScript.Table, isListed: Bool, keepsUnfilled: Bool) {
        let numbers = table.numbers.map(String.init).joined(separator: ", ")
        let limits = isListed ? table.limits : nil
        var conditions = numbers.isEmpty ? [] : ["r.Z_ENT IN (\(numbers))"]
        if let limits {
            let listed = limits.map {
                PartialScript.isListed("r.\(name: $0.column)", of: $0.source, in: "fresh").inlined
            }
            conditions.append("(\(listed.isEmpty ? "0" : listed.conditions(joinedBy: "OR")))")
        }
        self.init(
            name: table.name, columns: table.columns, key: table.key, kept: keepsUnfilled ? table.unfilled : [],
            scope: conditions.isEmpty ? nil : conditions.conditions(joinedBy: "AND"))
    }

    /// Every table of objects and of pairs that a layout has.
    static func all(of layout: StoreLayout) -> [MirroredTable] {
        layout.tables.map { MirroredTable(name: $0.name, columns: $0.columns.map(\.name), key: ["Z_PK"]) }
            + layout.joinTables.map {
                MirroredTable(name: $0.name, columns: $0.columns.map(\.name), key: $0.keyColumns)
            }
    }
}
