import MoultBasics
import MoultModel
import MoultModelFiles

extension ManagedObjectModel {
    /// Returns the model as an archive of Xcode's model editor (`XDPMModel`), as in the source of a mapping model.
    ///
    /// The archive cannot represent configurations, fetch requests, fetched properties, fetch indexes, and derived and
    /// composite attributes.
    func elements() -> [UInt8] {
        var writer = ElementsWriter(model: self)
        return writer.archive()
    }
}

/// Lays out a model as the objects of Xcode's model editor, which ``ElementsReader`` reads.
private struct ElementsWriter {
    private typealias Fields = [String: PropertyList]
    private typealias Facts = [(key: String, value: PropertyList)]

    private static let null = KeyedArchive.Builder.null
    private static let element = ["XDUMLNamedElementImp", "XDUMLElementImp", "NSObject"]
    private static let classifier = ["XDUMLClassImp", "XDUMLClassifierImp", "XDUMLNamespaceImp"] + element

    let model: ManagedObjectModel
    private var builder = KeyedArchive.Builder()
    /// The objects of entities, and of properties by `Entity.property`, which refer to each other.
    private var references: [String: PropertyList] = [:]
    private var generalizations: [String: PropertyList] = [:]

    init(model: ManagedObjectModel) { self.model = model }

    mutating func archive() -> [UInt8] {
        let (root, package) = (builder.reserve(), builder.reserve())
        for entity in model.entities {
            references[entity.name] = builder.reserve()
            for name in entity.attributes.map(\.name) + entity.relationships.map(\.name) {
                references["\(entity.name).\(name)"] = builder.reserve()
            }
            if entity.superentityName != nil { generalizations[entity.name] = builder.reserve() }
        }
        let genericClass = builder.object(
            classes: Self.classifier,
            named("XDGenericRecordClass", owner: Self.null).merging(["_isAbstract": .boolean(false)]) { $1 })
        for entity in model.entities { fill(entity, in: package, genericClass) }
        let entities = model.entities.map { (key: $0.name, value: reference($0.name)) }
        builder.fill(
            package, classes: ["XDModelPackage", "XDUMLPackageImp", "XDUMLNamespaceImp"] + Self.element,
            named("", owner: Self.null)
                .merging(bucket("Classes", builder.dictionary(entities, isMutable: true))) { $1 }
                .merging(bucket("Packages", builder.dictionary([], isMutable: true))) { $1 }
                .merging(bucket("Interfaces", builder.dictionary([], isMutable: true))) { $1 }
                .merging(bucket("DataTypes", builder.dictionary([], isMutable: true))) { $1 }
                .merging(["_xd_owningModel": root]) { $1 })
        builder.fill(
            root, classes: ["XDPMModel", "XDModel", "NSObject"],
            [
                "_xd_rootPackage": package, "_xd_comments": builder.array([], isMutable: true),
                "_xd_modelManager": Self.null, "_xd_modelName": Self.null,
                "_configurationsByName": builder.dictionary([], isMutable: true),
                "_modelVersionIdentifier": builder.string(model.versionIdentifiers.first ?? ""),
            ])
        return builder.archive(root: root)
    }

    private func reference(_ name: String) -> PropertyList { references[name] ?? Self.null }

    // MARK: Entities

