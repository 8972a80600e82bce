import MoultModel
import MoultPlan
import MoultStore

extension PolicyRun {
    /// Makes the relationships of one entity mapping when all instances exist: first the mapping's expressions, then
    /// the policy's call for each object that the mapping has made.
    func makeRelationships(_ mapping: RunningMapping, _ manager: MigrationManager) throws {
        guard let policy = mapping.policy else { return }
        let written = mapping.entityMapping
        manager.begin(mapping)
        let sentence = "Call the policy \(mapping.policyName) for the relationships of \(written.name)."
        try manager.forEachKey(of: mapping, sentence) { keys in
            do {
                let others = try manager.associations.entries(
                    mapping: mapping.position, from: keys[0], to: keys[keys.count - 1])
                for key in keys {
                    if let entries = others[key] {
                        for object in try manager.made(entries) {
                            try relate(object, mapping, policy, written, manager)
                        }
                    } else if let entity = mapping.entity {
                        var object = manager.passing(entity, key)
                        try relate(object, mapping, policy, written, manager)
                        manager.leave(&object)
                    }
                }
                try manager.writeWaiting()
            } catch {
                throw PolicyFault(error, nil).error(mapping)
            }
        }
        try call(mapping, manager) { policy, written in
            try policy.endRelationshipCreation(forMapping: written, manager: manager)
        }
    }

    private func relate(
        _ object: DestinationObject, _ mapping: RunningMapping, _ policy: EntityMigrationPolicy,
        _ written: EntityMapping, _ manager: MigrationManager
    ) throws {
        do {
            object.hasMappedRelationships = false
            try policy.createRelationships(forDestination: object, in: written, manager: manager)
            try manager.throwFault()
            if object.hasMappedRelationships {
                mapping.hasMadeRelationships = true
            } else {
                try manager.forget(mapping.ownRelationships, of: object)
            }
            try manager.writeCreated(mapping)
        } catch {
            throw PolicyFault(error, object.reference)
        }
    }

    // MARK: - Relationships from the mapping's expressions

    /// Returns the to-one relationships of a mapping's rows that can take the source's key unchanged: their
    /// destinations keep their keys, or the links are updated when all instances exist.
    func carriedToOnes(
        _ mapping: RunningMapping, _ entity: DestinationEntity, _ reader: InstanceReader, _ manager: MigrationManager
    ) -> [Int: InstancePlan.Step.ToOne] {
        var found: [Int: InstancePlan.Step.ToOne] = [:]
        for (position, property) in entity.columns.shape.properties.enumerated() {
            guard case .relationship(let relationship, _) = property, entity.columns.toOne(at: position) != nil,
                case .relationship(let old)? = mapping.mapping.relationships[relationship.name],
                let sourcePosition = reader.entity.shape.position(of: old),
                let columns = reader.toOneColumns(of: sourcePosition),
                case .relationship(let before, _) = reader.entity.shape.properties[sourcePosition],
                !isContended(before, relationship),
                let entities = manager.takers(of: before, into: relationship)
            else { continue }
            found[position] = .init(
                sourcePosition: sourcePosition, key: columns.key, order: columns.order, entities: entities)
        }
        mapping.carried = Set(found.keys)
        return found
    }

    /// Whether several objects may lead to one that keeps only one of them in the new version.
    private func isContended(_ old: RelationshipDescription, _ new: RelationshipDescription) -> Bool {
        to.inverse(of: new)?.isToMany == false && from.inverse(of: old)?.isToMany != false
    }
}

// MARK: - Tasks

extension MigrationManager {
    /// Makes a mapping the current one.
    func begin(_ mapping: RunningMapping) {
        current = mapping
        currentEntityMapping = mapping.entityMapping
    }

    /// Performs a task of the run, unless an earlier call has done so.
    ///
    /// - Parameters:
    ///   - seconds: the expected time.
    ///   - isNeeded: whether to perform it. A task that is not needed counts too: tasks have the same numbers in every
    ///     call.
    func once(
        _ sentence: String, seconds: Double = CostModel.statement, if isNeeded: Bool = true, _ body: () throws -> Void
    ) throws {
        guard let pieces else {
            if isNeeded { try body() }
            return
        }
        try pieces.perform(sentence, seconds: seconds, if: isNeeded, self) { _, _ in
            try body()
            return nil
        }
    }

    /// Performs a task over objects in batches, beginning where an earlier call has ended.
    ///
    /// - Parameter body: performs a batch of at most `count` objects after the key, and returns the last key; nil if
    ///   there are no others.
    func inBatches(
        _ sentence: String, if isNeeded: Bool = true, _ body: (_ after: Int64, _ count: Int) throws -> Int64?
    ) throws {
        if let pieces { return try pieces.perform(sentence, seconds: nil, if: isNeeded, self, body) }
        var last = isNeeded ? Int64.min : nil
        while let after = last { last = try body(after, run.batchSize) }
    }

    /// Calls `body` with the keys of a mapping's source objects, a batch at a time.
    func forEachKey(
        of mapping: RunningMapping, _ sentence: String, if isNeeded: Bool = true, _ body: ([Int64]) throws -> Void
    ) throws {
        guard let name = mapping.mapping.sourceEntityName else { return }
        try inBatches(sentence, if: isNeeded) { after, count in
            let reader = try mapping.reader ?? InstanceReader(name, in: sources.store)
            mapping.reader = reader
            let keys = try reader.keys(after: after, count: count)
            guard let end = keys.last else { return nil }
            try body(keys)
            guard run.progress(0, "") else { throw PolicyRun.cancelled }
            return keys.count < count ? nil : end
        }
    }
}

extension MigrationManager {
    /// Asks for the mapping's relationships. They are made for all objects at once, and removed again from objects
    /// whose policy does not ask for them.
    func createRelationships(forDestination destination: DestinationObject) throws {
        destination.hasMappedRelationships = true
    }

    /// Empties relationships that the policy has neither set nor asked for.
    func forget(_ relationships: [String], of object: DestinationObject) throws {
        for name in relationships {
            guard let position = object.entity.columns.shape.position(of: name), !object.isChanged(position),
                case .relationship(let relationship, _) = object.entity.columns.shape.properties[position],
                try !links.isSet(position, of: object)
            else { continue }
            object.change(position, to: relationship.isToMany ? .toMany([]) : .toOne(nil))
        }
    }

    /// Returns the objects that a mapping has made itself, without those that a source object was merged into.
    func made(_ entries: [Associations.Entry]) throws -> [DestinationObject] {
        try entries.filter { !$0.isMerged }.compactMap { entry in
            try entityName(entry.entity).map { try object(ObjectReference(entityName: $0, primaryKey: entry.key)) }
        }
    }

    /// Returns the destination entities for the other end of a relationship of the new version, by the source entities
    /// that the old relationship leads to; nil if one of their keys may have changed without a recorded exception.
    func takers(
        of old: RelationshipDescription, into new: RelationshipDescription
    ) -> [String: (name: String, number: Int64)]? {
        var found: [String: (name: String, number: Int64)] = [:]
        for mapping in mappings {
            guard let from = mapping.mapping.sourceEntityName, let to = mapping.mapping.destinationEntityName,
                let number = mapping.destinationNumber,
                sourceModel.isKind(from, of: old.destinationEntityName),
                destinationModel.isKind(to, of: new.destinationEntityName)
            else { continue }
            guard found[from] == nil, mapping.keepsKeys, mapping.policy != nil || mapping.mapping.predicate == nil
            else { return nil }
            found[from] = (to, number)
        }
        return found
    }
}
