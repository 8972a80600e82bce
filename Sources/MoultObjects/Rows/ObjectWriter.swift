import MoultBasics
import MoultModel
import MoultSQLite
import MoultStore

/// A bulk writer of objects by the names of their properties. A `RowWriter` writes its rows.
///
/// Everything is written in one transaction, which ``commit()`` ends. Until then no other connection sees the changes,
/// and a writer released without a commit leaves the store as it was. The writer maintains keys, entity numbers,
/// `Z_OPT`, `Z_MAX`, the order of ordered relationships, derived attributes with triggers, and external files.
package final class ObjectWriter {
    package let layout: StoreLayout
    let rows: RowWriter
    private let connection: Connection
    private let speed: Speed
    /// The statements of the indexes to be created after all rows are inserted.
    private var postponedIndexes: [String] = []

    /// The trade-off that a writer makes between safety and speed.
    package enum Speed: Sendable {
        /// If the process or machine crashes, the store stays as it was.
        case safe
        /// For a store that can be recreated: no journal, no waiting for the disk, indexes of empty tables created
        /// last. A crash damages the store, and so does an unfinished writer.
        case reckless
    }

    /// - Parameter layout: the layout of this store.
    /// - Throws: `sqlite` or `locked` if the store cannot be opened for writing.
    package init(
        store path: String, layout: StoreLayout, speed: Speed = .safe, on system: some System = POSIXSystem()
    ) throws {
        self.layout = layout
        self.speed = speed
        connection = try Connection(path, mode: .readWrite, isProven: speed == .safe)
        rows = try RowWriter(
            connection, layout: layout, external: ExternalFiles(ExternalStorage(store: path), of: connection, system),
            on: system)
        rows.isIndexed = speed == .safe
        if speed == .reckless {
            try connection.execute(
                "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA locking_mode = EXCLUSIVE; "
                    + "PRAGMA cache_size = -65536")
        }
        try connection.execute("BEGIN IMMEDIATE")
        if speed == .reckless { try postponeIndexes() }
    }

    /// Sorting all keys at once is several times faster than finding the place of each. If there are triggers, the
    /// indexes stay, because triggers may look rows up through them.
    private func postponeIndexes() throws {
        guard !rows.hasTriggers else { return }
        let present = Set(try connection.catalogue().entries.compactMap(\.sql))
        for index in layout.indexes where present.contains(index.sql) {
            guard try connection.value("SELECT 1 FROM \(index.table.quotedName) LIMIT 1") == nil else { continue }
            try connection.execute("DROP INDEX \(index.name.quotedName)")
            postponedIndexes.append(index.sql)
        }
    }

    /// Commits everything written since the writer was created, or since the last commit.
    package func commit() throws {
        try end()
        try connection.execute("BEGIN IMMEDIATE")
    }

    private func end() throws {
        try rows.keys.write()
        if speed == .safe { try rows.external.synchronise() }
        try connection.proveWrites()
        try connection.execute("COMMIT")
        try connection.proveWrites()
        rows.external.finish(committed: true)
        if speed == .safe { rows.begin() }
    }

    /// Commits, and closes the store in the journal mode its framework uses.
    ///
    /// - Parameter leavingLog: whether to leave the written data in the `-wal` file, as a terminated app does. This has
    ///   no effect for a reckless writer, which keeps no log.
    package func finish(leavingLog: Bool = false) throws {
        if leavingLog {
            try connection.execute("PRAGMA wal_autocheckpoint = 0")
            try connection.keepWALOnClose(true)
        }
        // A sort is fastest within the processor's cache.
        if !postponedIndexes.isEmpty { try connection.execute("PRAGMA cache_size = -2048") }
        for index in postponedIndexes { try connection.execute(index) }
        try end()
        if speed == .reckless, layout.level.writesAheadLog {
            try connection.execute("PRAGMA locking_mode = NORMAL; PRAGMA journal_mode = WAL")
        }
        connection.close()
    }

    /// Returns an inserter of many objects of an entity with the given properties: stored attributes and to-one
    /// relationships.
    ///
    /// - Throws: `usage` for an entity or property that the store does not hold, and for a one-to-one relationship.
    package func inserter(_ entity: String, _ properties: [String]) throws -> RowInserter {
        guard let columns = rows.columns(of: entity) else {
            throw MigrationError(
                .usage, "The store holds no objects of \(entity).", place: entity,
                remedy: "Use one of: \(layout.model.entities.map(\.name).joined(separator: ", ")).")
        }
        let positions = try properties.map { name in
            guard let position = columns.shape.position(of: name) else {
                throw MigrationError(
                    .usage, "\(entity) has no property \(name).", place: "\(entity).\(name)",
                    remedy: "Name a property of \(entity).")
            }
            guard columns.isOneToOne(position) else { return position }
            throw MigrationError(
                .usage, "\(columns.place(position)) is one to one: both objects must exist first.",
                place: columns.place(position), remedy: "Link it after both objects are inserted.")
        }
        return try RowInserter(columns, positions: positions, writer: rows)
    }

    /// Inserts one object; ``inserter(_:_:)`` is faster for many.
    @discardableResult
    package func insert(_ entity: String, _ values: [String: PropertyValue], key: Int64? = nil) throws
        -> ObjectReference
    {
        let names = values.keys.inByteOrder()
        return try inserter(entity, names).insert(names.map { values[$0] ?? .attribute(nil) }, key: key)
    }

    /// Adds `destinations` to a relationship of `object`, in their order, after the present ones.
    ///
    /// Writes both ends: the inverse of a to-one relationship, the row of a join table, the place in an ordered list.
    /// - Throws: `usage` for a relationship that is not stored, `dataConflict` for more than one object in a to-one
    ///   and for an object of the wrong entity.
    package func link(_ object: ObjectReference, _ relationship: String, to destinations: [ObjectReference]) throws {
        guard let stored = rows.columns(of: object.entityName)?.relationship(relationship) else {
            let place = "\(object.entityName).\(relationship)"
            throw MigrationError(
                .usage, "\(place) is not a stored relationship.", place: place,
                remedy: "Name a relationship of \(object.entityName) that is not transient.")
        }
        try check(destinations, for: stored)
        rows.noteLinks()
        func link(_ table: String, _ column: String, _ entityColumn: String?, _ orderColumn: String?) throws {
            for destination in destinations {
                let order = try rows.nextPlace(
                    in: stored.reference, of: object.primaryKey, table: table, ownerColumn: column,
                    orderColumn: orderColumn)
                try rows.set(
                    table, destination.primaryKey,
                    [(column, object.primaryKey), (entityColumn, number(of: object)), (orderColumn, order)])
            }
        }
        switch stored.storage {
        case .foreignKey(let table, let column, let entityColumn):
            if let destination = destinations.first {
                try setToOne(of: object, stored, table, column, entityColumn, to: destination)
            }
        case .inverseForeignKey(let table, let column, let entityColumn, let orderColumn):
            try link(table, column, entityColumn, orderColumn)
        case .inverseless(let table, let column, let orderColumn):
            try link(table, column, nil, orderColumn)
        case .joinTable:
            guard let pair = stored.pair else { return }
            for destination in destinations {
                try rows.appendPair(pair, stored, object.primaryKey, destination.primaryKey)
            }
        }
    }

    private func setToOne(
        of object: ObjectReference, _ relationship: StoredRelationship, _ table: String, _ column: String,
        _ entityColumn: String?, to destination: ObjectReference
    ) throws {
        var order: Int64?
        if let list = relationship.inverse, let orderColumn = relationship.inverseOrderColumn {
            order = try rows.nextPlace(
                in: list, of: destination.primaryKey, table: table, ownerColumn: column, orderColumn: orderColumn)
        } else if case .foreignKey(let backTable, let backColumn, let backEntity)? = relationship.inverseStorage {
            try rows.set(
                backTable, destination.primaryKey, [(backColumn, object.primaryKey), (backEntity, number(of: object))])
        }
        try rows.set(
            table, object.primaryKey,
            [
                (column, destination.primaryKey), (entityColumn, number(of: destination)),
                (relationship.inverseOrderColumn, order),
            ])
    }

    private func number(of object: ObjectReference) -> Int64? {
        layout.entityNumbers[object.entityName].map(Int64.init)
    }

    private func check(_ destinations: [ObjectReference], for relationship: StoredRelationship) throws {
        let place = relationship.place
        for destination in destinations where !relationship.accepts(destination.entityName) {
            throw relationship.mismatch(destination.entityName)
        }
        if !relationship.description.isToMany, destinations.count > 1 {
            throw MigrationError(
                .dataConflict,
                "\(place) is to one, and \(Quantity.count(destinations.count, "object was", plural: "objects were")) given.",
                place: place,
                remedy: "Give one object.")
        }
    }
}

extension StoredRelationship {
    func mismatch(_ entityName: String) -> MigrationError {
        let destination = description.destinationEntityName
        return MigrationError(
            .dataConflict, "\(place) leads to \(destination), not to \(entityName).", place: place,
            remedy: "Link an object of \(destination).")
    }
}
