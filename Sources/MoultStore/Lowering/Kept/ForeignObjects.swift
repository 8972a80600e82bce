import MoultModel
import MoultSQLite

/// The objects of a store's catalogue that are not its version's own.
struct ForeignObjects {
    let entries: [Catalogue.Entry]

    init(_ catalogue: Catalogue, _ source: StoreLayout, _ destination: StoreLayout) {
        let numbering = EntityNumbering(of: source.model)
        let owned = OwnedNames(source, destination, numbering, catalogue)
        entries = catalogue.entries.filter { $0.sql != nil && !owned.contains($0) }
    }
}

/// What Core Data makes for the version of a store, or keeps for itself in every store.
private struct OwnedNames {
    private let tables: Set<String>
    private let indexes: Set<String>
    private let trees: Set<String>
    /// `_Entity_attribute_`, as it stands in the names of triggers that stay (STORE_FORMAT 7).
    private let keptDerivations: [String]

    init(
        _ source: StoreLayout, _ destination: StoreLayout, _ numbering: EntityNumbering, _ catalogue: Catalogue
    ) {
        let virtual = catalogue.tables.filter(\.isVirtual).map(\.name)
        let shadows = virtual.flatMap { name in catalogue.tables.map(\.name).filter { $0.hasPrefix(name + "_") } }
        tables = Set(
            source.tables.map(\.name) + source.joinTables.map(\.name) + StoreSnapshot.historyTables
                + ["Z_PRIMARYKEY", "Z_METADATA", "Z_MODELCACHE"] + shadows)
        indexes = Set(IndexDefinition.all(of: source, numbering: numbering).definitions.map(\.name))
        trees = Set(
            (RTreeIndex.all(of: source, numbering: numbering).map(\.table) + destination.virtualTables).map(\.name))
        keptDerivations = destination.model.entities.flatMap { entity in
            entity.attributes.filter { attribute in
                attribute.derivation != nil
                    && source.model.entity(entity.name)?.attribute(attribute.name)?.derivation == attribute.derivation
                    && destination.findings.contains {
                        $0.code == "derived-not-kept" && $0.place == "\(entity.name).\(attribute.name)"
                    }
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
