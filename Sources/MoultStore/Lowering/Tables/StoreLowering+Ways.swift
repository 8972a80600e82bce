import MoultModel
import MoultSQLite

/// The choice of how to change a table of the destination: the cheapest safe way.
extension StoreLowering {
    /// The way to change a table to the new version.
    struct Way {
        var kind: TableChange.Kind
        /// The alteration of a table that is kept.
        var alteration = ColumnAlteration()
        /// The reason why a table with rows is rebuilt; nil if it is not.
        var reason: RebuildReason?
        /// The app's own definitions in a table that is kept.
        var own = UserTableAdditions()
    }

    func way(of table: EntityTable, _ fills: [TableChange.Fill], _ contributions: [RowSource]) -> Way {
        guard !fills.isEmpty else {
            let policy = carriers(toTableOf: table.rootEntityName).lazy.compactMap(\.mapping.policy).first
            return Way(kind: .rebuilt([]), reason: policy.map { .policyRuns($0) })
        }
        func rebuilt(_ reason: RebuildReason) -> Way { Way(kind: .rebuilt(fills), reason: reason) }
        guard let fill = fills.first, fills.count == 1, fill.source == table.name else {
            return rebuilt(.rowsMove(from: Set(fills.map(\.source)).sorted()))
        }
        guard fill.shift == 0 else { return rebuilt(.keysChange) }
        guard contributions.allSatisfy({ $0.values.condition == nil }) else { return rebuilt(.rowsArePicked) }
        let leaving = Set(source.numbers(inTable: fill.source)).subtracting(contributions.map(\.sourceNumber)).sorted()
        if catalogue.table(table.name)?.sql == table.sql {
            let changed = fill.columns.filter { !$0.keepsColumn }
            let stays = changed.isEmpty && leaving.isEmpty
            return Way(kind: stays ? .untouched : .updated(columns: changed, leaving: leaving))
        }
        if let reason = reasonToRebuild { return rebuilt(reason) }
        switch alteration(of: table, fill.columns) {
        case .failure(let obstacle): return rebuilt(obstacle.reason)
        case .success(let (alteration, changed, own)):
            let stays = alteration.isEmpty && changed.isEmpty && leaving.isEmpty
            return Way(
                kind: stays ? .untouched : .updated(columns: changed, leaving: leaving), alteration: alteration,
                own: own)
        }
    }

    /// The reason why every table whose text changes is rebuilt; nil if none has to be.
    var reasonToRebuild: RebuildReason? {
        if choice == .normalised { return .isNormalised }
        if let alterations { return .altersTooOften(alterations) }
        return obstacle
    }

    private struct Obstacle: Error { let reason: RebuildReason }

    private typealias Alteration = Result<
        (ColumnAlteration, changed: [TableChange.Assignment], own: UserTableAdditions), Obstacle
    >

