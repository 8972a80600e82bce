import MoultModel
import MoultSQLite

/// The objects of a store's catalogue that are not its version's own.
struct ForeignObjects {
    let entries: [Catalogue.Entry]
    /// The tables of the store but those of its model's entities and relationships, and the indexes and views above.
    let surroundings: [Catalogue.Entry]
    /// Of these tables, those that a migration takes away or makes anew.
    let leaving: Set<String>
    /// The indexes that are the version's own, or that Core Data keeps for itself.
    let ownIndexes: [Catalogue.Entry]
    /// Of these, those of tables that are no entity's and no relationship's, such as persistent history.
    let lastingIndexes: [Catalogue.Entry]

    /// - Parameter isPending: whether every index whose name begins with Z is Core Data's own: a deferred migration
    ///   leaves those of the version before.
    init(_ catalogue: Catalogue, _ source: StoreLayout, _ destination: StoreLayout, isPending: Bool) {
        let numbering = EntityNumbering(of: source.model)
        let owned = OwnedNames(source, destination, numbering, catalogue)
        let entries = catalogue.entries.filter { entry in
            let isLate = isPending && entry.kind == .index && entry.name.hasPrefix("Z")
            return entry.sql != nil && !isLate && !owned.contains(entry)
        }
        self.entries = entries
        let own = Set(source.tables.map(\.name) + source.joinTables.map(\.name))
        surroundings = catalogue.entries.filter { entry in
            entry.kind == .table ? !own.contains(entry.name) : entry.kind != .trigger && entries.contains(entry)
        }
        let leaving = owned.trees.union(catalogue.tables.map(\.name).filter(DeferredName.isOne))
        self.leaving = leaving
        let foreign = Set(entries)
        ownIndexes = catalogue.entries.filter { $0.kind == .index && $0.sql != nil && !foreign.contains($0) }
        lastingIndexes = ownIndexes.filter { !own.contains($0.tableName) && !leaving.contains($0.tableName) }
    }
}

/// The names of what Core Data makes for the version of a store, or keeps for itself in every store.
private struct OwnedNames {
    private let tables: Set<String>
    private let indexes: Set<String>
    let trees: Set<String>
    /// `_Entity_attribute_`, as in the names of triggers that stay.
    private let keptDerivations: [String]

    init(
        _ source: StoreLayout, _ destination: StoreLayout, _ numbering: EntityNumbering, _ catalogue: Catalogue
    ) {
        tables = Set(
            source.tables.map(\.name) + source.joinTables.map(\.name) + StoreSnapshot.historyTables
                + StoreSnapshot.coreTables + catalogue.shadowTables)
        indexes = Set(IndexDefinition.all(of: source, numbering: numbering).definitions.map(\.name))
        trees = Set(
            (RTreeIndex.all(of: source, numbering: numbering).map(\.table) + destination.virtualTables).map(\.name))
        let unkept = Set(destination.findings.filter { $0.code == "derived-not-kept" }.map(\.place))
        keptDerivations = destination.model.entities.flatMap { entity in
            entity.attributes.filter { attribute in
                attribute.derivation != nil
                    && source.model.entity(entity.name)?.attribute(attribute.name)?.derivation == attribute.derivation
                    && unkept.contains("\(entity.name).\(attribute.name)")
            }.map { "_\(entity.name)_\($0.name)_" }
        }
    }

    func contains(_ entry: Catalogue.Entry) -> Bool {
        switch entry.kind {
        case .table:
            tables.contains(entry.name) || trees.contains(entry.name) || DeferredName.isOne(entry.name)
                || entry.name.hasPrefix("sqlite_") || entry.name.hasPrefix("ANSCK")
        case .index:
            indexes.contains(entry.name) || StoreSnapshot.historyTables.contains(entry.tableName)
                || DeferredName.isOne(entry.tableName)
        case .trigger:
            switch Catalogue.TriggerKind(name: entry.name) {
            case .derivedAttribute: !keptDerivations.contains { entry.name.contains($0) }
            case .rTree: trees.contains { entry.name.hasPrefix($0 + "_") }
            case .photos, .unknown: false
            }
        case .view: false
        }
    }
}
