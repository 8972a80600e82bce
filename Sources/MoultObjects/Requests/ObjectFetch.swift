import MoultBasics
import MoultModel
import MoultSQLite
import MoultStore

#if canImport(FoundationEssentials)
    import struct FoundationEssentials.UUID
#else
    import struct Foundation.UUID
#endif

/// A description of a fetch: `NSFetchRequest`.
package struct ObjectFetch: Sendable {
    package var entityName: String
    package var predicate: Predicate?
    /// Values for the predicate's variables (`$name`).
    package var variables: [String: ExpressionValue] = [:]
    package var sort: [SortTerm] = []
    package var includesSubentities = true
    /// The identifiers of the stores to ask; nil for all that hold the entity.
    package var stores: Set<UUID>?
    /// Whether a context includes its unsaved changes in the result.
    package var includesPendingChanges = true
    /// The maximum number of objects; 0 for no limit.
    package var limit = 0
    package var offset = 0
    /// The number of objects whose rows are read together, on first access; 0 reads all at once.
    package var batchSize = 0
    /// To-one and to-many key paths whose destinations are read together with the objects.
    package var prefetched: [String] = []
    /// The attributes and to-one relationships to read at once; empty for all. Access to any other property reads the
    /// whole object, along with the others of the fetch.
    package var properties: Set<String> = []

    // Dictionary results.
    /// The properties, key paths and computed values to return; empty fetches objects.
    package var columns: [Column] = []
    package var returnsDistinct = false
    package var groupBy: [String] = []
    package var having: Predicate?

    package init(entityName: String, predicate: Predicate? = nil, sort: [SortTerm] = []) {
        (self.entityName, self.predicate, self.sort) = (entityName, predicate, sort)
    }

    /// A sort term: `NSSortDescriptor`.
    package struct SortTerm: Sendable, Hashable {
        /// A key path, or any other expression, as the format language writes it.
        package var keyPath: String
        package var isAscending: Bool
        /// `caseInsensitive` and `diacriticInsensitive`, for text.
        package var options: Predicate.Options

        package init(_ keyPath: String, isAscending: Bool = true, options: Predicate.Options = []) {
            (self.keyPath, self.isAscending, self.options) = (keyPath, isAscending, options)
        }
    }

    /// A column of dictionary results: `NSExpressionDescription`, or a property by its name.
    package struct Column: Sendable, Hashable {
        package var name: String
        package var expression: Expression

        package init(_ name: String, _ expression: Expression) {
            self.name = name
            self.expression = expression
        }
    }
}

extension ObjectStore {
    /// Returns the objects that a fetch finds, in its order; objects that sort as equal are ordered by key.
    ///
    /// - Throws: `usage` for an entity that the store does not hold, `invalidPredicate` for a predicate without a
    ///   meaning, `fetchUnsupported` with the part of a predicate that can only be evaluated in memory.
    package func fetchIDs(_ fetch: ObjectFetch) throws -> [ObjectID] {
        let alias = FetchLowering.alias
        let sql = try lowered(fetch).select("\(name: alias).Z_PK, \(name: alias).Z_ENT")
        var found: [ObjectID] = []
        let origins = try self.origins(fetch)
        try forEachRow(sql, isCached: true) { row in
            guard let origin = origins[row.integer(1)] else { throw strangeRow(row.integer(0), fetch) }
            found.append(ObjectID(origin, key: row.integer(0)))
        }
        return found
    }

    /// Returns the entities that the rows of a fetch may have, by number, each as the origin of its identities.
    private func origins(_ fetch: ObjectFetch) throws -> [Int64: ObjectID.Origin] {
        let entity = try columns(of: fetch.entityName).shape.entity
        return try ([entity] + model.descendants(of: entity)).reduce(into: [:]) {
            $0[try columns(of: $1.name).number] = origin(of: $1.name)
        }
    }

