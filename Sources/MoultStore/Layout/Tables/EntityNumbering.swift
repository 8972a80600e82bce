import MoultModel

/// The numbers Core Data gives entities: depth first through the trees of inheritance, siblings in the order of their
/// names ignoring case, from 1 (STORE_FORMAT 2, Z_PRIMARYKEY).
package struct EntityNumbering: Sendable, Equatable {
    /// Every entity, in the order of the numbers.
    package let entities: [EntityDescription]
    package let numbers: [String: Int]

    init(entities: [EntityDescription], numbers: [String: Int]) {
        self.entities = entities
        self.numbers = numbers
    }

    package init(of model: ManagedObjectModel) {
        var order: [EntityDescription] = []
        var pending = Self.sorted(model.entities.filter { $0.superentityName == nil }).reversed() as [EntityDescription]
        while let entity = pending.popLast() {
            order.append(entity)
            pending += Self.sorted(model.subentities(of: entity)).reversed()
        }
        entities = order
        numbers = Dictionary(
            order.enumerated().map { ($1.name, $0 + 1) }, uniquingKeysWith: { first, _ in first })
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
