import MoultModel

/// The objects of one entity as rows under the model's names, as a view or an export presents them.
package struct EntityContents: Sendable {
    /// The entity's name.
    package let name: String
    /// The table of the entity's hierarchy.
    package let table: String
    /// The values of `Z_ENT` in its rows.
    package let numbers: [Int]
    /// Whether the table has rows of other entities too.
    package let sharesTable: Bool
    package let columns: [Column]

    /// A column.
    package struct Column: Sendable {
        /// The property's name; for an element of a composite, its path `attribute.element`.
        package let name: String
        /// The property's own name if the column's name differs: column names are unique, and the repeated name of a
        /// SwiftData enum, such as `ice.ice`, is shortened.
        package var property: String?
        package let source: Source
        /// A description of the column, for a comment.
        package let meaning: String
        /// The to-many relationship whose keys are the column's values, as a list; nil for any other column.
        var list: JoinContents?
    }

    /// The source of a column's values.
    package enum Source: Sendable {
        /// The name of the column with the key.
        case key(String)
        /// The name of the object's entity, by `Z_ENT`; a single name if there is one entity.
        case entity([Int: String])
        case attribute(String, AttributeType, isExternal: Bool)
        /// The key of a destination, with the only entity that it can have; nil if there may be several.
        case toOne(String, destination: String?)
        /// The name of the destination's entity, by the number in the column next to the key.
        case toOneEntity(String, [Int: String])
        /// A column of a store without a model, unchanged.
        case raw(String)
    }

    package func column(_ name: String) -> Column? {
        columns.first { $0.name == name } ?? columns.first { $0.property == name }
    }
}

/// The pairs of a to-many relationship as rows.
package struct JoinContents: Sendable {
    /// The name, in the form `Entity_relationship`.
    package let name: String
    package let entity: String
    package let relationship: String
    package let destination: String
    package let table: String
    package let ownColumn: String
    package let otherColumn: String
    package let orderColumn: String?
    /// Whether the column of a to-one, or the join of the inverse, contains the same pairs.
    package let isRepeated: Bool

    /// The names of the columns: the owner's key, the destination's key, and the position if there is an order.
    package var columns: [String] {
        var names = DistinctNames()
        let ends = [entity, destination == entity ? relationship : destination]
        return (ends + (orderColumn == nil ? [] : ["position"])).map { names.next($0) }
    }

    /// The entities of both ends; nil for an entity that is abstract or has sub-entities.
    package let references: [String?]

    /// A description of the pairs, for a comment.
    package var meaning: String {
        "\(entity).\(relationship): the key of each \(entity) with the keys of its \(destination) objects"
            + (orderColumn == nil ? "" : ", in the order of position")
    }
}
