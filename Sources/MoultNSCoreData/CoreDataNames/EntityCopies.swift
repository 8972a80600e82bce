import MoultCoreData

/// Copies of entities, whose relationships, indexes and constraints lead to each other's copies.
struct EntityCopies {
    private var entities: [ObjectIdentifier: NSEntityDescription] = [:]
    private var properties: [ObjectIdentifier: NSPropertyDescription] = [:]
    private var originals: [NSEntityDescription] = []

    /// Copies an entity and its sub-entities, unless they are copied already. Call ``link()`` after the last.
    mutating func add(_ entity: NSEntityDescription) -> NSEntityDescription {
        if let known = entities[ObjectIdentifier(entity)] { return known }
        let copy = NSEntityDescription()
        entities[ObjectIdentifier(entity)] = copy
        originals.append(entity)
        (copy.name, copy.managedObjectClassName) = (entity.name, entity.managedObjectClassName)
        (copy.isAbstract, copy.userInfo) = (entity.isAbstract, entity.userInfo)
        (copy.ownRenamingIdentifier, copy.versionHashModifier) = (
            entity.ownRenamingIdentifier, entity.versionHashModifier
        )
        copy.properties = entity.own.compactMap { property in
            let made = property.copy() as? NSPropertyDescription
            properties[ObjectIdentifier(property)] = made
            return made
        }
        copy.subentities = entity.subentities.map { add($0) }
        return copy
    }

    /// Makes the copies lead to copies. What leads to an entity that was not copied stays as it is.
    func link() {
        for original in originals {
            guard let copy = entities[ObjectIdentifier(original)] else { continue }
            for case let relationship as NSRelationshipDescription in copy.own {
                if let end = relationship.destinationEntity { relationship.destinationEntity = self[end] }
                if let end = relationship.inverseRelationship {
                    relationship.inverseRelationship = self[end] as? NSRelationshipDescription
                }
            }
            copy.indexes = original.indexes.map { index in index.copied { self[$0] } }
            copy.uniquenessConstraints = original.uniquenessConstraints.map { constraint in
                constraint.map { part in (part as? NSPropertyDescription).map { self[$0] as Any } ?? part }
            }
        }
    }

    private subscript(entity: NSEntityDescription) -> NSEntityDescription {
        entities[ObjectIdentifier(entity)] ?? entity
    }
    private subscript(property: NSPropertyDescription) -> NSPropertyDescription {
        properties[ObjectIdentifier(property)] ?? property
    }
}
