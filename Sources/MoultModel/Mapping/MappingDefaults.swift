import MoultBasics

/// The defaults of a mapping, by the rules with which Xcode completes one.
package struct MappingDefaults: Sendable {
    private let source: ManagedObjectModel
    private let destination: ManagedObjectModel
    private let entityMappings: [EntityMapping]

    /// - Parameter entityMappings: all entity mappings of the model, each with at least its name and its entities.
    package init(from source: ManagedObjectModel, to destination: ManagedObjectModel, _ entityMappings: [EntityMapping])
    {
        (self.source, self.destination, self.entityMappings) = (source, destination, entityMappings)
    }

    /// Returns the type of a mapping: determined by a policy, a missing source or a missing destination, and otherwise
    /// by whether the entity keeps its properties.
    package func type(of mapping: EntityMapping) -> EntityMappingType {
        if mapping.entityMigrationPolicyClassName != nil { return .custom }
        guard let from = mapping.sourceEntityName else { return .add }
        guard let to = mapping.destinationEntityName else { return .remove }
        return from == to && keepsProperties(entityNamed: from) ? .copy : .transform
    }

    /// Returns `$source.name` if the source entity has an attribute of that name. Renaming identifiers are not
    /// followed: for a renamed attribute, the author or Xcode wrote the expression.
    package func expression(forAttribute name: String, of mapping: EntityMapping) -> Expression? {
        guard let entity = mapping.sourceEntityName.flatMap(source.entity), source.attribute(name, of: entity) != nil
        else { return nil }
        return .source(name)
    }

    /// Returns the expression for the objects made from the destinations of the source's relationship of that name: by
    /// entity mapping if exactly one takes the destination entity, otherwise by any.
    package func expression(forRelationship name: String, of mapping: EntityMapping) -> Expression? {
        guard let entity = mapping.sourceEntityName.flatMap(source.entity),
            let relationship = source.relationship(name, of: entity),
            let target = source.entity(relationship.destinationEntityName)
        else { return nil }
        let takers = entityMappings.filter { other in
            other.sourceEntityName.flatMap(source.entity).map { source.isKind($0, of: target) } ?? false
        }
        guard let taker = takers.first, takers.count == 1 else {
            return .destinationInstances(.ofSourceRelationship, named: name, for: .source(name))
        }
        return .destinationInstances(.ofEntityMapping, named: taker.name, for: .source(name))
    }

    /// Adds a mapping with its default expression for each stored property of the destination entity that has none, and
    /// sorts all mappings by name.
    func addMissingProperties(to mapping: inout EntityMapping) {
        guard let entity = mapping.destinationEntityName.flatMap(destination.entity) else { return }
        for attribute in destination.attributes(of: entity)
        where attribute.isStored && attribute.derivation == nil && mapping.attributeMapping(attribute.name) == nil {
            mapping.attributeMappings.append(
                PropertyMapping(attribute.name, expression(forAttribute: attribute.name, of: mapping)))
        }
        for relationship in destination.relationships(of: entity)
        where !relationship.isTransient && mapping.relationshipMapping(relationship.name) == nil {
            mapping.relationshipMappings.append(
                PropertyMapping(relationship.name, expression(forRelationship: relationship.name, of: mapping)))
        }
        mapping.attributeMappings.sort { $0.name.precedesInByteOrder($1.name) }
        mapping.relationshipMappings.sort { $0.name.precedesInByteOrder($1.name) }
    }

    /// Whether the new version still has every property of the entity: declared by the same entity, with the same kind
    /// and type. Added properties do not matter.
    private func keepsProperties(entityNamed name: String) -> Bool {
        guard let old = source.entity(name), let new = destination.entity(name) else { return false }
        let keepsAttributes = source.attributes(of: old).allSatisfy { attribute in
            destination.attribute(attribute.name, of: new)?.type == attribute.type
                && isDeclaredBySame(attribute.name, old, new)
        }
        return keepsAttributes
            && source.relationships(of: old).allSatisfy { relationship in
                guard let after = destination.relationship(relationship.name, of: new) else { return false }
                return after.destinationEntityName == relationship.destinationEntityName
                    && after.isToMany == relationship.isToMany
                    && isDeclaredBySame(relationship.name, old, new)
            }
    }

    private func isDeclaredBySame(_ property: String, _ old: EntityDescription, _ new: EntityDescription) -> Bool {
        source.declaringEntity(of: property, in: old)?.name == destination.declaringEntity(of: property, in: new)?.name
    }
}

/// Expressions that mapping models are built from.
extension Expression {
    /// The selectors of the migration manager that return the destination objects of source objects.
    public enum DestinationInstances: String, Sendable, CaseIterable {
        /// The objects that the entity mapping of that name made.
        case ofEntityMapping = "destinationInstancesForEntityMappingNamed:sourceInstances:"
        /// The objects that any mapping made for the source relationship of that name.
        case ofSourceRelationship = "destinationInstancesForSourceRelationshipNamed:sourceInstances:"
    }

    /// Returns `$source.path`: a value of the object being migrated.
    public static func source(_ path: String) -> Expression { .keyPath(path, of: .variable("source")) }

    /// Returns `FUNCTION($manager, "destinationInstancesFor…:sourceInstances:", "name", sourceInstances)`.
    public static func destinationInstances(
        _ kind: DestinationInstances, named name: String, for sourceInstances: Expression
    ) -> Expression {
        .message(kind.rawValue, to: .variable("manager"), [.constant(.string(name)), sourceInstances])
    }

    /// The parts of a ``destinationInstances(_:named:for:)`` expression; nil for any other expression.
    public var destinationInstances: (kind: DestinationInstances, name: String, sourceInstances: Expression)? {
        guard case .message(let selector, .variable("manager"), let arguments) = self, arguments.count == 2,
            let kind = DestinationInstances(rawValue: selector), case .constant(.string(let name)) = arguments[0]
        else { return nil }
        return (kind, name, arguments[1])
    }

    /// Returns `FUNCTION($manager, "fetchRequestForSourceEntityNamed:predicateString:", "entity", "predicate")`.
    package static func sourceFetch(of entity: String, where predicate: Predicate?) -> Expression {
        .message(
            EntityMapping.fetchSelector, to: .variable("manager"),
            [.constant(.string(entity)), .constant(.string(predicate?.format ?? "TRUEPREDICATE"))])
    }

    /// The parts of a ``sourceFetch(of:where:)`` expression; nil for any other expression.
    package var sourceFetch: (entity: Expression, predicate: String)? {
        guard case .message(EntityMapping.fetchSelector, .variable("manager"), let arguments) = self,
            arguments.count == 2, case .constant(.string(let predicate)) = arguments[1]
        else { return nil }
        return (arguments[0], predicate)
    }

    /// The context of a source fetch: `$manager.sourceContext`.
    package static var sourceContext: Expression { .keyPath("sourceContext", of: .variable("manager")) }
}
