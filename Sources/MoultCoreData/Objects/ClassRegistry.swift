import MoultBasics
import MoultModel
import Synchronization

/// The classes of the objects of each entity.
final class ClassRegistry: Sendable {
    private struct State {
        /// The class of objects whose entity has none.
        var base: ManagedObject.Type = ManagedObject.self
        /// As registered, by entity.
        var registered: [String: ManagedObject.Type] = [:]
        /// Looked up before: the registered class of the entity or of the nearest one above it.
        var found: [String: ManagedObject.Type] = [:]
    }

    private let state = Mutex(State())

    /// Whether any class but `ManagedObject` is registered.
    var isUsed: Bool { state.withLock { !$0.registered.isEmpty || $0.base != ManagedObject.self } }

    /// - Throws: `unknownKey` if the model has no entity for the class.
    func register(_ type: ManagedObject.Type, in model: ManagedObjectModel) throws {
        let name = try entityName(for: type, in: model)
        state.withLock { state in
            state.registered[name] = type
            state.found = [:]
        }
    }

    /// Says which class the objects of entities without a class have.
    func use(_ base: ManagedObject.Type) {
        state.withLock { state in
            state.base = base
            state.found = [:]
        }
    }

    /// Registers the class that an entity is first used with; a class that is registered already stays.
    func registerIfNone(_ type: ManagedObject.Type, entity: String) {
        guard type != ManagedObject.self else { return }
        state.withLock { state in
            guard state.registered[entity] == nil else { return }
            state.registered[entity] = type
            state.found = [:]
        }
    }

    func type(for entityName: String, in model: ManagedObjectModel) -> ManagedObject.Type {
        state.withLock { state in
            if let type = state.found[entityName] { return type }
            let lineage = model.entity(entityName).map(model.lineage(of:)) ?? []
            let registered = state.registered
            let type = lineage.lazy.compactMap { registered[$0.name] }.first ?? state.base
            state.found[entityName] = type
            return type
        }
    }

    /// - Throws: `unknownKey`.
    func entityName(for type: ManagedObject.Type, in model: ManagedObjectModel) throws -> String {
        if let name = type.entityName { return name }
        let own = String(describing: type)
        let named = model.entities.first { entity in
            guard let name = entity.managedObjectClassName else { return false }
            return name == own || name.hasSuffix("." + own)
        }
        if let entity = named ?? model.entity(own) { return entity.name }
        throw MigrationError(
            .unknownKey, "The model has no entity for the class \(own).", place: own,
            remedy: "Override entityName in the class; the entities are: "
                + "\(model.entities.map(\.name).joined(separator: ", ")).")
    }
}
