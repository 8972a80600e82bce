import MoultModel

/// An attribute that has a column of its own: a plain attribute, or one element of a composite.
package struct StoredAttribute: Sendable, Hashable {
    /// The attribute's name; for an element of a composite its path, `attribute.element`.
    package let name: String
    package let description: AttributeDescription

    package init(name: String, description: AttributeDescription) {
        self.name = name
        self.description = description
    }
}

extension ManagedObjectModel {
    /// The attributes that an entity itself declares and that have columns, composites flattened.
    package func storedAttributes(declaredBy entity: EntityDescription) -> [StoredAttribute] {
        entity.attributes.flatMap(\.leaves).compactMap(StoredAttribute.init)
    }

    /// The attributes of an entity that have columns, inherited ones included, composites flattened.
    package func storedAttributes(of entity: EntityDescription) -> [StoredAttribute] {
        leaves(of: entity).compactMap(StoredAttribute.init)
    }
}

extension StoredAttribute {
    fileprivate init?(_ leaf: AttributeDescription) {
        guard leaf.isStored, leaf.type != .objectID else { return nil }
        self.init(name: leaf.name, description: leaf)
    }
}

extension AttributeType {
    /// The type a column of this attribute is declared with; nil for an attribute that has none.
    package var columnType: String? {
        switch self {
        case .integer16, .integer32, .integer64, .boolean: "INTEGER"
        case .double, .float: "FLOAT"
        case .date: "TIMESTAMP"
        case .decimal: "DECIMAL"
        case .string, .uri: "VARCHAR"
        case .uuid, .transformable, .binary: "BLOB"
        case .undefined, .objectID, .composite: nil
        }
    }
}
