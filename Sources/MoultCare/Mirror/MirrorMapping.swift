import MoultBasics
import MoultModel
import MoultPlan

/// The present direction of a mirror, with its mapping.
struct MirrorMapping: Sendable {
    /// The path of the store that apps write to.
    let primary: String
    /// The path of the store that follows.
    let replica: String
    let from: ModelVersion
    let to: ModelVersion
    /// The mapping of the route; nil unless the migration is a single pass with a mapping.
    let mapping: ResolvedMapping?
    /// The reason why the mirror can only follow the whole store and not single objects, in a sentence; nil if it can.
    let obstacle: String?
    /// Whether columns that the mapping does not fill keep their values, as they do on the way back.
    let keepsUnfilled: Bool
    /// On the way back, by entity and attribute, the value that the other store has for none.
    let standIns: [String: [String: AttributeValue]]

    /// The route from the first store to the second.
    ///
    /// - Throws: `unsupported` if a version lacks the configuration that the stores hold.
    init(_ plan: MigrationPlan, hasRules: Bool, store: String, second: String, as part: StorePart) throws {
        (primary, replica) = (store, second)
        (from, to) = (try plan.from.restricted(to: part), try plan.to.restricted(to: part))
        (keepsUnfilled, standIns) = (false, [:])
        guard let pass = plan.passes.first, plan.passes.count == 1, case .mapping(let mapping) = pass.work else {
            self.mapping = nil
            obstacle = "The migration takes \(plan.passes.count) passes."
            return
        }
        self.mapping = mapping.restricted(from: from.model, to: to.model)
        obstacle =
            if let step = pass.steps.first {
                "The step \(step.name) may change any object."
            } else if hasRules {
                "The rules of this program may change any object."
            } else {
                nil
            }
    }

    /// The route back.
    init(_ reversal: ReverseMapping, of forward: MirrorMapping) {
        (primary, replica) = (forward.replica, forward.primary)
        (from, to) = (forward.to, forward.from)
        mapping = reversal.mapping
        obstacle = nil
        (keepsUnfilled, standIns) = (true, reversal.standIns)
    }
}

/// The mapping back from a mirror's second store to its first, and what it cannot bring back.
///
/// This is the mapping itself, reversed, so names match whatever the models say about renames. Data that only the first
/// store has is no loss: it stays there.
struct ReverseMapping {
    private(set) var mapping = ResolvedMapping(entityMappings: [])
    /// The data of the second store whose changes cannot be copied back, in sentences.
    private(set) var losses: [String] = []
    /// The reasons why nothing can be copied back, in sentences; empty if changes can be.
    private(set) var obstacles: [String] = []
    /// By entity and attribute of the first store, the value that either mapping gives to an object without one: the
    /// default of an attribute that the version required.
    private(set) var standIns: [String: [String: AttributeValue]] = [:]

    private let forward: ResolvedMapping
    private let first: ManagedObjectModel
    private let second: ManagedObjectModel

    init(_ forward: ResolvedMapping, from first: ManagedObjectModel, to second: ManagedObjectModel) {
        (self.forward, self.first, self.second) = (forward, first, second)
        for entity in first.entities { add(entity) }
        for merged in forward.mergedHierarchies(from: first, to: second) {
            obstacles.append("Objects that moved into the hierarchy of \(merged.root) have other keys in it.")
        }
        for added in forward.entityMappings where added.sourceEntityName == nil {
            guard let name = added.destinationEntityName else { continue }
            mapping.entityMappings.append(.init(sourceEntityName: name, destinationEntityName: nil))
            if second.entity(name)?.isAbstract == false { losses.append("Objects of \(name).") }
        }
        mapping.entityMappings.sort { left, right in
            switch (left.destinationEntityName, right.destinationEntityName) {
            case (let one?, let other?): one.precedesInByteOrder(other)
            case (nil, nil): (left.sourceEntityName ?? "").precedesInByteOrder(right.sourceEntityName ?? "")
            case (let one, _): one != nil
            }
        }
    }

