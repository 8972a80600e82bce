import MoultBasics
import MoultPlan

extension LintRule {
    /// The schema of an example: the type of posts with some fields.
    private static func schema(_ fields: String...) -> String {
        let lines = ["CD_entityName STRING"] + fields
        return """
            DEFINE SCHEMA
                RECORD TYPE CD_Post (
                    \(lines.joined(separator: ",\n        "))
                );
            """
    }

    /// Returns a rule of the profile `cloudkit` that compares with the schema in Production.
    private static func schema(
        _ code: String, _ severity: Finding.Severity, _ title: String, meaning: String, onDevice: String,
        remedy: String, failing: LintExample, corrected: LintExample, _ gaps: CloudKitGap.Code...
    ) -> LintRule {
        LintRule(
            code, severity, title, profile: .cloudkit, meaning: meaning, onDevice: onDevice, remedy: remedy,
            failing: failing, corrected: corrected, check: .schema(SchemaRules.gaps(gaps)), gaps: gaps)
    }

    /// The rules about the schema of CloudKit that a model needs.
    static let deployed: [LintRule] = [
        schema(
            "SYNC012", .error, "Not in CloudKit's Production",
            meaning: """
                CloudKit's Production environment takes only record types and fields that somebody deployed. The schema \
                lacks one that the model needs.
                """,
            onDevice: """
                CloudKit refuses each record that sets the field, with its whole batch. Objects that leave it empty are \
                exported.
                """,
            remedy: "Deploy Development to Production in the CloudKit console before the app ships.",
            failing: LintExample(title, schema: schema()),
            corrected: LintExample(title, schema: schema("CD_title STRING")), .addType, .addField),
        schema(
            "SYNC013", .warning, "Companion or receipt not deployed",
            meaning: """
                A large value moves into an asset, its companion field. A record that moves into a share gets a receipt. A \
                schema that only records have made lacks both.
                """,
            onDevice: "A large value, or a shared object, is not exported.",
            remedy: "Initialise the schema in Development (initializeCloudKitSchema), and deploy it.",
            failing: LintExample(title, schema: schema("CD_title STRING")),
            corrected: LintExample(
                title,
                schema: schema(
                    "CD_title STRING", "CD_title_ckAsset ASSET", "CD_moveReceipt BYTES",
                    "CD_moveReceipt_ckAsset ASSET")), .addCompanion, .addReceipt),
        schema(
            "SYNC014", .error, "Change that Production never allows",
            meaning: "A deployed field keeps its type and encryption for ever.",
            onDevice: "CloudKit refuses each record that sets the field, with its whole batch.",
            remedy: "Leave the attribute as it was, and add one of another name, without a renaming identifier.",
            failing: LintExample(title, schema: schema("CD_title BYTES")),
            corrected: LintExample(
                post("<attribute name=\"headline\" optional=\"YES\" attributeType=\"String\"/>"),
                schema: schema("CD_headline STRING", "CD_title BYTES")), .retype, .encrypt),
        LintRule(
            "SYNC015", .error, "Field that CloudKit cannot have", profile: .cloudkit,
            meaning: """
                Two properties of a tree of entities give one field two types; a name has a character that CloudKit does \
                not allow, or is the framework's; or a record type has more than 256 fields.
                """,
            onDevice: "The schema cannot be initialised, so nothing can be deployed.",
            remedy: "Rename the property, or move properties into another entity.",
            failing: LintExample(
                post("<attribute name=\"entityName\" optional=\"YES\" attributeType=\"String\"/>")),
            corrected: LintExample(title), check: .model(SchemaRules.faults),
            gaps: [.conflict, .badName, .collision, .tooManyFields]),
        schema(
            "SYNC016", .note, "Note on CloudKit's Production",
            meaning: """
                What was deployed stays, also if the model no longer has it. A new field must not reuse its name. A \
                compiled model does not say what is encrypted, and an unmarked configuration not what is mirrored.
                """,
            onDevice: "Older versions of the app still use it.",
            remedy: "Keep it in every file that you import into Development.",
            failing: LintExample(title, schema: schema("CD_title STRING", "CD_topic STRING")),
            corrected: LintExample(title, schema: schema("CD_title STRING")), .orphan, .share,
            .encryptionUnknown, .configurationUnknown),
    ]
}
