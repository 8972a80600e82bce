import MoultModel
import MoultSQLite
import MoultStore
import MoultVerify

extension StoreShape {
    /// Creates the shape that a store of this layout should have.
    ///
    /// - Parameter withObjects: whether to require the exact catalogue of a new store.
    package init(_ layout: StoreLayout, withObjects: Bool) {
        self.init(
            objects: withObjects ? Self.objects(of: layout) : [],
            entities: layout.model.entities.compactMap { Self.number(of: $0, in: layout) })
        for entity in layout.model.entities {
            guard let table = layout.table(for: entity)?.name else { continue }
            let numbers = layout.numbers(ofEntityAndDescendants: entity)
            for attribute in entity.attributes where attribute.isStored {
                add(attribute, of: entity, table, numbers, layout)
            }
            for leaf in layout.model.storedAttributes(declaredBy: entity)
            where leaf.description.allowsExternalBinaryDataStorage {
                guard let column = layout.column(forAttribute: leaf.name, in: entity) else { continue }
                external.append(
                    .init(place: "\(entity.name).\(leaf.name)", table: table, column: column, numbers: numbers))
            }
            for relationship in entity.relationships where !relationship.isTransient {
                add(relationship, of: entity, numbers, layout)
            }
            for constraint in entity.uniquenessConstraints {
                let columns = constraint.compactMap { layout.column(forProperty: $0, in: entity) }
                guard columns.count == constraint.count else { continue }
                unique.append(
                    .init(
                        place: "\(entity.name).\(constraint.joined(separator: "+"))", table: table, columns: columns,
                        numbers: numbers))
            }
        }
        for join in layout.joinTables { addKeys(of: join, layout) }
    }

    /// Creates the shape that the store of a plan should have: everything in a new store, and the objects of the old
    /// store that stay.
    ///
    /// - Parameter kept: the app's own parts that stay.
    init(of plan: BoundPlan, keeping kept: StoreScript.Kept) {
        self.init(plan.destination, withObjects: true)
        for index in objects.indices where objects[index].kind == "table" {
            if let sql = kept.definitions[objects[index].name]?.sql { objects[index].sql = sql }
        }
        history = Self.history(of: plan.destination)
        objects += kept.objects.kept.map { Object(kind: $0.kind.rawValue, name: $0.name, sql: $0.sql ?? "") }
    }

    /// Returns the entities of persistent history that Core Data itself numbers; empty for a store without history.
    package static func history(of layout: StoreLayout) -> [EntityNumber] {
        guard layout.hasHistory else { return [] }
        return PersistentHistory(of: layout).tables.map {
            EntityNumber(number: $0.number, name: $0.entityName, superNumber: 0, table: $0.name)
        }
    }

    private static func objects(of layout: StoreLayout) -> [Object] {
        layout.tables.map { Object(kind: "table", name: $0.name, sql: $0.sql) }
            + layout.joinTables.map { Object(kind: "table", name: $0.name, sql: $0.sql) }
            + layout.indexes.map { Object(kind: "index", name: $0.name, sql: $0.sql) }
            + layout.virtualTables.map { Object(kind: "table", name: $0.name, sql: $0.sql) }
            + layout.triggers.map { Object(kind: "trigger", name: $0.name, sql: $0.sql) }
    }

    private static func number(of entity: EntityDescription, in layout: StoreLayout) -> EntityNumber? {
        guard let number = layout.entityNumbers[entity.name], let table = layout.table(for: entity)?.name else {
            return nil
        }
        let parent = entity.superentityName.flatMap { layout.entityNumbers[$0] } ?? 0
        return EntityNumber(number: number, name: entity.name, superNumber: parent, table: table)
    }

    private mutating func add(
        _ attribute: AttributeDescription, of entity: EntityDescription, _ table: String, _ numbers: [Int],
        _ layout: StoreLayout
    ) {
        guard let column = layout.column(forAttribute: attribute.name, in: entity) else { return }
        guard !attribute.isOptional, attribute.derivation == nil else { return }
        required.append(
            .init(place: "\(entity.name).\(attribute.name)", table: table, column: column, numbers: numbers))
    }

