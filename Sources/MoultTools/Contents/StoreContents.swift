import MoultBasics
import MoultModel
import MoultSQLite
import MoultStore

/// The contents of a store under the names of its model: the objects of each entity, and the pairs of each to-many
/// relationship.
///
/// For a store without a model, they are the entities in `Z_PRIMARYKEY`, with the columns under their SQL names.
package struct StoreContents: Sendable {
    /// The entities that have a table, each without its sub-entities, by name.
    package let entities: [EntityContents]
    /// The entities that have sub-entities, each including them.
    package let hierarchies: [EntityContents]
    package let joins: [JoinContents]
    /// The layout of the store; nil for a store without a model.
    package let layout: StoreLayout?
    /// The folder with the files of external data.
    package let externalFolder: String
    /// The names in the store's catalogue, in upper case.
    package let taken: Set<String>

    /// - Parameters:
    ///   - model: the model of the store; nil for a store without one.
    ///   - path: the path of the store, next to which its external data is stored.
    package init(_ snapshot: StoreSnapshot, model: ManagedObjectModel?, path: String) throws {
        externalFolder = ExternalStorage(store: path).folder
        taken = Set(snapshot.catalogue.entries.map { $0.name.uppercased() })
        guard let model else {
            layout = nil
            joins = []
            (entities, hierarchies) = Self.tables(of: snapshot)
            return
        }
        let layout = try StoreLayout(actual: snapshot, model: model)
        self.layout = layout
        entities = model.entities.compactMap { EntityContents($0, in: layout, withSubentities: false) }
        hierarchies = model.entities.filter { !model.subentities(of: $0).isEmpty }.compactMap {
            EntityContents($0, in: layout, withSubentities: true)
        }
        joins = model.entities.flatMap { entity in
            entity.relationships.compactMap { JoinContents($0, of: entity, in: layout) }
        }
    }

    /// Returns the objects of an entity, including those of any sub-entities.
    package func whole(_ name: String) -> EntityContents? {
        hierarchies.first { $0.name == name } ?? entities.first { $0.name == name }
    }
}

// MARK: - With a model

extension EntityContents {
    /// Returns nil for an entity without a table in the store.
    fileprivate init?(_ entity: EntityDescription, in layout: StoreLayout, withSubentities: Bool) {
        guard let table = layout.table(for: entity), let number = layout.entityNumbers[entity.name] else { return nil }
        let numbers = withSubentities ? layout.numbers(ofEntityAndDescendants: entity) : [number]
        var columns: [Column] = []
        if let key = table.column(.primaryKey) {
            columns.append(Column(name: "Z_PK", source: .key(key), meaning: "the object's key"))
        }
        let names = Dictionary(
            numbers.compactMap { number in layout.entityName(number: number).map { (number, $0) } },
            uniquingKeysWith: { first, _ in first })
        columns.append(Column(name: "entity", source: .entity(names), meaning: "the object's entity"))
        var properties: [Column] = []
        let attributes = layout.model.storedAttributes(of: entity)
        for (attribute, name) in zip(attributes, attributes.map(\.name).withoutRepetition) {
            guard let column = layout.column(forAttribute: attribute.name, in: entity) else { continue }
            let isExternal = attribute.description.allowsExternalBinaryDataStorage
            properties.append(
                Column(
                    name: name, property: name == attribute.name ? nil : attribute.name,
                    source: .attribute(column, attribute.description.type, isExternal: isExternal),
                    meaning: attribute.description.type.meaning
                        + (isExternal ? ", a large one as the path of its file" : "")))
        }
        for relationship in layout.model.relationships(of: entity) where !relationship.isToMany {
            properties += Self.toOne(relationship, of: entity, in: layout)
        }
        columns += properties.inByteOrder { $0.name }
        self.init(
            name: entity.name, table: table.name, numbers: numbers,
            sharesTable: numbers != layout.numbers(inTable: table.name), columns: columns.distinct)
    }

