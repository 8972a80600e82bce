import MoultBasics
import MoultModel

/// The schema that the mirroring of a model needs, as the framework initialises it, and the parts of the model that need
/// it.
package struct CloudKitRequirements: Sendable {
    /// The record types and fields, with the indexes and grants that the server gives them.
    package private(set) var schema = CloudKitSchema()
    /// The parts of the model that CloudKit can never have: clashes, names and limits.
    package private(set) var faults: [CloudKitGap] = []
    /// The parts whose form no known export shows; they have the documented form.
    package private(set) var doubts: [Doubt] = []
    /// Whether the model says which attributes are encrypted.
    let knowsEncryption: Bool
    /// The configurations of the model, if it marks none for CloudKit, none was named, and one leaves out entities.
    let unmarked: [String]
    private var origins: [String: [String: Origin]] = [:]
    private var refused: [String: String] = [:]

    /// The part of the model that needs a field; neither an entity nor a property for a field of the framework.
    package struct Origin: Sendable, Equatable, CustomStringConvertible {
        package let entity: String?
        package let property: String?
        /// Whether the property is a relationship.
        let isRelationship: Bool

        package init(_ entity: String? = nil, _ property: String? = nil, isRelationship: Bool = false) {
            (self.entity, self.property, self.isRelationship) = (entity, property, isRelationship)
        }

        /// `Entity.property`, or `the framework`.
        package var description: String {
            entity.map { [$0, property].compactMap(\.self).joined(separator: ".") } ?? "the framework"
        }
    }

    /// A part of the schema that has the documented form, which no known export confirms.
    package struct Doubt: Sendable, Equatable {
        /// The record type or `RecordType.field`; empty for the whole schema.
        package let place: String
        package let sentence: String

        package init(place: String, sentence: String) { (self.place, self.sentence) = (place, sentence) }
    }

    /// - Parameters:
    ///   - configuration: the configuration whose stores are mirrored; nil for those that the model marks for CloudKit,
    ///     or for all entities if it marks none.
    ///   - isShared: whether the app shares records, which needs a record type that the server makes with the first share.
    /// - Throws: `usage` for a configuration that the model does not have.
    package init(
        _ model: ManagedObjectModel, configuration: String? = nil, isShared: Bool = false
    ) throws(MigrationError) {
        knowsEncryption = model.describesCloudEncryption
        unmarked = configuration == nil ? model.unmarkedConfigurations : []
        let entities = try model.mirroredEntities(configuration)
        for entity in entities { add(entity, in: model) }
        addJoins(entities.flatMap { entity in model.pairedRelationships(of: entity) })
        if isShared { addShare() }
        for type in schema.typesInOrder where type.fields.count > Self.fieldLimit {
            let own = type.fields.count - Self.systemFields.count
            if own > Self.fieldLimit {
                faults.append(CloudKitGap(.tooManyFields, type.name, count: own))
            } else {
                doubt(
                    type.name, nil,
                    "It has \(own) fields, and the server adds \(Self.systemFields.count). It is not known whether its own "
                        + "count toward the limit of \(Self.fieldLimit).")
            }
        }
    }

    /// A record type has at most this number of fields. It is not known whether the server's own count.
    package static let fieldLimit = 256

    /// Returns the part of the model that needs a field; nil for a field that is not needed.
    package func origin(of field: String, in type: String) -> Origin? { origins[type]?[field] }

    /// Returns what CloudKit refuses without a record type, such as `record of Post`.
    func refused(without type: String) -> String? { refused[type] }

    // MARK: - Entities

    private mutating func add(_ entity: EntityDescription, in model: ManagedObjectModel) {
        let root = model.root(of: entity)
        let type = "CD_\(root.name)"
        if schema.types[type] == nil {
            addType(type, for: "record of \(root.name)")
            checkName(type, Origin(root.name))
        }
        if root.name != entity.name {
            doubt(
                type, nil,
                "The fields of \(entity.name) are in the type of its root entity. No known export shows this.")
        }
        for attribute in entity.attributes where !attribute.isTransient {
            let origin = Origin(entity.name, attribute.name)
            guard let (primitive, hasCompanion) = attribute.type.cloudKit else {
                doubt(type, "CD_\(attribute.name)", "\(origin): \(attribute.type.name) is not mirrored.")
                continue
            }
            addDoubts(of: attribute, type, origin)
            add(
                "CD_\(attribute.name)", .init(primitive, isEncrypted: attribute.allowsCloudEncryption), to: type,
                for: origin, hasCompanion: hasCompanion)
        }
        for relationship in entity.relationships where !relationship.isTransient && !relationship.isToMany {
            add(
                "CD_\(relationship.name)", .init(.string), to: type,
                for: Origin(entity.name, relationship.name, isRelationship: true))
        }
    }

    private mutating func addDoubts(of attribute: AttributeDescription, _ type: String, _ origin: Origin) {
        let field = "CD_\(attribute.name)"
        if attribute.derivation != nil {
            doubt(type, field, "\(origin) is derived. It is not known whether a derived attribute is mirrored.")
        }
        if attribute.allowsCloudEncryption {
            doubt(type, field, "\(origin) is encrypted. No known export has such a field of the framework.")
        }
        if attribute.type == .uri {
            doubt(type, field, "\(origin) is a URI. No known export shows whether it has a companion.")
        }
    }

    /// Adds a record type with the fields that the server and the framework give it.
    private mutating func addType(_ name: String, for refused: String, isMirror: Bool = true) {
        var type = CloudKitSchema.RecordType(name)
        type.grants = Self.grants
        for (field, primitive) in Self.systemFields { type.fields[field] = .init(.init(primitive)) }
        schema.types[name] = type
        self.refused[name] = refused
        guard isMirror else { return }
        add("CD_entityName", .init(.string), to: name, for: Origin())
        add(CloudKitFieldRole.receiptName, .init(.bytes), to: name, for: Origin(), hasCompanion: true)
    }

    private static let grants: [CloudKitSchema.Grant] = [
        .init([.write], to: "_creator"), .init([.create], to: "_icloud"), .init([.read], to: "_world"),
    ]
    private static let systemFields: [(String, CloudKitSchema.Primitive)] = [
        ("___createTime", .timestamp), ("___createdBy", .reference), ("___etag", .string), ("___modTime", .timestamp),
        ("___modifiedBy", .reference), ("___recordID", .reference),
    ]

    // MARK: - Fields

    private mutating func add(
        _ name: String, _ fieldType: CloudKitSchema.FieldType, to type: String, for origin: Origin,
        hasCompanion: Bool = false
    ) {
        if ["CD_entityName", CloudKitFieldRole.receiptName].contains(name), origin.entity != nil {
            faults.append(CloudKitGap(.collision, type, name, origin: origin))
            return
        }
        checkName(name, origin, in: type)
        put(name, fieldType, in: type, for: origin)
        // Assets are always encrypted.
        if hasCompanion { put(name + CloudKitFieldRole.companionEnd, .init(.asset), in: type, for: origin) }
    }

    private mutating func put(
        _ name: String, _ fieldType: CloudKitSchema.FieldType, in type: String, for origin: Origin
    ) {
        guard let old = schema.types[type]?.fields[name] else {
            schema.types[type]?.fields[name] = .init(fieldType, fieldType.defaultIndexes)
            origins[type, default: [:]][name] = origin
            return
        }
        guard old.type != fieldType else { return }
        faults.append(
            CloudKitGap(
                .conflict, type, name, needed: fieldType, found: old.type, origin: origin,
                other: origins[type]?[name]))
    }

    /// CloudKit's names have ASCII letters, digits and underscores. Each begins with `CD_`.
    private mutating func checkName(_ name: String, _ origin: Origin, in type: String? = nil) {
        guard !name.utf8.allSatisfy(\.isInCloudKitName) else { return }
        faults.append(CloudKitGap(.badName, type ?? name, type == nil ? nil : name, origin: origin))
    }

    // MARK: - Joins

    /// Adds the one type for all many-to-many relationships.
    private mutating func addJoins(_ relationships: [String]) {
        guard !relationships.isEmpty else { return }
        let name = Self.joinName
        addType(name, for: "pair of \(relationships.listed())", isMirror: false)
        for field in ["CD_entityNames", "CD_recordNames", "CD_relationships"] {
            add(field, .init(.string), to: name, for: Origin())
        }
        doubt(name, nil, "CDMR is for \(relationships.listed()). No known export has it.")
    }

    /// Adds the type of shares. Its fields have no indexes.
    private mutating func addShare() {
        addType(Self.shareName, for: "share", isMirror: false)
        let fields: [(String, CloudKitSchema.Primitive)] = [
            ("cloudkit.thumbnailImageData", .bytes), ("cloudkit.title", .string), ("cloudkit.type", .string),
        ]
        for (name, primitive) in fields { schema.types[Self.shareName]?.fields[name] = .init(.init(primitive)) }
    }

    /// The record type of all many-to-many relationships.
    static let joinName = "CDMR"
    /// The record type of shares.
    static let shareName = "cloudkit.share"

    private mutating func doubt(_ type: String, _ field: String?, _ sentence: String) {
        let doubt = Doubt(place: [type, field].compactMap(\.self).joined(separator: "."), sentence: sentence)
        if !doubts.contains(doubt) { doubts.append(doubt) }
    }
}

