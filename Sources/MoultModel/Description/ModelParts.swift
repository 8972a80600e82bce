import MoultBasics

/// A fact about the form that a model was read from. All are equal, so that it does not count in a comparison of models.
struct ModelSourceForm: Sendable, Equatable {
    var describesCloudEncryption = true

    static func == (one: ModelSourceForm, other: ModelSourceForm) -> Bool { true }
}

extension Bool {
    /// Reads a switch of a model file: `YES` or `NO`, in any case, or another spelling of them. Returns nil for any other
    /// text.
    package init?(modelFileText text: String) {
        switch text.lowercased() {
        case "yes", "true", "1": self = true
        case "no", "false", "0": self = false
        default: return nil
        }
    }
}

extension ManagedObjectModel {
    /// Returns whether a switch of the model file's root, such as `usedWithCloudKit`, is on.
    package func isOn(_ name: String) -> Bool { documentAttributes[name].flatMap(Bool.init(modelFileText:)) ?? false }
}

/// A named subset of a model's entities.
public struct Configuration: Sendable, Hashable {
    /// The name by which a store's description selects the configuration.
    public var name: String
    /// The names of the entities in the configuration.
    public var entityNames: [String]
    /// Whether stores of the configuration are mirrored to CloudKit. It does not affect the store.
    public var usedWithCloudKit: Bool

    /// Creates a configuration of some of a model's entities.
    public init(name: String, entityNames: [String], usedWithCloudKit: Bool = false) {
        (self.name, self.entityNames, self.usedWithCloudKit) = (name, entityNames, usedWithCloudKit)
    }
}

/// A composite type: attributes that are stored together as one value of an entity.
public struct CompositeDescription: Sendable, Hashable {
    /// The name by which attributes of a model file refer to the type.
    public var name: String
    /// The elements of a value. An element may be composite itself.
    public var elements: [AttributeDescription]

    /// Creates a composite type from its elements.
    public init(name: String, elements: [AttributeDescription]) {
        self.name = name
        self.elements = elements
    }
}

/// A fetched property: a stored query that belongs to an entity and has no column.
public struct FetchedPropertyDescription: Sendable, Hashable {
    /// The property's name, unique among the entity's own and inherited properties.
    public var name: String
    /// Whether the model marks the property as optional; a query without results is always valid.
    public var isOptional: Bool
    /// The entity whose objects the query finds; nil if the model names none.
    public var destinationEntityName: String?
    /// The predicate of the query, in Core Data's format language, where `$FETCH_SOURCE` is the object; nil for none.
    public var predicate: String?
    /// The other attributes of its fetch request in the model file, by name.
    public var options: [String: String]
    /// Whether the model marks the property as transient; it is never stored in any case.
    public var isTransient: Bool
    /// The property's name in an earlier version, as `elementID` in a model file.
    public var renamingIdentifier: String?
    /// A text in a model file to tell versions apart. Fetched properties are not part of the version hash.
    public var versionHashModifier: String?
    /// Notes on the property, by key, mostly the app's own.
    public var userInfo: [String: String]
    /// Whether the property takes part in Sync Services, as `syncable` in a model file. It does not affect the store.
    public var isSyncable: Bool

    /// Creates a fetched property, by default optional.
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

/// A named fetch request that is stored in a model.
public struct FetchRequestTemplate: Sendable, Hashable {
    /// The name by which code looks up the request.
    public var name: String
    /// The entity whose objects the request finds.
    public var entityName: String
    /// The predicate of the request, in Core Data's format language; nil for none.
    public var predicate: String?
    /// The other attributes of the request in the model file, by name (`fetchLimit`, `resultType`, …). Sort
    /// descriptors, which can only be set in code, are under `sortDescriptors` as `ascending rating compare:`, joined
    /// by `; `.
    public var options: [String: String]

    /// Creates a named fetch request for objects of an entity.
    public init(name: String, entityName: String, predicate: String? = nil, options: [String: String] = [:]) {
        (self.name, self.entityName, self.predicate, self.options) = (name, entityName, predicate, options)
    }
}

/// The composite types of a model by name, and the attributes that consist of their elements.
struct CompositeTypes {
    /// The composite types, ordered by name.
    private(set) var inNameOrder: [CompositeDescription]
    private let byName: [String: CompositeDescription]

    /// A limit on the elements of one attribute, above that of any real model.
    private static let elementLimit = 10_000

    /// - Throws: `modelInvalid` if a type contains itself.
    init(_ composites: [CompositeDescription]) throws {
        byName = Dictionary(composites.map { ($0.name, $0) }) { first, _ in first }
        inNameOrder = []
        for composite in composites.inByteOrder(of: { $0.name }) {
            var left = Self.elementLimit
            inNameOrder.append(
                CompositeDescription(
                    name: composite.name,
                    elements: try elements(composite.elements, place: composite.name, depth: 1, &left)))
        }
    }

    /// Returns the entity with the elements of its composite attributes filled in.
    ///
    /// - Throws: `modelInvalid` for elements that cannot have columns in a store.
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
    /// Returns the error for a composite attribute that contains itself, or has more elements than any real model.
    package static func endlessComposite(_ place: String, remedy: String) -> MigrationError {
        .modelInvalid(
            "The composite attribute \(place) contains itself, or has more elements than Moult reads.", place: place,
            remedy: remedy)
    }
}

extension AttributeDescription {
    /// The maximum depth of nested composites, far above that of any real model.
    package static let compositeDepthLimit = 16

    /// Whether the attribute has elements, or names a composite type.
    fileprivate var isComposite: Bool { compositeName != nil || !elements.isEmpty }

    /// The user info keys of the composite attribute that SwiftData makes for an enum: "1", and the comma-separated
    /// case names. An archive has a Boolean and an array instead.
    package static let (enumTypeKey, enumCasesKey) = ("EnumType", "enum")

    /// Whether the attribute is the composite that SwiftData makes for an enum.
    package var isEnum: Bool { type == .composite && userInfo[Self.enumTypeKey] != nil }

    /// The attribute itself, or the only leaf of an enum, which is stored like a plain attribute of the enum's name.
    package var plain: AttributeDescription {
        let leaves = leaves
        return type == .composite && leaves.count == 1 && leaves[0].name == "\(name).\(name)" ? leaves[0] : self
    }

    /// The attributes that hold values: the attribute itself, or the leaves of a composite attribute in declaration
    /// order, each named by its path, `attribute.element`.
    ///
    /// A leaf's renaming identifier is its earlier path. The only leaf of an enum has the name of its property and is
    /// stored like a plain attribute, so its earlier name is the property's: a String keeps its values as it becomes an
    /// enum.
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
