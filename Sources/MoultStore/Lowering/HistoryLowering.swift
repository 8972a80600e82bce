import MoultModel
import MoultPlan
import MoultSQLite

/// The statements that migrate persistent history in the way observed in Core Data's own in-place migration.
/// Transactions are kept, changes of removed entities are deleted, and entity numbers and column sets are rewritten.
/// Missing parts are created first.
package struct HistoryLowering {
    /// The statements that create missing parts, independent of the rows.
    let making: [StoreScript.Statement]
    /// The statements that change rows, or add columns to them.
    let rewriting: [StoreScript.Statement]
    /// The column sets by source entity number, for the function `moult_history_columns`.
    package let columns: [Int: HistoryColumns]

    package init(_ lowering: StoreLowering) {
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
            columns[contribution.sourceNumber] = HistoryColumns(contribution, from: source, to: lowering.destination)
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

    package var statements: [StoreScript.Statement] { making + rewriting }

    /// Returns the statements that create missing parts, with the indexes of new tables.
    private static func making(_ gaps: HistoryGaps, _ lowering: StoreLowering) -> [StoreScript.Statement] {
        let history = PersistentHistory(of: lowering.destination)
        var gaps = gaps
        // A new table has columns for the values that the new version preserves of deleted objects.
        gaps.tables = history.tables.filter { table in gaps.tables.contains { $0.name == table.name } }
        let indexes = history.indexes.filter { index in gaps.tables.contains { $0.name == index.table } }
        return gaps.statements + indexes.map { .createIndex($0) }
    }

    /// Returns the entity numbers whose changes are deleted.
    static func removedNumbers(_ lowering: StoreLowering) -> [Int] {
        let map = lowering.numberMap
        return lowering.source.entityNumbers.values.filter { map[$0] == nil }.sorted()
    }

    private static func tombstoneCount(_ sql: String) -> Int {
        (0..<256).first { !sql.contains("ZTOMBSTONE\($0) ") } ?? 0
    }

    /// Returns assignments that move the values of deleted objects to the columns of the attributes that preserve them
    /// in the destination.
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

/// The mapping of the changed-columns bit set of persistent history from one version's slots to another's
/// (`ACHANGE.ZCOLUMNS`).
package struct HistoryColumns: Sendable, Hashable {
    /// For each slot of the destination, the slots of the source that set it; any one of them suffices.
    let sources: [[Int]]

    /// Returns the bit set in the destination's slots. The most significant bit of the first byte is slot 0.
    package func carry(_ bits: [UInt8]) -> [UInt8] {
        var result = [UInt8](repeating: 0, count: (sources.count + 7) / 8)
        for (slot, origins) in sources.enumerated() where origins.contains(where: { Self.isSet($0, in: bits) }) {
            result[slot / 8] |= 0x80 >> UInt8(slot % 8)
        }
        return result
    }

    private static func isSet(_ slot: Int, in bits: [UInt8]) -> Bool {
        slot / 8 < bits.count && bits[slot / 8] & (0x80 >> UInt8(slot % 8)) != 0
    }
}

extension HistoryColumns {
    /// Returns nil if every slot keeps its position.
    init?(_ contribution: StoreLowering.RowSource, from source: StoreLayout, to destination: StoreLayout) {
        let old = HistorySlots(of: contribution.source, in: source)
        let new = HistorySlots(of: contribution.destination, in: destination)
        let places = Dictionary(old.slots.enumerated().map { ($1, $0) }, uniquingKeysWith: { first, _ in first })
        let relationships = contribution.mapping.relationships
        let origin = { (name: String) -> String? in
            if case .relationship(let source)? = relationships[name] { source } else { nil }
        }
        // The to-many relationship of a slot is known only if there is just one, or if none of them changed.
        let sameToManys = old.toManyNames == new.toManyNames && new.toManyNames.allSatisfy { origin($0) == $0 }
        let isOrderKnown = sameToManys || (old.toManyNames.count < 2 && new.toManyNames.count < 2)
        let allToManys = old.toManyNames.compactMap { places[.toMany($0)] }
        typealias Slot = HistorySlots.Slot
        sources = new.slots.map { slot in
            switch slot {
            case .toOne(let name):
                return Self.places(of: origin(name), [Slot.toOne, Slot.toMany], places)
            case .toOneEntity(let name): return Self.places(of: origin(name), [Slot.toOneEntity], places)
            case .order(let name): return Self.places(of: origin(name), [Slot.order], places)
            case .attribute(let name):
                if contribution.destination.attribute(name)?.derivation != nil {
                    return Self.places(of: name, [Slot.attribute], places)
                }
                guard case .attribute(let from, _)? = contribution.mapping.attributes[name] else { return [] }
                return Self.places(of: from, [Slot.attribute], places)
            case .toMany(let name):
                // If the order is unknown, a change of any to-many is reported as a change of all: too many, never too
                // few.
                return isOrderKnown ? Self.places(of: origin(name), [Slot.toMany, Slot.toOne], places) : allToManys
            }
        }
        if sources == (0..<old.slots.count).map({ [$0] }) { return nil }
    }

    private static func places(
        of name: String?, _ kinds: [(String) -> HistorySlots.Slot], _ places: [HistorySlots.Slot: Int]
    ) -> [Int] {
        guard let name else { return [] }
        return kinds.compactMap { places[$0(name)] }
    }
}