extension ManagedObjectModel {
    /// Returns the entities whose properties are mirrored: those of a configuration; without one, those of the
    /// configurations that the model marks for CloudKit; all entities if it marks none. The ancestors of a member are
    /// among them, because it inherits their properties.
    ///
    /// - Throws: `usage` for a configuration that the model does not have.
    package func mirroredEntities(_ configuration: String? = nil) throws(MigrationError) -> [EntityDescription] {
        guard let configuration else { return mirroredEntities }
        guard let named = configurations.first(where: { $0.name == configuration }) else {
            let names = configurations.map(\.name)
            let near = Suggestion.sentence(for: configuration, among: names)
            throw MigrationError(
                .usage, "The model has no configuration \(configuration).\(near)",
                remedy: names.isEmpty
                    ? "Leave the configuration out: all entities are in the default one."
                    : "Name one of its configurations: \(names.joined(separator: ", ")).")
        }
        return entities(inheritedBy: named.entityNames)
    }

    /// The entities of the configurations that the model marks for CloudKit, with their ancestors; all entities if it
    /// marks none.
    package var mirroredEntities: [EntityDescription] {
        let marked = configurations.filter(\.usedWithCloudKit).flatMap(\.entityNames)
        return marked.isEmpty ? entities : entities(inheritedBy: marked)
    }

