import MoultBasics
import MoultModel

/// Collects the models of a schema, and pairs their relationships.
struct SchemaBuilder {
    private(set) var types: [String: any PersistentModel.Type] = [:]
    var entities: [String: Schema.Entity] = [:]
    var faults: [MigrationError] = []
    /// The inverses that the models declare, by entity and relationship.
    private(set) var namedInverses: [String: [String: AnyKeyPath]] = [:]

    mutating func add(_ given: [any PersistentModel.Type]) {
        var waiting = Array(given.reversed())
        while let type = waiting.popLast() {
            let model = type.schemaMetadata
            if let known = types[model.name] {
                if known != type { faults.append(.twoClasses(known, type, entity: model.name)) }
                continue
            }
            types[model.name] = type
            waiting += [model.parent].compactMap { $0 } + destinations(of: model)
            entities[model.name] = entity(model)
        }
    }

    /// Links every entity to its parent and its children.
    func linkLineages() {
        for entity in entities.values {
            guard let parent = entity.superentityName.flatMap({ entities[$0] }) else { continue }
            entity.superentity = parent
            parent.subentities.insert(entity)
        }
    }

    private func destinations(of model: Schema.ModelMetadata) -> [any PersistentModel.Type] {
        model.properties.compactMap { property in
            switch property.shape {
            case .toOne(let type, _), .toMany(let type, _): type
            case .attribute: nil
            }
        }
    }

    private mutating func entity(_ model: Schema.ModelMetadata) -> Schema.Entity {
        let names = model.namesByKeyPath
        let unique = model.ownProperties.filter { $0.isDeclaredUnique }.map { [$0.name] }
        return Schema.Entity(
            name: model.name, superentityName: model.parent?.schemaMetadata.name,
            uniquenessConstraints: unique
                + model.uniqueness.compactMap { self.names($0, names, of: model.name) }.filter { !unique.contains($0) },
            indexes: model.indices.compactMap { index in
                switch index {
                case .binary(let paths):
                    self.names(paths, names, of: model.name).map { .init(properties: $0, isRTree: false) }
                case .rtree(let paths):
                    self.names(paths, names, of: model.name).map { .init(properties: $0, isRTree: true) }
                }
            }, own: model.ownProperties.map { property($0, of: model.name) })
    }

    private mutating func names(_ paths: [AnyKeyPath], _ known: [AnyKeyPath: String], of entity: String) -> [String]? {
        let names = paths.compactMap { known[$0] }
        guard names.count == paths.count else {
            faults.append(
                .modelInvalid(
                    "A #Unique or #Index of \(entity) names something that is not a persisted property of it.",
                    place: entity, remedy: "Name stored properties of \(entity) only, one step long."))
            return nil
        }
        return names
    }

    private mutating func property(_ property: Schema.PropertyMetadata, of entity: String) -> Schema.Entity.Property {
        switch property.shape {
        case .attribute(let attribute): .attribute(self.attribute(property, attribute, of: entity))
        case .toOne(let type, let isOptional):
            .relationship(relationship(property, type, isToOne: true, isOptional: isOptional, of: entity))
        case .toMany(let type, let isOptional):
            .relationship(relationship(property, type, isToOne: false, isOptional: isOptional, of: entity))
        }
    }

    private mutating func attribute(
        _ property: Schema.PropertyMetadata, _ attribute: AttributeDescription, of entity: String
    ) -> Schema.Attribute {
        let initial = property.initialValue?()
        var stored = attribute
        do {
            if let initial { stored = attribute.withDefaults(try property.columnValues(initial) ?? [:]) }
        } catch {
            faults.append(
                .modelInvalid(
                    "The default of \(entity).\(property.name) cannot be kept: \(error)",
                    place: "\(entity).\(property.name)", remedy: "Give it a value that its type can encode."))
        }
        return Schema.Attribute(
            name: property.name, originalName: property.declared.originalName ?? property.name,
            valueType: property.valueType, defaultValue: initial, options: property.declared.attributeOptions,
            hashModifier: property.declared.hashModifier, stored: stored)
    }

