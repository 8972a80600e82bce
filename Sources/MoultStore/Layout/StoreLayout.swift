import MoultBasics
import MoultModel

/// The tables, indexes and triggers of a store, with the content of each column.
///
/// A new layout (``init(model:framework:history:)``) is the one Core Data itself would create for a model. The layout
/// of an existing store is read from its catalogue, where columns may have any order.
package struct StoreLayout: Sendable, Equatable {
    package var model: ManagedObjectModel { contents.value.model }
    package var level: FrameworkLevel { contents.value.level }
    /// The `Z_ENT` numbers by entity name, including abstract entities.
    package var entityNumbers: [String: Int] { contents.value.entityNumbers }
    /// The tables of the root entities, in the order of their numbers.
    package var tables: [EntityTable] { contents.value.tables }
    package var joinTables: [JoinTable] { contents.value.joinTables }
    package var indexes: [IndexDefinition] { contents.value.indexes }
    package var triggers: [TriggerDefinition] { contents.value.triggers }
    package var virtualTables: [VirtualTable] { contents.value.virtualTables }
    /// Whether the store has the tables of persistent history.
    package var hasHistory: Bool { contents.value.hasHistory }
    /// The findings recorded when the layout was created, except those about its indexes.
    package var noticed: [Finding] { contents.value.noticed }

    private struct Contents: Sendable, Equatable {
        let model: ManagedObjectModel
        let level: FrameworkLevel
        let entityNumbers: [String: Int]
        let tables: [EntityTable]
        let joinTables: [JoinTable]
        var indexes: [IndexDefinition] = []
        var triggers: [TriggerDefinition] = []
        var virtualTables: [VirtualTable] = []
        var hasHistory = false
        var noticed: [Finding] = []
        /// The numbers of the entities in an existing store; nil for a new layout, which has the indexes of its model.
        var actualNumbering: EntityNumbering?
        let tablePositions: [String: Int]
        let numbersByTable: [String: [Int]]
        /// Lookups by table name and by entity number.
        let places: [String: Int]
        let joinPlaces: [String: Int]
        var indexesByTable: [String: [IndexDefinition]] = [:]
        let entityNames: [Int: String]
        let storages = Once<[RelationshipReference: RelationshipStorage]>()
    }

    private let contents: Shared<Contents>

    package init(
        model: ManagedObjectModel, level: FrameworkLevel, entityNumbers: [String: Int], tables: [EntityTable],
        joinTables: [JoinTable]
    ) {
        let byRoot = Dictionary(
            tables.enumerated().map { ($1.rootEntityName, $0) }, uniquingKeysWith: { first, _ in first })
        var numbersByTable: [String: [Int]] = [:]
        for (name, number) in entityNumbers.sorted(by: { $0.value < $1.value }) {
            guard let entity = model.entity(name), let place = byRoot[model.root(of: entity).name] else { continue }
            numbersByTable[tables[place].name, default: []].append(number)
        }
        contents = Shared(
            Contents(
                model: model, level: level, entityNumbers: entityNumbers, tables: tables, joinTables: joinTables,
                tablePositions: byRoot, numbersByTable: numbersByTable,
                places: Dictionary(tables.enumerated().map { ($1.name, $0) }, uniquingKeysWith: { first, _ in first }),
                joinPlaces: Dictionary(
                    joinTables.enumerated().map { ($1.name, $0) }, uniquingKeysWith: { first, _ in first }),
                entityNames: Dictionary(
                    entityNumbers.map { ($1, $0) }, uniquingKeysWith: { $0 < $1 ? $0 : $1 })))
    }

    private init(_ contents: Contents) { self.contents = Shared(contents) }

    /// Returns the same tables with the other objects of the store.
    func with(
        indexes: [IndexDefinition], triggers: [TriggerDefinition], virtualTables: [VirtualTable], hasHistory: Bool,
        noticed: [Finding], actualNumbering: EntityNumbering? = nil
    ) -> StoreLayout {
        var contents = contents.value
        contents.indexes = indexes
        contents.indexesByTable = Dictionary(grouping: indexes, by: \.table)
        contents.triggers = triggers
        contents.virtualTables = virtualTables
        contents.hasHistory = hasHistory
        contents.noticed = noticed
        contents.actualNumbering = actualNumbering
        return StoreLayout(contents)
    }

    /// Returns the same layout with other tables.
    func with(tables: [EntityTable], joinTables: [JoinTable]) -> StoreLayout {
        StoreLayout(
            model: model, level: level, entityNumbers: entityNumbers, tables: tables, joinTables: joinTables
        ).with(
            indexes: indexes, triggers: triggers, virtualTables: virtualTables, hasHistory: hasHistory,
            noticed: noticed, actualNumbering: contents.value.actualNumbering)
    }

    package var framework: Int { level.number }

    /// Findings for parts that Core Data writes in an unknown way, and for extra or missing parts of an existing store.
    package var findings: [Finding] { noticed + (contents.value.actualNumbering.map(indexFindings) ?? []) }

    // MARK: - Lookups

    /// Returns the table with the rows of `entity`, which is that of its root entity.
    package func table(for entity: EntityDescription) -> EntityTable? {
        contents.value.tablePositions[model.root(of: entity).name].map { tables[$0] }
    }

    package func table(named name: String) -> EntityTable? { contents.value.places[name].map { tables[$0] } }
    package func joinTable(named name: String) -> JoinTable? { contents.value.joinPlaces[name].map { joinTables[$0] } }

    package func indexes(of table: String) -> [IndexDefinition] { contents.value.indexesByTable[table] ?? [] }

    package func table(forEntity name: String) -> EntityTable? { model.entity(name).flatMap(table(for:)) }

    /// Returns the name of an attribute's column, declared or inherited; nil if it has none. An element of a composite
    /// attribute is named by its path, `attribute.element`.
    package func column(forAttribute name: String, in entity: EntityDescription) -> String? {
        let attribute = name.split(separator: ".", maxSplits: 1).first.map(String.init) ?? name
        guard let declaring = model.declaringEntity(of: attribute, in: entity) else { return nil }
        return table(for: entity)?.column(.attribute(entity: declaring.name, name: name))
    }

    /// Returns the storage of a relationship, declared or inherited; nil if it is not stored.
    package func storage(ofRelationship name: String, in entity: EntityDescription) -> RelationshipStorage? {
        guard let declaring = model.declaringEntity(of: name, in: entity) else { return nil }
        return contents.value.storages.value {
            RelationshipStorage.all(
                of: model, joinTables: joinTables,
                tables: { root in contents.value.tablePositions[root].map { tables[$0] } })
        }[RelationshipReference(entity: declaring.name, name: name)]
    }

    /// Returns the numbers of `entity` and all its descendants, ascending: the possible values of `Z_ENT` in its rows.
    package func numbers(ofEntityAndDescendants entity: EntityDescription) -> [Int] {
        ([entity] + model.descendants(of: entity)).compactMap { entityNumbers[$0.name] }.sorted()
    }

    /// Returns the numbers of all entities with rows in a table, ascending.
    package func numbers(inTable name: String) -> [Int] { contents.value.numbersByTable[name] ?? [] }

    /// Returns the names of all entities with rows in a table.
    func entities(inTable name: String) -> [String] { numbers(inTable: name).compactMap(entityName(number:)) }

    /// Returns the entity with the given number in `Z_ENT`.
    package func entityName(number: Int) -> String? { contents.value.entityNames[number] }
}