    private mutating func add(_ entity: EntityDescription) {
        let found = forward.mappings(fromEntity: entity.name).filter { $0.destinationEntityName != nil }
        guard let mapped = found.first, found.count == 1, let name = mapped.destinationEntityName,
            let other = second.entity(name)
        else {
            if found.count > 1 { obstacles.append("Objects of \(entity.name) become several objects.") }
            mapping.entityMappings.append(.init(sourceEntityName: nil, destinationEntityName: entity.name))
            return
        }
        var back = ResolvedEntityMapping(sourceEntityName: name, destinationEntityName: entity.name)
        back.attributes = attributes(of: entity, mapped, other)
        back.relationships = relationships(of: entity, mapped, other)
        mapping.entityMappings.append(back)
    }

    // MARK: - Attributes

    private mutating func attributes(
        of entity: EntityDescription, _ mapped: ResolvedEntityMapping, _ other: EntityDescription
    ) -> [String: AttributeSource] {
        var sources: [String: AttributeSource] = [:]
        var carried: Set<String> = []
        // By attribute of the first store, the attributes of the second that it fills.
        let filled = Dictionary(grouping: mapped.attributes.keys.sorted()) { name -> String? in
            if case .attribute(let source, _)? = mapped.attributes[name] { source } else { nil }
        }
        for attribute in first.leaves(of: entity) where attribute.isStored && attribute.derivation == nil {
            if let name = filled[attribute.name]?.first(where: {
                second.attribute($0, of: other)?.isStored(as: attribute) == true
            }) {
                let source = AttributeSource.attribute(
                    name, ifNil: attribute.isOptional ? nil : attribute.defaultValue)
                sources[attribute.name] = source
                for case .attribute(_, let value?)? in [source, mapped.attributes[name]] {
                    standIns[entity.name, default: [:]][attribute.name] = value
                }
                carried.insert(name)
                continue
            }
            sources[attribute.name] = .constant(attribute.defaultValue)
            if !attribute.isOptional, attribute.defaultValue == nil, !entity.isAbstract {
                obstacles.append(
                    "\(entity.name).\(attribute.name) is required, and a new object of \(other.name) has no value for it."
                )
            }
        }
        for attribute in second.leaves(of: other)
        where attribute.isStored && attribute.derivation == nil && !carried.contains(attribute.name) {
            losses.append("Values of \(other.name).\(attribute.name).")
        }
        return sources
    }

    // MARK: - Relationships

    private mutating func relationships(
        of entity: EntityDescription, _ mapped: ResolvedEntityMapping, _ other: EntityDescription
    ) -> [String: RelationshipSource] {
        var sources: [String: RelationshipSource] = [:]
        var carried: Set<String> = []
        let filled = Dictionary(grouping: mapped.relationships.keys.sorted()) { name -> String? in
            if case .relationship(let source)? = mapped.relationships[name] { source } else { nil }
        }
        for relationship in first.relationships(of: entity) where !relationship.isTransient {
            guard let name = filled[relationship.name]?.first, let there = second.relationship(name, of: other) else {
                sources[relationship.name] = .empty
                if !relationship.isOptional, !relationship.isToMany, !entity.isAbstract {
                    obstacles.append(
                        "\(entity.name).\(relationship.name) is required, and \(other.name) has no value for it.")
                }
                continue
            }
            sources[relationship.name] = .relationship(name)
            carried.insert(name)
            if there.isToMany != relationship.isToMany || there.isOrdered != relationship.isOrdered {
                obstacles.append("\(other.name).\(name) has another type than \(entity.name).\(relationship.name).")
            }
        }
        for relationship in second.relationships(of: other)
        where !relationship.isTransient && !carried.contains(relationship.name) {
            guard case .empty? = mapped.relationships[relationship.name] else {
                obstacles.append("\(other.name).\(relationship.name) combines several.")
                continue
            }
            losses.append("Links of \(other.name).\(relationship.name).")
        }
        return sources
    }
}

extension AttributeDescription {
    /// Whether values can be copied between the two attributes unchanged.
    fileprivate func isStored(as other: AttributeDescription) -> Bool {
        isStored && type == other.type && valueTransformerName == other.valueTransformerName
    }
}
