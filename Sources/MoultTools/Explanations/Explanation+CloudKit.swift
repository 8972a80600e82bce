import MoultBasics
import MoultModel
import MoultPlan

extension Explanation {
    /// The gaps between a model and the schema in CloudKit's Production environment, and the other changes of a schema.
    static let schemaGaps: [Explanation] = [
        gap(
            .addType, "The model needs a record type that Production does not have.",
            "CloudKit refuses every record of the entity, and the others of the same batch.", deploy),
        gap(
            .addField, "The model needs a field that Production does not have.",
            "CloudKit refuses each record that sets it. Objects that leave it empty are exported, so it looks as if most "
                + "of the data synced.", deploy),
        gap(
            .addCompanion, "The asset for a large value of an attribute is not in Production.",
            "Only a value that is too large for its record fails.", initialise),
        gap(
            .addReceipt, "The fields for moving a record into a share are not in Production.",
            "An app that shares records cannot move one into a share.", initialise),
        gap(
            .retype, "Production has a field with another type than the model needs.",
            "A deployed field keeps its type for ever, and CloudKit refuses each record that sets it.", replace),
        gap(
            .encrypt, "Production has a field encrypted and the model does not, or the other way round.",
            "Encryption can neither be added to a deployed field nor taken from it.", replace),
        gap(
            .conflict, "Two properties of a tree of entities give one field two types.",
            "All entities of a tree share the record type of their root, which has one field of each name.",
            "Rename one of the two before the schema is deployed."),
        gap(
            .badName, "An entity or a property has a name that CloudKit does not allow.",
            "A name in CloudKit has ASCII letters, digits and underscores only.",
            "Rename it before the schema is deployed."),
        gap(
            .collision, "A property has the name of a field of the framework.",
            "The framework has CD_entityName and CD_moveReceipt in every record type.",
            "Rename it before the schema is deployed."),
        gap(
            .tooManyFields, "A record type would have more than about 256 fields.",
            "A String, a Binary Data and a Transformable attribute each need two fields.",
            "Move attributes into another entity, or into a composite attribute, which has one field."),
        gap(
            .orphan, "A record type or field is in Production and not in the model.",
            "Nothing that was deployed can be removed. An import that leaves it out asks for its removal.",
            "Keep it in every file that is imported, and do not use its name for another type."),
        gap(
            .share, "Production has the fields for sharing, and not the record type cloudkit.share.",
            "The server makes this type in Development, with the first share.",
            "If the app shares records, share one in Development and deploy. Otherwise there is nothing to do."),
        gap(
            .encryptionUnknown, "The model does not say which attributes are encrypted in CloudKit.",
            "A compiled model, and the one inside a store, leave it out. A deployed field keeps its encryption for ever.",
            "Name the source of the model (.xcdatamodeld), or use the app's own tool for SwiftData."),
        gap(
            .configurationUnknown, "The model has configurations, and marks none for CloudKit.",
            "All entities count as mirrored. Nothing that was deployed can be removed.",
            "Mark the configuration that is mirrored, or name it: \(option: .mirroredConfiguration(nil))."),
        Explanation(
            CloudKitChange.Kind.rename.rawValue, .cloudKit, "A record type or field is that of something renamed.",
            ModelChange.forbiddenByCloudKit,
            "Keep the old part, add a new one next to it without a renaming identifier, and let the app copy the values."
        ),
        Explanation(
            CloudKitChange.Kind.indexes.rawValue, .cloudKit, "The indexes of a field differ between two schemas.",
            "The mirroring of a store queries no index in the private database.", "There is nothing to do."),
        Explanation(
            CloudKitChange.Kind.grants.rawValue, .cloudKit, "The grants of a record type differ between two schemas.",
            "Grants matter in the public database only.", "Compare them if the app uses the public database."),
        Explanation(
            CloudKitChange.Kind.roles.rawValue, .cloudKit, "The roles differ between two schemas.",
            "A role matters in the public database only.", "Compare them if the app uses the public database."),
    ]

    private static func gap(
        _ code: CloudKitGap.Code, _ meaning: String, _ why: String, _ remedy: Remedy
    ) -> Explanation { Explanation(code.rawValue, .cloudKit, meaning, why, remedy) }

    private static let deploy: Remedy =
        "Add it to Development, and deploy Development to Production in the CloudKit console before the app ships."
    private static let initialise: Remedy =
        "Initialise the schema in Development (initializeCloudKitSchema) or import one, and deploy it."
    private static let replace: Remedy =
        "Leave the attribute as Production has it. Add one of another name, without a renaming identifier, and let the "
        + "app copy the values."
}

extension Explanation.Group {
    static let cloudKit = Self(name: "schema", title: "What differs between a model and a schema of CloudKit.")
}