    /// - Parameter assignments: the sources of the new version's columns.
    private func alteration(of table: EntityTable, _ assignments: [TableChange.Assignment]) -> Alteration {
        func refuse(_ reason: RebuildReason) -> Alteration { .failure(Obstacle(reason: reason)) }
        guard let old = source.table(named: table.name), old.constraints == table.constraints else {
            return refuse(.hasConstraints)
        }
        let types = old.types
        let taken = Set(old.columns.map { $0.name.uppercased() })
        let wanted = Dictionary(table.columns.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        var alteration = ColumnAlteration()
        var changed: [TableChange.Assignment] = []
        var retyped: [EntityTable.Column] = []
        var used: Set<String> = []
        for assignment in assignments {
            guard let column = wanted[assignment.column] else { continue }
            if case .column(let from) = assignment.source, from == column.name || types[column.name] == nil,
                types[from] == column.type, used.insert(from).inserted
            {
                if from != column.name { alteration.renamed.append(.init(from: from, to: column.name)) }
            } else if let type = types[column.name] {
                guard used.insert(column.name).inserted else { return refuse(.namesClash(column: column.name)) }
                guard type != column.type else {
                    changed.append(assignment)
                    continue
                }
                guard assignment.survives(retyping: type, to: column.type) else {
                    return refuse(.typeChanges(column: column.name, from: type, to: column.type))
                }
                retyped.append(column)
                // Write every row, so that each value is stored as the new type stores it.
                changed.append(.init(column: column.name, source: .expression(assignment.source.sql)))
            } else {
                guard !taken.contains(column.name.uppercased()) else { return refuse(.namesClash(column: column.name)) }
                alteration.added.append(column)
                if assignment.source != .null { changed.append(assignment) }
            }
        }
        // A column unknown to the model belongs to the app. Core Data leaves it in place too.
        alteration.dropped = old.columns.filter { column in
            column.role != .primaryKey && column.role != .unknown && !used.contains(column.name)
        }.map(\.name)
        let left = taken.subtracting(alteration.dropped.map { $0.uppercased() })
        if let clash = alteration.renamed.first(where: { left.contains($0.to.uppercased()) }) {
            return refuse(.namesClash(column: clash.to))
        }
        guard old.columns.count + alteration.added.count <= StoreLayout.columnLimit else {
            return refuse(.tooManyColumns)
        }
        guard alteration.dropped.count + (alteration.dropped.isEmpty || changed.isEmpty ? 0 : 1) <= 2 else {
            return refuse(.writesTooOften)
        }
        if let column = retyped.first(where: { column in
            changed.contains { $0.column != column.name && $0.source.sql.text.names([column.name.uppercased()]) }
        }) {
            return refuse(.valuesAreUsed(column: column.name))
        }
        let looksAround = !alteration.dropped.isEmpty || !alteration.renamed.isEmpty
        if looksAround, let user = keptObjects.watcherOfColumns { return refuse(.isUsed(by: user)) }
        let writes = looksAround || !changed.isEmpty
        guard let own = UserTableAdditions(old, becoming: table, writesColumns: writes, overwriting: used) else {
            return refuse(.hasConstraints)
        }
        if !retyped.isEmpty {
            // A generated column that is computed from a retyped one may be in an index.
            guard TableDefinition(old.sql)?.parts.contains(where: \.isGenerated) == false else {
                return refuse(.hasGeneratedColumns)
            }
            let types = Dictionary(retyped.map { ($0.name, $0.type) }) { first, _ in first }
            let before = catalogue.table(table.name)?.respelled ?? old.sql
            guard let sql = TableDefinition.retyped(before, as: types) else { return refuse(.hasConstraints) }
            alteration.retyping = .init(columns: retyped, before: before, sql: sql)
        }
        return .success((alteration, changed, own))
    }

    /// Returns the statements that alter a table, in two parts: before its rows get new values, and after.
    ///
    /// Columns are read by their old names, so they are renamed last.
    func alter(_ change: TableChange) -> (before: [StoreScript.Statement], after: [StoreScript.Statement]) {
        let name = change.table.name
        let rows = rows(of: change.contributions.map(\.source.name))
        let retyping = change.alteration.retyping.map { StoreScript.Statement.retypeColumns($0, of: name) }
        return (
            [retyping].compactMap { $0 } + change.alteration.added.map { .addColumn($0.name, $0.type, to: name) },
            change.alteration.dropped.map { .dropColumn($0, of: name, rows: .counted(rows)) }
                + change.alteration.renamed.map { .renameColumn($0.from, to: $0.to, of: name) }
        )
    }

    /// Returns the lowering that rebuilds every changed table, if that is faster than altering: for each ALTER TABLE,
    /// SQLite parses the text of every object in the catalogue again.
    func cheapest() -> StoreLowering {
        guard choice == .cheapest else { return self }
        let statements = changes.flatMap { change in
            let alter = alter(change)
            return alter.before + alter.after
        }
        let objects = catalogue.entries.count
        let seconds = statements.reduce(0) { $0 + CostModel.parsing(for: $1.kind) } * Double(objects)
        let rows = rowCounts.values.reduce(0.0) { $0 + Double($1) }
        guard seconds > CostModel.rebuilding(objects: objects, rows: rows) else { return self }
        var lowering = self
        lowering.alterations = statements.count
        return lowering
    }

    // MARK: - Plan

    /// Returns the change of every table of the new version.
    func ways() -> [TableStrategy] {
        let present = Set(source.joinTables.map(\.name))
        let computed = computedSentences()
        return changes.map { TableStrategy($0).computing(computed[$0.table.name] ?? []) }
            + joinChanges.map { TableStrategy($0, isNew: !present.contains($0.table.name)) }
    }

    /// Returns whether every table is kept and no code of an app runs, so that the store itself can be changed.
    func keepsTables(_ tables: [TableChange], _ joins: [JoinChange]) -> Bool {
        let present = Set(source.joinTables.map(\.name))
        return choice != .normalised && alterations == nil
            && tables.allSatisfy { change in
                if case .rebuilt(let fills) = change.kind { fills.isEmpty } else { true }
            }
            && joins.allSatisfy { TableStrategy($0, isNew: !present.contains($0.table.name)).kind != .rebuilt }
            && mapping.entityMappings.allSatisfy { $0.policy == nil }
            && contributions.allSatisfy { $0.values.functions.isEmpty }
    }
}

extension TableChange.Assignment {
    /// Returns whether the column can be retyped before its rows get their values, with the same result as if the
    /// values were read under the old type.
    fileprivate func survives(retyping old: String, to new: String) -> Bool {
        let (old, new) = (ColumnAffinity(declaredType: old), ColumnAffinity(declaredType: new))
        return switch source {
        // A REAL column stores whole numbers as integers, and returns them as reals (sqlite.org/datatype3.html, 2).
        case .column(self.column), .filled(self.column, _): old != .real || new == .integer || new == .numeric
        // moult_convert would receive reals for the kind integer, and return nil.
        case .converted(self.column, _): new != .real
        case .literal: true
        default: false
        }
    }
}

extension UserSchemaObjects {
    /// An object that SQLite parses again when a column is dropped or renamed: a view may not work at that moment, and
    /// a quoted name may be rewritten.
    fileprivate var watcherOfColumns: String? {
        obstacles.first
            ?? kept.first { entry in
                entry.kind == .view || (entry.kind != .trigger && !entry.isVirtual && entry.sql?.contains("\"") == true)
            }.map { "the \($0.kind.rawValue) \($0.name)" }
    }
}
