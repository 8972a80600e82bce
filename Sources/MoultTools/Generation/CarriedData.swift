import MoultBasics
import MoultModel
import MoultPlan

/// The data that a migration carries over unchanged: objects that keep their keys, and their values and links, each
/// under its old and its new name.
package struct CarriedData: Sendable, Equatable {
    /// In the order of the older model.
    package var entities: [Entity]
    /// The policies and steps on the way, which may change more than the mappings show.
    package var code: [String]

    /// The objects of an entity of the older version, without those of its sub-entities.
    package struct Entity: Sendable, Equatable {
        package var old: String
        package var new: String
        /// The names in the older version, by those in the newer one.
        package var properties: [String: String]
    }

    /// - Throws: `question` or `cannotInfer` if an edge of the path is open.
    package init(along path: MigrationPath) throws(MigrationError) {
        var whole: CarriedData?
        for edge in path.edges {
            let next = try CarriedData(along: edge, in: path.versions)
            whole = whole.map { $0.followed(by: next) } ?? next
        }
        self = whole ?? CarriedData(entities: [], code: [])
    }

    private init(entities: [Entity], code: [String]) {
        self.entities = entities
        self.code = code
    }

    private init(along edge: MigrationEdge, in versions: ModelVersions) throws(MigrationError) {
        let (older, newer) = (versions.versions[edge.older].model, versions.versions[edge.newer].model)
        switch edge.means {
        case .inferred(let mapping), .registered(_, let mapping): self.init(mapping, from: older, to: newer)
        case .open(let questions, let refusals):
            throw MigrationError(
                questions.isEmpty ? .cannotInfer : .question,
                "\(edge.from) to \(edge.to): \(questions.first?.sentence ?? refusals.first?.message ?? "")",
                remedy: questions.first?.finding.advice ?? refusals.first?.finding.advice ?? "")
        }
        code += edge.steps.map(\.name)
    }

    /// Returns the data that two migrations carry over, one after the other.
    private func followed(by next: CarriedData) -> CarriedData {
        CarriedData(
            entities: entities.compactMap { entity in
                next.entities.first { $0.old == entity.new }.map { later in
                    Entity(
                        old: entity.old, new: later.new,
                        properties: later.properties.compactMapValues { entity.properties[$0] })
                }
            }, code: code + next.code.filter { !code.contains($0) })
    }
}

// MARK: - One mapping

extension CarriedData {
    private init(_ mapping: ResolvedMapping, from source: ManagedObjectModel, to destination: ManagedObjectModel) {
        let takers = Self.takers(mapping, from: source, to: destination)
        entities = source.entities.compactMap { entity in
            guard let taker = takers[entity.name],
                let new = taker.destinationEntityName.flatMap(destination.entity)
            else { return nil }
            let old = Dictionary(source.leaves(of: entity).map { ($0.name, $0) }) { first, _ in first }
            var properties: [String: String] = [:]
            for attribute in destination.leaves(of: new) {
                guard case .attribute(let name, _)? = taker.attributes[attribute.name], let from = old[name],
                    from.type.hasEqualValues(in: attribute.type)
                else { continue }
                properties[attribute.name] = name
            }
            for relationship in destination.relationships(of: new) {
                guard case .relationship(let name)? = taker.relationships[relationship.name],
                    let from = source.relationship(name, of: entity), from.fits(into: relationship),
                    source.concreteKinds(of: from.destinationEntityName).allSatisfy({ takers[$0] != nil })
                else { continue }
                properties[relationship.name] = name
            }
            return Entity(old: entity.name, new: new.name, properties: properties)
        }
        let policies = Set(mapping.entityMappings.compactMap(\.policy))
        code = policies.inByteOrder()
    }

    /// Returns, by source entity, the entity mapping that takes all of its objects with their keys.
    private static func takers(
        _ mapping: ResolvedMapping, from source: ManagedObjectModel, to destination: ManagedObjectModel
    ) -> [String: ResolvedEntityMapping] {
        let moved = mapping.movedEntities(from: source, to: destination)
        var takers: [String: ResolvedEntityMapping] = [:]
        for entity in source.entities where !entity.isAbstract && !moved.contains(entity.name) {
            let all = mapping.mappings(fromEntity: entity.name).filter { taker in
                taker.predicate == nil
                    && taker.destinationEntityName.flatMap(destination.entity).map { !$0.isAbstract } == true
            }
            takers[entity.name] =
                all.first { $0.destinationEntityName == entity.name } ?? (all.count == 1 ? all.first : nil)
        }
        return takers
    }
}

extension AttributeType {
    /// Whether values stay equal when converted to the other type.
    fileprivate func hasEqualValues(in other: AttributeType) -> Bool {
        let integers: Set<AttributeType> = [.integer16, .integer32, .integer64]
        return self == other || integers.isSuperset(of: [self, other]) && widens(to: other)
    }
}

extension RelationshipDescription {
    /// Whether the other relationship has room for every link, in the same order.
    fileprivate func fits(into other: RelationshipDescription) -> Bool {
        guard other.isToMany else { return !isToMany }
        guard isToMany else { return true }
        return isOrdered == other.isOrdered && (other.maxCount == 0 || maxCount > 0 && maxCount <= other.maxCount)
    }
}

extension ManagedObjectModel {
    fileprivate func concreteKinds(of name: String) -> [String] {
        guard let entity = entity(name) else { return [] }
        return ([entity] + descendants(of: entity)).filter { !$0.isAbstract }.map(\.name)
    }
}