    private mutating func fill(_ entity: EntityDescription, in package: PropertyList, _ genericClass: PropertyList) {
        let this = reference(entity.name)
        let attributes = entity.attributes.map(\.name) + entity.relationships.map(\.name)
        let properties = attributes.map { (key: $0, value: reference("\(entity.name).\($0)")) }
        var parents: [PropertyList] = []
        if let parent = entity.superentityName, let generalization = generalizations[entity.name] {
            let fields = named(nil, owner: this, identifiedBy: entity.name + ":" + parent)
                .merging(["_specific": this, "_general": reference(parent)]) { $1 }
            builder.fill(generalization, classes: ["XDUMLGeneralizationImp"] + Self.element, fields)
            parents = [generalization]
        }
        let facts: Facts = [
            ("XD_PSK_isAbstract", flag(entity.isAbstract)),
            ("XD_PSK_entityClassName", builder.string(entity.managedObjectClassName)),
            ("XD_PSK_elementID", builder.string(entity.renamingIdentifier)),
            ("XD_PSK_versionHashModifier", builder.string(entity.versionHashModifier)),
            ("XD_PSK_userInfo", userInfo(entity.userInfo)),
            ("XD_PSK_fetchRequestsArray", builder.array([], isMutable: true)), ("XD_PSK_classMapping", genericClass),
            ("XDPMCompoundIndexes", lists(entity.compoundIndexes)),
            ("XDPMUniquenessConstraints", lists(entity.uniquenessConstraints)),
        ]
        var fields = named(entity.name, owner: package, identifiedBy: entity.name)
        fields["_isAbstract"] = .boolean(entity.isAbstract)
        fields.merge(bucket("OwnedAttributes", builder.dictionary(properties, isMutable: true), "ordered")) { $1 }
        fields.merge(bucket("Generalizations", builder.array(parents, isMutable: true), "ordered", "duplicates")) { $1 }
        fields.merge(stereotypes([("XD_PStereotype", facts)], of: this)) { $1 }
        let children = model.subentities(of: entity).compactMap { generalizations[$0.name] }
        if !children.isEmpty {
            fields.merge(
                bucket("Specializations", builder.array(children, isMutable: true), "ordered", "duplicates")
            ) { $1 }
        }
        builder.fill(this, classes: ["XDPMEntity"] + Self.classifier, fields)
        for attribute in entity.attributes { fill(attribute, of: entity) }
        for relationship in entity.relationships { fill(relationship, of: entity) }
    }

    // MARK: Properties

    private mutating func fill(_ attribute: AttributeDescription, of entity: EntityDescription) {
        let validation = attribute.validation
        let facts: Facts = [
            ("XD_PAttK_attributeType", number(Int(attribute.type.rawValue))),
            ("XD_PAttK_defaultValueAsString", builder.string(attribute.defaultValue?.modelEditorText)),
            ("XD_PAttK_minValueString", builder.string(validation.minimum)),
            ("XD_PAttK_maxValueString", builder.string(validation.maximum)),
            ("XD_PAttK_regularExpressionString", builder.string(validation.regularExpression)),
            ("XD_PAttK_valueTransformerName", builder.string(attribute.valueTransformerName)),
            ("XD_PAttK_allowsExternalBinaryDataStorage", flag(attribute.allowsExternalBinaryDataStorage)),
        ]
        fill(attribute, of: entity, className: "XDPMAttribute", ("XD_PAtt_Stereotype", facts))
    }

    private mutating func fill(_ relationship: RelationshipDescription, of entity: EntityDescription) {
        let destination = model.entity(relationship.destinationEntityName)
        let owner = relationship.inverseName.flatMap { name in
            destination.flatMap { model.declaringEntity(of: name, in: $0) }
        }
        let inverse = owner.map { "\($0.name).\(relationship.inverseName ?? "")" } ?? ""
        let facts: Facts = [
            ("XD_PRK_destination", reference(relationship.destinationEntityName)),
            ("XD_PRK_inverseRelationship", reference(inverse)), ("XD_PRK_isToMany", flag(relationship.isToMany)),
            ("XD_PRK_minCount", number(relationship.minCount)), ("XD_PRK_maxCount", number(relationship.maxCount)),
            ("XD_PRK_ordered", flag(relationship.isOrdered)),
            ("XD_PRK_deleteRule", number(relationship.deleteRule.rawValue)),
        ]
        fill(relationship, of: entity, className: "XDPMRelationship", ("XD_PR_Stereotype", facts))
    }

    private mutating func fill(
        _ property: some EditedProperty, of entity: EntityDescription, className: String,
        _ own: (name: String, facts: Facts)
    ) {
        let path = "\(entity.name).\(property.name)"
        let facts: Facts = [
            ("XD_PPSK_isOptional", flag(property.isOptional)), ("XD_PPSK_isTransient", flag(property.isTransient)),
            ("XD_PPSK_isIndexed", flag(property.isIndexed)),
            ("XD_PPSK_isSpotlightIndexed", flag(property.isIndexedBySpotlight)),
            ("XD_PPSK_isStoredInTruthFile", flag(property.isStoredInExternalRecord)),
            ("XD_PPSK_elementID", builder.string(property.renamingIdentifier)),
            ("XD_PPSK_versionHashModifier", builder.string(property.versionHashModifier)),
            ("XD_PPSK_userInfo", userInfo(property.userInfo)),
        ]
        let fields = slot(property.name, owner: reference(entity.name), Self.null, identifiedBy: path)
            .merging(stereotypes([("XD_PPropStereotype", facts), own], of: reference(path))) { $1 }
        builder.fill(reference(path), classes: [className, "XDPMProperty", "XDUMLPropertyImp"] + Self.element, fields)
    }

