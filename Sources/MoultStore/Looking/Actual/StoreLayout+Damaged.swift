import MoultModel
import MoultSQLite

extension StoreLayout {
    /// The layout of a damaged store, as far as its catalogue can be read: tables that it lacks are left out, and so are
    /// the columns that a table lacks.
    ///
    /// - Parameters:
    ///   - numbers: of the entities, by their names, as far as they can be read.
    package init(
        damaged catalogue: Catalogue, columns: TableColumns, numbers: [String: Int],
        model: ManagedObjectModel, framework: Int
    ) {
        let level = FrameworkLevel(framework)
        let numbering = EntityNumbering(of: model, known: numbers)
        var tables = CatalogueTables(catalogue, columns: columns)
        var findings: [Finding] = []
        let entityTables = numbering.roots(in: model).compactMap { root in
            var missing: [EntityTable.Column] = []
            return try? EntityTable(
                EntityTable(root: root, in: model, numbering: numbering, level: level), formerNames: [], in: &tables,
                missing: &missing, findings: &findings)
        }
        self.init(
            model: model, level: level, entityNumbers: numbering.numbers, tables: entityTables,
            joinTables: JoinTable.remaining(JoinTable.all(of: model, numbering: numbering), in: &tables))
    }
}

extension JoinTable {
    /// The relationships whose pairs the table holds, which tell its counterpart in another store.
    package var ends: Set<RelationshipReference> { Set(relationships) }
}

extension EntityNumbering {
    /// The numbers that are known, where they are known of every entity; otherwise those of a new store.
    fileprivate init(of model: ManagedObjectModel, known: [String: Int]) {
        let fresh = EntityNumbering(of: model)
        let numbers = known.filter { fresh.numbers[$0.key] != nil }
        guard Set(numbers.values).count == fresh.entities.count else {
            self = fresh
            return
        }
        self.init(
            entities: fresh.entities.sorted { numbers[$0.name, default: 0] < numbers[$1.name, default: 0] },
            numbers: numbers)
    }
}
