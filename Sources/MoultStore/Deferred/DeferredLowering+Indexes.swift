import MoultModel
import MoultSQLite

extension DeferredLowering {
    mutating func lowerJoins() {
        for change in lowering.joinChanges {
            let table = change.table
            if case .untouched = change.kind { continue }
            if change.keepsPairs {
                tasks.append(DeferredTask(.rebuildTable, table.name, of: table.name))
            } else if case .rebuilt(let inserts) = change.kind, inserts.isEmpty {
                if isUndoing { takeBack(table) } else { make(table.name, table.sql) }
            } else {
                obstacles.append("\(table.name) has to be filled")
            }
        }
    }

    mutating func lowerIndexes() {
        let rebuilt = Set(tasks.filter { $0.kind == .rebuildTable }.map(\.name))
        let kept = Set(origins.values).union(lowering.joinChanges.filter(\.keepsPairs).map(\.table.name))
        let wanted = Set(lowering.destination.indexes.map(\.sql))
        let dropped = Set(lowering.keptObjects.drops(.index))
        let stale = lowering.catalogue.entries.filter { entry in
            // Core Data's own names begin with Z; any other index is somebody's own and stays.
            entry.kind == .index && entry.sql.map { !wanted.contains($0) } == true && entry.name.hasPrefix("Z")
                && !dropped.contains(entry.name)
                && kept.contains(origins[entry.tableName] ?? entry.tableName)
        }
        for entry in stale {
            let table = origins[entry.tableName] ?? entry.tableName
            if entry.isUnique {
                // It would go on refusing values that the new version allows.
                statements.append(.dropIndex(entry.name, of: entry.tableName, "Drop the index \(entry.name)."))
                taken.remove(entry.name.uppercased())
                notes.append("The index \(entry.name) is dropped, because it refuses values.")
            } else if !rebuilt.contains(table) {
                tasks.append(DeferredTask(.dropIndex, entry.name, of: table, rows: rows(of: table)))
            }
        }
        let present = Set(
            lowering.catalogue.entries.filter { kept.contains(origins[$0.tableName] ?? $0.tableName) }.compactMap(\.sql)
        )
        for index in lowering.destination.indexes where !present.contains(index.sql) {
            lower(index, isOnNewTable: !kept.contains(index.table), isRebuilt: rebuilt.contains(index.table))
        }
    }

    private mutating func lower(_ index: IndexDefinition, isOnNewTable: Bool, isRebuilt: Bool) {
        if isOnNewTable {
            // An index of a table that was set aside may have the name.
            if taken.contains(index.name.uppercased()) {
                statements.append(.dropIndex(index.name, of: index.table, "Drop the index \(index.name)."))
            }
            statements.append(.createIndex(index))
        } else if index.isUnique {
            obstacles.append("the index \(index.name) has to be built, because it keeps values unique")
        } else if !isRebuilt {
            tasks.append(DeferredTask(.makeIndex, index.name, of: index.table, rows: rows(of: index.table)))
        }
    }

    private func rows(of table: String) -> Int64 {
        lowering.rows(
            of: lowering.contributions.filter { lowering.destination.table(for: $0.destination)?.name == table }.map(
                \.source.name))
    }
}
