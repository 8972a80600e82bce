import MoultModel

/// The objects of one entity as rows with the model's names: what a view selects, and what a file holds.
package struct EntityContents: Sendable {
    /// The entity's name.
    package let name: String
    /// The table of its hierarchy.
    package let table: String
    /// The numbers of `Z_ENT` that its rows have.
    package let numbers: [Int]
    /// Whether the table has rows of other entities too.
    package let sharesTable: Bool
    package let columns: [Column]

    /// One column.
    package struct Column: Sendable {
        /// The property's name; an element of a composite by its path, `attribute.element`.
        package let name: String
        /// The property's own name, where the column has another: an enum of SwiftData's is called once, and no two columns
        /// have one name.
        package var property: String?
        package let source: Source
        /// A description of the column, for a comment.
        package let meaning: String
    }

    /// The source of the values of a column.
    package enum Source: Sendable {
        /// The name of the column with the key.
        case key(String)
        /// The name of the object's entity, by `Z_ENT`; one name where there is one entity.
        case entity([Int: String])
        case attribute(String, AttributeType, isExternal: Bool)
        /// The key of a destination, with the entity that every destination is of; nil if there may be several.
        case toOne(String, destination: String?)
        /// The name of the destination's entity, by the number next to the key.
        case toOneEntity(String, [Int: String])
        /// A column of a store without a model, as it is.
        case raw(String)
    }

    package func column(_ name: String) -> Column? {
        columns.first { $0.name == name } ?? columns.first { $0.property == name }
    }
}

/// The pairs of a to-many relationship as rows.
package struct JoinContents: Sendable {
    /// `Entity_relationship`
    package let name: String
    package let entity: String
    package let relationship: String
    package let destination: String
    package let table: String
    package let ownColumn: String
    package let otherColumn: String
    package let orderColumn: String?
    /// Whether the column of a to-one, or the join of the inverse, says the same.
    package let isRepeated: Bool

    /// The names of the columns: the owner's key, the destination's key, and the place where there is an order.
    package var columns: [String] {
        var names = DistinctNames()
        let ends = [entity, destination == entity ? relationship : destination]
        return (ends + (orderColumn == nil ? [] : ["position"])).map { names.next($0) }
    }

    /// The entities of both ends; nil for one that has sub-entities or is abstract.
    package let references: [String?]

    /// A description of the pairs, for a comment.
    package var meaning: String {
        "\(entity).\(relationship): the key of each \(entity) with the keys of its \(destination) objects"
            + (orderColumn == nil ? "" : ", in the order of position")
    }
}
