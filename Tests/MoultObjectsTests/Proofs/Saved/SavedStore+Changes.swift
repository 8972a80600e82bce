import MoultModel

@testable import MoultObjects

// Changes that fit any model.

extension SavedStore {
    /// - Returns: how many ordered lists were turned round.
    func changeEverything() throws -> Int {
        var turned = 0
        for entity in model.entities where !entity.isAbstract {
            try updateOne(of: entity)
            if let copy = try insertCopy(of: entity) { try delete(copy) }
            turned += try reverseLists(of: entity)
        }
        return turned
    }

    private func first(_ entity: EntityDescription) throws -> Object? {
        var fetch = ObjectFetch(entityName: entity.name)
        fetch.includesSubentities = false
        fetch.limit = 1
        return try context.fetch(fetch).first
    }

    /// One attribute of one object: one row differs, in one column.
    func updateOne(of entity: EntityDescription) throws {
        let unique = Set(uniqueNames(of: entity))
        guard let object = try first(entity),
            // An enum takes the names of its cases alone.
            let attribute = model.attributes(of: entity).filter({ $0.userInfo["EnumType"] == nil }).flatMap(\.leaves)
                .first(where: {
                    $0.isStored && $0.derivation == nil && !unique.contains($0.name)
                        && $0.validation == AttributeDescription.Validation() && !derivedFrom.contains($0.name)
                        && Self.changed(try? object.attribute($0.name), $0.type) != nil
                })
        else { return }
        try object.setAttribute(attribute.name, Self.changed(object.attribute(attribute.name), attribute.type))
        guard let difference = try saveUnlessRefused() else { return }
        let columns = difference.updated.map { $0.columns.filter { !$0.isEmpty }.sorted() }
        let expected = "Z" + (attribute.name.split(separator: ".").last ?? "").uppercased()
        let derived = Set(
            model.attributes(of: entity).filter { $0.derivation != nil }.map { "Z" + $0.name.uppercased() })
        guard difference.inserted.isEmpty, difference.deleted.isEmpty, columns.count == 1,
            columns[0].filter({ !derived.contains($0) }).allSatisfy({ $0.hasPrefix(expected) })
        else { return fault("\(entity.name).\(attribute.name) was set, and columns \(columns) changed") }
    }

    /// Nil where the object holds what its model forbids, so that Core Data would not save it either.
    private func saveUnlessRefused() throws -> StoreDifference? {
        do {
            return try save()
        } catch is ValidationErrors {
            context.rollback()
            refusals += 1
            return nil
        }
    }

    /// What derived attributes of any entity are computed from.
    private var derivedFrom: Set<String> {
        Set(
            model.entities.flatMap(\.attributes).compactMap(\.derivation).flatMap {
                $0.expression.split(separator: ".").map(String.init)
            })
    }

    private func uniqueNames(of entity: EntityDescription) -> [String] {
        ([entity] + model.superentities(of: entity)).flatMap { $0.uniquenessConstraints.flatMap { $0 } }
    }

    private static func changed(_ value: AttributeValue??, _ type: AttributeType) -> AttributeValue? {
        switch (type, value ?? nil) {
        case (.string, .string(let text)?): .string(text + " changed")
        case (.string, _): .string("changed")
        case (.integer16, .integer(let number)?), (.integer32, .integer(let number)?),
            (.integer64, .integer(let number)?):
            .integer(number == 7 ? 8 : 7)
        case (.double, .double(let number)?): .double(number + 0.5)
        case (.boolean, .boolean(let flag)?): .boolean(!flag)
        case (.date, .date(let seconds)?): .date(seconds + 0.25)
        default: nil
        }
    }

    /// A copy of an object with the destinations that it must have.
    ///
    /// - Returns: nil where a rule of the model forbids such a copy.
    func insertCopy(of entity: EntityDescription) throws -> Object? {
        guard let template = try first(entity) else { return nil }
        let copy = try context.insert(entity.name)
        let unique = Set(uniqueNames(of: entity))
        for attribute in model.attributes(of: entity) where attribute.isStored && attribute.derivation == nil {
            guard let value = try? template.attribute(attribute.name) else { continue }
            try copy.setAttribute(attribute.name, unique.contains(attribute.name) ? another(value) : value)
        }
        for relationship in model.relationships(of: entity) where !relationship.isTransient {
            guard !relationship.isToMany, model.inverse(of: relationship)?.isToMany != false else { continue }
            try copy.setToOne(relationship.name, template.toOne(relationship.name))
        }
        do {
            let difference = try save()
            if difference.inserted.count != 1 { fault("\(difference.inserted.count) rows for one new \(entity.name)") }
            if !difference.deleted.isEmpty { fault("an insertion deleted rows") }
            checkNewOrderKeys(difference)
            return copy
        } catch is ValidationErrors {
            context.rollback()
            return nil
        }
    }

    private func another(_ value: AttributeValue) -> AttributeValue {
        switch value {
        case .string(let text): .string(text + " copy")
        // Within 16 bits.
        case .integer(let number): .integer(20_000 + abs(number % 1000))
        case .uuid(let bytes): .uuid(bytes.reversed())
        case .double(let number): .double(number + 0.125)
        case .date(let seconds): .date(seconds + 0.125)
        case .uri(let text): .uri(text + "copy")
        default: value
        }
    }

    /// A newcomer in an ordered list stands 1024 behind the last, the first at 2048.
    private func checkNewOrderKeys(_ difference: StoreDifference) {
        for change in difference.inserted {
            for (column, value) in change.after ?? [:] where column.hasPrefix("Z_FOK_") && value != "NULL" {
                let owner = "Z" + column.dropFirst("Z_FOK_".count)
                let others = (contents.tables[change.table] ?? [:]).filter {
                    $0.key != change.key && $0.value[owner] == change.after?[owner]
                }
                let last = others.compactMap { $0.value[column].flatMap { Int($0) } }.max()
                if Int(value) != max(last ?? 1024, 1024) + 1024 {
                    fault("\(column) of the new row is \(value), the last was \(last ?? 0)")
                }
            }
        }
    }

    func delete(_ object: Object) throws {
        let key = Int(object.id.key)
        try context.delete(object)
        let difference = try save()
        if !difference.inserted.isEmpty || !difference.deleted.contains(where: { $0.key == key }) {
            fault("deleting \(key) inserted \(difference.inserted.count), deleted \(difference.deleted.map(\.key))")
        }
    }

    /// Turns an ordered list round, and checks that the keys rise in the new order.
    func reverseLists(of entity: EntityDescription) throws -> Int {
        var turned = 0
        for relationship in model.relationships(of: entity) where relationship.isOrdered && !relationship.isTransient {
            var fetch = ObjectFetch(entityName: entity.name)
            fetch.includesSubentities = false
            for object in try context.fetch(fetch) {
                let list = try object.toMany(relationship.name)
                guard list.count > 1 else { continue }
                try object.setToMany(relationship.name, list.reversed())
                let difference = try save()
                if !difference.inserted.isEmpty || !difference.deleted.isEmpty {
                    fault("reordering made or deleted rows")
                }
                try context.refreshAll()
                if try object.toMany(relationship.name).map(\.id) != list.reversed().map(\.id) {
                    fault("\(object.id).\(relationship.name) is not in its new order")
                }
                turned += 1
                break
            }
        }
        return turned
    }
}
