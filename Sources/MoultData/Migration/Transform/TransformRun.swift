import MoultModel
import MoultTransform

/// Shows the objects of one migration as models, and makes rows of the models that a transform makes.
final class TransformRun {
    private let oldTypes: [String: any PersistentModel.Type]
    private let newTypes: [String: any PersistentModel.Type]
    private unowned let manager: MigrationManager
    /// The objects that were made under a key.
    private var made: [AnyHashable: DestinationObject] = [:]
    /// The first thing that could not be thrown where it happened.
    private var fault: (any Error)?

    init(from old: Schema, to new: Schema, _ manager: MigrationManager) {
        oldTypes = old.types
        newTypes = new.types
        self.manager = manager
    }

    // MARK: - Models

    func model(_ source: SourceObject) -> (any PersistentModel)? {
        oldTypes[source.entityName]?.init(backingData: OldBacking(source, self))
    }

    func model(_ object: DestinationObject) -> (any PersistentModel)? {
        newTypes[object.entityName]?.init(backingData: NewBacking(object, self))
    }

    func made(_ key: AnyHashable) -> (any PersistentModel)? { made[key].flatMap(model) }

    func keep(_ object: DestinationObject, as key: AnyHashable) { made[key] = object }

    // MARK: - Rows

    /// The object of the new version that a model shows; a model that was just made becomes one.
    func object(_ model: any PersistentModel) throws -> DestinationObject {
        switch model.persistentBackingData {
        case let backing as NewBacking: return backing.object
        case let backing as OldBacking: throw oldObject(backing.source)
        default: return try makeObject(model)
        }
    }

    private func makeObject(_ model: any PersistentModel) throws -> DestinationObject {
        let type = type(of: model)
        let name = Schema.entityName(for: type)
        guard let known = newTypes[name], known == type else {
            throw MigrationError(
                .unknownKey, "\(String(reflecting: type)) is not a model of the new version.", place: name,
                remedy: "Create the new object from a model of the version to which the transform leads.")
        }
        let object = try manager.insertObject(forEntityName: name)
        let backing = NewBacking(object, self)
        let parts = model._$ownValues
        model.persistentBackingData = backing
        for part in parts {
            if let refusal = part.refusals.values.first { throw refusal }
            for (key, value) in part.values.sorted(by: { $0.name.precedesInByteOrder($1.name) }) {
                switch value {
                case .attribute(let value): backing.setAttribute(key, value)
                case .toOne(let destination): if destination != nil { backing.setToOne(key, destination) }
                case .toMany(let destinations):
                    if destinations?.isEmpty == false { backing.setToMany(key, destinations) }
                }
            }
        }
        return object
    }

    private func oldObject(_ source: SourceObject) -> MigrationError {
        MigrationError(
            .usage, "A relationship of a new object was set to an object of the old version.", place: source.entityName,
            remedy: "Leave such links to the migration, or create a new object.")
    }

    // MARK: - Faults

    func note(_ error: any Error) { fault = fault ?? error }

    func noting(_ body: () throws -> Void) {
        do { try body() } catch { note(error) }
    }

    func throwFault() throws {
        guard let fault else { return }
        self.fault = nil
        throw fault
    }
}
