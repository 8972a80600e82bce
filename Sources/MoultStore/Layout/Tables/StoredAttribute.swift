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

    /// The name without the attribute's: what names the column (MORE 4).
    var leafName: String { name.split(separator: ".").last.map(String.init) ?? name }
}

extension ManagedObjectModel {
    /// The attributes that an entity itself declares and that have columns, composites flattened.
    package func storedAttributes(declaredBy entity: EntityDescription) -> [StoredAttribute] {
        entity.attributes.flatMap { leaves(of: $0, path: $0.name, depth: 0) }
    }

    /// The attributes of an entity that have columns, inherited ones included, composites flattened.
    package func storedAttributes(of entity: EntityDescription) -> [StoredAttribute] {
        attributes(of: entity).flatMap { leaves(of: $0, path: $0.name, depth: 0) }
    }

    /// Composites may nest; a cycle of them ends at a depth that no real model reaches.
    private func leaves(of attribute: AttributeDescription, path: String, depth: Int) -> [StoredAttribute] {
        guard attribute.isStored, attribute.type != .objectID else { return [] }
        guard attribute.type == .composite else { return [StoredAttribute(name: path, description: attribute)] }
        guard depth < 16, let composite = composites.first(where: { $0.name == attribute.compositeName }) else {
            return []
        }
        return composite.elements.sorted { $0.name.precedesInByteOrder($1.name) }
            .flatMap { leaves(of: $0, path: "\(path).\($0.name)", depth: depth + 1) }
    }
}

extension AttributeType {
    /// The type a column of this attribute is declared with; nil for an attribute that has none (STORE_FORMAT 3).
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
