import MoultModel
import MoultSQLite
import MoultStore

extension ObjectSave {
    /// Finds the objects that would have the same values of a uniqueness constraint, in the save and with the store.
    ///
    /// The values that the named rows will have go into a table of their own, with columns of the same types, so that
    /// SQLite compares them just as its unique indexes do.
    func checkUniqueness() throws {
        let runs = changes.inserted.lazy.map(\.id).entityRuns + updates.lazy.map(\.id).entityRuns
        let roots = Set(runs.compactMap { writer.columns(of: $0.name)?.root })
        for root in roots.sorted(by: { $0.precedesInByteOrder($1) }) {
            for (number, constraint) in store.uniqueColumns(of: root).enumerated() {
                let candidates = try UniqueCandidates(constraint, number: number, writer)
                for (insertion, key) in zip(changes.inserted, insertedKeys) { try add(insertion, key, to: candidates) }
                for update in updates { try add(update, to: candidates) }
                guard candidates.count > 0 else { continue }
                try findConflicts(among: candidates)
                if candidates.count > 1 { emptied += candidates.changed }
                try candidates.clear()
            }
        }
    }

    private func add(_ insertion: ObjectChanges.Insertion, _ key: Int64, to candidates: UniqueCandidates) throws {
        let entity = try store.columns(of: insertion.id.entityName)
        guard entity.root == candidates.constraint.root, let positions = candidates.positions(in: entity) else {
            return
        }
        let values = positions.map { insertion.values[$0] ?? .attribute(nil) }
        if values.contains(where: { $0 == .attribute(nil) || $0 == .toOne(nil) }) { return }
        try candidates.add(key, entity)
        for (column, value) in values.enumerated() { try set(value, column, of: key, entity, candidates) }
    }

    private func add(_ update: PendingUpdate, to candidates: UniqueCandidates) throws {
        guard update.entity.root == candidates.constraint.root,
            let positions = candidates.positions(in: update.entity)
        else { return }
        let changed = update.values.filter { positions.contains($0.position) }
        guard !changed.isEmpty else { return }
        try candidates.addStored(update.id.key)
        for change in changed {
            guard let column = positions.firstIndex(of: change.position) else { continue }
            try set(change.value, column, of: update.id.key, update.entity, candidates)
            if case .attribute = change.value {
                candidates.changed.append(
                    EmptiedColumn(
                        table: update.entity.table, key: update.id.key,
                        column: candidates.constraint.columns[column].name))
            }
        }
    }

    private func set(
        _ value: ObjectValue, _ column: Int, of row: Int64, _ entity: EntityColumns, _ candidates: UniqueCandidates
    ) throws {
        switch value {
        case .attribute(let value?): try candidates.set(column, of: row, to: value, entity)
        case .toOne(let destination?): try candidates.set(column, of: row, to: try key(of: destination))
        default: try candidates.set(column, of: row, to: nil)
        }
    }

    // MARK: - Conflicts

    private func findConflicts(among candidates: UniqueCandidates) throws {
        let groups = try candidates.groups()
        let stored = try candidates.stored().filter { row in
            state(of: RowKey(root: candidates.constraint.root, key: row.key)) != .deleted
        }
        guard !groups.isEmpty || !stored.isEmpty else { return }
        let ids = try ids(in: candidates.constraint.root)
        let properties = candidates.constraint.properties
        var told: Set<Int64> = []
        for row in stored {
            let group = groups.first { $0.contains(row.candidate) } ?? [row.candidate]
            guard told.isDisjoint(with: group), let name = store.entityName(row.number) else { continue }
            told.formUnion(group)
            conflicts.append(
                .constraint(
                    properties: properties, objects: group.compactMap { ids[$0] },
                    stored: try store.snapshots(of: [store.id(name, key: row.key)]).first))
        }
        for group in groups where told.isDisjoint(with: group) {
            conflicts.append(.constraint(properties: properties, objects: group.compactMap { ids[$0] }, stored: nil))
        }
    }

    /// The objects that the save inserts or updates, as it names them, by key.
    private func ids(in root: String) throws -> [Int64: ObjectID] {
        var ids: [Int64: ObjectID] = [:]
        for (insertion, key) in zip(changes.inserted, insertedKeys)
        where writer.columns(of: insertion.id.entityName)?.root == root {
            ids[key] = insertion.id
        }
        for id in updates.map(\.id) where writer.columns(of: id.entityName)?.root == root {
            ids[try key(of: id)] = id
        }
        return ids
    }

    /// Empties unique columns before new values come, which may change places among themselves.
    func emptyUniqueColumns() throws {
        for column in emptied { try writer.set(column.table, column.key, [(column.column, nil)]) }
    }
}

/// A unique column of a row that gets another value.
struct EmptiedColumn {
    let table: String
    let key: Int64
    let column: String
}
