/// The composite types of a model by name, and the attributes that consist of their elements.
struct CompositeTypes {
    /// Ordered by name.
    private(set) var inNameOrder: [CompositeDescription]
    private let byName: [String: CompositeDescription]

    /// More elements in one attribute than any real model has.
    private static let elementLimit = 10_000

    /// - Throws: `modelInvalid` if a type contains itself.
    init(_ composites: [CompositeDescription]) throws {
        byName = Dictionary(composites.map { ($0.name, $0) }) { first, _ in first }
        inNameOrder = []
        for composite in composites.sorted(by: { $0.name.precedesInByteOrder($1.name) }) {
            var left = Self.elementLimit
            inNameOrder.append(
                CompositeDescription(
                    name: composite.name,
                    elements: try elements(composite.elements, place: composite.name, depth: 1, &left)))
        }
    }

    /// The entity, its composite attributes with the elements of their types.
    ///
    /// - Throws: `modelInvalid` for elements that no store can have columns for.
    func resolved(_ entity: EntityDescription) throws -> EntityDescription {
        guard entity.attributes.contains(where: \.isComposite) else { return entity }
        var entity = entity
        for position in entity.attributes.indices {
            var left = Self.elementLimit
            let place = "\(entity.name).\(entity.attributes[position].name)"
            entity.attributes[position] = try resolved(entity.attributes[position], place: place, depth: 0, &left)
        }
        return entity
    }

    private func resolved(
        _ attribute: AttributeDescription, place: String, depth: Int, _ left: inout Int
    ) throws -> AttributeDescription {
        guard attribute.isComposite else { return attribute }
        guard depth < AttributeDescription.compositeDepthLimit, left > 0 else {
            throw MigrationError.endlessComposite(
                place, remedy: "Give it a composite type that does not contain itself.")
        }
        var attribute = attribute
        let named = attribute.compositeName.flatMap { byName[$0] }?.elements
        attribute.elements = try elements(named ?? attribute.elements, place: place, depth: depth + 1, &left)
        return attribute
    }

    private func elements(
        _ elements: [AttributeDescription], place: String, depth: Int, _ left: inout Int
    ) throws -> [AttributeDescription] {
        left -= elements.count
        var names: Set<String> = []
        return try elements.map { element in
            guard !element.name.isEmpty, !element.name.contains("."), names.insert(element.name).inserted else {
                throw MigrationError.modelInvalid(
                    "The composite attribute \(place) has an element named \"\(element.name)\", "
                        + "which is empty, has a dot in it or is there twice.", place: place,
                    remedy: "Rename the element.")
            }
            return try resolved(element, place: "\(place).\(element.name)", depth: depth, &left)
        }
    }
}

extension MigrationError {
    /// A composite attribute that contains itself, or more than any real model has.
    package static func endlessComposite(_ place: String, remedy: String) -> MigrationError {
        .modelInvalid(
            "The composite attribute \(place) contains itself, or has more elements than Moult reads.", place: place,
            remedy: remedy)
    }
}

extension AttributeDescription {
    /// The greatest depth of nested composites; no real model comes near.
    package static let compositeDepthLimit = 16

    /// Whether the attribute has elements, or the name of a type that has.
    fileprivate var isComposite: Bool { compositeName != nil || !elements.isEmpty }

    /// The user info that SwiftData gives the composite attribute of an enum: "1", and the names of the
    /// cases with commas between them. An archive has a Boolean and an array for them.
    package static let (enumTypeKey, enumCasesKey) = ("EnumType", "enum")

    /// Whether the attribute is the composite that SwiftData makes of an enum.
    package var isEnum: Bool { type == .composite && userInfo[Self.enumTypeKey] != nil }

    /// The attribute, or the one leaf of an enum, which is stored as a plain attribute of the enum's name would be.
    package var plain: AttributeDescription {
        let leaves = leaves
        return type == .composite && leaves.count == 1 && leaves[0].name == "\(name).\(name)" ? leaves[0] : self
    }

    /// The attributes that have values of their own: the attribute itself, or the leaves of a composite one in order of
    /// declaration, each named by its path, `attribute.element`.
    ///
    /// A leaf's renaming identifier is the path that it had. The one leaf of an enum is named like its property and
    /// stored as a plain attribute would be, so its former name is the property's: a String that becomes an enum keeps
    /// its values.
    package var leaves: [AttributeDescription] {
        guard type == .composite else { return [self] }
        let former = renamingIdentifier ?? name
        func renamed(_ leaf: AttributeDescription, _ path: String, from former: String) -> AttributeDescription {
            var leaf = leaf
            leaf.name = path
            leaf.renamingIdentifier = former == path ? nil : former
            leaf.isTransient = leaf.isTransient || isTransient
            return leaf
        }
        if elements.count == 1, let leaf = elements.first, leaf.name == name, leaf.type != .composite {
            return [renamed(leaf, "\(name).\(name)", from: former)]
        }
        return elements.flatMap { element in
            element.leaves.map { leaf in
                renamed(leaf, "\(name).\(leaf.name)", from: "\(former).\(leaf.renamingIdentifier ?? leaf.name)")
            }
        }
    }
}
