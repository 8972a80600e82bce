import MoultModel
import MoultPlan
import MoultSQLite
import MoultStore

/// A mapping lowered so that it creates the rows of only some objects, in an empty database next to the store.
///
/// `main` is that database, and the schema `source` is the store. The table ``keys`` of `main` lists the objects. A
/// table is created completely if its rows depend on more than the one object that each is created from.
package struct PartialScript: Sendable {
    /// The table of `main` that lists the objects; `place` is the name of their table in the source.
    package static let keys = "moult_keys"
    package static let makeKeys =
        "CREATE TABLE main.\(keys) (place TEXT, key INTEGER, PRIMARY KEY (place, key)) WITHOUT ROWID"

    /// The reason why the script can only run for all objects of a store, as a sentence; nil if it can run for some.
    package let obstacle: String?
    /// The reason why changes to what the script creates cannot be copied back, as a sentence; nil if it knows none.
    package let obstacleToReturn: String?
    package let tables: [Table]
    package let sources: [Source]
    /// The script with the functions that the statements call.
    package let script: StoreScript
    private let history: [StoreScript.Statement]
    private let historyTables: [Catalogue.Entry]

    /// A table of the destination that the mapping fills.
    package struct Table: Sendable {
        package let name: String
        package let columns: [String]
        /// The columns that identify a row.
        package let key: [String]
        /// The columns that contain keys of listed objects; nil if the table is always created completely.
        package let limits: [Limit]?
        /// The columns that no source value fills, in all rows or in those of some entities.
        package let unfilled: [Unfilled]
        /// The entity numbers of the rows that the mapping creates; empty for a join table.
        package let numbers: [Int]
        fileprivate let make: StoreScript.Statement
        fileprivate let fillAll: [StoreScript.Statement]
        fileprivate let fillListed: [StoreScript.Statement]
    }

    /// A column that no source value fills in the rows of some entities. An attribute may come from the source in the
    /// rows of a sub-entity alone.
    package struct Unfilled: Sendable, Hashable {
        package let column: String
        /// The numbers of these entities.
        package let numbers: [Int]
    }

    /// A column of the destination that contains the keys of objects of one source table.
    package struct Limit: Sendable, Equatable {
        package let column: String
        package let source: String
    }

    /// A source table that supplies the rows of one entity table of the destination.
    package struct Source: Sendable {
        package let table: String
        package let numbers: [Int]
        package let rootNumber: Int
        package let destination: String
        package let destinationNumbers: [Int]
        package let destinationRootNumber: Int
    }

    /// - Parameters:
    ///   - source: the layout of the store.
    ///   - destination: the layout of the store that the rows are created for.
    ///   - catalogue: the catalogue of the store.
    /// - Throws: `unsupported` if statements cannot compute a value.
    package init(
        _ mapping: ResolvedMapping, from source: StoreLayout, to destination: StoreLayout, catalogue: Catalogue
    ) throws {
        // Without the catalogue of a store, no table counts as already existing.
        func lower(over catalogue: Catalogue) throws -> StoreLowering {
            try StoreLowering(
                source: source, destination: destination, mapping: mapping, catalogue: catalogue, rowCounts: [:],
                highestKeys: [:], disjoint: [], sortsPairs: false)
        }
        let lowering = try lower(over: Catalogue(entries: []))
        let tables = lowering.changes
        let obstacle = lowering.partialObstacle(tables)
        self.obstacle = obstacle ?? (lowering.derivedUpdates().isEmpty ? nil : Self.computesDerivedValues)
        // New derived attributes have no place in the source, and need none.
        obstacleToReturn = obstacle ?? (lowering.replacesDerivedValues ? Self.computesDerivedValues : nil)
        sources = tables.compactMap(lowering.partialSource)
        let places = Dictionary(sources.map { ($0.destination, $0.table) }, uniquingKeysWith: { first, _ in first })
        self.tables =
            tables.compactMap(lowering.partialTable)
            + lowering.joinChanges.compactMap { lowering.partialTable($0, places) }
        let history = HistoryLowering(try lower(over: catalogue))
        self.history = history.statements
        historyTables = catalogue.tables.filter { Self.historyTables.contains($0.name) }
        script = StoreScript(
            statements: [], historyColumns: history.columns,
            transforms: lowering.contributions.flatMap(\.values.functions))
    }

    private static let computesDerivedValues = "Derived attributes are computed anew from all objects."

    package static let historyTables = ["ATRANSACTION", "ACHANGE", "ATRANSACTIONSTRING"]

    /// Returns the statements that create a table and fill it, for the listed objects or for all of them.
    package func statements(for table: Table, listed: Bool) -> [StoreScript.Statement] {
        [table.make] + (listed ? table.fillListed : table.fillAll)
    }

    /// Returns statements that create the history tables with the changes after a transaction; empty without history.
    package func history(after transaction: Int64) -> [StoreScript.Statement] {
        guard historyTables.contains(where: { $0.name == "ACHANGE" }) else { return [] }
        let copies = historyTables.flatMap { entry -> [StoreScript.Statement] in
            let condition =
                switch entry.name {
                case "ACHANGE": " WHERE ZTRANSACTIONID > \(transaction)"
                case "ATRANSACTION": " WHERE Z_PK > \(transaction)"
                default: ""
                }
            return [
                .createTable(entry.name, entry.sql ?? ""),
                .init(
                    .fill, entry.name, reads: [entry.name],
                    "INSERT INTO main.\(entry.name) SELECT * FROM source.\(entry.name)\(condition)",
                    "Copy the history since.", rows: .unknown),
            ]
        }
        return copies + history
    }
}