    private static func toOne(
        _ relationship: RelationshipDescription, of entity: EntityDescription, in layout: StoreLayout
    ) -> [Column] {
        guard
            case .foreignKey(_, let column, let number) = layout.storage(ofRelationship: relationship.name, in: entity)
        else { return [] }
        let fixed = layout.model.fixed(relationship.destinationEntityName)
        let key = Column(
            name: relationship.name, source: .toOne(column, destination: fixed),
            meaning: "to-one \(relationship.destinationEntityName), by its Z_PK")
        guard let number, let destination = layout.model.entity(relationship.destinationEntityName) else {
            return [key]
        }
        let numbers = layout.numbers(ofEntityAndDescendants: layout.model.root(of: destination))
        guard numbers.count > 1 else { return [key] }
        let names = Dictionary(
            numbers.compactMap { number in layout.entityName(number: number).map { (number, $0) } },
            uniquingKeysWith: { first, _ in first })
        return [
            key,
            Column(
                name: relationship.name + ".entity", source: .toOneEntity(number, names),
                meaning: "the entity of \(relationship.name)"),
        ]
    }
}

extension [EntityContents.Column] {
    /// The columns with distinct names. SQLite ignores case, so a second column of a name gets a number.
    fileprivate var distinct: [EntityContents.Column] {
        var names = DistinctNames()
        return map { column in
            let name = names.next(column.name)
            let property = column.property ?? (name == column.name ? nil : column.name)
            return EntityContents.Column(name: name, property: property, source: column.source, meaning: column.meaning)
        }
    }
}

extension AttributeType {
    fileprivate var meaning: String {
        switch self {
        case .boolean: "Boolean, 0 or 1"
        case .date: "Date, ISO 8601 in UTC"
        case .uuid: "UUID, as text"
        case .binary: "Binary"
        case .transformable: "Transformable, as its archive"
        default: name
        }
    }
}

extension JoinContents {
    /// Returns nil for a to-one, and for a to-many without a table or column in the store.
    fileprivate init?(_ relationship: RelationshipDescription, of entity: EntityDescription, in layout: StoreLayout) {
        guard relationship.isToMany, let storage = layout.storage(ofRelationship: relationship.name, in: entity) else {
            return nil
        }
        let own: String
        let other: String
        switch storage {
        case .foreignKey: return nil
        case .inverseForeignKey(let name, let column, _, let order):
            (table, own, other, orderColumn) = (name, column, "Z_PK", order)
            isRepeated = order == nil
        case .inverseless(let name, let column, let order):
            (table, own, other, orderColumn) = (name, column, "Z_PK", order)
            isRepeated = false
        case .joinTable(let name, let ownColumn, let otherColumn, let order, let inverseOrder, let isReflexive):
            (table, own, other, orderColumn) = (name, ownColumn, otherColumn, order)
            let inverse = "\(relationship.destinationEntityName).\(relationship.inverseName ?? "")"
            let isSecond =
                relationship.inverseName != nil && !isReflexive && inverse < "\(entity.name).\(relationship.name)"
            isRepeated = order == nil && (isSecond || inverseOrder != nil)
        }
        (ownColumn, otherColumn) = (own, other)
        self.entity = entity.name
        self.relationship = relationship.name
        destination = relationship.destinationEntityName
        name = "\(entity.name)_\(relationship.name)"
        references = [entity.name, relationship.destinationEntityName].map(layout.model.fixed)
    }
}

extension ManagedObjectModel {
    /// Returns the entity's name if all its objects are of that entity alone; nil if it is abstract or has
    /// sub-entities.
    fileprivate func fixed(_ name: String) -> String? {
        guard let entity = entity(name), !entity.isAbstract, subentities(of: entity).isEmpty else { return nil }
        return name
    }
}

// MARK: - Without a model

