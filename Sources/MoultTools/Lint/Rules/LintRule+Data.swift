extension LintRule {
    private static let empty = "<entity name=\"Post\"/>"
    private static let rating = post("<attribute name=\"rating\" optional=\"YES\" attributeType=\"Integer 16\"/>")
    private static func authors(_ facts: String) -> String {
        user
            + post(
                "<relationship name=\"authors\" optional=\"YES\" \(facts) deletionRule=\"Nullify\" destinationEntity=\"User\"/>"
            )
    }
    /// An entity with a transformable attribute. The note in the second version keeps the hashes from being equal.
    private static func picture(_ transformer: String, hasNote: Bool) -> String {
        let note = "\n    <attribute name=\"note\" optional=\"YES\" attributeType=\"String\"/>"
        return post(
            "<attribute name=\"picture\" optional=\"YES\" attributeType=\"Transformable\" "
                + "valueTransformerName=\"\(transformer)\"/>\(hasNote ? note : "")")
    }

    /// Users who follow other users.
    private static let follows = follows(rating: false)
    private static func follows(rating: Bool) -> String {
        let attribute = "\n    <attribute name=\"rating\" optional=\"YES\" attributeType=\"Integer 16\"/>"
        let ends = [("followers", "following"), ("following", "followers")].map { name, inverse in
            "\n    <relationship name=\"\(name)\" optional=\"YES\" toMany=\"YES\" deletionRule=\"Nullify\" "
                + "destinationEntity=\"User\" inverseName=\"\(inverse)\" inverseEntity=\"User\"/>"
        }
        return "<entity name=\"User\">\(rating ? attribute : "")\(ends.joined())\n</entity>"
    }

    static let data: [LintRule] = [
        LintRule(
            "DATA001", .warning, "Entity removed",
            meaning: "An entity is removed. Its table is dropped in the migration, with all its objects.",
            onDevice: "The objects of the entity are gone after the update.",
            remedy: "Keep the entity while its objects are needed, or move them in a custom stage.",
            failing: LintExample(from: user + empty, to: empty),
            corrected: LintExample(from: user + empty, to: user + empty), check: .step(ChangeRules.entityRemoved)),
        LintRule(
            "DATA002", .warning, "Property removed",
            meaning: "An attribute or a relationship is removed. Its values are dropped in the migration.",
            onDevice: "The values of the property are gone after the update.",
            remedy: "Keep the property while its values are needed, or move them in a custom stage.",
            failing: LintExample(from: rating, to: empty), corrected: LintExample(from: rating, to: rating),
            check: .step(ChangeRules.propertyRemoved)),
        LintRule(
            "DATA003", .warning, "Property no longer stored",
            meaning: """
                A property becomes transient or derived, moves to an entity where some objects lose it, or gets a type or \
                destination that drops what it had, as an answer says. Its stored values are dropped in the migration.
                """,
            onDevice: "The values of the property are gone after the update.",
            remedy: "Leave the old property as it was, and add a new one next to it.",
            failing: LintExample(
                from: rating,
                to: post("<attribute name=\"rating\" optional=\"YES\" transient=\"YES\" attributeType=\"Integer 16\"/>")
            ),
            corrected: LintExample(
                from: rating,
                to: """
                    <entity name="Post">
                        <attribute name="rating" optional="YES" attributeType="Integer 16"/>
                        <attribute name="shownRating" optional="YES" transient="YES" attributeType="Integer 16"/>
                    </entity>
                    """), check: .step(ChangeRules.noLongerStored)),
        LintRule(
            "DATA004", .warning, "Relationship narrowed",
            meaning: """
                A to-many relationship becomes to-one, or has a lower maximum count. Objects with more destinations \
                lose some of them, or the migration is refused.
                """,
            onDevice: "Some links are gone after the update, or the migration fails.",
            remedy: "Keep the to-many relationship, add a new one, and fill it in a custom stage.",
            failing: LintExample(from: authors("toMany=\"YES\""), to: authors("maxCount=\"1\"")),
            corrected: LintExample(from: authors("maxCount=\"1\""), to: authors("toMany=\"YES\"")),
            check: .step(ChangeRules.narrowed)),
        LintRule(
            "DATA005", .warning, "Order lost",
            meaning: "An ordered relationship becomes unordered. The positions of its destinations are dropped.",
            onDevice: "The items of a list appear in a different order after the update.",
            remedy: "Leave the relationship ordered, or store the position in an attribute of the destination.",
            failing: LintExample(from: authors("toMany=\"YES\" ordered=\"YES\""), to: authors("toMany=\"YES\"")),
            corrected: LintExample(from: authors("toMany=\"YES\""), to: authors("toMany=\"YES\" ordered=\"YES\"")),
            check: .step(ChangeRules.order)),
        LintRule(
            "DATA006", .warning, "Property becomes required",
            meaning: """
                An optional relationship becomes required, or its minimum count rises. The migration refuses a store \
                that has an object without a destination. An attribute that becomes required without a default value \
                is reported too, if an answer gives the existing objects a value.
                """,
            onDevice: "The migration fails for users who have such objects: error 134110.",
            remedy: "Leave the property optional, or give every object a destination in a custom stage.",
            failing: LintExample(
                from: authors("maxCount=\"1\""),
                to: user
                    + post(
                        "<relationship name=\"authors\" maxCount=\"1\" deletionRule=\"Nullify\" destinationEntity=\"User\"/>"
                    )
            ),
            corrected: LintExample(from: authors("maxCount=\"1\""), to: authors("maxCount=\"1\"")),
            check: .step(ChangeRules.required)),
        LintRule(
            "DATA007", .warning, "Uniqueness constraint added",
            meaning: """
                An entity has a new uniqueness constraint. The migration refuses a store that has two objects with equal \
                values.
                """,
            onDevice: "The migration fails for users who have duplicates: error 134110.",
            remedy: "Remove duplicates in a custom stage before this version.",
            failing: LintExample(
                from: rating,
                to: """
                    <entity name="Post">
                        <attribute name="rating" optional="YES" attributeType="Integer 16"/>
                        <uniquenessConstraints>
                            <uniquenessConstraint>
                                <constraint value="rating"/>
                            </uniquenessConstraint>
                        </uniquenessConstraints>
                    </entity>
                    """),
            corrected: LintExample(from: rating, to: rating), check: .step(ChangeRules.unique)),
        LintRule(
            "DATA008", .warning, "Stored form may not fit",
            meaning: """
                The transformer or the class of an attribute changes, or an entity becomes abstract. The stored bytes and \
                objects stay as they are, and the new model may not accept them.
                """,
            onDevice: "The app crashes or shows nothing when it reads an old value.",
            remedy: "Convert the values in a custom stage, or make sure that the new model accepts them.",
            failing: LintExample(
                from: picture("PictureTransformer", hasNote: false), to: picture("ImageTransformer", hasNote: true)),
            corrected: LintExample(
                from: picture("PictureTransformer", hasNote: false), to: picture("PictureTransformer", hasNote: true)),
            check: .step(ChangeRules.conversions)),
        LintRule(
            "DATA009", .warning, "Join table may change its name",
            meaning: """
                Both ends of a many-to-many relationship are in one entity, which has other properties now. These decide \
                which end names the join table, by a rule that Apple does not document. Core Data may rename the table. \
                Moult keeps its name.
                """,
            onDevice: "If the names differ, the app fails when it fetches one of the two relationships.",
            remedy:
                "Migrate a store with Moult, open it with Core Data, and fetch both relationships before the release.",
            failing: LintExample(from: follows, to: follows(rating: true)),
            corrected: LintExample(from: follows, to: follows), check: .step(ChangeRules.joinNames)),
        LintRule(
            "DATA010", .warning, "Value lost in a custom stage",
            meaning: """
                Between the two versions of a custom stage of a SwiftData plan, nothing takes over a value or a model. \
                `didMigrate` sees only the new version, where the value is gone. The finding is an error if both \
                versions have the property and no code can read its old values.
                """,
            onDevice: "After the migration, every user has lost these values.",
            remedy: "Use a transform, or read the value in `willMigrate`, or accept the loss in the plan.",
            failing: LintExample(
                swift: """
                    static var stages: [MigrationStage] {
                        [.custom(fromVersion: AppV1.self, toVersion: AppV2.self, willMigrate: nil, didMigrate: { _ in })]
                    }
                    """),
            corrected: LintExample(
                swift: """
                    static var stages: [MigrationStage] {
                        [.transform(from: AppV1.Post.self, to: AppV2.Post.self) { old, new in new.size = Int(old.size) ?? 0 }]
                    }
                    """), check: .plan),
        LintRule(
            "DATA011", .warning, "Entity moved in a hierarchy",
            meaning: """
                An entity has another parent. If it moves into a hierarchy that exists, its rows move into the table of \
                that hierarchy and get new keys. Otherwise this is a note.
                """,
            onDevice: "An object identifier that the app stored, such as a URI, finds no object or another one.",
            remedy: "Store an attribute of your own in place of object identifiers, before the migration.",
            failing: LintExample(
                from: "<entity name=\"Book\"/>\n<entity name=\"Film\"/>",
                to: "<entity name=\"Book\"/>\n<entity name=\"Film\" parentEntity=\"Book\"/>"),
            corrected: LintExample(
                from: "<entity name=\"Book\"/>\n<entity name=\"Film\"/>",
                to: "<entity name=\"Book\"/>\n<entity name=\"Film\"/>\n<entity name=\"Novel\" parentEntity=\"Book\"/>"),
            check: .step(ChangeRules.moved)),
        LintRule(
            "DATA012", .warning, "Entity leaves a configuration",
            meaning: """
                An entity leaves a configuration. A store of a configuration has its entities only, so its migration drops \
                the entity's table with all objects. They do not go to another store.
                """,
            onDevice: "The objects of the entity are gone after the update.",
            remedy: "Leave the entity in the configuration, or let the app copy its objects to the other store before.",
            failing: LintExample(from: stores(local: ["Draft", "User"]), to: stores(local: ["User"], hasNote: true)),
            corrected: LintExample(
                from: stores(local: ["Draft", "User"]), to: stores(local: ["Draft", "User"], hasNote: true)),
            check: .step(ChangeRules.leftConfiguration)),
        LintRule(
            "DATA013", .warning, "Renaming identifier dropped",
            meaning: """
                A later version no longer has a renaming identifier. Core Data infers a migration straight from the store's \
                version to the current one. Moult goes through every version, and keeps the values.
                """,
            onDevice: "With Core Data: the values are gone for users who skipped the version in between.",
            remedy:
                "Keep the renaming identifier, with the oldest name.",
            failing: LintExample([
                .init("App", empty), .init("App 2", entry), .init("App 3", user + "<entity name=\"Entry\"/>"),
            ]),
            corrected: LintExample([.init("App", empty), .init("App 2", entry), .init("App 3", user + entry)]),
            check: .model(SkippedVersions.droppedIdentifiers)),
    ]

    private static let entry = "<entity name=\"Entry\" elementID=\"Post\"/>"

    /// Drafts and users, with the entities in the local configuration. The note in the second version changes the
    /// hashes.
    private static func stores(local: [String], hasNote: Bool = false) -> String {
        let note = "\n    <attribute name=\"note\" optional=\"YES\" attributeType=\"String\"/>\n"
        let members = local.map { "    <memberEntity name=\"\($0)\"/>\n" }.joined()
        let shared = local.contains("Draft") ? "" : "    <memberEntity name=\"Draft\"/>\n"
        return "<entity name=\"Draft\"/>\n<entity name=\"User\">\(hasNote ? note : "")</entity>\n"
            + "<configuration name=\"Local\">\n\(members)</configuration>\n"
            + "<configuration name=\"Shared\">\n\(shared)</configuration>"
    }
}