    /// Returns the current states of the objects that ``fetchIDs(_:)`` finds.
    package func fetchSnapshots(_ fetch: ObjectFetch) throws -> [ObjectSnapshot] {
        let reader = try fetchReader(fetch)
        let sql = try lowered(fetch).select(SQLText(selectList: reader.selectList))
        var found: [ObjectSnapshot] = []
        try forEachRow(sql, isCached: true) { found.append(try reader.snapshot($0)) }
        return found
    }

    /// Calls `body` for each object that the fetch finds, one after another, without keeping the earlier ones.
    ///
    /// All objects come from one state of the store, so `body` may read from it but not write.
    package func forEachSnapshot(_ fetch: ObjectFetch, _ body: (ObjectSnapshot) throws -> Void) throws {
        let reader = try fetchReader(fetch)
        let sql = try lowered(fetch).select(SQLText(selectList: reader.selectList))
        try forEachRow(sql) { try body(try reader.snapshot($0)) }
    }

    /// Returns the number of objects that the fetch finds, within its limit.
    package func count(_ fetch: ObjectFetch) throws -> Int {
        var count = 0
        try forEachRow(try lowered(fetch).selectCount(), isCached: true) { count = Int($0.integer(0)) }
        return count
    }

    /// Returns rows of values instead of objects, by the names of ``ObjectFetch/columns``; without columns, every
    /// attribute and to-one relationship of the entity.
    package func fetchRows(_ fetch: ObjectFetch) throws -> [FetchedRow] {
        var rows: [FetchedRow] = []
        try forEachRow(of: fetch) { rows.append($0) }
        return rows
    }

    /// Calls `body` for each row that ``fetchRows(_:)`` returns, one after another.
    package func forEachRow(of fetch: ObjectFetch, _ body: (FetchedRow) throws -> Void) throws {
        var fetch = fetch
        if fetch.columns.isEmpty { fetch.columns = try columns(of: fetch.entityName).allColumns }
        let lowering = try RowsLowering(lowered(fetch))
        let reader = RowReader(lowering.columns, in: self)
        try forEachRow(lowering.statement) { try body(try reader.values($0)) }
    }

    // MARK: - Running

    /// Returns the reader of a fetch, which is made once for each entity and set of properties.
    private func fetchReader(_ fetch: ObjectFetch) throws -> SnapshotReader {
        var name = "\(FetchLowering.alias) \(fetch.entityName) \(fetch.includesSubentities)"
        if !fetch.properties.isEmpty { name += " " + fetch.properties.sorted().joined(separator: " ") }
        if let known = readers[name] { return known }
        let reader = try SnapshotReader(
            of: fetch.entityName, includingSubentities: fetch.includesSubentities, in: self, alias: FetchLowering.alias,
            properties: fetch.properties)
        readers[name] = reader
        return reader
    }

    func lowered(_ fetch: ObjectFetch) throws -> FetchLowering {
        try FetchLowering(fetch, layout: layout, store: identifier, now: system.now.sinceReferenceDate)
    }

    private func forEachRow(_ sql: SQLText, isCached: Bool = false, _ body: (Statement) throws -> Void) throws {
        try reading {
            // If the caller's code runs between rows, it may need the same statement again before this one ends.
            let statement = isCached ? try writer.statement(sql.text) : try connection.prepare(sql.text)
            defer { isCached ? statement.reset() : statement.finalise() }
            try statement.bind(sql.values)
            while try statement.step() { try body(statement) }
        }
    }

    private func strangeRow(_ key: Int64, _ fetch: ObjectFetch) -> MigrationError {
        MigrationError(
            .storeCorrupted, "The row \(key) of \(fetch.entityName) is of no entity that the model has.",
            place: fetch.entityName, remedy: MigrationError.damagedStoreRemedy)
    }
}

extension EntityColumns {
    /// The attributes and to-one relationships, each under its own name.
    fileprivate var allColumns: [ObjectFetch.Column] {
        zip(shape.properties, places).compactMap { property, place in
            switch place {
            case .attribute, .toOne: ObjectFetch.Column(property.name, .keyPath(property.name))
            case .none, .toMany: nil
            }
        }
    }
}
