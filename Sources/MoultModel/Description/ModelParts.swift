import MoultBasics

/// A named subset of a model's entities.
public struct Configuration: Sendable, Hashable {
    /// The name that a store's description chooses the configuration by.
    public var name: String
    /// The entities that belong to it, by their names.
    public var entityNames: [String]
    /// Whether stores of the configuration are to be mirrored to CloudKit. It changes nothing in the store.
    public var usedWithCloudKit: Bool

    /// A configuration of some of a model's entities.
    public init(name: String, entityNames: [String], usedWithCloudKit: Bool = false) {
        (self.name, self.entityNames, self.usedWithCloudKit) = (name, entityNames, usedWithCloudKit)
    }
}

/// A composite type: attributes that are stored together as one value of an entity.
public struct CompositeDescription: Sendable, Hashable {
    /// The name by which attributes of a model file name the type.
    public var name: String
    /// The elements of a value; an element may be composite itself.
    public var elements: [AttributeDescription]

    /// A composite type of these elements.
    public init(name: String, elements: [AttributeDescription]) {
        self.name = name
        self.elements = elements
    }
}

/// A fetched property: a stored query that hangs on an entity and has no column.
public struct FetchedPropertyDescription: Sendable, Hashable {
    /// The property's name, unique among the entity's own and inherited properties.
    public var name: String
    /// Whether the model marks the property as optional; a query without results is valid in any case.
    public var isOptional: Bool
    /// The entity whose objects the query finds; nil where the model names none.
    public var destinationEntityName: String?
    /// The condition that found objects satisfy, in Core Data's format language, with `$FETCH_SOURCE` for the object
    /// itself; nil for none.
    public var predicate: String?
    /// The other attributes of its fetch request in the file, by name.
    public var options: [String: String]
    /// Whether the model marks the property as transient; no store keeps it in any case.
    public var isTransient: Bool
    /// The property's name in an earlier version, as `elementID` in a model file.
    public var renamingIdentifier: String?
    /// A text that a model file keeps to tell versions apart. Fetched properties are no part of the version hash.
    public var versionHashModifier: String?
    /// Notes on the property, by key, mostly the app's own.
    public var userInfo: [String: String]
    /// Whether the property takes part in Sync Services, as `syncable` in a model file. It changes nothing in the
    /// store.
    public var isSyncable: Bool

    /// A fetched property, optional unless told otherwise.
    public init(
        name: String, isOptional: Bool = true, destinationEntityName: String? = nil, predicate: String? = nil,
        options: [String: String] = [:], isTransient: Bool = false, renamingIdentifier: String? = nil,
        versionHashModifier: String? = nil, userInfo: [String: String] = [:], isSyncable: Bool = true
    ) {
        (self.name, self.isOptional, self.destinationEntityName) = (name, isOptional, destinationEntityName)
        (self.predicate, self.options, self.isTransient) = (predicate, options, isTransient)
        (self.renamingIdentifier, self.versionHashModifier) = (renamingIdentifier, versionHashModifier)
        (self.userInfo, self.isSyncable) = (userInfo, isSyncable)
    }
}

/// A fetch request that a model keeps under a name.
public struct FetchRequestTemplate: Sendable, Hashable {
    /// The name that code asks for the request by.
    public var name: String
    /// The entity whose objects it finds.
    public var entityName: String
    /// The condition that found objects satisfy, in Core Data's format language; nil for none.
    public var predicate: String?
    /// The other attributes of the request in the file, by name (`fetchLimit`, `resultType`, …). Sort descriptors,
    /// which only code can give, stand under `sortDescriptors` as `ascending rating compare:`, joined by `; `.
    public var options: [String: String]

    /// A fetch request for objects of an entity, under a name.
    public init(name: String, entityName: String, predicate: String? = nil, options: [String: String] = [:]) {
        (self.name, self.entityName, self.predicate, self.options) = (name, entityName, predicate, options)
    }
}

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
