import MoultModel
import MoultPlan
import MoultSQLite
import MoultStore

/// The space that a plan takes in a store, from the rows and the tables that its statements change.
struct StoreGrowth: Sendable {
    let plan: BoundPlan
    /// The source entities whose objects become rows of each new table.
    private let sources: [String: [String]]
    /// The sources that the mappings give each attribute.
    private let given: [String: [AttributeSource]]
    /// The mappings to each entity.
    private let mappings: [String?: [ResolvedEntityMapping]]

    init(plan: BoundPlan) {
        self.plan = plan
        var sources: [String: [String]] = [:]
        for mapping in plan.mapping.entityMappings {
            guard let old = mapping.sourceEntityName, let new = mapping.destinationEntityName,
                let table = plan.destination.table(forEntity: new)
            else { continue }
            sources[table.name, default: []].append(old)
        }
        self.sources = sources
        mappings = Dictionary(grouping: plan.mapping.entityMappings, by: \.destinationEntityName)
        given = Dictionary(grouping: plan.mapping.entityMappings.flatMap(\.attributes), by: \.key)
            .mapValues { $0.map(\.value) }
    }

    /// Counts what the statements of a script take, without the data that app code writes.
    ///
    /// The store itself reports its row counts, so the numbers can be arbitrarily large and must not cause a trap.
    ///
    /// - Parameters:
    ///   - connection: the connection to the store.
    ///   - memory: the bytes that SQLite sorts or caches in memory.
    func space(of script: StoreScript, over connection: Connection, _ state: StoreState, memory: Int64) throws
        -> ScriptSpace
    {
        let measured = try StoreMeasures(connection, state)
        var count = PageCount(measured, memory: Double(max(memory, 250 * state.pageSize)))
        // The model, the metadata and the catalogue are written anew, and each new table or index moves a page of a
        // database with a pointer map.
        count.changeCatalogue(
            3 * newTexts + (4 * newObjects + 24) * measured.pageSize, adding: newTexts + newObjects * measured.pageSize)
        for statement in script.statements { try take(statement, &count) }
        return count.space
    }

    private func take(_ statement: StoreScript.Statement, _ count: inout PageCount) throws {
        let (name, measured) = (statement.table, count.measured)
        switch statement.kind {
        case .createTable:
            // Policies fill tables too, without a statement. Other tables are measured where they are filled.
            count.add(measured.pageSize)
            guard let table = plan.destination.table(named: name) else { return }
            count.add(try oldTables(of: table).reduce(0) { try $0 + measured.size($1, with: .constraints) })
            let rows = rows(of: table)
            if rows > 0 { count.add(try wider(table, measured) * rows * 1.25) }
        case .fill:
            if plan.destination.joinTable(named: name) != nil {
                let pairs = try pairs(in: statement.reads, measured)
                count.pairs[name, default: 0] += pairs.count
                count.add(pairs.bytes)
            } else if plan.destination.table(named: name) == nil {
                // A copy of a table whose pairs have no index, or a search table.
                count.add(try statement.reads.reduce(0) { try $0 + measured.size($1) })
            }
        case .update: try update(statement, &count)
        case .delete where statement.rows != 0: count.write(name, try measured.size(name, with: .indexes))
        case .dropColumn where statement.rows != 0:
            let size = try measured.size(name)
            // Until the statement ends, SQLite keeps the old pages.
            count.keep(size, of: name)
            count.write(name, size)
            guard let table = plan.destination.table(named: name) else { return }
            try widen(table, by: missing(table, measured), &count)
        case .dropTable: count.free(try measured.size(name, with: .indexes, orIfUnknown: 0))
        case .dropIndex:
            let index = statement.sql.sqlTokens.last { $0.text != ";" }?.name ?? ""
            count.free(try measured.size(index, orIfUnknown: 0))
        case .createIndex:
            let entries = try entries(of: statement, count)
            count.keep(0)
            count.sort(entries)
            count.add(entries.bytes * 1.05 + measured.pageSize)
        default: return
        }
    }

    // MARK: - Rows

    private func rows(of table: EntityTable) -> Double {
        sources[table.name, default: []].reduce(0) { $0 + Double(plan.rowCounts[$1] ?? 0) }
    }