    /// Returns the entities of these names and their ancestors.
    private func entities(inheritedBy names: [String]) -> [EntityDescription] {
        let members = Set(names)
        return entities.filter { entity in
            members.contains(entity.name) || descendants(of: entity).contains { members.contains($0.name) }
        }
    }

    /// The names of the configurations, if the model marks none for CloudKit and one of them leaves out entities.
    fileprivate var unmarkedConfigurations: [String] {
        let isWhole = configurations.allSatisfy { Set($0.entityNames).count >= entities.count }
        return isWhole || configurations.contains(where: \.usedWithCloudKit) ? [] : configurations.map(\.name)
    }

    /// Returns the entity's own to-many relationships that no to-one relationship is the inverse of, as
    /// `Entity.relationship`.
    fileprivate func pairedRelationships(of entity: EntityDescription) -> [String] {
        entity.relationships.filter { relationship in
            relationship.isToMany && !relationship.isTransient && inverse(of: relationship)?.isToMany != false
        }.map { "\(entity.name).\($0.name)" }
    }
}

extension AttributeType {
    /// The type of the field, and whether it has a companion for large values; nil for a type that is not mirrored.
    package var cloudKit: (primitive: CloudKitSchema.Primitive, hasCompanion: Bool)? {
        switch self {
        case .string: (.string, true)
        case .uuid, .uri: (.string, false)
        case .boolean, .integer16, .integer32, .integer64: (.integer, false)
        case .float, .double, .decimal: (.double, false)
        case .date: (.timestamp, false)
        case .binary, .transformable: (.bytes, true)
        // One field for all elements, whatever their types are.
        case .composite: (.bytes, false)
        case .undefined, .objectID: nil
        }
    }
}

extension CloudKitSchema.FieldType {
    /// The indexes that the server gives a field that it makes itself.
    package var defaultIndexes: [CloudKitSchema.Index] {
        // An encrypted field can have no index.
        guard !isEncrypted, !isList else { return [] }
        return switch primitive {
        case .string: [.queryable, .searchable, .sortable]
        case .asset: []
        default: [.queryable, .sortable]
        }
    }
}
