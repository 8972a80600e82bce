import MoultBasics
import MoultModel
import MoultSQLite

/// Reads the tables of an existing store into a layout, and records the parts they lack.
struct LayoutReader {
    private(set) var tables: [EntityTable] = []
    private(set) var joinTables: [JoinTable] = []
    var gaps = SchemaGaps()
    private(set) var findings: [Finding] = []

    /// - Throws: `storeCorrupted` if a table has no key.
    init(_ snapshot: StoreSnapshot, model: ManagedObjectModel, numbering: EntityNumbering) throws {
        var catalogue = CatalogueTables(snapshot)
        let rows = Dictionary(grouping: snapshot.entityRows, by: \.number)
        for root in numbering.roots(in: model) {
            let expected = EntityTable(root: root, in: model, numbering: numbering, level: snapshot.framework)
            let row = numbering.numbers[root.name].flatMap { rows[$0]?.first }
            let formerNames = [row?.name, root.renamingIdentifier].compactMap { $0 }
            var missing: [EntityTable.Column] = []
            let table = try EntityTable(
                expected, formerNames: formerNames, in: &catalogue, missing: &missing, findings: &findings)
            if let table {
                tables.append(table)
                gaps.columns += missing.map { SchemaGaps.Column(table: table.name, column: $0) }
            } else {
                gaps.tables.append(expected)
            }
        }
        let joins = JoinTable.all(of: model, numbering: numbering).filter { join in
            join.relationships.allSatisfy { numbering.numbers[$0.entity] != nil }
        }
        for (expected, table) in zip(joins, JoinTable.matching(joins, in: &catalogue, gaps: &gaps, findings: &findings))
        {
            if let table { joinTables.append(table) } else { gaps.joinTables.append(expected) }
        }
        findings += catalogue.unexplained()
    }

    /// Returns the tables including missing columns, in the order of their entities' numbers.
    func completed(_ numbering: EntityNumbering) -> (tables: [EntityTable], joinTables: [JoinTable]) {
        let missing = Dictionary(grouping: gaps.columns + gaps.keys, by: \.table)
        let filled = tables.map { table in
            let added = (missing[table.name] ?? []).map(\.column)
            return added.isEmpty
                ? table
                : EntityTable(
                    name: table.name, rootEntityName: table.rootEntityName, columns: table.columns + added,
                    constraints: table.constraints, sql: table.sql)
        }
        let joins = joinTables.map { join in
            let added = (missing[join.name] ?? []).compactMap(\.column.joinColumn)
            return added.isEmpty
                ? join : JoinTable(name: join.name, owner: join.owner, columns: join.columns + added, sql: join.sql)
        }
        let numbers = numbering.numbers
        return (
            (filled + gaps.tables).sorted { numbers[$0.rootEntityName] ?? 0 < numbers[$1.rootEntityName] ?? 0 },
            joins + gaps.joinTables
        )
    }
}

extension EntityTable.Column {
    /// The corresponding column of a join table.
    fileprivate var joinColumn: JoinTable.Column? {
        switch role {
        case .order(let entity, let name):
            JoinTable.Column(name: self.name, role: .order(RelationshipReference(entity: entity, name: name)))
        case .toOne(let entity, let name):
            JoinTable.Column(name: self.name, role: .source(RelationshipReference(entity: entity, name: name)))
        default: nil
        }
    }
}

/// The tables of a store, which entities and relationships claim one after the other.
struct CatalogueTables {
    private let catalogue: Catalogue
    private let columns: TableColumns
    private var claimed: Set<String> = []
    /// The tables by their names in capitals, because SQLite's names are not case-sensitive.
    private let byName: [String: [Catalogue.Entry]]
    /// The tables named `Z_`, a number and a name, grouped by that name without leading or trailing digits.
    private lazy var numbered = Dictionary(
        grouping: catalogue.tables.filter { $0.name.uppercased().hasPrefix("Z_") }
    ) { $0.name.uppercased().dropFirst(2).withoutDigitsAround }

    init(_ snapshot: StoreSnapshot) { self.init(snapshot.catalogue, columns: snapshot.columns) }

    init(_ catalogue: Catalogue, columns: TableColumns) {
        self.catalogue = catalogue
        self.columns = columns
        byName = Dictionary(grouping: catalogue.tables) { $0.name.uppercased() }
    }

    struct Table {
        let name: String
        let sql: String
        fileprivate let allColumns: TableColumns

        var columns: [Catalogue.Column] { allColumns[name] ?? [] }
    }

    /// Claims the first unclaimed table with one of the names that `fits`, in the order of the catalogue. The names
    /// must be in capitals.
    mutating func claim(named names: [String], where fits: (Table) -> Bool) -> Table? {
        claim(among: ordered(names.flatMap { byName[$0] ?? [] }), where: fits)
    }

    /// Claims a table in the same way, also considering tables named `Z_`, a number and one of `ends`.
    mutating func claim(named names: [String], numbered ends: [String], where fits: (Table) -> Bool) -> Table? {
        let numbered = ends.flatMap { self.numbered[$0[...].withoutDigitsAround] ?? [] }
        return claim(among: ordered(names.flatMap { byName[$0] ?? [] } + numbered), where: fits)
    }

    private func ordered(_ entries: [Catalogue.Entry]) -> [Catalogue.Entry] {
        guard entries.count > 1 else { return entries }
        return entries.map { (catalogue.place(ofTable: $0.name) ?? 0, $0) }.sorted { $0.0 < $1.0 }.map(\.1)
    }

    private mutating func claim(among entries: [Catalogue.Entry], where fits: (Table) -> Bool) -> Table? {
        for entry in entries where !claimed.contains(entry.name) && !entry.isVirtual {
            guard columns.isKnown(entry.name) else { continue }
            let table = Table(name: entry.name, sql: entry.sql ?? "", allColumns: columns)
            guard fits(table) else { continue }
            claimed.insert(entry.name)
            return table
        }
        return nil
    }

    /// Claims the table with the first of the names that exists; SQLite's names are not case-sensitive.
    mutating func claim(named names: [String]) -> Table? {
        for name in names {
            let entries = byName[name.uppercased()] ?? []
            if let table = claim(among: entries, where: { $0.name == name })
                ?? claim(among: entries, where: { _ in true })
            {
                return table
            }
        }
        return nil
    }

    /// Returns a note for each table that belongs neither to an entity or relationship nor to Core Data itself.
    func unexplained() -> [Finding] {
        let virtual = catalogue.tables.filter(\.isVirtual).map(\.name)
        let known = StoreSnapshot.coreTables + StoreSnapshot.historyTables + virtual
        let shadows = Set(catalogue.shadowTables)
        return catalogue.tables.map(\.name).filter { name in
            !claimed.contains(name) && !known.contains(name) && !shadows.contains(name)
                && !name.hasPrefix("sqlite_") && !name.hasPrefix("ANSCK") && !DeferredName.isOne(name)
        }.map { name in
            Finding(
                code: "table-unknown", severity: .note, place: name,
                message: "No part of the model explains the table \(name).",
                remedy: "Moult leaves it unchanged, unless the plan of a migration says otherwise.")
        }
    }
}

extension Substring {
    fileprivate var withoutDigitsAround: Substring {
        var text = drop { $0.isASCII && $0.isNumber }
        while let last = text.last, last.isASCII, last.isNumber { text.removeLast() }
        return text
    }
}
