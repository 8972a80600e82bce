import MoultBasics

/// A difference between the schema that a model needs and the one in CloudKit's Production environment, or a part of
/// the model that no schema can have.
package struct CloudKitGap: Sendable, Equatable {
    /// The kind of a gap.
    package enum Code: String, Sendable, CaseIterable {
        // Deploying the schema closes these.
        case addType = "add-type"
        case addField = "add-field"
        case addCompanion = "add-companion"
        case addReceipt = "add-receipt"
        // Production allows these never.
        case retype = "retype"
        case encrypt = "encrypt"
        // No schema can have these.
        case conflict = "conflict"
        case badName = "bad-name"
        case collision = "collision"
        case tooManyFields = "over-256"
        // These prevent nothing.
        case orphan = "orphan"
        case share = "share"
        // These say what the model does not say.
        case encryptionUnknown = "encryption-unknown"
        case configurationUnknown = "configuration-unknown"

        /// The severity of the gap.
        package var severity: Finding.Severity {
            switch self {
            case .orphan, .share, .encryptionUnknown, .configurationUnknown: .note
            case .addCompanion, .addReceipt: .warning
            case .addType, .addField, .retype, .encrypt, .conflict, .badName, .collision, .tooManyFields: .error
            }
        }
    }

    package let code: Code
    /// The record type; empty for a gap of the whole model.
    package let recordType: String
    /// The field; nil for a gap of the whole type.
    package let field: String?
    /// The type that the model needs the field to have.
    package let needed: CloudKitSchema.FieldType?
    /// The type that the field has in Production, or for another part of the model.
    package let found: CloudKitSchema.FieldType?
    /// The part of the model that needs the field.
    package let origin: CloudKitRequirements.Origin?
    /// The part of the model that needs the field with another type.
    let other: CloudKitRequirements.Origin?
    /// The number of fields.
    let count: Int
    /// The things that CloudKit refuses without the type, such as `record of Post`.
    let refused: String?
    /// The names of configurations.
    let configurations: [String]

    init(
        _ code: Code, _ recordType: String = "", _ field: String? = nil, needed: CloudKitSchema.FieldType? = nil,
        found: CloudKitSchema.FieldType? = nil, origin: CloudKitRequirements.Origin? = nil,
        other: CloudKitRequirements.Origin? = nil, count: Int = 0, refused: String? = nil, configurations: [String] = []
    ) {
        (self.code, self.recordType, self.field, self.needed) = (code, recordType, field, needed)
        (self.found, self.origin, self.other, self.count) = (found, origin, other, count)
        (self.refused, self.configurations) = (refused, configurations)
    }

    /// Whether Production has the field in another form, which it keeps for ever.
    package var isImpossible: Bool { [.retype, .encrypt].contains(code) }

    /// The record type, or `RecordType.field`.
    package var name: String { [recordType, field].compactMap(\.self).joined(separator: ".") }

    /// The part of the model that the gap is about; the name for a field of the framework.
    package var place: String { origin?.entity == nil ? name : origin?.description ?? name }

    /// The name with the type that the model needs, such as `CD_Post.CD_image BYTES`.
    private var typed: String { [name, (needed ?? found)?.description].compactMap(\.self).joined(separator: " ") }

    /// Whether the field is one that the framework gives each record.
    private var isOfFramework: Bool { field != nil && origin?.entity == nil }

    /// One sentence that says what the gap is, and what it means for the sync.
    package var message: String {
        let needed = needed?.description ?? ""
        let found = found?.description ?? ""
        let origin = origin?.description ?? ""
        return switch code {
        case .addType: "\(name) is not in Production, so CloudKit refuses every \(refused ?? recordType)."
        case .addField where isOfFramework:
            "\(typed) is not in Production, so CloudKit refuses every \(refused ?? recordType)."
        case .addField:
            "\(typed) is not in Production, so CloudKit refuses each record that sets \(origin), with its whole batch."
        case .addCompanion: "\(typed) is not in Production, so a large value of \(origin) is not exported."
        case .addReceipt: "\(typed) is not in Production, so no record of \(recordType) can move into a share."
        case .retype, .encrypt: "\(name) is \(found) in Production for ever, and \(origin) needs \(needed)."
        case .conflict: "\(name) would be \(found) for \(other?.description ?? "") and \(needed) for \(origin)."
        case .badName: "\(name), for \(origin), has a character that no name in CloudKit has."
        case .collision: "\(name), for \(origin), is a field of the framework."
        case .tooManyFields:
            "\(name) would have \(count) fields, without the server's own. A record type has at most about "
                + "\(CloudKitRequirements.fieldLimit)."
        case .orphan: "\(typed) is in Production, and the model does not have it."
        case .share: "Production has fields for sharing, but not the record type cloudkit.share."
        case .encryptionUnknown, .configurationUnknown: "Uncertain: \(claim.lowercasedFirst)"
        }
    }

    /// The sentence about what the model does not say; empty for other gaps.
    package var claim: String {
        switch code {
        case .encryptionUnknown:
            "\(Self.encryptionUnknown) \(Quantity.count(count, "field was", plural: "fields were")) compared without it."
        case .configurationUnknown:
            "The model marks none of its configurations \(configurations.listed()) for CloudKit, so all entities count as "
                + "mirrored."
        default: ""
        }
    }

    /// A sentence about a model without the encryption of its attributes.
    package static let encryptionUnknown =
        "A compiled model or a store does not say which attributes are encrypted in CloudKit."

    /// The action to take next.
    package var remedy: Remedy {
        switch code {
        case .addType, .addField, .addCompanion, .addReceipt:
            "Add it to Development, and deploy Development to Production in the CloudKit console before the app ships."
        case .retype, .encrypt: replacement
        case .conflict: "Rename one of the two before the schema is deployed."
        case .badName: "Rename it: only ASCII letters, digits and underscores are allowed."
        case .collision: "Rename it: the framework has the names entityName and moveReceipt."
        case .tooManyFields:
            "Move attributes into another entity, or into a composite attribute, which has one field."
        case .orphan: "Keep it in every file that is imported. Do not use the name again for another type."
        case .share:
            "If the app shares records, share one in Development and deploy. Otherwise there is nothing to do."
        case .encryptionUnknown: "Name the source of the model (.xcdatamodeld), or the app's own tool for SwiftData."
        case .configurationUnknown:
            "Mark the one that is mirrored in the model (Used with CloudKit), or name it: \(option: .mirroredConfiguration(configurations.first))."
        }
    }

    /// The remedy for a field that Production has in another form.
    private var replacement: Remedy {
        if isOfFramework {
            return recordType == CloudKitRequirements.joinName
                ? "The names of the framework's fields are fixed. Replace the many-to-many relationships: add an entity "
                    + "with a to-one relationship to each side."
                : "The names of the framework's fields are fixed, so this record type cannot be used. Add an entity of "
                    + "another name, without a renaming identifier, and let the app copy the objects."
        }
        if origin?.isRelationship == true {
            return
                "No relationship can have the type that Production has. Add a relationship of another name, without a "
                + "renaming identifier, let the app copy it, and remove this one."
        }
        let reason =
            found?.isOfAttribute == true
            ? "Leave this attribute as Production has it." : "No attribute can have the type that Production has."
        return "\(reason) Add one of another name, without a renaming identifier, and let the app copy the values."
    }
}

extension CloudKitSchema.FieldType {
    /// Whether some attribute of a model needs a field of this type.
    fileprivate var isOfAttribute: Bool {
        !isList && [.bytes, .double, .integer, .string, .timestamp].contains(primitive)
    }
}
