import MoultModel

/// A model whose composite attributes all have a type with a name, as XML needs it: compiled models and SwiftData give
/// them none. An unnamed one is called after the entity and the attribute.
struct NamedComposites {
    private(set) var entities: [EntityDescription]
    private(set) var composites: [CompositeDescription]

    init(_ model: ManagedObjectModel) {
        entities = []
        composites = model.composites
        var named = model.entities
        for entity in named.indices {
            for attribute in named[entity].attributes.indices {
                name(&named[entity].attributes[attribute], after: named[entity].name)
            }
        }
        entities = named
    }

    private mutating func name(_ attribute: inout AttributeDescription, after owner: String) {
        guard attribute.type == .composite, attribute.compositeName == nil else { return }
        let wish = owner + attribute.name.prefix(1).uppercased() + attribute.name.dropFirst()
        for position in attribute.elements.indices { name(&attribute.elements[position], after: wish) }
        var chosen = wish
        var number = 1
        while composites.contains(where: { $0.name == chosen }) {
            number += 1
            chosen = "\(wish)\(number)"
        }
        attribute.compositeName = chosen
        composites.append(CompositeDescription(name: chosen, elements: attribute.elements))
    }
}