    /// The tables whose rows become those of a new table.
    private func oldTables(of table: EntityTable) -> Set<String> {
        Set(sources[table.name, default: []].compactMap { plan.source.table(forEntity: $0)?.name })
    }

    /// Counts the rows that get new values, each in its place.
    private func update(_ statement: StoreScript.Statement, _ count: inout PageCount) throws {
        let (name, measured) = (statement.table, count.measured)
        guard statement.rows != 0 else { return }
        let size = try measured.size(name)
        guard let table = plan.destination.table(named: name), !statement.columns.isEmpty else {
            count.write(name, try measured.size(name, with: .indexes))
            return count.widen(name, by: size / 7)
        }
        // SQLite does not write a row whose bytes stay the same.
        var rows = 0.0
        for column in statement.columns { rows += try changes(of: column, in: table, measured) ?? .infinity }
        let most = rows * measured.pageSize
        guard most < size else {
            count.write(name, size)
            return try widen(table, by: wider(table, measured), &count)
        }
        count.change(most)
        let filling = table.columns.filter { statement.columns.contains($0.name) }
            .reduce(0) { $0 + (carried($1, ofAnyType: true)?.filling ?? 0) }
        try widen(table, by: filling + missing(table, measured), upTo: most, &count)
    }

    private func widen(
        _ table: EntityTable, by bytes: Double, upTo most: Double = .infinity, _ count: inout PageCount
    ) throws {
        guard bytes > 0 else { return }
        let more = try count.measured.overflow(of: table.name, growingBy: bytes, rows: rows(of: table))
        // Rows that grow in place split full pages, which are then not as full. In tables of all sizes of rows, filled
        // in any order, this took a sixth of the table at most, and no more than the pages in which rows do not fit.
        let size = try count.measured.size(table.name)
        count.widen(table.name, by: min(more.bytes * 1.15 + min(more.share, 1 / 6) * size, most))
    }

    /// Returns the number of rows that an update of one column changes, if it is a small part; nil for all.
    private func changes(of column: String, in table: EntityTable, _ measured: StoreMeasures) throws -> Double? {
        guard let new = table.columns.first(where: { $0.name == column }),
            let old = plan.source.table(named: table.name)?.columns.first(where: { $0.name == column }),
            let carried = carried(new, ofAnyType: true), carried.table == table.name, carried.column == column
        else { return nil }
        let name = column.quotedName
        let filled = carried.filling == 0 ? 0 : try measured.count("\(name) IS NULL", in: table.name)
        guard old.type != new.type else { return carried.filling > 0 ? filled : nil }
        guard [.integer, .numeric].contains(ColumnAffinity(declaredType: old.type)),
            ColumnAffinity(declaredType: new.type) == .real
        else { return nil }
        // A whole number of up to six bytes is stored as an integer by a column of reals too.
        let stays = "typeof(\(name)) IN ('integer', 'real', 'null') AND ifnull(abs(\(name)) < 140737488355328, 1)"
        return try filled.flatMap { filled in try measured.count("NOT (\(stays))", in: table.name).map { $0 + filled } }
    }

    /// Returns the mean number of bytes by which the rows of a table become longer when they are written.
    private func wider(_ table: EntityTable, _ measured: StoreMeasures) throws -> Double {
        let rows = max(rows(of: table), 1)
        let old = oldTables(of: table)
        // The result of an expression is assumed to be as large as a whole row.
        let row = try old.reduce(0) { try $0 + measured.size($1) } / rows
        let present = Set(plan.source.table(named: table.name)?.columns.map { "\($0.name) \($0.type)" } ?? [])
        var used: Set<String> = []
        var bytes = try missing(table, measured)
        for column in table.columns {
            guard let carried = carried(column), used.insert("\(carried.table).\(carried.column)").inserted else {
                bytes += present.contains("\(column.name) \(column.type)") ? 0 : width(of: column, row)
                continue
            }
            guard carried.filling > 0 else { continue }
            let empty = try measured.count("\(carried.column.quotedName) IS NULL", in: carried.table) ?? rows
            bytes += carried.filling * min(empty / rows, 1)
        }
        guard isRenumbered else { return bytes }
        // A new entity number may take more bytes in each record.
        let numbers = table.columns.filter { if case .toOneEntity = $0.role { true } else { $0.role == .entity } }
        return bytes + 2 * Double(numbers.count)
    }

