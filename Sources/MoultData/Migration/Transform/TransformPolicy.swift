import MoultModel
import MoultTransform

/// Runs the transforms of one edge over the objects of their models.
final class TransformPolicy: EntityMigrationPolicy {
    private let transforms: [ModelTransform]
    private let schemas: (from: Schema, to: Schema)
    private var run: TransformRun?
    /// The destinations that the code has set, by new entity, key and relationship: a mapping has its own idea of some
    /// of them.
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

    /// The first that a transform has to say about an object.
    private func decision(on old: any PersistentModel, _ run: TransformRun) throws -> ModelTransform.Decision? {
        for transform in transforms { if let decision = try transform.decide(old, run) { return decision } }
        return nil
    }

    /// Nil if an object is to be made.
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
