import MoultModel
import MoultObjects
import MoultStore

/// Writes to a store of any model as an app would: random objects are inserted, changed, linked and deleted, some in each
/// save. What it does follows from the seed and from what the store holds.
package final class RandomWriter {
    private let model: ManagedObjectModel
    private let store: ObjectStore
    private let coordinator: ObjectCoordinator
    private var random: SeededGenerator
    private var number = 0
    private static let enough = 300

    package init(_ path: String, model: ManagedObjectModel, seed: UInt64) throws {
        self.model = model
        coordinator = ObjectCoordinator(model: model)
        store = try ObjectStore(path, model: model)
        try coordinator.add(store)
        random = SeededGenerator(seed: seed)
    }

    package func close() {
        try? coordinator.remove(store)
        store.close()
    }

    /// One save with that many writes.
    package func save(writes: Int) throws {
        let context = ObjectContext(coordinator: coordinator)
        context.transactionAuthor = "writer \(random.next() % 3)"
        var objects = try model.entities.filter { $0.superentityName == nil && !$0.isAbstract }.flatMap {
            try context.fetch(ObjectFetch(entityName: $0.name))
        }
        for _ in 0..<writes {
            // What follows a deletion is deleted too; a new object that is, is gone.
            try context.processPendingChanges()
            objects.removeAll { $0.isDeleted || $0.context == nil }
            // As many are deleted as are inserted, once there are enough.
            switch random.next() % 100 {
            case 0..<35 where objects.count < Self.enough: objects.append(try insert(into: context, beside: objects))
            case 35..<65: try change(objects)
            case 65..<88: try link(objects)
            default: if let object = objects.randomElement(using: &random) { try context.delete(object) }
            }
        }
        try context.processPendingChanges()
        for object in objects where !object.isDeleted && object.context != nil { try forgetDeleted(in: object) }
        try context.save()
    }

    /// A to-many without inverse knows nothing of the deletion of its members.
    private func forgetDeleted(in object: Object) throws {
        guard let entity = model.entity(object.entityName) else { return }
        for relationship in model.relationships(of: entity)
        where relationship.isToMany && relationship.inverseName == nil {
            // One that was inserted since the last save and is gone is among the identities alone.
            let rest = try object.toMany(relationship.name).filter { !$0.isDeleted && $0.context != nil }
            if try rest.count < object.toManyIDs(relationship.name).count {
                try object.setToMany(relationship.name, rest)
            }
        }
    }

    private func insert(into context: ObjectContext, beside objects: [Object]) throws -> Object {
        let entities = model.entities.filter { !$0.isAbstract }
        let object = try context.insert(entities.randomElement(using: &random)?.name ?? "")
        for attribute in attributes(of: object) { try set(attribute, of: object) }
        if Bool.random(using: &random) { try link(objects, to: object) }
        return object
    }

    private func change(_ objects: [Object]) throws {
        guard let object = objects.randomElement(using: &random),
            let attribute = attributes(of: object).randomElement(using: &random)
        else { return }
        try set(attribute, of: object)
    }

    private func set(_ attribute: AttributeDescription, of object: Object) throws {
        number += 1
        if attribute.allowsExternalBinaryDataStorage, number % 50 == 0 {
            try object.setAttribute(
                attribute.name, .binary([UInt8](repeating: UInt8(number % 251), count: ExternalStorage.threshold + 1)))
            return
        }
        try object.setAttribute(attribute.name, value(of: attribute))
    }

    /// A value of the attribute; nil for an optional one now and then.
    private func value(of attribute: AttributeDescription) -> AttributeValue? {
        if attribute.isOptional, number % 7 == 0 { return nil }
        switch attribute.type {
        case .integer16, .integer32, .integer64: return .integer(Int64(random.next() % 30_000))
        case .double, .float: return .double(Double(random.next() % 10_000) / 8)
        case .decimal: return .decimal("\(random.next() % 1_000).25")
        case .date: return .date(Double(random.next() % 1_000_000) / 4)
        case .binary: return .binary([UInt8](repeating: UInt8(number % 251), count: number % 40))
        default: return .string("text \(random.next() % 1_000)")
        }
    }

    private func attributes(of object: Object) -> [AttributeDescription] {
        guard let entity = model.entity(object.entityName) else { return [] }
        return model.attributes(of: entity).filter { $0.isStored && $0.derivation == nil }
    }

    private func link(_ objects: [Object], to object: Object? = nil) throws {
        guard let object = object ?? objects.randomElement(using: &random),
            let entity = model.entity(object.entityName),
            let relationship = model.relationships(of: entity).randomElement(using: &random)
        else { return }
        let fitting = objects.filter { other in
            guard let there = model.entity(other.entityName),
                let wanted = model.entity(relationship.destinationEntityName)
            else { return false }
            return model.isKind(there, of: wanted)
        }
        guard let other = fitting.randomElement(using: &random) else { return }
        let name = relationship.name
        if !relationship.isToMany {
            try object.setToOne(name, random.next() % 4 == 0 ? nil : other)
        } else if try object.toManyIDs(name).contains(other.id) {
            try object.remove(other, from: name)
        } else if relationship.isOrdered {
            let count = try object.toManyIDs(name).count
            try object.insert(other, in: name, at: Int.random(in: 0...count, using: &random))
        } else {
            try object.add(other, to: name)
        }
    }
}