    /// Returns the bytes that a row lacks, because columns were added to the table after it was written.
    private func missing(_ table: EntityTable, _ measured: StoreMeasures) throws -> Double {
        try oldTables(of: table).compactMap { plan.source.table(named: $0) }.reduce(0) {
            max($0, try measured.missing(in: $1.name, columns: $1.columns.map(\.name)))
        }
    }

    private var isRenumbered: Bool {
        plan.source.entityNumbers.contains { name, old in
            plan.destination.entityNumbers[name].map { $0 > old } ?? false
        }
    }

    // MARK: - Pairs and entries

    /// Returns the most pairs that a join table gets from other tables, and the bytes of the pairs and their key.
    private func pairs(in tables: Set<String>, _ measured: StoreMeasures) throws -> StoreMeasures.Entries {
        var pairs: StoreMeasures.Entries = (0, 0)
        for table in tables.sorted() {
            if plan.source.joinTable(named: table) != nil {
                pairs.count += try measured.count("1", in: table) ?? 0
                // In another order, the pages of the key are not as full.
                pairs.bytes += try measured.size(table, with: .constraints) * 1.3
            } else if let table = plan.source.table(named: table) {
                let keys = table.columns.filter(\.role.isForeignKey).map { "\($0.name.quotedName) IS NOT NULL" }
                let some = keys.isEmpty ? "1" : keys.joined(separator: " OR ")
                let count = try measured.count(some, in: table.name) ?? 0
                pairs.count += count
                pairs.bytes += count * (22 + 3 * (try measured.keySize(of: table.name))) * 1.05
            }
        }
        return pairs
    }

    /// Returns the entries of a new index: the values of its columns, and the key.
    private func entries(of index: StoreScript.Statement, _ count: PageCount) throws -> StoreMeasures.Entries {
        let (measured, names) = (count.measured, Set(index.sql.sqlTokens.map(\.name)))
        if plan.destination.joinTable(named: index.table) != nil {
            let pairs = try count.pairs[index.table] ?? measured.count("1", in: index.table) ?? 0
            let keys = try plan.source.tables.map { try measured.keySize(of: $0.name) }
            return (pairs, pairs * (7 + 3 * (keys.max() ?? 8)))
        }
        guard let table = plan.destination.table(named: index.table) else {
            return try measured.entries(names, of: index.reads.first ?? index.table)
        }
        let rows = rows(of: table)
        // The old index of these values, in its own order, is no smaller. No row has to be read for it.
        if oldTables(of: table) == [table.name], let old = plan.source.indexes.first(where: { $0.sql == index.sql }) {
            let size = try measured.size(old.name, orIfUnknown: 0)
            let stays = table.columns.filter { names.contains($0.name) }.allSatisfy { column in
                if let carried = carried(column) {
                    carried.column == column.name && carried.filling == 0
                } else {
                    false
                }
            }
            if size > 0, stays { return (rows, size) }
        }
        let row = try oldTables(of: table).reduce(0) { try $0 + measured.size($1) } / max(rows, 1)
        var entries: StoreMeasures.Entries = (rows, 0)
        var found: [String: Set<String>] = [:]
        for column in table.columns where names.contains(column.name) {
            if let carried = carried(column), !carried.table.isEmpty {
                found[carried.table, default: []].insert(carried.column)
                entries.bytes += rows * carried.filling
            } else {
                entries.bytes += rows * width(of: column, min(row, measured.pageSize))
            }
        }
        for old in oldTables(of: table) { entries.bytes += try measured.entries(found[old] ?? [], of: old).bytes }
        return entries
    }

    // MARK: - Values

    /// An old column whose values become those of a new one, and the size of the value that NULLs get.
    private typealias Carried = (table: String, column: String, filling: Double)

