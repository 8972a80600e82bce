import MoultModel
import MoultSQLite
import MoultStore

extension ObjectSave {
    /// Records what follows from writing a to-one relationship into its own row: the list at the other end changes, or
    /// a to-one relationship there must be written once every row exists.
    func follow(
        _ relationship: StoredRelationship, of entity: EntityColumns, _ own: Int64, from old: Int64?, to new: Int64?
    ) {
        guard let inverse = relationship.inverse else { return }
        if relationship.isOneToOne {
            pairs.append(PendingPair(relationship: relationship, entity: entity, own: own, new: new))
            return
        }
        for owner in [old, new].compactMap({ $0 }) { touch(relationship.destinationRoot, owner, .toMany(inverse.name)) }
    }

    /// Makes the other end of a one-to-one relationship lead back. Clears all other links to the new destination, and
    /// from other objects back to this one.
    func write(_ pair: PendingPair) throws {
        let (relationship, entity) = (pair.relationship, pair.entity)
        guard let inverse = relationship.inverse,
            case .foreignKey(let backTable, let backColumn, let backEntity)? = relationship.inverseStorage,
            case .foreignKey(_, let column, let entityColumn) = relationship.storage
        else { return }
        if let new = pair.new {
            try clear(
                entity.table, column, entityColumn, leadingTo: new, but: pair.own, root: entity.root,
                .toOne(relationship.reference.name))
        }
        try clear(
            backTable, backColumn, backEntity, leadingTo: pair.own, but: pair.new, root: relationship.destinationRoot,
            .toOne(inverse.name))
        guard let new = pair.new, try foreignKey(backColumn, backTable, new) != pair.own else { return }
        try writer.set(backTable, new, [(backColumn, pair.own), (backEntity, entity.number)])
        touch(relationship.destinationRoot, new, .toOne(inverse.name))
    }

    /// Clears a to-one relationship to `destination` in every row but one.
    private func clear(
        _ table: String, _ column: String, _ entityColumn: String?, leadingTo destination: Int64, but kept: Int64?,
        root: String, _ slot: HistorySlots.Slot
    ) throws {
        let statement = try writer.statement(
            "SELECT Z_PK FROM \(table.quotedName) WHERE \(column.quotedName) = ? AND Z_PK IS NOT ?")
        try statement.bind(destination, at: 1)
        try statement.bind(kept, at: 2)
        for key in try statement.integers() {
            try writer.set(table, key, [(column, nil), (entityColumn, nil)])
            touch(root, key, slot)
        }
    }

    private func foreignKey(_ column: String, _ table: String, _ key: Int64) throws -> Int64? {
        let statement = try writer.statement("SELECT \(column.quotedName) FROM \(table.quotedName) WHERE Z_PK = ?")
        try statement.bind(key, at: 1)
        return try statement.integers().first
    }

    // MARK: - Lists

    /// Writes the members of a to-many relationship with as few changes as possible.
    func write(_ list: PendingList) throws {
        let members = try list.members.map(key)
        switch list.relationship.storage {
        case .inverseForeignKey(let table, let column, let entityColumn, let order):
            let owner = try store.columns(of: list.owner.entityName)
            let rows = ForeignKeyList(
                table: table, column: column, entityColumn: entityColumn, order: order, ownerNumber: owner.number,
                inverse: list.relationship.inverse?.name)
            try write(list, members, rows)
        case .inverseless(let table, let column, let order):
            let rows = ForeignKeyList(
                table: table, column: column, entityColumn: nil, order: order, ownerNumber: 0, inverse: nil)
            try write(list, members, rows)
        case .joinTable:
            if let pair = list.relationship.pair { try write(list, members, pair) }
        case .foreignKey:
            break
        }
    }

    /// A list whose members' rows hold the owner's key.
    private struct ForeignKeyList {
        let table: String
        let column: String
        let entityColumn: String?
        let order: String?
        let ownerNumber: Int64
        /// The members' to-one relationship; nil if there is none.
        let inverse: String?
    }

    private func write(_ list: PendingList, _ members: [Int64], _ rows: ForeignKeyList) throws {
        let present = try places(
            .members(rows.table, member: "Z_PK", owner: rows.column, order: rows.order), of: list.key)
        let wanted = present.isEmpty ? [] : Set(members)
        for member in present.keys.sorted() where !wanted.contains(member) {
            try writer.set(rows.table, member, [(rows.column, nil), (rows.entityColumn, nil), (rows.order, nil)])
            touch(member, of: list, rows)
        }
        let places = rows.order == nil ? nil : OrderKeyAllocator.places(for: members.map { present[$0] ?? nil })
        for (position, member) in members.enumerated() {
            let place = places?[position]
            if let known = present[member] {
                guard place != known else { continue }
                try writer.set(rows.table, member, [(rows.order, place)])
                if let inverse = rows.inverse { touch(list.relationship.destinationRoot, member, .order(inverse)) }
            } else {
                try writer.set(
                    rows.table, member,
                    [(rows.column, list.key), (rows.entityColumn, rows.ownerNumber), (rows.order, place)])
                touch(member, of: list, rows)
            }
        }
    }

