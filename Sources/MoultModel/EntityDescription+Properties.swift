extension EntityDescription {
    /// The entity's own properties in the byte order of their names; those it inherits are asked of the model
    /// (``ManagedObjectModel/propertiesByName(of:)``). Set it to build an entity in code.
    public var properties: [any PropertyDescription] {
        get {
            let all: [any PropertyDescription] = attributes + relationships + fetchedProperties
            return all.sorted { $0.name.precedesInByteOrder($1.name) }
        }
        set {
            attributes = newValue.compactMap { $0 as? AttributeDescription }.inNameOrder
            relationships = newValue.compactMap { $0 as? RelationshipDescription }.inNameOrder
            fetchedProperties = newValue.compactMap { $0 as? FetchedPropertyDescription }.inNameOrder
        }
    }

    /// An entity whose properties are given together, as `NSEntityDescription.properties` takes them.
    public init(
        name: String, managedObjectClassName: String? = nil, isAbstract: Bool = false,
        superentityName: String? = nil, properties: [any PropertyDescription]
    ) {
        self.init(
            name: name, managedObjectClassName: managedObjectClassName, isAbstract: isAbstract,
            superentityName: superentityName)
        self.properties = properties
    }
}

extension EntityDescription {
    /// The same entity, whatever order its properties were given in, with defaults of the attributes' own types.
    var inNameOrder: EntityDescription {
        var entity = self
        for position in attributes.indices {
            guard let value = attributes[position].defaultValue else { continue }
            let fitted = value.fitted(to: attributes[position].type)
            // What is the same stays the same array, which the versions of a model share.
            if fitted != value { entity.attributes[position].defaultValue = fitted }
        }
        entity.attributes = entity.attributes.inNameOrder
        entity.relationships = relationships.inNameOrder
        entity.fetchedProperties = fetchedProperties.inNameOrder
        return entity
    }
}

extension Array where Element: PropertyDescription {
    var inNameOrder: Self {
        let isInOrder = zip(self, dropFirst()).allSatisfy { !$1.name.precedesInByteOrder($0.name) }
        return isInOrder ? self : sorted { $0.name.precedesInByteOrder($1.name) }
    }

    /// The property of that name: halved while the order is that of the names, as in every model; one by one where an
    /// entity is still being put together.
    func named(_ name: String) -> Element? {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if self[middle].name.precedesInByteOrder(name) { low = middle + 1 } else { high = middle }
        }
        if low < count, self[low].name == name { return self[low] }
        return first { $0.name == name }
    }
}