    private mutating func relationship(
        _ property: Schema.PropertyMetadata, _ destination: any PersistentModel.Type, isToOne: Bool, isOptional: Bool,
        of entity: String
    ) -> Schema.Relationship {
        let declared = property.declared
        if let inverse = declared.inverse { namedInverses[entity, default: [:]][property.name] = inverse }
        return Schema.Relationship(
            name: property.name, originalName: declared.originalName ?? property.name, valueType: property.valueType,
            keypath: property.keyPath, options: declared.relationshipOptions, hashModifier: declared.hashModifier,
            isOptional: isOptional, isToOneRelationship: isToOne, destination: destination.schemaMetadata.name,
            deleteRule: declared.deleteRule, minimumModelCount: declared.minimumModelCount,
            maximumModelCount: declared.maximumModelCount, inverseKeyPath: declared.inverse)
    }
}

extension Schema.PropertyMetadata {
    /// Whether the property is declared `@Attribute(.unique)` or `@Relationship(.unique)`.
    fileprivate var isDeclaredUnique: Bool {
        declared.attributeOptions.contains(.unique) || declared.relationshipOptions.contains(.unique)
    }
}

extension MigrationError {
    fileprivate static func twoClasses(
        _ first: any PersistentModel.Type, _ second: any PersistentModel.Type, entity: String
    ) -> MigrationError {
        .modelInvalid(
            "Two classes are the entity \(entity): \(String(reflecting: first)) and \(String(reflecting: second)).",
            place: entity,
            remedy: "Name the classes of one version only; a relationship may lead into another version's class.")
    }
}

extension SchemaBuilder {
    /// Names the inverse on both sides of every pair: first for declared inverses, then where only one pairing is
    /// possible.
    mutating func pairRelationships() {
        pairNamed()
        pairObvious()
    }

    private mutating func pairNamed() {
        for (entity, inverses) in namedInverses.inByteOrder(of: { $0.key }) {
            for (name, path) in inverses.inByteOrder(of: { $0.key }) {
                guard let relationship = entities[entity]?.relationshipsByName[name] else { continue }
                let place = "\(entity).\(name)"
                guard let (owner, inverse) = property(path, of: relationship.destination) else {
                    faults.append(
                        .modelInvalid(
                            "\(place) names an inverse that is not a relationship of \(relationship.destination).",
                            place: place, remedy: "Name a relationship of \(relationship.destination) as its inverse."))
                    continue
                }
                setInverse(inverse, of: name, in: entity, place: place)
                setInverse(name, of: inverse, in: owner, place: place)
            }
        }
    }

    /// Returns the relationship for a key path, and the entity of the lineage that declares it.
    private func property(_ path: AnyKeyPath, of entity: String) -> (owner: String, name: String)? {
        guard let name = types[entity]?.schemaMetadata.namesByKeyPath[path] ?? inherited(path, of: entity) else {
            return nil
        }
        var current: String? = entity
        while let owner = current {
            if entities[owner]?.relationshipsByName[name] != nil { return (owner, name) }
            current = entities[owner]?.superentityName
        }
        return nil
    }

    /// Returns the key path that begins at a superclass of the entity's class.
    private func inherited(_ path: AnyKeyPath, of entity: String) -> String? {
        var current = entities[entity]?.superentityName
        while let parent = current {
            if let name = types[parent]?.schemaMetadata.namesByKeyPath[path] { return name }
            current = entities[parent]?.superentityName
        }
        return nil
    }

    private mutating func setInverse(_ inverse: String, of name: String, in entity: String, place: String) {
        guard let owner = entities[entity], let position = owner.own.firstIndex(where: { $0.name == name }),
            case .relationship(var relationship) = owner.own[position]
        else { return }
        if let other = relationship.inverseName, other != inverse {
            faults.append(
                .modelInvalid(
                    "\(entity).\(name) would have two inverses, \(other) and \(inverse).", place: place,
                    remedy: "Name each relationship as the inverse of one other."))
            return
        }
        relationship.inverseName = inverse
        owner.own[position] = .relationship(relationship)
    }

    /// Pairs relationships without an inverse if each of two entities has exactly one that refers to the other.
    private mutating func pairObvious() {
        let names = entities.keys.inByteOrder()
        for entity in names {
            for other in names where entity.precedesInByteOrder(other) {
                let there = open(from: entity, to: other)
                let back = open(from: other, to: entity)
                guard there.count == 1, back.count == 1, let first = there.first, let second = back.first else {
                    continue
                }
                setInverse(second, of: first, in: entity, place: "\(entity).\(first)")
                setInverse(first, of: second, in: other, place: "\(other).\(second)")
            }
        }
    }

    private func open(from entity: String, to other: String) -> [String] {
        (entities[entity]?.relationshipsByName.values).map { relationships in
            relationships.filter { $0.destination == other && $0.inverseName == nil }.map(\.name)
        } ?? []
    }
}
