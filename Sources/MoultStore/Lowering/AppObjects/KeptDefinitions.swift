import MoultModel
import MoultPlan
import MoultSQLite

/// The definitions that an app has added by hand to the tables of entities and relationships: generated columns and
/// constraints.
///
/// A generated column is kept if its expression works with the columns of the new version, which SQLite itself decides.
/// No constraint is kept when a table is recreated, because it may reject values that the new version allows.
package struct KeptDefinitions: Sendable, Equatable {
    /// The SQL of the generated columns that each table of the new version keeps.
    private(set) var kept: [String: [String]] = [:]
    /// The generated columns that are dropped.
    private(set) var columns: [MigrationLoss] = []
    private(set) var constraints: [MigrationLoss] = []

    /// A table of the store before the migration.
    private struct Original {
        let name: String
        let sql: String
        let renamed: RenamedColumns
        /// Returns whether a definition is Core Data's own, or that of a column outside the model.
        let isOwn: (TableDefinition.Part) -> Bool
    }

    /// A table of the new version that can be created with generated columns.
    private struct Target {
        let name: String
        let sql: ([String]) -> String
    }

    /// - Parameters:
    ///   - source: the store before the migration.
    ///   - destination: a new store of the new version.
    ///   - version: the name of the new version.
    ///   - roots: by root entity of the source, the root entity of the destination whose table contains its rows.
    ///   - renamed: the renamed columns that a generated column may refer to.
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

    /// - Parameter target: the table of the new version; nil if the table is dropped.
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

    /// Keeps the generated columns that work in the new version. One may be computed from another, so the rest are
    /// retried until no more can be kept.
    ///
    /// - Returns: SQLite's errors for the columns that cannot be kept.
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
                // A name now used by another column still refers to the old column.
                let text = original.renamed.renaming(part.text, in: original.name) ?? part.text
                let sql = target.sql(kept[target.name, default: []] + [text])
                reasons[part] = SchemaObjectCheck.words {
                    try memory.run(sql)
                    try memory.execute("DROP TABLE \(target.name.quotedName)")
                }
                if reasons[part] == nil { kept[target.name, default: []].append(text) }
            }
        } while reasons.count < count
        return reasons
    }

    /// The definitions that are lost if the tables are recreated.
    var losses: [MigrationLoss] { columns + constraints }

    /// Returns the destination's root entity for each root entity of the source: the one whose table contains its rows.
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

    /// Returns whether a definition is Core Data's or Moult's own.
    ///
    /// - Parameters:
    ///   - unique: the sets of columns that the model keeps unique.
    ///   - withDefaults: whether defaults are Moult's own.
    fileprivate func owns(_ part: TableDefinition.Part, _ unique: Set<[String]>, withDefaults: Bool) -> Bool {
        guard !part.isGenerated else { return false }
        guard let name = part.column?.uppercased() else {
            return part.words.contains("UNIQUE") && unique.contains(part.names)
        }
        // Another finding reports the values of a column that no part of the model explains.
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
    /// The sets of columns in each table that the model keeps unique, by an index or, before framework 865, by the text
    /// of the table.
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

    /// Returns the same tables with an app's generated columns.
    func adding(_ definitions: KeptDefinitions) -> StoreLayout {
        guard !definitions.kept.isEmpty else { return self }
        let kept = definitions.kept
        return with(
            tables: tables.map { table in kept[table.name].map(table.adding) ?? table },
            joinTables: joinTables.map { table in kept[table.name].map(table.adding) ?? table })
    }
}

/// The definitions that an app has added to a Core Data table that is kept: columns unknown to the model, and
/// constraints.
package struct UserTableAdditions: Sendable, Equatable {
    /// The columns whose values are kept.
    package private(set) var columns: [String] = []
    /// The text of the table including the definitions; nil if it is that of a new store.
    package private(set) var sql: String?

    init() {}

    /// Returns nil if SQLite cannot alter the table in place, or if a constraint may reject written values.
    ///
    /// - Parameters:
    ///   - writesColumns: whether columns are dropped or renamed, or get new values.
    ///   - used: the columns of the old table that become columns of the model.
    init?(_ old: EntityTable, becoming table: EntityTable, writesColumns: Bool, overwriting used: Set<String>) {
        guard let before = TableDefinition(old.sql), let fresh = TableDefinition(table.sql), before.options.isEmpty,
            // A generated column is kept only if it works with the new version.
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
        // An app's definitions replace those of a new store, or are added to them.
        let names = Set(own.compactMap(\.columnInCapitals))
        let others = fresh.parts.filter { $0.columnInCapitals.map { !names.contains($0) } == true }
        sql = "CREATE TABLE \(table.name.quotedName) (\((others + own).map(\.text).joined(separator: ", ")))"
    }

    /// Returns nil if the old table lacks a part of the new one.
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
    /// The column's name in capitals; SQLite's names are not case-sensitive.
    fileprivate var columnInCapitals: String? { column?.uppercased() }
}

extension StoreLayout {
    /// Returns the same tables with an app's own definitions.
    func keeping(_ own: [String: UserTableAdditions]) -> StoreLayout {
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
