import MoultModel
import MoultPlan
import MoultSQLite

/// The definitions that an app has added by hand to the tables of entities and relationships: generated columns and
/// constraints.
///
/// A generated column stays where its expression works with the columns of the new version; SQLite itself decides. No
/// constraint stays where a table is made anew, because it may refuse what the new version allows.
package struct KeptDefinitions: Sendable, Equatable {
    /// By table of the new version, the generated columns that it gets, in their own words.
    private(set) var kept: [String: [String]] = [:]
    /// The generated columns that go.
    private(set) var columns: [MigrationLoss] = []
    private(set) var constraints: [MigrationLoss] = []

    /// One table of a store as it is.
    private struct Original {
        let name: String
        let sql: String
        let renamed: RenamedColumns
        /// Whether a definition is Core Data's own, or that of a column which is no part of the model.
        let isOwn: (TableDefinition.Part) -> Bool
    }

    /// A table of the new version that can be made with generated columns.
    private struct Target {
        let name: String
        let sql: ([String]) -> String
    }

    /// - Parameters:
    ///   - source: the store as it is.
    ///   - destination: a fresh store of the new version.
    ///   - version: the name of the new version.
    ///   - roots: by root entity of the source, that of the destination whose table has its rows.
    ///   - renamed: the columns that a generated one may be computed from under another name.
    ///   - isPending: whether a deferred migration may have written defaults.
    init(
        _ source: StoreLayout, to destination: StoreLayout, version: String, roots: [String: String],
        renamed: RenamedColumns = RenamedColumns(), isPending: Bool
    ) throws {
        let uniqueColumns = source.uniqueColumns
        for table in source.tables where !table.isFresh {
            guard let root = roots[table.rootEntityName],
                let target = destination.tables.first(where: { $0.rootEntityName == root })
            else { continue }
            let unique = uniqueColumns[table.name] ?? []
            try add(
                Original(name: table.name, sql: table.sql, renamed: renamed) {
                    table.owns($0, unique, withDefaults: isPending)
                },
                Target(name: target.name) { target.adding($0).sql }, version)
        }
        for join in source.joinTables where !join.isFresh {
            let target = destination.joinTable(named: join.name)
            try add(
                Original(name: join.name, sql: join.sql, renamed: renamed, isOwn: join.owns),
                target.map { target in Target(name: target.name) { target.adding($0).sql } }, version)
        }
    }

    /// - Parameter target: nil where the table leaves.
    private mutating func add(_ original: Original, _ target: Target?, _ version: String) throws {
        guard let definition = TableDefinition(original.sql) else { return }
        let parts = definition.parts.filter { !original.isOwn($0) }
        let names = Set(definition.parts.compactMap { $0.column?.uppercased() })
        let words: [(String?, String)] =
            parts.filter { !$0.isGenerated }.map { ($0.column, $0.constraints) }
            + (definition.options.isEmpty ? [] : [(nil, definition.options)])
        constraints += words.map { column, words in
            MigrationLoss(
                .constraint, .unexplained, entity: original.name, property: column, version: version,
                detail: words.withoutSQLLiterals(knowing: names))
        }
        let generated = parts.filter(\.isGenerated)
        let reasons = try target.map { try keep(generated, of: original, in: $0) } ?? [:]
        columns += generated.filter { target == nil || reasons[$0] != nil }.map { part in
            MigrationLoss(
                .column, .conflict, entity: original.name, property: part.column, version: version,
                detail: reasons[part] ?? "its table leaves")
        }
    }

    /// One may be computed from another: those that are left are tried again until no more fit.
    ///
    /// - Returns: SQLite's reasons against those that do not.
    private mutating func keep(
        _ generated: [TableDefinition.Part], of original: Original, in target: Target
    ) throws -> [TableDefinition.Part: String] {
        guard !generated.isEmpty else { return [:] }
        let memory = try Connection(":memory:", mode: .create)
        defer { memory.close() }
        var reasons = Dictionary(generated.map { ($0, "") }, uniquingKeysWith: { first, _ in first })
        var count = 0
        repeat {
            count = reasons.count
            for part in generated where reasons[part] != nil {
                // A name that another column has now still means the old one.
                let text = original.renamed.renaming(part.text, in: original.name) ?? part.text
                let sql = target.sql(kept[target.name, default: []] + [text])
                reasons[part] = ObjectTrial.words {
                    try memory.run(sql)
                    try memory.execute("DROP TABLE \(target.name.quotedName)")
                }
                if reasons[part] == nil { kept[target.name, default: []].append(text) }
            }
        } while reasons.count < count
        return reasons
    }

    /// The definitions that go where the tables are made anew.
    var losses: [MigrationLoss] { columns + constraints }

    /// By root entity of the source, that of the destination whose table has its rows.
    static func roots(
        _ mapping: ResolvedMapping, from source: ManagedObjectModel, to destination: ManagedObjectModel
    ) -> [String: String] {
        let pairs = mapping.entityMappings.compactMap { mapping -> (String, String)? in
            guard let from = mapping.sourceEntityName.flatMap(source.entity),
                let to = mapping.destinationEntityName.flatMap(destination.entity)
            else { return nil }
            return (source.root(of: from).name, destination.root(of: to).name)
        }
        return Dictionary(pairs, uniquingKeysWith: { first, _ in first })
    }
}

extension EntityTable {
    fileprivate var isFresh: Bool { sql == adding([]).sql }