    private func touch(_ member: Int64, of list: PendingList, _ rows: ForeignKeyList) {
        guard let inverse = rows.inverse else { return }
        touch(list.relationship.destinationRoot, member, .toOne(inverse))
        if rows.entityColumn != nil { touch(list.relationship.destinationRoot, member, .toOneEntity(inverse)) }
        if rows.order != nil { touch(list.relationship.destinationRoot, member, .order(inverse)) }
    }

    private func write(_ list: PendingList, _ members: [Int64], _ pair: JoinPair) throws {
        let present = try places(pair.members, of: list.key)
        let wanted = present.isEmpty ? [] : Set(members)
        for member in present.keys.sorted() where !wanted.contains(member) {
            try remove(pair, list.key, member)
            if pair.isReflexive, member != list.key { try remove(pair, member, list.key) }
            touch(member, of: list)
        }
        let places = pair.order == nil ? nil : OrderKeyAllocator.places(for: members.map { present[$0] ?? nil })
        for (position, member) in members.enumerated() {
            let place = places?[position]
            if let known = present[member] {
                guard place != known else { continue }
                try setPlace(pair, list.key, member, place)
            } else {
                try add(pair, list, member, place)
                touch(member, of: list)
            }
        }
    }

    private func touch(_ member: Int64, of list: PendingList) {
        guard let inverse = list.relationship.inverse else { return }
        touch(list.relationship.destinationRoot, member, .toMany(inverse.name))
    }

    private func add(_ pair: JoinPair, _ list: PendingList, _ member: Int64, _ place: Int64?) throws {
        let back = pair.isReflexive ? pair.order : pair.inverseOrder
        var backPlace: Int64?
        // If the save sets the other list too, that list sets the place.
        if let inverse = list.relationship.inverse, let back,
            !givenLists.contains(ListKey(list: inverse, owner: member))
        {
            backPlace = try writer.nextPlace(
                in: inverse, of: member, table: pair.table, ownerColumn: pair.isReflexive ? pair.own : pair.other,
                orderColumn: back)
        }
        guard pair.isReflexive else {
            return try writer.insertPair(pair, list.key, member, order: place, inverseOrder: backPlace)
        }
        try writer.insertPair(pair, list.key, member, order: place, inverseOrder: nil)
        if member != list.key { try writer.insertPair(pair, member, list.key, order: backPlace, inverseOrder: nil) }
    }

    private func remove(_ pair: JoinPair, _ own: Int64, _ other: Int64) throws {
        let statement = try writer.statement(
            "DELETE FROM \(pair.table.quotedName) WHERE \(pair.own.quotedName) = ? AND \(pair.other.quotedName) = ?")
        try statement.bind(own, at: 1)
        try statement.bind(other, at: 2)
        try statement.run()
    }

    private func setPlace(_ pair: JoinPair, _ own: Int64, _ other: Int64, _ place: Int64?) throws {
        guard let order = pair.order else { return }
        let statement = try writer.statement(
            "UPDATE \(pair.table.quotedName) SET \(order.quotedName) = ? "
                + "WHERE \(pair.own.quotedName) = ? AND \(pair.other.quotedName) = ?")
        try statement.bind(place, at: 1)
        try statement.bind(own, at: 2)
        try statement.bind(other, at: 3)
        try statement.run()
    }

    /// Returns the stored members of a list, each with its place.
    private func places(_ members: String, of owner: Int64) throws -> [Int64: Int64?] {
        let statement = try writer.statement(members)
        try statement.bind(owner, at: 1)
        defer { statement.reset() }
        var places: [Int64: Int64?] = [:]
        while try statement.step() {
            places.updateValue(statement.isNull(1) ? nil : statement.integer(1), forKey: statement.integer(0))
        }
        return places
    }
}

extension Statement {
    /// Returns the values of the first column that are not NULL, in all rows.
    func integers() throws -> [Int64] {
        defer { reset() }
        var values: [Int64] = []
        while try step() {
            if !isNull(0) { values.append(integer(0)) }
        }
        return values
    }
}
