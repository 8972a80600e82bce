import Foundation
import MoultBasics
import MoultModel
import Synchronization

/// The class of the objects of each entity of a coordinator.
final class ClassLookup: @unchecked Sendable {
    private let model: ManagedObjectModel
    private let state = Mutex<[String: NSManagedObject.Type]>([:])
    /// The modules whose classes have been used: a model names a class without its module.
    private static let modules = Mutex<Set<String>>([])

    init(_ model: ManagedObjectModel) { self.model = model }

    /// Registers the class that an entity is first used with.
    func registerIfNone(_ type: NSManagedObject.Type, _ entity: String) {
        guard type != NSManagedObject.self else { return }
        Self.note(type)
        state.withLock { if $0[entity] == nil { $0[entity] = type } }
    }

    static func note(_ type: NSManagedObject.Type) {
        let module = NSStringFromClass(type).split(separator: ".").first.map(String.init)
        if let module { modules.withLock { _ = $0.insert(module) } }
    }

    /// The class of the entity, or of the nearest one above it that has one.
    func type(for entityName: String) -> NSManagedObject.Type {
        let lineage = model.entity(entityName).map(model.lineage(of:)) ?? []
        for entity in lineage {
            if let known = state.withLock({ $0[entity.name] }) { return known }
            if let named = entity.managedObjectClassName.flatMap(Self.find) {
                state.withLock { $0[entity.name] = named }
                return named
            }
        }
        return NSManagedObject.self
    }

    private static func find(_ name: String) -> NSManagedObject.Type? {
        let plain = name.hasPrefix(".") ? String(name.dropFirst()) : name
        if plain.contains("."), let type = NSClassFromString(plain) as? NSManagedObject.Type { return type }
        for module in modules.withLock({ $0.sorted() }) {
            if let type = NSClassFromString("\(module).\(plain)") as? NSManagedObject.Type { return type }
        }
        return nil
    }

    /// - Throws: `unknownKey` if the model has no entity for the class.
    func entityName(for type: NSManagedObject.Type) throws -> String {
        if let known = state.withLock({ $0.first { $0.value == type }?.key }) { return known }
        let (full, own) = (NSStringFromClass(type), String(describing: type))
        let named = model.entities.first { entity in
            guard let name = entity.managedObjectClassName else { return false }
            return name == full || name == own || name == ".\(own)" || name.hasSuffix(".\(own)")
        }
        if let entity = named ?? model.entity(own) {
            registerIfNone(type, entity.name)
            return entity.name
        }
        throw MigrationError(
            .unknownKey, "The model has no entity for the class \(own).", place: own,
            remedy: "Set managedObjectClassName of its entity; the entities are: "
                + "\(model.entities.map(\.name).joined(separator: ", ")).")
    }
}