// MARK: - Tables

extension StoreLowering {
    fileprivate func partialObstacle(_ tables: [TableChange]) -> String? {
        if let made = mapping.entityMappings.first(where: { $0.policy != nil }) {
            return "A migration policy makes the objects of \(made.destinationEntityName ?? made.name)."
        }
        if let picked = mapping.entityMappings.first(where: { $0.predicate != nil }) {
            return "The mapping to \(picked.destinationEntityName ?? picked.name) takes only some objects."
        }
        if let mixed = tables.first(where: { $0.fills.count > 1 }) {
            return "The objects of \(mixed.table.rootEntityName) come from several tables or several times from one."
        }
        if let converted = contributions.first(where: { !$0.values.failures.isEmpty }) {
            return "Whether values of \(converted.destination.name) can be converted is asked of all objects."
        }
        return nil
    }

    fileprivate func partialSource(_ change: TableChange) -> PartialScript.Source? {
        guard let fill = change.fills.first, let from = source.table(named: fill.source),
            let root = source.entityNumbers[from.rootEntityName],
            let destinationRoot = destination.entityNumbers[change.table.rootEntityName]
        else { return nil }
        return PartialScript.Source(
            table: fill.source, numbers: change.contributions.map(\.sourceNumber).sorted(), rootNumber: root,
            destination: change.table.name, destinationNumbers: change.contributions.map(\.destinationNumber).sorted(),
            destinationRootNumber: destinationRoot)
    }

    fileprivate func partialTable(_ change: TableChange) -> PartialScript.Table? {
        guard let fill = change.fills.first else { return nil }
        let (table, name) = (change.table, change.table.name)
        let orders = change.ordersToMake.map { Self.makeOrder(table: name, order: $0.order, key: $0.key) }
        let isLocal =
            orders.isEmpty && !fill.asksOtherRows
            && !table.columns.contains { isUncounted($0, change.contributions) }
        let listed = insert(fill, into: name, limit: StoreLowering.isListed("s.Z_PK", of: fill.source))
        return PartialScript.Table(
            name: name, columns: table.columns.map(\.name), key: ["Z_PK"],
            limits: isLocal ? [.init(column: "Z_PK", source: fill.source)] : nil,
            unfilled: table.columns.compactMap { unfilled($0, change.contributions) },
            numbers: change.contributions.map(\.destinationNumber).sorted(), make: .createTable(name, table.sql),
            fillAll: [insert(fill, into: name)] + orders, fillListed: [listed])
    }