    // MARK: Elements

    /// Returns the stereotypes of an element, the named groups of named values that contain most of its details.
    private mutating func stereotypes(_ groups: [(name: String, facts: Facts)], of owner: PropertyList) -> Fields {
        var entries: [(key: String, value: PropertyList)] = []
        for group in groups {
            let this = builder.reserve()
            var slots: [(key: String, value: PropertyList)] = []
            for (key, value) in group.facts {
                let fields = slot(key, owner: this, value)
                slots.append((key, builder.object(classes: ["XDUMLPropertyImp"] + Self.element, fields)))
            }
            var fields = named(group.name, owner: owner)
            fields["_isAbstract"] = .boolean(false)
            fields.merge(bucket("OwnedAttributes", builder.dictionary(slots, isMutable: true), "ordered")) { $1 }
            builder.fill(this, classes: ["XDUMLStereotypeImp"] + Self.classifier, fields)
            entries.append((group.name, this))
        }
        return bucket("Stereotypes", builder.dictionary(entries, isMutable: true), "ordered")
    }

    private mutating func bucket(_ name: String, _ storage: PropertyList, _ marks: String...) -> Fields {
        let prefix = "XDBucketFor\(name)"
        var fields = [prefix + "storage": storage, prefix + "wasEncoded": builder.string("YES")]
        for mark in marks { fields[prefix + mark] = builder.string(mark) }
        return fields
    }

    /// Returns the fields common to all elements. Xcode identifies elements that a person creates by random numbers.
    private mutating func named(_ name: String?, owner: PropertyList, identifiedBy path: String? = nil) -> Fields {
        let identifier = path.map { path in
            number(Digest.sha256(path.utf8).prefix(4).reduce(0) { $0 << 8 | Int($1) })
        }
        return [
            "_name": builder.string(name), "_owner": owner, "_visibility": .integer(0),
            "_uniqueElementID": identifier ?? Self.null,
        ]
    }

    /// Returns the fields of a property, or of a value in a stereotype.
    private mutating func slot(
        _ name: String, owner: PropertyList, _ value: PropertyList, identifiedBy path: String? = nil
    ) -> Fields {
        var fields = named(name, owner: owner, identifiedBy: path)
        for key in ["_isReadOnly", "_isStatic", "_isUnique", "_isDerived", "_isOrdered", "_isComposite", "_isLeaf"] {
            fields[key] = .boolean(false)
        }
        for (key, value) in [("_type", Self.null), ("_association", Self.null), ("_default", value)] {
            fields[key] = value
        }
        return fields
    }

    // MARK: Values

    private mutating func flag(_ isOn: Bool) -> PropertyList { builder.leaf(.boolean(isOn)) }

    private mutating func number(_ value: Int) -> PropertyList { builder.leaf(.integer(Int64(value))) }

    private mutating func userInfo(_ entries: [String: String]) -> PropertyList {
        let sorted = entries.inByteOrder { $0.key }
        return builder.dictionary(sorted.map { ($0.key, builder.string($0.value)) }, isMutable: true)
    }

    private mutating func lists(_ names: [[String]]) -> PropertyList {
        let lists = names.map { list in builder.array(list.map { builder.string($0) }, isMutable: true) }
        return builder.array(lists, isMutable: true)
    }
}

/// The editor settings that attributes and relationships have in common.
private protocol EditedProperty: PropertyDescription {
    var isIndexed: Bool { get }
    var isIndexedBySpotlight: Bool { get }
    var isStoredInExternalRecord: Bool { get }
}

extension AttributeDescription: EditedProperty {}
extension RelationshipDescription: EditedProperty {}
