import MoultModel

@testable import MoultPlan

/// Objects in memory: the slow and obvious meaning of a mapping, against which composition is compared.
struct World: Equatable {
    struct Object: Equatable {
        var entity: String
        var values: [String: AttributeValue] = [:]
        /// Destinations by relationship; in order for an ordered one, by number for any other.
        var links: [String: [Int]] = [:]
    }

    var objects: [Int: Object] = [:]
}

extension World {
    /// The objects after one step.
    func applying(_ mapping: ResolvedMapping, to model: ManagedObjectModel) -> World {
        var result = World()
        for (number, object) in objects {
            let step = mapping.entityMappings.first {
                $0.sourceEntityName == object.entity && $0.destinationEntityName != nil
            }
            guard let step, let name = step.destinationEntityName, let entity = model.entity(name) else { continue }
            var new = Object(entity: name)
            for attribute in model.attributes(of: entity) where attribute.isStored {
                new.values[attribute.name] = Self.value(of: attribute, from: step.attributes, in: object)
            }
            for relationship in model.relationships(of: entity) {
                guard case .relationship(let old)? = step.relationships[relationship.name] else { continue }
                new.links[relationship.name] = object.links[old]
            }
            result.objects[number] = new
        }
        result.fillFromInverses(mapping, model)
        result.normalize(model)
        return result
    }

    private static func value(
        of attribute: AttributeDescription, from sources: [String: AttributeSource], in object: Object
    ) -> AttributeValue? {
        if let derivation = attribute.derivation { return .string(derivation.expression) }
        switch sources[attribute.name] {
        case .attribute(let old, let value)?: return object.values[old].map { convert($0, attribute.type) } ?? value
        case .constant(let value)?: return value
        // Inference makes none.
        case .expression?: return .string("an expression")
        case nil: return .string("no source")
        }
    }

    /// Spelled out apart from the code under test.
    private static func convert(_ value: AttributeValue, _ type: AttributeType) -> AttributeValue {
        switch (value, type) {
        case (.boolean(let bit), .integer16), (.boolean(let bit), .integer32), (.boolean(let bit), .integer64):
            .integer(bit ? 1 : 0)
        case (.boolean(let bit), .double), (.boolean(let bit), .float): .double(bit ? 1 : 0)
        case (.boolean(let bit), .decimal): .decimal(bit ? "1" : "0")
        case (.integer(let number), .double), (.integer(let number), .float): .double(Double(number))
        case (.integer(let number), .decimal): .decimal("\(number)")
        default: value
        }
    }

    private mutating func fillFromInverses(_ mapping: ResolvedMapping, _ model: ManagedObjectModel) {
        for (number, object) in objects.sorted(by: { $0.key < $1.key }) {
            guard let entity = model.entity(object.entity) else { continue }
            for relationship in model.relationships(of: entity) {
                guard let inverse = relationship.inverseName,
                    case .relationship? = mapping.mapping(toEntity: object.entity)?.relationships[relationship.name]
                else { continue }
                for other in object.links[relationship.name] ?? [] {
                    guard let there = objects[other],
                        mapping.mapping(toEntity: there.entity)?.relationships[inverse] == .empty
                    else { continue }
                    objects[other]?.links[inverse, default: []].append(number)
                }
            }
        }
    }

    /// What a store can hold: no link to nobody, one destination for to-one, order only where there is one, and both
    /// ends of a link or none.
    mutating func normalize(_ model: ManagedObjectModel) {
        for entity in model.entities {
            for relationship in entity.relationships {
                let kin = objects.filter { pair in
                    model.entity(pair.value.entity).map { model.isKind($0, of: entity) } == true
                }
                for (number, object) in kin {
                    var links = (object.links[relationship.name] ?? []).filter { objects[$0] != nil }
                    if !relationship.isOrdered { links = Set(links).sorted() }
                    if !relationship.isToMany { links = Array(links.prefix(1)) }
                    objects[number]?.links[relationship.name] = links
                }
                guard let inverse = relationship.inverseName else { continue }
                for (number, object) in objects {
                    for other in object.links[relationship.name] ?? []
                    where kin[number] != nil && objects[other]?.links[inverse]?.contains(number) != true {
                        objects[number]?.links[relationship.name]?.removeAll { $0 == other }
                    }
                    guard
                        model.entity(object.entity).map({
                            model.relationship(inverse, of: $0)?.inverseName == relationship.name
                        }) == true
                    else { continue }
                    for other in object.links[inverse] ?? []
                    where kin[other] != nil && objects[other]?.links[relationship.name]?.contains(number) != true {
                        objects[number]?.links[inverse]?.removeAll { $0 == other }
                    }
                }
            }
        }
        // An empty list and none are the same.
        objects = objects.mapValues { object in
            var object = object
            object.links = object.links.filter { !$0.value.isEmpty }
            return object
        }
    }
}

// MARK: - Random objects

extension World {
    static func random(of model: ManagedObjectModel, using random: inout SeededGenerator) -> World {
        var world = World()
        let concrete = model.entities.filter { !$0.isAbstract }
        guard !concrete.isEmpty else { return world }
        for number in 0..<10 {
            guard let entity = concrete.randomElement(using: &random) else { continue }
            var object = Object(entity: entity.name)
            for attribute in model.attributes(of: entity) where attribute.isStored {
                if let derivation = attribute.derivation {
                    object.values[attribute.name] = .string(derivation.expression)
                } else if !attribute.isOptional || Bool.random(using: &random) {
                    object.values[attribute.name] = value(of: attribute.type, number: number)
                }
            }
            world.objects[number] = object
        }
        world.link(model, using: &random)
        return world
    }

    private static func value(of type: AttributeType, number: Int) -> AttributeValue {
        switch type {
        case .boolean: .boolean(number % 2 == 0)
        case .integer16, .integer32, .integer64: .integer(Int64(number))
        case .float, .double: .double(Double(number) / 2)
        case .decimal: .decimal("\(number).25")
        default: .string("value \(number)")
        }
    }

    private mutating func link(_ model: ManagedObjectModel, using random: inout SeededGenerator) {
        for number in objects.keys.sorted() {
            guard let object = objects[number], let entity = model.entity(object.entity) else { continue }
            for relationship in model.relationships(of: entity) {
                guard let destination = model.entity(relationship.destinationEntityName) else { continue }
                let possible = objects.filter { other in
                    model.entity(other.value.entity).map { model.isKind($0, of: destination) } == true
                }.keys.sorted()
                for other in possible.shuffled(using: &random).prefix(relationship.isToMany ? 3 : 1) {
                    connect(number, relationship, other, model)
                }
            }
        }
        normalize(model)
    }

    private mutating func connect(
        _ number: Int, _ relationship: RelationshipDescription, _ other: Int, _ model: ManagedObjectModel
    ) {
        let links = objects[number]?.links[relationship.name] ?? []
        guard !links.contains(other), relationship.isToMany || links.isEmpty else { return }
        if let inverse = model.inverse(of: relationship) {
            let back = objects[other]?.links[inverse.name] ?? []
            guard inverse.isToMany || back.isEmpty else { return }
            objects[other]?.links[inverse.name, default: []].append(number)
            if other == number, inverse.name == relationship.name { return }
        }
        objects[number]?.links[relationship.name, default: []].append(other)
    }
}

/// The same numbers for the same seed, so that a failing case can be looked at again (SplitMix64).
struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