extension StoreContents {
    /// Returns the contents according to `Z_PRIMARYKEY` and the tables: each entity alone, and each hierarchy as a
    /// whole.
    private static func tables(of snapshot: StoreSnapshot) -> ([EntityContents], [EntityContents]) {
        let rows = snapshot.entityRows
        let byNumber = Dictionary(rows.map { ($0.number, $0) }, uniquingKeysWith: { first, _ in first })
        var members: [String: [Int: String]] = [:]
        var tables: [(name: String, number: Int, table: String)] = []
        for row in rows {
            var root = row
            // Each step moves to a parent. A damaged table may contain a cycle, so limit the steps.
            for _ in rows where byNumber[root.superNumber] != nil { root = byNumber[root.superNumber] ?? root }
            let table = "Z" + root.name.uppercased()
            guard let columns = snapshot.columns[table], columns.contains(where: { $0.name == "Z_ENT" }) else {
                continue
            }
            members[table, default: [:]][row.number] = row.name
            tables.append((row.name, row.number, table))
        }
        func contents(_ name: String, _ table: String, _ names: [Int: String]) -> EntityContents {
            var columns: [EntityContents.Column] = []
            for column in snapshot.columns[table] ?? [] where column.name != "Z_OPT" {
                switch column.name {
                case "Z_PK":
                    columns.append(.init(name: "Z_PK", source: .key("Z_PK"), meaning: "the object's key"))
                case "Z_ENT":
                    columns.append(.init(name: "entity", source: .entity(names), meaning: "the object's entity"))
                case let other where column.declaredType == "TIMESTAMP":
                    columns.append(
                        .init(
                            name: other, source: .attribute(other, .date, isExternal: false),
                            meaning: "Date, ISO 8601 in UTC"))
                case let other:
                    columns.append(.init(name: other, source: .raw(other), meaning: column.declaredType))
                }
            }
            return EntityContents(
                name: name, table: table, numbers: names.keys.sorted(),
                sharesTable: names.count != members[table]?.count, columns: columns.distinct)
        }
        let alone = tables.map { contents($0.name, $0.table, [$0.number: $0.name]) }
        let whole = members.filter { $0.value.count > 1 }.compactMap { table, names in
            names.min { $0.key < $1.key }.map { contents($0.value, table, names) }
        }
        return (
            alone.inByteOrder { $0.name }, whole.inByteOrder { $0.name }
        )
    }
}

/// Names that SQLite can tell apart, ignoring case.
struct DistinctNames {
    private var taken: Set<String>

    init(taken: Set<String> = []) { self.taken = taken }

    /// Returns the name, with a number appended if it is already taken.
    mutating func next(_ name: String) -> String {
        var candidate = name
        var number = 1
        while !taken.insert(candidate.uppercased()).inserted {
            number += 1
            candidate = "\(name)_\(number)"
        }
        return candidate
    }

    /// Returns a name for a table or a view. SQLite reserves names that begin with `sqlite_`, so these get a leading
    /// underscore.
    mutating func next(forTable name: String) -> String { next(Self.isReserved(name) ? "_" + name : name) }

    static func isReserved(_ name: String) -> Bool { name.lowercased().hasPrefix("sqlite_") }
}

extension StoreContents {
    /// Reads the contents of a store through an open probe.
    ///
    /// - Parameter versions: the versions among which to find the store's; nil or empty to use the model inside the
    ///   store, or none.
    /// - Throws: `storeUnknown` if the store is of none of the given versions.
    package init(_ probe: ReadOnlyStore, in versions: ModelVersions?) throws {
        let snapshot = try StoreSnapshot(probe.connection)
        let recognition = try StoreRecognition(of: snapshot, in: versions ?? ModelVersions(versions: []))
        if let versions, !versions.versions.isEmpty, recognition.position == nil {
            throw MigrationError.storeUnknown(nearest: versions.nearest(to: snapshot.hashes))
        }
        try self.init(snapshot, model: recognition.model, path: probe.path)
    }
}
