import MoultBasics
import MoultModel
import MoultObjects
import MoultStore

/// The links between imported objects, and from them to existing objects.
extension StoreImport {
    /// A relationship of the objects of a table, and the columns that name its destination by the value of an attribute.
    struct Link {
        let relationship: RelationshipDescription
        let paths: [(column: String, attribute: String)]
    }

    /// Returns the relationships of an entity that a table has columns for.
    func links(of entityName: String, in table: ImportTable) -> [Link] {
        guard let entity = model.entity(entityName) else { return [] }
        let attributes = Set(model.storedAttributes(of: entity).map(\.name))
        return model.relationships(of: entity).compactMap { relationship in
            let prefix = relationship.name + "."
            let columns = table.columns.filter {
                $0.hasPrefix(prefix) && $0 != prefix + "entity" && !attributes.contains($0)
            }
            guard !columns.isEmpty || table.columns.contains(relationship.name) else { return nil }
            return Link(
                relationship: relationship,
                paths: columns.map { ($0, String($0.dropFirst(prefix.count))) })
        }
    }

    func link(_ object: Object, _ row: ImportTable.Row, _ table: ImportTable, _ link: Link) throws {
        let (relationship, name) = (link.relationship, link.relationship.name)
        if let value = row[name], !value.isNull {
            if relationship.isToMany {
                guard case .json(.array(let keys)) = value else {
                    throw wrong("\(name) is to-many, so it takes a list of keys.", table, row)
                }
                let objects = try keys.map { try destination(of: relationship, .json($0), row, table) }
                try object.setToMany(name, objects)
            } else {
                try object.setToOne(name, try destination(of: relationship, value, row, table))
            }
        }
        for (column, attribute) in link.paths {
            guard let value = row[column], !value.isNull else { continue }
            try object.setToOne(name, try destination(of: relationship, where: attribute, is: value, row, table))
        }
    }

    /// Sets the pairs of a to-many relationship, in order.
    func link(_ table: ImportTable, _ entity: EntityDescription, _ relationship: RelationshipDescription) throws {
        guard table.columns.count >= 2 else {
            guard table.count > 0 else { return }
            throw MigrationError(
                .usage, "A file of pairs has two columns of keys.", place: "\(table.path):1",
                remedy: "Write the key of each owner and that of its destination. Nothing was imported.")
        }
        let destination = table.columns[1]
        var lists: [(owner: Object, objects: [(position: Int64, object: Object)])] = []
        var places: [ObjectID: Int] = [:]
        try table.forEachRow { row in
            guard let own = row[table.columns[0]], let other = row[destination] else { return }
            let owner = try self.object(of: entity, key(own, table, row), row, table)
            let object = try self.destination(of: relationship, other, row, table)
            let position = try row["position"].flatMap { $0.isNull ? nil : try key($0, table, row) } ?? 0
            if let place = places[owner.id] {
                lists[place].objects.append((position, object))
            } else {
                places[owner.id] = lists.count
                lists.append((owner, [(position, object)]))
            }
        }
        for (owner, objects) in lists {
            let sorted = objects.enumerated().sorted {
                ($0.element.position, $0.offset) < ($1.element.position, $1.offset)
            }
            let new = sorted.map(\.element.object)
            let ids = Set(new.map(\.id))
            let old = owner.isInserted ? [] : try owner.toMany(relationship.name).filter { !ids.contains($0.id) }
            try owner.setToMany(relationship.name, old + new)
        }
    }

    private func destination(
        of relationship: RelationshipDescription, _ value: ImportTable.Value, _ row: ImportTable.Row,
        _ table: ImportTable
    ) throws -> Object {
        guard let entity = model.entity(relationship.destinationEntityName) else {
            throw wrong("\(relationship.name) leads to no entity of the store.", table, row)
        }
        return try object(of: entity, try key(value, table, row), row, table)
    }

    /// Returns the object with a key: the imported one, otherwise the existing one.
    private func object(
        of entity: EntityDescription, _ key: Int64, _ row: ImportTable.Row, _ table: ImportTable
    ) throws -> Object {
        let root = model.root(of: entity).name
        if let object = imported[root]?[key] { return object }
        if known[root] == nil {
            var fetch = ObjectFetch(entityName: root)
            fetch.includesPendingChanges = false
            let ids = try context.fetchIDs(fetch)
            known[root] = Dictionary(ids.map { ($0.key, $0) }, uniquingKeysWith: { first, _ in first })
        }
        guard let id = known[root]?[key] else {
            throw wrong(
                "Neither the files nor the store have an object of \(entity.name) with the key \(key).", table, row)
        }
        return try context.object(with: id)
    }

    private func destination(
        of relationship: RelationshipDescription, where name: String, is value: ImportTable.Value,
        _ row: ImportTable.Row, _ table: ImportTable
    ) throws -> Object {
        let entityName = relationship.destinationEntityName
        guard let entity = model.entity(entityName),
            let attribute = model.storedAttributes(of: entity).first(where: { $0.name == name }),
            let wanted = try self.value(value, attribute, table, row)
        else { throw wrong("\(entityName).\(name) is not stored.", table, row) }
        let index = "\(entityName).\(name)"
        if named[index] == nil {
            var objects: [AttributeValue: [Object]] = [:]
            for object in try context.fetch(ObjectFetch(entityName: entityName)) {
                if let value = try object.attribute(name) { objects[value, default: []].append(object) }
            }
            named[index] = objects
        }
        let found = named[index]?[wanted] ?? []
        guard let object = found.first, found.count == 1 else {
            let count = found.isEmpty ? "No object" : "More than one object"
            throw wrong("\(count) of \(entityName) has this value of \(name).", table, row)
        }
        return object
    }
}
