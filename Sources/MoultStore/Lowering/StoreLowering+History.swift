import MoultModel
import MoultSQLite

/// The statements that carry persistent history over, as Core Data's own in-place migration was seen to do it:
/// transactions stay, changes of removed entities leave, numbers and column sets are rewritten. What is missing of it is
/// made first.
struct HistoryLowering {
    /// Make what is missing, whatever the rows are.
    let making: [StoreScript.Statement]
    /// Change the rows, or make room in them.
    let rewriting: [StoreScript.Statement]
    /// By source entity number, for the function `moult_history_columns`.
    let columns: [Int: HistoryColumns]

    init(_ lowering: StoreLowering) {
        let gaps = lowering.historyGaps
        making = Self.making(gaps, lowering)
        guard let changes = lowering.catalogue.table("ACHANGE") else {
            rewriting = []
            columns = [:]
            return
        }
        let source = lowering.source
        let map = lowering.numberMap
        var columns: [Int: HistoryColumns] = [:]
        for contribution in lowering.contributions {
            columns[contribution.sourceNumber] = HistoryColumns(
                contribution, from: source, to: lowering.destination)
        }
        self.columns = columns

        var statements: [StoreScript.Statement] = []
        let removed = Self.removedNumbers(lowering)
        if !removed.isEmpty {
            statements.append(
                .init(
                    .delete, "ACHANGE", "DELETE FROM main.ACHANGE WHERE ZENTITY IN (\(removed.sqlList))",
                    "Leave out the history of removed entities.", rows: .unknown))
        }
        let tombstones = PersistentHistory(of: lowering.destination).tombstones
        let present = Self.tombstoneCount(changes.sql ?? "")
        let added = Set(gaps.columns.map(\.column.name))
        for index in present..<max(present, tombstones) where !added.contains("ZTOMBSTONE\(index)") {
            statements.append(
                .init(
                    .addColumn, "ACHANGE", "ALTER TABLE main.ACHANGE ADD COLUMN ZTOMBSTONE\(index) BLOB",
                    "Make room for one more value that history keeps of deleted objects."))
        }
        var assignments: [String] = []
        let known = map.keys.sorted()
        if known.contains(where: { map[$0] != $0 }) {
            let cases = known.compactMap { old in map[old].map { " WHEN \(old) THEN \($0)" } }.joined()
            assignments.append(
                "ZENTITY = CASE WHEN ZENTITY IN (\(known.sqlList)) THEN CASE ZENTITY\(cases) END ELSE ZENTITY END")
        }
        let shifts = lowering.shifts.map { " WHEN \($0.number) THEN ZENTITYPK + \($0.shift)" }.joined()
        if !shifts.isEmpty { assignments.append("ZENTITYPK = CASE ZENTITY\(shifts) ELSE ZENTITYPK END") }
        if !columns.isEmpty { assignments.append("ZCOLUMNS = moult_history_columns(ZENTITY, ZCOLUMNS)") }
        assignments += Self.tombstones(lowering, from: present, to: max(present, tombstones))
        if !assignments.isEmpty {
            statements.append(
                .init(
                    .update, "ACHANGE", "UPDATE main.ACHANGE SET \(assignments.joined(separator: ", "))",
                    "Carry persistent history to the new entity numbers and columns.", rows: .unknown))
        }
        rewriting = statements
    }

    var statements: [StoreScript.Statement] { making + rewriting }

    /// Makes what is missing, with the indexes of new tables.
    private static func making(_ gaps: HistoryGaps, _ lowering: StoreLowering) -> [StoreScript.Statement] {
        let history = PersistentHistory(of: lowering.destination)
        var gaps = gaps
        // A table that is made has room for what the new version keeps of deleted objects.
        gaps.tables = history.tables.filter { table in gaps.tables.contains { $0.name == table.name } }
        let indexes = history.indexes.filter { index in gaps.tables.contains { $0.name == index.table } }
        return gaps.statements + indexes.map { .createIndex($0) }
    }

    /// The entity numbers whose changes leave.
    static func removedNumbers(_ lowering: StoreLowering) -> [Int] {
        let map = lowering.numberMap
        return lowering.source.entityNumbers.values.filter { map[$0] == nil }.sorted()
    }

    private static func tombstoneCount(_ sql: String) -> Int {
        (0..<256).first { !sql.contains("ZTOMBSTONE\($0) ") } ?? 0
    }

    /// The values of deleted objects move to the columns of the attributes that keep them in the destination.
    private static func tombstones(_ lowering: StoreLowering, from: Int, to count: Int) -> [String] {
        guard from > 0 else { return [] }
        return (0..<count).compactMap { index in
            var cases: [(number: Int, value: String)] = []
            for contribution in lowering.contributions {
                let old = kept(lowering.source.model, contribution.source)
                let new = kept(lowering.destination.model, contribution.destination)
                guard !old.isEmpty else { continue }
                var place: Int?
                if index < new.count, case .attribute(let name, _)? = contribution.mapping.attributes[new[index]] {
                    place = old.firstIndex(of: name)
                }
                cases.append((contribution.sourceNumber, place.map { "ZTOMBSTONE\($0)" } ?? "NULL"))
            }
            let column = "ZTOMBSTONE\(index)"
            let changed = cases.filter { $0.value != column }
            guard !changed.isEmpty else { return nil }
            let text = changed.map { " WHEN \($0.number) THEN \($0.value)" }.joined()
            return "\(column) = CASE ZENTITY\(text) ELSE \(index < from ? column : "NULL") END"
        }
    }

    private static func kept(_ model: ManagedObjectModel, _ entity: EntityDescription) -> [String] {
        model.lineage(of: entity).reversed().flatMap(\.attributes).filter(\.preservesValueInHistoryOnDeletion).map(
            \.name)
    }
}
