import MoultBasics
import MoultModel
import MoultSQLite
import MoultStore

/// A reader of rows of one entity's table as snapshots. It has the list of columns to select, and decodes their rows.
package final class SnapshotReader {
    /// The columns to select, separated by commas, for the reader that ``init(of:includingSubentities:in:alias:)``
    /// creates.
    package let selectList: String
    /// The table to select from.
    package let table: String
    private let variants: [Int64: Variant]
    /// The fields that decode values not stored in plain form.
    private let readings: [RowField]
    private var builder: StoredRow.Builder
    /// The index of each entity name among the rows' destination entities.
    private let places: [String: Int]

    /// The way to read the rows of one entity.
    private struct Variant {
        let origin: ObjectID.Origin
        let fields: [Field]
    }

    /// The way to read a property of each row. It holds no references, so that iterating over a row's fields needs no
    /// reference counting.
    private enum Field {
        case none
        /// `reading` is the index of the field that decodes a value not stored in plain form.
        case attribute(AttributeType, isExternal: Bool, isOptional: Bool, column: Int, reading: Int)
        /// `only` is the index of the entity name, if all destinations are of one entity; nil for several.
        case toOne(column: Int, only: Int?, reading: Int)
    }

    /// - Parameters:
    ///   - alias: the table's alias in the query.
    ///   - properties: the properties to read; empty for all.
    /// - Throws: `usage` for an entity that the store does not hold.
    package convenience init(
        of entityName: String, includingSubentities: Bool = true, in store: ObjectStore, alias: String = "t",
        properties: Set<String> = []
    ) throws {
        let entity = try store.columns(of: entityName)
        let below = includingSubentities ? store.model.descendants(of: entity.shape.entity) : []
        let others = try below.map { try store.columns(of: $0.name) }
        self.init([entity] + others, in: store, alias: alias, properties)
    }

    private init(_ entities: [EntityColumns], in store: ObjectStore, alias: String, _ properties: Set<String>) {
        var list = RowColumns(["Z_PK", "Z_ENT", "Z_OPT"], of: alias, externalData: store.externalData)
        var variants: [Int64: Variant] = [:]
        let names = store.model.entities.map(\.name)
        let places = Dictionary(names.enumerated().map { ($1, $0) }) { first, _ in first }
        var readings: [RowField] = []
        for entity in entities {
            let fields = zip(entity.places, entity.shape.properties).map { place, property -> Field in
                guard properties.isEmpty || properties.contains(property.name) else { return .none }
                var isOptional = false
                switch place {
                case .none, .toMany:
                    return .none
                case .attribute(let column, let attribute):
                    isOptional = attribute.isOptional
                    readings.append(list.attribute(attribute, column))
                case .toOne(let column, let entityColumn, let relationship):
                    readings.append(list.toOne(relationship.destination, column, entityColumn: entityColumn))
                }
                switch readings[readings.count - 1] {
                case .attribute(let decoder, let column):
                    return .attribute(
                        decoder.type, isExternal: decoder.isExternal, isOptional: isOptional, column: column,
                        reading: readings.count - 1)
                case .toOne(let choice, let column, _):
                    let only = choice.isFixed ? places[choice.name] : nil
                    return .toOne(column: column, only: only, reading: readings.count - 1)
                }
            }
            variants[entity.number] = Variant(origin: store.origin(of: entity.shape.entity.name), fields: fields)
        }
        (self.variants, self.readings, self.places) = (variants, readings, places)
        builder = StoredRow.Builder(.init(names.map(store.origin)))
        selectList = list.names.joined(separator: ", ")
        table = entities.first?.table ?? ""
    }

    /// Returns the object in the current row.
    ///
    /// - Parameter first: the index of the list's first column in the row.
    /// - Throws: `storeCorrupted` for a row of an entity that does not belong to the table.
    package func snapshot(_ row: Statement, from first: Int = 0) throws -> ObjectSnapshot {
        let key = row.integer(first)
        let number = row.integer(first + 1)
        guard let variant = variants[number] else {
            throw MigrationError(
                .storeCorrupted,
                "The row \(key) of \(table) is of the entity number \(number), which does not "
                    + "belong there.", place: table, remedy: MigrationError.damagedStoreRemedy)
        }
        let id = ObjectID(variant.origin, key: key)
        let values = PositionedValues(made(of: variant.fields, row, first, &builder))
        return ObjectSnapshot(id: id, version: row.integer(first + 2), values: values)
    }

    private func made(
        of fields: [Field], _ row: Statement, _ first: Int, _ builder: inout StoredRow.Builder
    ) -> StoredRow {
        for field in fields { add(field, row, first, to: &builder) }
        return builder.row()
    }

    /// Adds a value; none if it does not fit the declared type, so that one bad value does not hide the object's
    /// others.
    private func add(_ field: Field, _ row: Statement, _ first: Int, to builder: inout StoredRow.Builder) {
        switch field {
        case .none:
            builder.addNothing()
        case .attribute(let type, let isExternal, let isOptional, let column, let reading):
            let cell = row.cell(first + column)
            let storage = cell.storageClass
            if storage == .null { return builder.addNull() }
            if let plain = AttributeDecoder.plain(cell, storage, type, isExternal: isExternal) {
                return builder.add(plain)
            }
            switch readings[reading].value(row, from: first) {
            case .attribute(let value): builder.add(value)
            // Core Data reads a missing file as nil too. The row keeps the file's name until another value is set.
            case .undecodable(let value) where value.isMissingFile && isOptional: builder.addNull()
            case .undecodable, .toOne, .toMany: builder.addNothing()
            }
        case .toOne(let column, let only, let reading):
            switch (row.storageClass(first + column), only) {
            case (.null, _): builder.addNoDestination()
            case (.integer, let only?): builder.addDestination(only, row.integer(first + column))
            default:
                guard case .toOne(let reference?) = readings[reading].value(row, from: first),
                    let place = places[reference.entityName]
                else { return builder.addNothing() }
                builder.addDestination(place, reference.primaryKey)
            }
        }
    }
}

