import MoultBasics
import MoultModel
import MoultSQLite
import MoultStore

extension ObjectSave {
    // MARK: - New objects

    func insertRows() throws {
        for (place, insertion) in changes.inserted.enumerated() {
            let entity = try store.columns(of: insertion.id.entityName)
            let key = insertedKeys[place]
            let inserter = try store.inserter(entity)
            try inserter.begin(key)
            try naming(outcome.inserted[place].permanent) { try bind(insertion, to: inserter) }
            try inserter.insert()
            try followRelationships(of: insertion, entity, key)
        }
    }

    private func bind(_ insertion: ObjectChanges.Insertion, to inserter: RowInserter) throws {
        for position in inserter.positions {
            switch insertion.values[position] {
            case nil, .attribute(nil), .toOne(nil): break
            case .attribute(let value?): try inserter.set(value, at: position)
            case .toOne(let destination?): try bind(destination, to: inserter, position)
            case .toMany: throw inserter.mismatch(position, "a list of objects")
            }
        }
    }

    /// Runs `body`, and adds the object to the message and the place of an error about a value.
    private func naming(_ id: ObjectID, _ body: () throws -> Void) throws {
        do {
            try body()
        } catch var error as MigrationError where error.code == .dataConflict {
            error.message = "Of \(id.entityName) \(id.key): \(error.message)"
            error.place += ", \(id)"
            throw error
        }
    }

    private func bind(_ destination: ObjectID, to inserter: RowInserter, _ position: Int) throws {
        guard case .toOne(_, _, let relationship) = inserter.entity.places[position] else {
            throw inserter.mismatch(position, "an object")
        }
        let key = try key(of: destination)
        try inserter.link(
            ObjectReference(entityName: destination.entityName, primaryKey: key), at: position,
            placed: isPlaced(relationship, owner: key))
    }

    /// Whether the place in the ordered list at the other end is set here, rather than with the list.
    private func isPlaced(_ relationship: StoredRelationship, owner: Int64) -> Bool {
        guard let list = relationship.inverse, relationship.inverseOrderColumn != nil else { return false }
        return !givenLists.contains(ListKey(list: list, owner: owner))
    }

    /// Records the changes that a new object's relationships require in other rows.
    private func followRelationships(of insertion: ObjectChanges.Insertion, _ entity: EntityColumns, _ key: Int64)
        throws
    {
        for position in entity.relationshipPositions {
            switch (entity.places[position], insertion.values[position]) {
            case (.toOne(_, _, let relationship), .toOne(let destination?)):
                follow(relationship, of: entity, key, from: nil, to: try self.key(of: destination))
            case (.toMany(let relationship), .toMany(let members)) where !members.isEmpty:
                lists.append(
                    PendingList(
                        owner: insertion.id, key: key, relationship: relationship, members: members, isNew: true))
            default: break
            }
        }
    }

    // MARK: - Changed objects

    func write(_ update: PendingUpdate) throws {
        if update.values.allSatisfy({ update.entity.isPlain[$0.position] && $0.value.isAttribute }) {
            return try write(update, update.values)
        }
        let (values, relinked) = try written(update)
        try replaceExternal(in: update, values.map(\.position))
        try write(update, values)
        for link in relinked {
            follow(link.relationship, of: update.entity, update.id.key, from: link.old, to: link.new)
        }
    }

    private func write(_ update: PendingUpdate, _ values: [(position: Int, value: ObjectValue)]) throws {
        let key = update.id.key
        let positions = positions(values)
        let version = changes.keepsVersions ? update.version : update.version &+ 1
        let updater = try store.updater(update.entity, positions)
        try naming(update.id) {
            try updater.update(key, version: version, values) { destination in
                ObjectReference(entityName: destination.entityName, primaryKey: try self.key(of: destination))
            } placed: {
                self.isPlaced($0, owner: $1)
            }
        }
        writer.noteWritten()
        outcome.updated.append((update.id, version))
        if let history = store.history {
            changedColumns.append(update.entity, key, columns(of: update, written: positions, history))
        }
    }

    private func positions(_ values: [(position: Int, value: ObjectValue)]) -> [Int] {
        // Usually the same as for the previous object.
        if let last = lastColumns?.written, last.elementsEqual(values.lazy.map(\.position)) { return last }
        return values.map(\.position)
    }

    private typealias Relinked = (relationship: StoredRelationship, old: Int64?, new: Int64?)

