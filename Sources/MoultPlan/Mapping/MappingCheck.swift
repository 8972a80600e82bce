import MoultModel

extension MappingModel {
    /// Checks a mapping against its two models: for each concrete entity and stored property of the destination without
    /// a source, how it starts, or why it cannot.
    ///
    /// Errors prevent the migration, warnings lose data, and notes say why something starts empty.
    package func findings(from source: ManagedObjectModel, to destination: ManagedObjectModel) -> [Finding] {
        var check = MappingCheck(mapping: self, source: source, destination: destination)
        check.run()
        return check.findings
    }
}

struct MappingCheck {
    let mapping: MappingModel
    let source: ManagedObjectModel
    let destination: ManagedObjectModel
    private(set) var findings: [Finding] = []

    init(mapping: MappingModel, source: ManagedObjectModel, destination: ManagedObjectModel) {
        self.mapping = mapping
        self.source = source
        self.destination = destination
    }

    mutating func run() {
        var names: Set<String> = []
        for entityMapping in mapping.entityMappings {
            if !names.insert(entityMapping.name).inserted {
                report(
                    .error, "mapping-name-twice", entityMapping.name,
                    "Two entity mappings are named \(entityMapping.name).", "Rename one of them.")
            }
            check(entityMapping)
        }
        checkEntities()
    }

    mutating func report(
        _ severity: Finding.Severity, _ code: String, _ place: String, _ message: String, _ remedy: String = ""
    ) {
        findings.append(Finding(code: code, severity: severity, place: place, message: message, remedy: remedy))
    }

    // MARK: Entities

    private mutating func check(_ entityMapping: EntityMapping) {
        let old = entityMapping.sourceEntityName.flatMap(source.entity)
        let new = entityMapping.destinationEntityName.flatMap(destination.entity)
        let names = [
            (entityMapping.sourceEntityName, old, "source"), (entityMapping.destinationEntityName, new, "destination"),
        ]
        for (name, entity, side) in names {
            guard let name else { continue }
            if entity == nil {
                report(
                    .error, "mapping-unknown-entity", entityMapping.name,
                    "The \(side) model of the mapping \(entityMapping.name) has no entity \(name).",
                    "Correct the name, or give the version that the mapping was made for.")
            } else if entity?.isAbstract == true {
                report(
                    .error, "mapping-abstract-entity", entityMapping.name,
                    "\(name) is abstract in the \(side) model and has no objects of its own.",
                    "Map each of its sub-entities.")
            }
        }
        guard let new else { return }
        checkNames(entityMapping, new)
        // What is added has no objects that could miss a value.
        guard let old else { return }
        checkAttributes(entityMapping, old, new)
        checkRelationships(entityMapping, old, new)
    }

    private mutating func checkEntities() {
        let takenFrom = Set(mapping.entityMappings.compactMap(\.sourceEntityName))
        let made = Set(mapping.entityMappings.compactMap(\.destinationEntityName))
        for entity in source.entities where !entity.isAbstract && !takenFrom.contains(entity.name) {
            report(
                .warning, "mapping-drops-entity", entity.name,
                "No mapping takes the objects of \(entity.name); they are dropped.",
                "Add an entity mapping for it, or one of type remove.")
        }
        for entity in destination.entities where !entity.isAbstract && !made.contains(entity.name) {
            report(
                .note, "mapping-empty-entity", entity.name,
                "No mapping makes objects of \(entity.name); it starts empty.")
        }
    }

    private mutating func checkNames(_ entityMapping: EntityMapping, _ new: EntityDescription) {
        let attributes = entityMapping.attributeMappings.filter { destination.attribute($0.name, of: new) == nil }
        let relationships = entityMapping.relationshipMappings.filter {
            destination.relationship($0.name, of: new) == nil
        }
        for (kind, property) in attributes.map({ ("attribute", $0) }) + relationships.map({ ("relationship", $0) }) {
            report(
                .error, "mapping-unknown-property", "\(entityMapping.name).\(property.name)",
                "\(new.name) has no \(kind) \(property.name).",
                "Correct the name, or give the version that the mapping was made for.")
        }
    }

    // MARK: Properties without a source

    private mutating func checkAttributes(
        _ entityMapping: EntityMapping, _ old: EntityDescription, _ new: EntityDescription
    ) {
        for attribute in destination.attributes(of: new) where attribute.isStored && attribute.derivation == nil {
            let place = "\(entityMapping.name).\(attribute.name)"
            if let expression = entityMapping.attributeMapping(attribute.name)?.valueExpression {
                check(
                    expression, for: attribute, of: old, place: place,
                    hasPolicy: entityMapping.entityMigrationPolicyClassName != nil)
            } else if let value = attribute.defaultValue {
                report(.note, "mapping-default", place, "\(new.name).\(attribute.name) starts as \(value.text).")
            } else if attribute.isOptional {
                report(.note, "mapping-default", place, "\(new.name).\(attribute.name) starts without a value.")
            } else {
                reportMissing(attribute.name, of: new, entityMapping)
            }
        }
    }

    private mutating func checkRelationships(
        _ entityMapping: EntityMapping, _ old: EntityDescription, _ new: EntityDescription
    ) {
        for relationship in destination.relationships(of: new) where !relationship.isTransient {
            let place = "\(entityMapping.name).\(relationship.name)"
            if let expression = entityMapping.relationshipMapping(relationship.name)?.valueExpression {
                checkPaths(in: expression, of: old, place: place)
            } else if isFilledByInverse(relationship) {
                report(.note, "mapping-inverse", place, "\(new.name).\(relationship.name) is filled by its inverse.")
            } else if relationship.mayBeEmpty {
                report(.note, "mapping-default", place, "\(new.name).\(relationship.name) starts empty.")
            } else {
                reportMissing(relationship.name, of: new, entityMapping)
            }
        }
    }

    private func isFilledByInverse(_ relationship: RelationshipDescription) -> Bool {
        guard let inverse = relationship.inverseName,
            let target = destination.entity(relationship.destinationEntityName)
        else { return false }
        return mapping.entityMappings.contains { other in
            guard let entity = other.destinationEntityName.flatMap(destination.entity),
                destination.isKind(entity, of: target)
            else { return false }
            return other.relationshipMapping(inverse)?.valueExpression != nil
        }
    }

    private mutating func reportMissing(_ property: String, of new: EntityDescription, _ entityMapping: EntityMapping) {
        let place = "\(entityMapping.name).\(property)"
        if let policy = entityMapping.entityMigrationPolicyClassName {
            report(
                .note, "mapping-by-policy", place,
                "\(new.name).\(property) is required and has no expression: \(policy) has to set it.")
        } else {
            report(
                .error, "mapping-without-value", place,
                "\(new.name).\(property) is required, and the mapping gives it no value.",
                "Give it a value expression, a default value, or make it optional.")
        }
    }
}
