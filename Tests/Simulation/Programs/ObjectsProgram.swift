import MoultBasics
import MoultModel
import MoultObjects

/// A program over contexts of `MoultObjects`, which every other API stands on.
final class ObjectsProgram: Program {
    private let coordinator: ObjectCoordinator
    private var context: ObjectContext

    init(_ stores: [ProgramStore], _ model: ManagedObjectModel, on system: any System) throws {
        coordinator = ObjectCoordinator(model: model)
        context = ObjectContext(coordinator: coordinator)
        do {
            for store in stores {
                try coordinator.add(
                    ObjectStore(
                        store.path, model: model, configuration: store.configuration, busyTimeout: 0, on: system))
            }
        } catch {
            close()
            throw error
        }
    }

    func begin() {
        context = ObjectContext(coordinator: coordinator)
        context.transactionAuthor = "simulated"
    }

    func insert(_ entity: String) throws -> Object { try context.insert(entity) }
    func object(_ entity: String, key: Int) throws -> Object {
        try context.existingObject(with: coordinator.id(entity, key: key))
    }

    func set(_ handle: Object, _ attribute: AttributeDescription, _ text: String) throws {
        try handle.setAttribute(attribute.name, HistoryValues.value(text, as: attribute.type))
    }

    func setToOne(_ handle: Object, _ name: String, _ other: Object?) throws { try handle.setToOne(name, other) }

    func add(_ other: Object, to handle: Object, _ name: String, at place: Int?) throws {
        guard let place else { return try handle.add(other, to: name) }
        try handle.insert(other, in: name, at: place)
    }

    func remove(_ other: Object, from handle: Object, _ name: String) throws { try handle.remove(other, from: name) }

    func delete(_ handle: Object) throws {
        try context.delete(handle)
        try context.processPendingChanges()
    }

    func save() throws { try context.save() }
    func key(of handle: Object) throws -> Int { Int(handle.id.key) }

    func all(_ entity: String) throws -> [Object] {
        var fetch = ObjectFetch(entityName: entity)
        fetch.includesSubentities = false
        return try context.fetch(fetch)
    }

    func text(_ handle: Object, _ attribute: AttributeDescription) throws -> String {
        HistoryValues.text(try handle.attribute(attribute.name))
    }

    func toOne(_ handle: Object, _ name: String) throws -> String? { try handle.toOne(name).map(Self.text) }

    func toMany(_ handle: Object, _ name: String, isOrdered: Bool) throws -> [String] {
        let members = try handle.toMany(name)
        return (isOrdered ? members : members.sorted { $0.id.key < $1.id.key }).map(Self.text)
    }

    private static func text(_ object: Object) -> String { "\(object.entityName)/\(object.id.key)" }

    func close() { coordinator.closeAll() }

    /// Deletes the history that the store keeps, or what is older than one of its transactions.
    func trimHistory(_ trim: Life.Trim?) throws {
        guard let store = coordinator.stores.first else { return }
        let all = try store.historyRecords()
        switch trim {
        case nil: try store.deleteHistory(all.map(\.number))
        case .token(let count):
            guard let first = all.suffix(max(count, 1)).first else { return }
            try store.deleteHistory(store.historyRecords(through: first.number - 1).map(\.number))
        case .date(let count):
            guard let first = all.suffix(max(count, 1)).first else { return }
            let before = -Double.greatestFiniteMagnitude...first.timestamp.nextDown
            try store.deleteHistory(store.historyRecords(timestamps: before).map(\.number))
        }
    }
}

extension ObjectCoordinator {
    /// The identity of an object in whichever store has its entity.
    func id(_ entity: String, key: Int) throws -> ObjectID {
        guard let store = stores(holding: entity).first else { throw WitnessFailure("no open store has \(entity)") }
        return store.id(entity, key: Int64(key))
    }

    func closeAll() {
        for store in stores {
            try? remove(store)
            store.close()
        }
    }
}