    /// Returns the values to write into the object's own row, and the to-one relationships whose destinations change.
    /// Records the object's lists.
    private func written(_ update: PendingUpdate) throws -> ([(position: Int, value: ObjectValue)], [Relinked]) {
        var values: [(position: Int, value: ObjectValue)] = []
        var relinked: [Relinked] = []
        for (position, value) in update.values {
            switch (update.entity.places[position], value) {
            case (.none, _): break
            case (.attribute(_, let attribute), .attribute):
                // A derived value is computed; any given value is ignored.
                if attribute.derivation == nil { values.append((position, value)) }
            case (.toOne(let column, _, let relationship), .toOne(let destination)):
                let new = try destination.map(self.key)
                let old = try foreignKey(column, of: update)
                // With the same destination, the place in an ordered list stays.
                guard old != new else { continue }
                values.append((position, value))
                relinked.append((relationship, old, new))
            case (.toMany(let relationship), .toMany(let members)):
                lists.append(
                    PendingList(
                        owner: update.id, key: update.id.key, relationship: relationship, members: members,
                        isNew: false))
            default:
                throw MigrationError(
                    .dataConflict, "\(update.entity.place(position)) cannot hold \(value.kindPhrase).",
                    place: update.id.description, remedy: "Give a value of the property's own kind.")
            }
        }
        return (values, relinked)
    }

    private func columns(of update: PendingUpdate, written: [Int], _ history: HistoryWriter) -> [UInt8] {
        if let last = lastColumns, last.entity === update.entity, last.written == written,
            last.given.elementsEqual(update.values.lazy.map(\.position))
        {
            return last.bits
        }
        let bits = history.bits(of: slots(of: update, written: written), update.entity)
        lastColumns = (update.entity, update.values.map(\.position), written, bits)
        return bits
    }

    /// Returns the slots that history marks for a change. An entity number or a place is marked only if it changed.
    private func slots(of update: PendingUpdate, written: [Int]) -> Set<HistorySlots.Slot> {
        var slots: Set<HistorySlots.Slot> = []
        for (position, _) in update.values {
            let name = update.entity.shape.properties[position].name
            switch update.entity.places[position] {
            case .toOne where !written.contains(position): slots.insert(.toOne(name))
            case .attribute(_, let attribute) where attribute.derivation != nil: break
            default: slots.formUnion(update.entity.historySlots(of: name))
            }
        }
        return slots
    }

    private func foreignKey(_ column: String, of update: PendingUpdate) throws -> Int64? {
        let statement = try writer.statement(
            "SELECT \(column.quotedName) FROM \(update.entity.table.quotedName) WHERE Z_PK = ?")
        try statement.bind(update.id.key, at: 1)
        defer { statement.reset() }
        return try statement.step() && !statement.isNull(0) ? statement.integer(0) : nil
    }

    /// Records the files of large values that are about to be replaced.
    private func replaceExternal(in update: PendingUpdate, _ positions: [Int]) throws {
        for position in positions {
            guard case .attribute(let column, let attribute) = update.entity.places[position],
                attribute.allowsExternalBinaryDataStorage
            else { continue }
            let statement = try writer.statement(
                "SELECT \(column.quotedName) FROM \(update.entity.table.quotedName) WHERE Z_PK = ?")
            try statement.bind(update.id.key, at: 1)
            defer { statement.reset() }
            if try statement.step(), let cell = statement.blob(0) { writer.external.replace(cell) }
        }
    }

    // MARK: - Rows changed indirectly

    /// Records a change to a row that the save may not name.
    func touch(_ root: String, _ key: Int64, _ slot: HistorySlots.Slot) {
        let row = RowKey(root: root, key: key)
        switch state(of: row) {
        case .inserted, .updated, .deleted: break
        case .present, .missing, nil:
            if touched[row]?.contains(slot) != true { touched[row, default: []].append(slot) }
        }
    }

    func touchRows() throws {
        if changes.keepsVersions { return }
        for (row, slots) in touched {
            guard let table = store.layout.table(forEntity: row.root)?.name else { continue }
            let statement = try writer.statement(
                "UPDATE \(table.quotedName) SET Z_OPT = min(ifnull(CAST(Z_OPT AS INTEGER), 0), 9223372036854775806) + 1 "
                    + "WHERE Z_PK = ? RETURNING Z_ENT, Z_OPT")
            try statement.bind(row.key, at: 1)
            guard try statement.step() else { continue }
            let (number, version) = (statement.integer(0), statement.integer(1))
            while try statement.step() {}
            guard let name = store.entityName(number) else { continue }
            let id = store.id(name, key: row.key)
            outcome.touched[id] = version
            outcome.recomputed.insert(id)
            if let history = store.history {
                let entity = try store.columns(of: name)
                changedColumns.append(entity, row.key, history.bits(of: Set(slots), entity))
            }
        }
    }

    func noteRecomputed() {
        for row in store.recomputed.rows {
            if let name = store.entityName(row.number) { outcome.recomputed.insert(store.id(name, key: row.key)) }
        }
    }

    func writeHistory() throws {
        guard let history = store.history else { return }
        var inserted: [ChangedKeys] = []
        for (insertion, key) in zip(changes.inserted, insertedKeys) {
            inserted.append(try store.columns(of: insertion.id.entityName), key)
        }
        for change in inserted + changedColumns { try history.write(change) }
        for deletion in tombstones { try history.deleted(deletion.entity, deletion.key, kept: deletion.kept) }
    }
}