    /// - Parameter places: by entity table of the destination, the source table that supplies its rows.
    fileprivate func partialTable(_ change: JoinChange, _ places: [String: String]) -> PartialScript.Table? {
        guard case .rebuilt(let inserts) = change.kind, !inserts.isEmpty else { return nil }
        var partial = self
        partial.isPartial = true
        guard case .rebuilt(let limited) = partial.joinChange(of: change.table).kind else { return nil }
        let (table, name) = (change.table, change.table.name)
        let orders = change.ordersToMake.map { Self.makeOrder(table: name, order: $0.order, key: $0.key) }
        let limits = table.columns.compactMap { column in
            entity(inColumn: column).flatMap(destination.table(forEntity:)).flatMap { places[$0.name] }.map {
                PartialScript.Limit(column: column.name, source: $0)
            }
        }
        let isLocal = orders.isEmpty && inserts.allSatisfy(\.isLocal)
        return PartialScript.Table(
            name: name, columns: table.columns.map(\.name), key: table.keyColumns, limits: isLocal ? limits : nil,
            unfilled: [], numbers: [], make: .createTable(name, table.sql),
            fillAll: inserts.map { copyPairs($0, into: name) } + orders,
            fillListed: limited.map { copyPairs($0, into: name) })
    }

    private func entity(inColumn column: JoinTable.Column) -> String? {
        switch column.role {
        case .source(let reference): reference.entity
        case .reflexiveDestination(let reference): reference.entity
        case .order, .unknown: nil
        }
    }

    /// Returns whether a value may change without counting as a write of the object: a value computed by triggers, or
    /// the key of an owner whose to-many has no inverse.
    private func isUncounted(_ column: EntityTable.Column, _ contributions: [RowSource]) -> Bool {
        switch column.role {
        case .attribute(let entity, let name):
            destination.model.entity(entity)?.attribute(name)?.derivation != nil
        case .inverselessToMany, .inverselessOrder: true
        default: false
        }
    }

    private func unfilled(
        _ column: EntityTable.Column, _ contributions: [RowSource]
    ) -> PartialScript.Unfilled? {
        let numbers = contributions.filter { isUnfilled(column, $0) }.map(\.destinationNumber).sorted()
        return numbers.isEmpty ? nil : PartialScript.Unfilled(column: column.name, numbers: numbers)
    }

    private func isUnfilled(_ column: EntityTable.Column, _ contribution: RowSource) -> Bool {
        switch column.role {
        case .primaryKey, .entity, .optimisticLock: return false
        case .unknown: return true
        case .toOne(let entity, let name), .toOneEntity(let entity, let name), .order(let entity, let name),
            .inverselessToMany(let entity, let name), .inverselessOrder(let entity, let name):
            return links(of: .init(entity: entity, name: name)).isEmpty
        case .attribute(let entity, let name):
            guard let declaring = destination.model.entity(entity) else { return true }
            if declaring.attribute(name)?.derivation != nil { return false }
            guard destination.model.isKind(contribution.destination, of: declaring) else { return true }
            let source = contribution.mapping.attributes[name]
            return if case .constant = source { true } else { source == nil }
        }
    }
}

extension TableChange {
    fileprivate var fills: [Fill] { if case .rebuilt(let fills) = kind { fills } else { [] } }
}

extension TableChange.Fill {
    /// Whether a value is looked up in other rows.
    fileprivate var asksOtherRows: Bool {
        (columns.map(\.source.sql) + [condition ?? ""]).contains { !$0.reads.isEmpty }
    }
}