    /// - Parameters:
    ///   - unique: the sets of columns that the model keeps unique.
    ///   - withDefaults: whether defaults are Moult's own.
    fileprivate func owns(_ part: TableDefinition.Part, _ unique: Set<[String]>, withDefaults: Bool) -> Bool {
        guard !part.isGenerated else { return false }
        guard let name = part.column?.uppercased() else {
            return part.words.contains("UNIQUE") && unique.contains(part.names)
        }
        // A column that no part of the model explains is reported by its values.
        guard let column = columns.first(where: { $0.name.uppercased() == name }), column.role != .unknown else {
            return true
        }
        if withDefaults, part.words.first == "DEFAULT" { return true }
        return switch part.words {
        case []: true
        case ["PRIMARY", "KEY"]: column.role == .primaryKey
        case ["UNIQUE"]: unique.contains([column.name])
        default: false
        }
    }
}

extension JoinTable {
    fileprivate var isFresh: Bool { sql == adding([]).sql }

    fileprivate func owns(_ part: TableDefinition.Part) -> Bool {
        guard !part.isGenerated else { return false }
        guard let name = part.column?.uppercased() else { return part.words.first == "PRIMARY" }
        let column = columns.first { $0.name.uppercased() == name }
        return part.words.isEmpty || column?.role == .unknown
    }
}

extension StoreLayout {
    /// By table, the sets of its columns that the model keeps unique, be it by an index or, before framework 865, in the
    /// table's own text.
    fileprivate var uniqueColumns: [String: Set<[String]>] {
        var unique: [String: Set<[String]>] = [:]
        for entity in model.entities where !entity.uniquenessConstraints.isEmpty {
            guard let table = table(for: entity) else { continue }
            for constraint in entity.uniquenessConstraints {
                let columns = constraint.compactMap { property in
                    column(forAttribute: property, in: entity)
                        ?? model.declaringEntity(of: property, in: entity).flatMap {
                            table.column(.toOne(entity: $0.name, name: property))
                        }
                }
                unique[table.name, default: []].insert(columns)
            }
        }
        return unique
    }

    /// The same tables with generated columns of an app's own.
    func adding(_ definitions: KeptDefinitions) -> StoreLayout {
        guard !definitions.kept.isEmpty else { return self }
        let kept = definitions.kept
        return with(
            tables: tables.map { table in kept[table.name].map(table.adding) ?? table },
            joinTables: joinTables.map { table in kept[table.name].map(table.adding) ?? table })
    }
}

/// The definitions that an app has added to a table of Core Data's that stays: columns that the model does not know,
/// and constraints.
package struct OwnDefinitions: Sendable, Equatable {
    /// Columns whose values stay.
    package private(set) var columns: [String] = []
    /// The text of the table with them; nil where it is that of a new store.
    package private(set) var sql: String?

    init() {}

    /// Nil where SQLite may not change the table as it stands, or where a constraint may refuse what is written.
    ///
    /// - Parameters:
    ///   - writesColumns: whether columns are dropped or renamed, or get new values.
    ///   - used: the columns of the old table that become columns of the model.
    init?(_ old: EntityTable, becoming table: EntityTable, writesColumns: Bool, overwriting used: Set<String>) {
        guard let before = TableDefinition(old.sql), let fresh = TableDefinition(table.sql), before.options.isEmpty,
            // A generated column stays only where it works with the new version.
            before.parts.filter(\.isGenerated).allSatisfy({ part in
                fresh.parts.contains { $0.isGenerated && $0.columnInCapitals == part.columnInCapitals }
            })
        else { return nil }
        let key = old.column(.primaryKey)?.uppercased()
        let isPlain = before.parts.allSatisfy { part in
            part.column != nil
                && (part.isGenerated || part.words == (part.columnInCapitals == key ? ["PRIMARY", "KEY"] : []))
        }
        guard isPlain || !writesColumns else { return nil }
        columns = old.columns.filter { $0.role == .unknown && !used.contains($0.name) }.map(\.name)
        let own = isPlain ? before.parts.filter { $0.column.map(columns.contains) == true } : before.parts
        guard !own.isEmpty else { return }
        // They stand in place of the definitions of a new store, or beside them.
        let names = Set(own.compactMap(\.columnInCapitals))
        let others = fresh.parts.filter { $0.columnInCapitals.map { !names.contains($0) } == true }
        sql = "CREATE TABLE \(table.name.quotedName) (\((others + own).map(\.text).joined(separator: ", ")))"
    }

    /// Nil where the old table lacks something of the new one.
    init?(_ old: JoinTable, becoming table: JoinTable) {
        guard let before = TableDefinition(old.sql), let fresh = TableDefinition(table.sql),
            before.options == fresh.options,
            Set(before.parts.map(\.meaning)).isSuperset(of: fresh.parts.map(\.meaning)),
            before.parts.allSatisfy({ $0.column != nil || fresh.parts.map(\.meaning).contains($0.meaning) })
        else { return nil }
        columns = old.columns.filter { $0.role == .unknown }.map(\.name)
        sql = old.sql
    }
}

extension TableDefinition.Part {
    /// SQLite's names ignore case.
    fileprivate var columnInCapitals: String? { column?.uppercased() }
}

extension StoreLayout {
    /// The same tables with what an app has added to them.
    func keeping(_ own: [String: OwnDefinitions]) -> StoreLayout {
        with(
            tables: tables.map { table in
                EntityTable(
                    name: table.name, rootEntityName: table.rootEntityName, columns: table.columns,
                    constraints: table.constraints, sql: own[table.name]?.sql ?? table.sql)
            },
            joinTables: joinTables.map { join in
                JoinTable(
                    name: join.name, owner: join.owner, columns: join.columns, sql: own[join.name]?.sql ?? join.sql)
            })
    }
}