extension ObjectStore {
    /// Returns the current states of objects, in the given order; objects that the store does not have are left out.
    package func snapshots(of ids: [ObjectID]) throws -> [ObjectSnapshot] {
        var found: [ObjectID: ObjectSnapshot] = [:]
        found.reserveCapacity(ids.count)
        try reading {
            for (entityName, ids) in Dictionary(grouping: ids, by: \.entityName) {
                let reader = try snapshotReader(of: entityName)
                let number = try columns(of: entityName).number
                let rows = "SELECT \(reader.selectList) FROM \(reader.table.quotedName) AS t WHERE t.Z_ENT = \(number)"
                try writer.forEachRow("\(rows) AND t.Z_PK IN (?)", keys: try ids.map(key)) { row in
                    let snapshot = try reader.snapshot(row)
                    found[snapshot.id] = snapshot
                }
            }
        }
        return ids.compactMap { found[$0] }
    }

    /// Returns the destinations of a relationship for each of the owners, whose entities may differ.
    ///
    /// - Returns: an entry for each owner, in order if the relationship is ordered, otherwise by key.
    /// - Throws: `usage` for a relationship that is not stored.
    package func destinations(of relationship: String, owners: [ObjectID]) throws -> [ObjectID: [ObjectID]] {
        var found = Dictionary(owners.map { ($0, [ObjectID]()) }, uniquingKeysWith: { first, _ in first })
        try reading {
            for (entityName, owners) in Dictionary(grouping: found.keys, by: \.entityName) {
                guard let stored = try columns(of: entityName).relationship(relationship) else {
                    let place = "\(entityName).\(relationship)"
                    throw MigrationError(
                        .usage, "\(place) is not a stored relationship.", place: place,
                        remedy: "Name a relationship of \(entityName) that is not transient.")
                }
                try writer.forEachRow(destinationsQuery(of: stored), keys: try owners.map(key)) { row in
                    let owner = id(entityName, key: row.integer(0))
                    if let destination = stored.destination.reference(row, key: 1, entity: 2) {
                        found[owner]?.append(id(destination.entityName, key: destination.primaryKey))
                    }
                }
            }
        }
        return found
    }

    /// Returns the stored value of an attribute or a to-one relationship as an SQL literal that reproduces it exactly;
    /// nil for NULL, and for a property without a column. It serves values that do not fit the declared type.
    package func storedLiteral(of name: String, in id: ObjectID) throws -> String? {
        guard let entity = model.entity(id.entityName) else { return nil }
        var place = layout.column(forAttribute: name, in: entity)
        if place == nil, case .foreignKey(_, let column, _)? = layout.storage(ofRelationship: name, in: entity) {
            place = column
        }
        guard let table = layout.table(for: entity)?.name, let column = place?.quotedName else { return nil }
        return try reading {
            try connection.text(
                """
                SELECT CASE typeof(\(column)) WHEN 'null' THEN NULL \
                WHEN 'text' THEN 'CAST(x''' || hex(\(column)) || ''' AS TEXT)' ELSE quote(\(column)) END \
                FROM \(table.quotedName) WHERE Z_PK = ?
                """, [.integer(id.key)])
        }
    }

    /// Returns the bytes of the file that an attribute's column names; nil if it names none, or the file is missing.
    ///
    /// - Throws: the error of reading the file.
    func fileContents(of name: String, in id: ObjectID) throws -> [UInt8]? {
        let entity = try columns(of: id.entityName)
        guard let position = entity.shape.position(of: name), let column = entity.attribute(at: position)?.column else {
            return nil
        }
        let cell = try reading {
            try connection.rows(
                "SELECT \(column.quotedName) FROM \(entity.table.quotedName) WHERE Z_PK = ?", [.integer(id.key)]
            ) { $0.blob(0) }.first ?? nil
        }
        guard let cell, case .file(let file)? = ExternalStorage.Cell(cell) else { return nil }
        return try externalData(file)
    }

    private func destinationsQuery(of relationship: StoredRelationship) throws -> String {
        let destination = relationship.destination
        guard case .foreignKey(let table, let column, let entityColumn) = relationship.storage else {
            return try relationship.storage.destinationsQuery(destination, schema: "main") { "\($0) IN (?)" }
        }
        let columns = destination.columns(key: column, entity: entityColumn, of: "t", schema: "main")
        return "SELECT t.Z_PK, \(columns.joined(separator: ", ")) FROM \(table.quotedName) AS t WHERE t.Z_PK IN (?)"
    }

    private func snapshotReader(of entityName: String) throws -> SnapshotReader {
        if let reader = readers[entityName] { return reader }
        let reader = try SnapshotReader(of: entityName, includingSubentities: false, in: self)
        readers[entityName] = reader
        return reader
    }
}
