import MoultBasics
import MoultModel
import MoultSQLite
import MoultStore

extension ObjectSave {
    /// Finds objects that would have the same values of a uniqueness constraint, within the save and in the store.
    ///
    /// The values that the named rows will have are put into a temporary table with columns of the same types, so that
    /// SQLite compares them exactly as its unique indexes do.
    func checkUniqueness() throws {
        let runs = changes.inserted.lazy.map(\.id).entityRuns + updates.lazy.map(\.id).entityRuns
        let roots = Set(runs.compactMap { writer.columns(of: $0.name)?.root })
        for root in roots.inByteOrder() {
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

    /// Returns the objects that the save inserts or updates, by key, with the identities that the save uses.
    private func ids(in root: String) throws -> [Int64: ObjectID] {
        var ids: [Int64: ObjectID] = [:]
        for (insertion, key) in zip(changes.inserted, insertedKeys)
        where writer.columns(of: insertion.id.entityName)?.root == root {
            ids[key] = insertion.id
        }
        for id in updates.map(\.id) where writer.columns(of: id.entityName)?.root == root { ids[try key(of: id)] = id }
        return ids
    }

    /// Clears unique columns before new values are written, because rows may exchange their values.
    func emptyUniqueColumns() throws {
        for column in emptied { try writer.set(column.table, column.key, [(column.column, nil)]) }
    }
}

/// A unique column of a row that gets a new value.
struct EmptiedColumn {
    let table: String
    let key: Int64
    let column: String
}

/// A uniqueness constraint as a table enforces it: no two rows have the same values in these columns, unless one is
/// NULL.
///
/// A unique index covers the whole table, even if the entity that declares the constraint is below the root.
struct UniqueColumns: Hashable {
    let table: String
    let root: String
    /// The properties, as the model names them.
    let properties: [String]
    /// The names and declared types of the columns.
    let columns: [Column]

    struct Column: Hashable {
        let name: String
        let type: String
    }

    /// Returns every constraint of the entities of one hierarchy, without duplicates.
    static func all(of root: String, in writer: RowWriter) -> [UniqueColumns] {
        let model = writer.layout.model
        guard let entity = model.entity(root), let table = writer.layout.table(for: entity) else { return [] }
        let types = table.types
        var found: [UniqueColumns] = []
        for entity in [entity] + model.descendants(of: entity) {
            guard let places = writer.columns(of: entity.name) else { continue }
            for properties in entity.uniquenessConstraints {
                let columns = properties.compactMap { places.column(of: $0) }
                    .map { Column(name: $0, type: types[$0] ?? "") }
                guard columns.count == properties.count, !columns.isEmpty,
                    !found.contains(where: { Set($0.columns) == Set(columns) })
                else { continue }
                found.append(UniqueColumns(table: table.name, root: root, properties: properties, columns: columns))
            }
        }
        return found
    }

    /// Returns the position of each column's property in the shape of an entity; nil if the entity lacks one of them.
    func positions(in entity: EntityColumns) -> [Int]? {
        let positions = columns.compactMap { column in entity.position(ofColumn: column.name) }
        return positions.count == columns.count ? positions : nil
    }
}

extension EntityColumns {
    /// Returns the column of an attribute or a to-one relationship.
    func column(of name: String) -> String? { shape.position(of: name).flatMap { column(at: $0) } }

    func position(ofColumn column: String) -> Int? { places.indices.first { self.column(at: $0) == column } }

    func column(at position: Int) -> String? {
        switch places[position] {
        case .attribute(let column, _), .toOne(let column, _, _): column
        case .none, .toMany: nil
        }
    }
}

/// The values that rows will have for one uniqueness constraint, in a temporary table.
final class UniqueCandidates {
    let constraint: UniqueColumns
    private(set) var count = 0
    /// Attributes of stored rows that get another value.
    var changed: [EmptiedColumn] = []
    private let writer: RowWriter
    private let table: String
    private var positions: [String: [Int]?] = [:]

    init(_ constraint: UniqueColumns, number: Int, _ writer: RowWriter) throws {
        self.constraint = constraint
        self.writer = writer
        table = "temp.\("Z_UNIQUE_\(constraint.table)_\(number)".quotedName)"
        let columns = constraint.columns.enumerated().map { "c\($0) \($1.type)" }.joined(separator: ", ")
        try writer.connection.execute("CREATE TEMP TABLE IF NOT EXISTS \(table) (pk INTEGER PRIMARY KEY, \(columns))")
        try clear()
    }

    func clear() throws { try writer.statement("DELETE FROM \(table)").run() }

    func positions(in entity: EntityColumns) -> [Int]? {
        let name = entity.shape.entity.name
        if let known = positions[name] { return known }
        let found = constraint.positions(in: entity)
        positions[name] = .some(found)
        return found
    }

    private var columnNames: String { constraint.columns.indices.map { "c\($0)" }.joined(separator: ", ") }

    /// Adds a new row, without values yet.
    func add(_ key: Int64, _ entity: EntityColumns) throws {
        count += 1
        try writer.statement("INSERT INTO \(table) (pk) VALUES (?)").run([.integer(key)])
    }

    /// Adds a row with its stored values.
    func addStored(_ key: Int64) throws {
        count += 1
        let stored = constraint.columns.map(\.name.quotedName).joined(separator: ", ")
        try writer.statement(
            "INSERT INTO \(table) (pk, \(columnNames)) SELECT Z_PK, \(stored) FROM \(constraint.table.quotedName) "
                + "WHERE Z_PK = ?"
        ).run([.integer(key)])
    }

    func set(_ column: Int, of key: Int64, to value: AttributeValue, _ entity: EntityColumns) throws {
        let statement = try update(column)
        guard let position = entity.position(ofColumn: constraint.columns[column].name),
            case .attribute(_, let attribute) = entity.places[position]
        else { return }
        try AttributeBinder(
            attribute: attribute, parameter: 1, external: writer.external, place: entity.place(position)
        ).bind(value, to: statement)
        try statement.bind(key, at: 2)
        try statement.run()
    }

    func set(_ column: Int, of key: Int64, to value: Int64?) throws {
        let statement = try update(column)
        try statement.bind(value, at: 1)
        try statement.bind(key, at: 2)
        try statement.run()
    }

    private func update(_ column: Int) throws -> Statement {
        try writer.statement("UPDATE \(table) SET c\(column) = ? WHERE pk = ?")
    }

    // MARK: - Conflicts

    /// Returns the keys of candidates with equal values, one group for each set of values.
    func groups() throws -> [[Int64]] {
        let present = constraint.columns.indices.map { "c\($0) IS NOT NULL" }.conditions(joinedBy: "AND")
        let sql = """
            SELECT group_concat(pk) FROM (SELECT * FROM \(table) ORDER BY pk) WHERE \(present)
            GROUP BY \(columnNames) HAVING count(*) > 1 ORDER BY min(pk)
            """
        return try writer.connection.rows(sql) { row in
            (row.text(0) ?? "").split(separator: ",").compactMap { Int64($0) }
        }
    }

    /// Returns the stored rows that are not candidates but have the values of a candidate.
    func stored() throws -> [(candidate: Int64, key: Int64, number: Int64)] {
        let equal = constraint.columns.enumerated().map { "t.\($1.name.quotedName) = c.c\($0)" }
            .conditions(joinedBy: "AND")
        let sql = """
            SELECT c.pk, t.Z_PK, t.Z_ENT FROM \(table) AS c JOIN main.\(constraint.table.quotedName) AS t ON \(equal)
            WHERE t.Z_PK NOT IN (SELECT pk FROM \(table)) ORDER BY c.pk, t.Z_PK
            """
        return try writer.connection.rows(sql) { ($0.integer(0), $0.integer(1), $0.integer(2)) }
    }
}
