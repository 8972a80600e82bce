import MoultBasics
import MoultModel
import MoultObjects

/// A run of transforms. It presents the objects of a migration as models, and makes rows from the models that a
/// transform creates.
final class TransformRun {
    private let oldTypes: [String: any PersistentModel.Type]
    private let newTypes: [String: any PersistentModel.Type]
    private unowned let manager: MigrationManager
    /// The objects made under a key.
    private var made: [AnyHashable: DestinationObject] = [:]
    /// The first error that could not be thrown where it occurred.
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

    /// Returns the object of the new version behind a model; a newly created model becomes an object.
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
            for (key, value) in part.values.inByteOrder(of: { $0.name }) {
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

    func noting(_ body: () throws -> Void) { do { try body() } catch { note(error) } }

    func throwFault() throws {
        guard let fault else { return }
        self.fault = nil
        throw fault
    }
}

/// The policy that runs the transforms of one edge over the objects of their models.
final class TransformPolicy: EntityMigrationPolicy {
    private let transforms: [ModelTransform]
    private let schemas: (from: Schema, to: Schema)
    private var run: TransformRun?
    /// The destinations that the code has set, by new entity, key and relationship. They override the links that the
    /// mapping makes.
    private var relationships: [String: [Int64: [String: [DestinationObject]]]] = [:]

    init(_ transforms: [ModelTransform], from old: Schema, to new: Schema) {
        self.transforms = transforms
        schemas = (old, new)
    }

    override func begin(_ mapping: EntityMapping, with manager: MigrationManager) throws {
        run = run ?? TransformRun(from: schemas.from, to: schemas.to, manager)
    }

    override func createDestinationInstances(
        forSource source: SourceObject, in mapping: EntityMapping, manager: MigrationManager
    ) throws {
        guard let run, let old = run.model(source) else {
            _ = try manager.makeDestinationInstance(forSource: source)
            return
        }
        let decision = try decision(on: old, run)
        if let outcome = try outcome(decision, run) {
            source.outcome = outcome
            return try run.throwFault()
        }
        let object = try manager.makeDestinationInstance(forSource: source)
        if case .made(let key)? = decision { run.keep(object, as: key) }
        guard let new = run.model(object) else { return }
        for transform in transforms { _ = try transform.run(old, new) }
        try run.throwFault()
        guard let backing = new.persistentBackingData as? NewBacking, !backing.relationships.isEmpty else { return }
        relationships[object.entityName, default: [:]][object.objectID.key] = backing.relationships
    }

    /// Returns the first decision that a transform makes about an object.
    private func decision(on old: any PersistentModel, _ run: TransformRun) throws -> ModelTransform.Decision? {
        for transform in transforms { if let decision = try transform.decide(old, run) { return decision } }
        return nil
    }

    /// Returns the outcome of a decision; nil if an object is to be made.
    private func outcome(_ decision: ModelTransform.Decision?, _ run: TransformRun) throws -> InstanceOutcome? {
        switch decision {
        case nil, .made?: nil
        case .merged(let model)?: .merged(into: try run.object(model))
        case .dropped(let reason)?: .dropped(reason: reason)
        case .quarantined(let reason)?: .quarantined(reason: reason)
        }
    }

    override func createRelationships(
        forDestination destination: DestinationObject, in mapping: EntityMapping, manager: MigrationManager
    ) throws {
        try super.createRelationships(forDestination: destination, in: mapping, manager: manager)
        for (name, objects) in relationships[destination.entityName]?[destination.objectID.key] ?? [:] {
            if manager.destinationModel.relationship(name, ofEntityNamed: destination.entityName)?.isToMany == true {
                destination.setObjects(objects, for: name)
            } else {
                destination.setObject(objects.first, for: name)
            }
        }
    }
}

extension ManagedObjectModel {
    fileprivate func relationship(_ name: String, ofEntityNamed entity: String) -> RelationshipDescription? {
        self.entity(entity).flatMap { relationship(name, of: $0) }
    }
}