    /// Returns the old column whose values become those of a column, under another name or in another table.
    ///
    /// - Parameter ofAnyType: whether the type may change.
    private func carried(_ column: EntityTable.Column, ofAnyType: Bool = false) -> Carried? {
        func found(_ old: String?, in table: EntityTable?, _ filling: Double = 0) -> Carried? {
            guard let old, let table, let type = table.columns.first(where: { $0.name == old })?.type,
                ofAnyType || type == column.type
            else { return nil }
            return (table.name, old, filling)
        }
        func mapping(_ entity: String) -> (ResolvedEntityMapping, EntityDescription, EntityTable)? {
            guard let all = mappings[entity], all.count == 1, let only = all.first,
                let old = only.sourceEntityName.flatMap(plan.source.model.entity),
                let table = plan.source.table(for: old)
            else { return nil }
            return (only, old, table)
        }
        func relationship(_ entity: String, _ name: String) -> (RelationshipDescription, String, EntityTable)? {
            guard let (mapping, old, table) = mapping(entity),
                case .relationship(let from)? = mapping.relationships[name],
                let relationship = plan.source.model.relationship(from, of: old),
                let declaring = plan.source.model.declaringEntity(of: from, in: old)?.name
            else { return nil }
            return (relationship, declaring, table)
        }
        switch column.role {
        case .primaryKey, .entity, .optimisticLock: return ("", column.name, 0)
        case .attribute(let entity, let name):
            guard let (mapping, old, table) = mapping(entity),
                case .attribute(let from, let ifNil)? = mapping.attributes[name]
            else { return nil }
            return found(plan.source.column(forAttribute: from, in: old), in: table, ifNil.map(Self.length) ?? 0)
        case .toOne(let entity, let name):
            return relationship(entity, name).flatMap { relationship, declaring, table in
                found(table.column(.toOne(entity: declaring, name: relationship.name)), in: table)
            }
        case .toOneEntity(let entity, let name):
            return relationship(entity, name).flatMap { relationship, declaring, table in
                found(table.column(.toOneEntity(entity: declaring, name: relationship.name)), in: table)
            }
        case .order(let entity, let name):
            return relationship(entity, name).flatMap { relationship, declaring, table in
                found(table.column(.order(entity: declaring, name: relationship.name)), in: table)
            }
        default: return nil
        }
    }

    /// Returns the size of a new value, including its type in the row's header.
    private func width(of column: EntityTable.Column, _ row: Double) -> Double {
        switch column.role {
        case .entity, .toOneEntity: return 4
        case .primaryKey, .optimisticLock: return 7
        default: break
        }
        if case .attribute(_, let name) = column.role, let given = given[name],
            given.allSatisfy({ $0 == .constant(nil) })
        {
            return 1
        }
        guard column.type == "VARCHAR" || column.type == "BLOB" else {
            guard case .attribute(_, let name) = column.role, let given = given[name] else { return 10 }
            let sizes = given.map { source -> Double in
                if case .constant(.integer(let value)?) = source { 1 + StoreMeasures.bytes(of: value) } else { 10 }
            }
            return sizes.max() ?? 10
        }
        guard case .attribute(let entity, let name) = column.role,
            let attribute = plan.destination.model.entity(entity)?.attribute(name), attribute.derivation == nil
        else { return row + 4 }
        let given = (given[name] ?? []).map { source -> Double in
            switch source {
            // A number as text; a renamed attribute leaves its old column behind.
            case .attribute(_, let ifNil): max(24, ifNil.map(Self.length) ?? 0)
            case .constant(let value): value.map(Self.length) ?? 0
            case .expression: row
            }
        }
        return (given.max() ?? attribute.defaultValue.map(Self.length) ?? 0) + 4
    }

    private static func length(_ value: AttributeValue) -> Double {
        switch value.stored {
        case .text(let text): Double(text.utf8.count)
        case .blob(let bytes): Double(bytes.count + 1)
        case .integer(let number): StoreMeasures.bytes(of: number)
        case .real: 8
        case .null, nil: 0
        }
    }

    // MARK: - The catalogue

    /// The number of new tables and indexes, of at least a page each.
    private var newObjects: Double {
        func names(_ layout: StoreLayout) -> Set<String> {
            Set(layout.tables.map(\.name) + layout.joinTables.map(\.name) + layout.indexes.map(\.name))
        }
        // A join table has an index of its own.
        return Double(names(plan.destination).subtracting(names(plan.source)).count + plan.destination.joinTables.count)
    }

    /// The size of the model and the metadata, one value each, of the catalogue and of the entities' numbers.
    private var newTexts: Double {
        let texts = plan.destination.createStatements.reduce(0) { $0 + $1.utf8.count }
        let numbers = 64 * plan.destination.entityNumbers.count
        return Double((plan.modelCache?.count ?? 0) + plan.metadata.propertyList.count + texts + numbers)
    }
}
