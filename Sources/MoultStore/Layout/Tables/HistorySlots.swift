import MoultModel

/// The slots of one entity in the bit set of changed columns that persistent history keeps, in their order
/// (`ACHANGE.ZCOLUMNS`).
package struct HistorySlots: Sendable {
    package enum Slot: Sendable, Hashable {
        case toOne(String)
        /// The `Z<n>_NAME` column next to a to-one.
        case toOneEntity(String)
        /// The `Z_FOK_` column of a to-one.
        case order(String)
        /// An attribute, or a leaf of a composite one by its path: an update of a store with an enum of four cases sets
        /// the bits of a layout with a slot for each of them.
        case attribute(String)
        case toMany(String)
    }

    package let slots: [Slot]
    /// The order of two or more to-many slots is not predictable; then their names stand for a set.
    package let toManyNames: [String]

    package init(of entity: EntityDescription, in layout: StoreLayout) {
        let levels = layout.model.lineage(of: entity).reversed()
        let relationships = levels.flatMap(\.relationships).filter { !$0.isTransient }
        let toOnes = relationships.filter { !$0.isToMany }.map(\.name)
        let table = layout.table(for: entity)
        let has = { (role: (String, String) -> EntityTable.Column.Role) in
            toOnes.filter { name in
                layout.model.declaringEntity(of: name, in: entity)
                    .flatMap { table?.column(role($0.name, name)) } != nil
            }
        }
        toManyNames = relationships.filter(\.isToMany).map(\.name)
        slots =
            toOnes.map(Slot.toOne)
            + has { .toOneEntity(entity: $0, name: $1) }.map(Slot.toOneEntity)
            + has { .order(entity: $0, name: $1) }.map(Slot.order)
            + levels.flatMap(\.attributes).flatMap(\.leaves).filter(\.isStored).map { Slot.attribute($0.name) }
            + toManyNames.map(Slot.toMany)
    }
}
