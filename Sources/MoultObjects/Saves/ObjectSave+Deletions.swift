import MoultModel
import MoultSQLite
import MoultStore

extension ObjectSave {
    /// Deletes the rows, after clearing every reference to them.
    func deleteRows() throws {
        for (_, deletions) in Dictionary(grouping: deletions, by: \.entity.root) {
            let keys = deletions.map(\.id.key)
            guard let entity = deletions.first?.entity else { continue }
            for incoming in store.incoming(to: entity.root) { try cut(incoming, to: keys) }
            for (_, deletions) in Dictionary(grouping: deletions, by: \.entity.number) { try delete(deletions) }
        }
    }

    private func delete(_ deletions: [PendingDeletion]) throws {
        guard let entity = deletions.first?.entity else { return }
        let keys = deletions.map(\.id.key)
        store.openDeletions[entity.shape.entity.name, default: 0] += Int64(keys.count)
        let table = entity.table.quotedName
        let external = entity.places.compactMap { place -> String? in
            guard case .attribute(let column, let attribute) = place, attribute.allowsExternalBinaryDataStorage else {
                return nil
            }
            return column.quotedName
        }
        for column in external {
            let query = "SELECT \(column) FROM \(table) WHERE \(column) IS NOT NULL"
            try writer.forEachRow("\(query) AND Z_PK IN (?)", keys: keys) { row in
                if let cell = row.blob(0) { writer.external.replace(cell) }
            }
        }
        if store.history != nil { try keepTombstones(entity, keys) }
        try writer.forEachRow("DELETE FROM \(table) WHERE Z_PK IN (?)", keys: keys) { _ in }
        for _ in keys { writer.noteWritten() }
    }

    /// Reads the values that history keeps of deleted rows.
    private func keepTombstones(_ entity: EntityColumns, _ keys: [Int64]) throws {
        let columns = entity.tombstoneColumns(in: store.layout).map(\.quotedName)
        let list = (["Z_PK"] + columns).joined(separator: ", ")
        try writer.forEachRow("SELECT \(list) FROM \(entity.table.quotedName) WHERE Z_PK IN (?)", keys: keys) { row in
            tombstones.append((entity, row.integer(0), (0..<columns.count).map { row.value($0 + 1) }))
        }
    }

    /// Clears one kind of reference to deleted rows.
    private func cut(_ incoming: IncomingReference, to keys: [Int64]) throws {
        switch incoming {
        case .column(let table, let column, let companions, let owner):
            var found: [Int64] = []
            let query = "SELECT Z_PK FROM \(table.quotedName) WHERE \(column.quotedName)"
            try writer.forEachRow("\(query) IN (?)", keys: keys) { found.append($0.integer(0)) }
            for key in found {
                if let owner, state(of: RowKey(root: owner.root, key: key)) == .deleted { continue }
                try writer.set(table, key, ([column] + companions).map { ($0, nil) })
                if let owner { touch(owner.root, key, .toOne(owner.name)) }
            }
        case .pair(let table, let column, let other, let owner):
            if let owner {
                let query = "SELECT \(other.quotedName) FROM \(table.quotedName) WHERE \(column.quotedName)"
                try writer.forEachRow("\(query) IN (?)", keys: keys) { row in
                    touch(owner.root, row.integer(0), .toMany(owner.name))
                }
            }
            let sql = "DELETE FROM \(table.quotedName) WHERE \(column.quotedName)"
            try writer.forEachRow("\(sql) IN (?)", keys: keys) { _ in }
        }
    }
}

/// A kind of reference to the rows of one table.
enum IncomingReference {
    /// A foreign key with the columns that accompany it. `owner` is its to-one relationship; nil for a to-many
    /// relationship without an inverse, where the column holds the owner's key.
    case column(table: String, column: String, companions: [String], owner: (root: String, name: String)?)
    /// A key column of a join table. `owner` is the to-many relationship of the object at the other end.
    case pair(table: String, column: String, other: String, owner: (root: String, name: String)?)
}

extension ObjectStore {
    /// Returns every kind of reference to the objects of a root entity and its descendants.
    func incoming(to root: String) -> [IncomingReference] {
        if let known = incomingReferences[root] { return known }
        var found: [IncomingReference] = []
        for entity in model.entities {
            guard let columns = writer.columns(of: entity.name) else { continue }
            for description in entity.relationships {
                guard let relationship = columns.relationship(description.name) else { continue }
                let owner = (root: columns.root, name: description.name)
                switch relationship.storage {
                case .foreignKey(let table, let column, let entityColumn) where relationship.destinationRoot == root:
                    let companions = [entityColumn, relationship.inverseOrderColumn].compactMap { $0 }
                    found.append(.column(table: table, column: column, companions: companions, owner: owner))
                case .inverseless(let table, let column, let order) where columns.root == root:
                    found.append(
                        .column(table: table, column: column, companions: [order].compactMap { $0 }, owner: nil))
                case .joinTable(let table, let own, let other, _, _, _) where relationship.destinationRoot == root:
                    found.append(.pair(table: table, column: other, other: own, owner: owner))
                    // The other direction of a reflexive pair, and of a relationship without an inverse.
                    if relationship.inverse == nil || relationship.inverse == relationship.reference {
                        found.append(.pair(table: table, column: own, other: other, owner: nil))
                    }
                default: break
                }
            }
        }
        incomingReferences[root] = found
        return found
    }
}
