import Foundation
import MoultBasics
import MoultModel
import Synchronization

/// The registry of the classes of each entity's objects in a coordinator.
package final class ClassRegistry: Sendable {
    private struct State {
        /// The default class for entities without one.
        var base: any PublicObject.Type = ManagedObject.self
        /// The classes, by entity, that were registered or found by the name in the entity.
        var registered: [String: any PublicObject.Type] = [:]
        /// Cached lookups: the class of each entity, or of its nearest superentity with a class.
        var found: [String: any PublicObject.Type] = [:]
        /// The modules searched for ``found``.
        var modules: Set<String> = []
    }

    private let model: ManagedObjectModel
    private let state = Mutex(State())

    init(_ model: ManagedObjectModel) { self.model = model }

    /// Whether a class other than `ManagedObject` may be in use.
    var isUsed: Bool { state.withLock { !$0.registered.isEmpty || $0.base != ManagedObject.self } }

    /// - Throws: `unknownKey` if the model has no entity for the class.
    func register(_ type: any PublicObject.Type) throws {
        let name = try entityName(for: type)
        state.withLock { state in
            state.registered[name] = type
            state.found = [:]
        }
    }

    /// Sets the class for objects of entities without a class.
    package func use(_ base: any PublicObject.Type) {
        state.withLock { state in
            state.base = base
            state.found = [:]
        }
    }

    /// Registers the class with which an entity is first used. An existing registration is kept.
    package func registerIfNone(_ type: any PublicObject.Type, entity: String) {
        guard type != type.base else { return }
        type.noteModule()
        state.withLock { state in
            guard state.registered[entity] == nil else { return }
            state.registered[entity] = type
            state.found = [:]
        }
    }

    /// Returns the class of the entity, or of its nearest superentity with a class.
    package func type(for entityName: String) -> any PublicObject.Type {
        state.withLock { state in
            let modules = state.base.modules
            if state.modules.count == modules.count, let type = state.found[entityName] { return type }
            if state.modules.count != modules.count { (state.found, state.modules) = ([:], modules) }
            let lineage = model.entity(entityName).map(model.lineage(of:)) ?? []
            var found: (any PublicObject.Type)?
            for entity in lineage where found == nil {
                found = state.registered[entity.name]
                guard found == nil, let name = entity.managedObjectClassName else { continue }
                found = state.base.find(name, in: modules)
                state.registered[entity.name] = found
            }
            let type = found ?? state.base
            state.found[entityName] = type
            return type
        }
    }

    /// - Throws: `unknownKey` if the model has no entity for the class.
    package func entityName(for type: any PublicObject.Type) throws -> String {
        if let name = (type as? ManagedObject.Type)?.entityName { return name }
        let isFound = type.base != ManagedObject.self
        if isFound, let known = state.withLock({ $0.registered.first { $0.value == type }?.key }) { return known }
        let (own, full) = (String(describing: type), String(reflecting: type))
        let named = model.entities.first { entity in
            guard let name = entity.managedObjectClassName else { return false }
            return name == own || name == full || name.hasSuffix(".\(own)")
        }
        if let entity = named ?? model.entity(own) {
            if isFound { registerIfNone(type, entity: entity.name) }
            return entity.name
        }
        let remedy = isFound ? "Set managedObjectClassName of its entity" : "Override entityName in the class"
        throw MigrationError(
            .unknownKey, "The model has no entity for the class \(own).", place: own,
            remedy: "\(remedy); the entities are: \(model.entities.map(\.name).joined(separator: ", ")).")
    }
}