    private mutating func add(
        _ relationship: RelationshipDescription, of entity: EntityDescription, _ numbers: [Int], _ layout: StoreLayout
    ) {
        let place = "\(entity.name).\(relationship.name)"
        guard let destination = layout.model.entity(relationship.destinationEntityName),
            let target = layout.table(for: destination)?.name, let own = layout.table(for: entity)?.name,
            let storage = layout.storage(ofRelationship: relationship.name, in: entity)
        else { return }
        let targetNumbers = layout.numbers(ofEntityAndDescendants: destination)
        switch storage {
        case .foreignKey(let table, let column, let entityColumn):
            references.append(
                .init(
                    place: place, table: table, column: column, numbers: numbers, targetTable: target,
                    targetNumbers: targetNumbers, entityColumn: entityColumn))
            if !relationship.isOptional {
                required.append(.init(place: place, table: table, column: column, numbers: numbers))
            }
            if let inverse = layout.model.inverse(of: relationship), !inverse.isToMany,
                case .foreignKey(let inverseTable, let inverseColumn, _)? = layout.storage(
                    ofRelationship: inverse.name, in: destination)
            {
                oneToOnes.append(
                    .init(
                        place: place, table: table, column: column, numbers: numbers, inverseTable: inverseTable,
                        inverseColumn: inverseColumn))
            }
        case .inverseless(let table, let column, _):
            references.append(
                .init(
                    place: place, table: table, column: column, numbers: targetNumbers, targetTable: own,
                    targetNumbers: numbers))
        case .inverseForeignKey, .joinTable: return
        }
    }

    private mutating func addKeys(of join: JoinTable, _ layout: StoreLayout) {
        if join.mayRepeat, join.keyColumns.count == 2 {
            pairs.append(.init(place: join.owner.place, table: join.name, columns: join.keyColumns))
        }
        for column in join.columns {
            let reference: RelationshipReference
            switch column.role {
            case .source(let own): reference = own
            case .reflexiveDestination(let own):
                reference = own
                if let source = join.column(.source(own)) {
                    reflexives.append(
                        .init(place: own.place, table: join.name, column: source, inverseColumn: column.name))
                }
            case .order, .unknown: continue
            }
            guard let entity = layout.model.entity(reference.entity), let table = layout.table(for: entity)?.name else {
                continue
            }
            references.append(
                .init(
                    place: "\(reference.entity).\(reference.name)", table: join.name, column: column.name, numbers: [],
                    targetTable: table, targetNumbers: layout.numbers(ofEntityAndDescendants: entity)))
        }
    }
}

extension ValueVerifier {
    /// Creates the columns of every attribute, element of a composite attribute and Core Data column in a layout.
    package init(_ connection: Connection, _ layout: StoreLayout, withValues: Bool = false) {
        let attributes = layout.model.entities.flatMap { entity in
            entity.attributes.filter(\.isStored).flatMap(\.leaves).compactMap { attribute in
                Column(attribute, of: entity, in: layout)
            }
        }
        let keys = layout.tables.flatMap { table in
            table.columns.compactMap { Column($0, of: table) }
        }
        // A pair with an invalid key leads to nothing.
        let orders = layout.joinTables.flatMap { join in
            join.columns.compactMap { column in
                if case .order = column.role { Column(key: column.name, of: join.name) } else { nil }
            }
        }
        self.init(connection, columns: attributes + keys + orders, withValues: withValues)
    }
}

extension ValueVerifier.Column {
    fileprivate init?(_ attribute: AttributeDescription, of entity: EntityDescription, in layout: StoreLayout) {
        guard let table = layout.table(for: entity)?.name,
            let column = layout.column(forAttribute: attribute.name, in: entity),
            let form = ValueVerifier.Form(attribute)
        else { return nil }
        let name = attribute.type.name
        let article = "AEIO".contains(name.first ?? " ") ? "an" : "a"
        self.init(
            place: "\(entity.name).\(attribute.name)", table: table, column: column,
            numbers: layout.numbers(ofEntityAndDescendants: entity), form: form, typeName: "\(article) \(name)")
    }

    /// Creates a column of keys, entity numbers, places in lists or the counter of writes.
    fileprivate init?(_ column: EntityTable.Column, of table: EntityTable) {
        switch column.role {
        case .primaryKey, .attribute, .unknown: return nil
        case .entity, .optimisticLock, .toOne, .toOneEntity, .inverselessToMany, .inverselessOrder, .order:
            self.init(key: column.name, of: table.name)
        }
    }

    fileprivate init(key column: String, of table: String) {
        self.init(
            place: "\(table).\(column)", table: table, column: column, numbers: [], form: .integer(.min ... .max),
            typeName: "an integer")
    }
}

extension ValueVerifier.Form {
    /// Returns nil for a type that has no column of its own.
    init?(_ attribute: AttributeDescription) {
        switch attribute.type {
        case .integer16: self = .integer(Int64(Int16.min)...Int64(Int16.max))
        case .integer32: self = .integer(Int64(Int32.min)...Int64(Int32.max))
        case .integer64: self = .integer(.min ... .max)
        case .boolean: self = .boolean
        case .double, .float, .date: self = .number
        case .decimal: self = .decimal
        case .string, .uri: self = .text
        case .uuid: self = .uuid
        case .binary, .transformable:
            self = attribute.allowsExternalBinaryDataStorage ? .externalBytes : .bytes
        case .undefined, .objectID, .composite: return nil
        }
    }
}
