import MoultModel

/// The numbers Core Data gives entities: depth first through the trees of inheritance, siblings in the order of their
/// names ignoring case, from 1.
package struct EntityNumbering: Sendable, Equatable {
    /// Every entity, in the order of the numbers.
    package let entities: [EntityDescription]
    package let numbers: [String: Int]
    /// The to-many relationships without inverse, by their destinations, in the order of the numbers.
    let inverselessToManys: [String: [RelationshipReference]]

    init(entities: [EntityDescription], numbers: [String: Int]) {
        self.entities = entities
        self.numbers = numbers
        var references: [String: [RelationshipReference]] = [:]
        for entity in entities {
            for relationship in entity.relationships where relationship.isInverselessToMany {
                references[relationship.destinationEntityName, default: []].append(
                    RelationshipReference(entity: entity.name, name: relationship.name))
            }
        }
        inverselessToManys = references
    }

    package init(of model: ManagedObjectModel) {
        var order: [EntityDescription] = []
        var pending = Self.sorted(model.entities.filter { $0.superentityName == nil }).reversed() as [EntityDescription]
        while let entity = pending.popLast() {
            order.append(entity)
            pending += Self.sorted(model.subentities(of: entity)).reversed()
        }
        self.init(
            entities: order,
            numbers: Dictionary(
                order.enumerated().map { ($1.name, $0 + 1) }, uniquingKeysWith: { first, _ in first }))
    }

    /// An entity and those below it, in the order of the numbers.
    func tree(of entity: EntityDescription, in model: ManagedObjectModel) -> [EntityDescription] {
        ([entity] + model.descendants(of: entity)).sorted {
            numbers[$0.name, default: 0] < numbers[$1.name, default: 0]
        }
    }

    private static func sorted(_ entities: [EntityDescription]) -> [EntityDescription] {
        entities.map { (key: $0.name.lowercased(), entity: $0) }
            .sorted { left, right in
                left.key == right.key
                    ? left.entity.name.precedesInByteOrder(right.entity.name) : left.key.precedesInByteOrder(right.key)
            }
            .map(\.entity)
    }
}
