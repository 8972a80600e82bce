import MoultBasics
import MoultModel
import MoultPlan

extension LintRule {
    /// Posts with an author, with the given XML attributes on the relationship to the author.
    private static func authored(_ facts: String, _ tail: String = "") -> String {
        """
        <entity name="Post">
            <relationship name="author" \(facts) destinationEntity="User" inverseName="posts" inverseEntity="User"/>
        </entity>
        <entity name="User">
            <relationship name="posts" optional="YES" toMany="YES" deletionRule="Nullify" \
        destinationEntity="Post" inverseName="author" inverseEntity="Post"/>
        </entity>
        """ + tail
    }
    private static let authored = authored("optional=\"YES\" maxCount=\"1\" deletionRule=\"Nullify\"")
    private static func configurations(_ members: String) -> String {
        "\n<configuration name=\"Cloud\" usedWithCloudKit=\"YES\">\n\(members)</configuration>"
    }
    private static let cloud = configurations("    <memberEntity name=\"Post\"/>\n")
    private static let onDevice =
        "The store does not load: error 134060, and the log lists what CloudKit does not support."

    /// Returns a rule of the profile `cloudkit` for a single version.
    private static func cloudKit(
        _ code: String, _ title: String, meaning: String, remedy: String, failing: String, corrected: String,
        _ check: @escaping @Sendable (LintVersion) -> [LintMatch]
    ) -> LintRule {
        LintRule(
            code, .error, title, profile: .cloudkit, meaning: meaning, onDevice: onDevice, remedy: remedy,
            failing: LintExample(failing), corrected: LintExample(corrected), check: .version(check))
    }

    /// The rules about models that Core Data refuses to mirror.
    static var refused: [LintRule] { sync.filter { $0.onDevice == onDevice } }

    static let sync: [LintRule] = [
        cloudKit(
            "SYNC001", "Uniqueness constraint with CloudKit",
            meaning: "CloudKit cannot enforce uniqueness between devices, so Core Data refuses such a model.",
            remedy: "Remove the constraint, and remove duplicates in the app after each import.",
            failing: """
                <entity name="Post">
                    <attribute name="title" optional="YES" attributeType="String"/>
                    <uniquenessConstraints>
                        <uniquenessConstraint>
                            <constraint value="title"/>
                        </uniquenessConstraint>
                    </uniquenessConstraints>
                </entity>
                """, corrected: title, SyncRules.unique),
        cloudKit(
            "SYNC002", "Required attribute with CloudKit",
            meaning:
                "A record may come from CloudKit without a value, so each attribute is optional or has a default value.",
            remedy: "Make the attribute optional, or give it a default value.",
            failing: post("<attribute name=\"title\" attributeType=\"String\"/>"), corrected: title,
            SyncRules.requiredAttributes),
        cloudKit(
            "SYNC003", "Required relationship with CloudKit",
            meaning: "CloudKit imports objects in any order, so a relationship may have no destination for a while.",
            remedy: "Make the relationship optional.", failing: authored("maxCount=\"1\" deletionRule=\"Nullify\""),
            corrected: authored, SyncRules.requiredRelationships),
        cloudKit(
            "SYNC004", "Relationship without an inverse with CloudKit",
            meaning: "Core Data mirrors a relationship by its inverse, so each relationship must have one.",
            remedy: "Add a relationship in the other direction, and name both as each other's inverse.",
            failing: """
                <entity name="Post">
                    <relationship name="author" optional="YES" maxCount="1" deletionRule="Nullify" \
                destinationEntity="User"/>
                </entity>
                <entity name="User"/>
                """, corrected: authored, SyncRules.inverses),
        cloudKit(
            "SYNC005", "Ordered relationship with CloudKit",
            meaning: "CloudKit has no order of references.",
            remedy: "Make the relationship unordered, and store the position in an attribute of the destination.",
            failing: """
                <entity name="Post">
                    <relationship name="author" optional="YES" maxCount="1" deletionRule="Nullify" \
                destinationEntity="User" inverseName="posts" inverseEntity="User"/>
                </entity>
                <entity name="User">
                    <relationship name="posts" optional="YES" toMany="YES" ordered="YES" deletionRule="Nullify" \
                destinationEntity="Post" inverseName="author" inverseEntity="Post"/>
                </entity>
                """, corrected: authored, SyncRules.ordered),
        cloudKit(
            "SYNC006", "Delete rule Deny with CloudKit",
            meaning: "A deletion that comes from CloudKit cannot be denied.",
            remedy: "Choose Nullify or Cascade, and check in the app before a deletion.",
            failing: authored("optional=\"YES\" maxCount=\"1\" deletionRule=\"Deny\""),
            corrected: authored, SyncRules.deny),
        cloudKit(
            "SYNC007", "Attribute type that CloudKit does not support",
            meaning: "A stored attribute of type Undefined or ObjectID has no form in CloudKit.",
            remedy: "Give the attribute another type, or make it transient.",
            failing: post("<attribute name=\"source\" optional=\"YES\" attributeType=\"ObjectID\"/>"),
            corrected: post("<attribute name=\"source\" optional=\"YES\" attributeType=\"URI\"/>"), SyncRules.types),
        cloudKit(
            "SYNC008", "Relationship across configurations",
            meaning: "A configuration is one store. A relationship cannot lead to an object of another store.",
            remedy: "Add the destination to the configuration, or store its identifier in an attribute.",
            failing: authored + configurations("    <memberEntity name=\"Post\"/>\n"),
            corrected: authored
                + configurations("    <memberEntity name=\"Post\"/>\n    <memberEntity name=\"User\"/>\n"),
            SyncRules.configurations),
        LintRule(
            "SYNC009", .error, "Change that is not additive with CloudKit", profile: .cloudkit,
            meaning: """
                A schema in the production environment of CloudKit can only grow. Older versions of the app continue to \
                write the old fields, and do not know the new ones. A removal prevents no export, and is a warning.
                """,
            onDevice: "Devices with different app versions stop seeing each other's changes, or the export fails.",
            remedy: "Keep the old part, add a new one next to it, and write both while older versions are in use.",
            failing: LintExample(
                from: title,
                to: post("<attribute name=\"headline\" optional=\"YES\" attributeType=\"String\" elementID=\"title\"/>")
            ),
            corrected: LintExample(
                from: title,
                to: """
                    <entity name="Post">
                        <attribute name="title" optional="YES" attributeType="String"/>
                        <attribute name="headline" optional="YES" attributeType="String"/>
                    </entity>
                    """), check: .step(ChangeRules.notAdditive)),
        LintRule(
            "SYNC010", .warning, "New hashes for a shared store", profile: .extension,
            meaning: """
                An app extension shares the store with its app. After a migration, a process with the older model no \
                longer opens the store. An extension has little memory and time, so a migration in it may be killed.
                """,
            onDevice: "The widget or the extension fails with error 134100 until it runs with the new model.",
            remedy: "Ship both with the same model, and let the app alone migrate.",
            failing: LintExample(from: "<entity name=\"Post\"/>", to: title),
            corrected: LintExample(title), check: .step(ChangeRules.olderProcesses)),
        LintRule(
            "SYNC011", .error, "Rename with CloudKit",
            meaning: """
                A model that is used with CloudKit renames an entity, an attribute or a relationship. Core Data refuses to \
                open the mirrored store ("CloudKit integration forbids renaming"): the schema in the production environment \
                of CloudKit and older versions of the app keep the old name.
                """,
            onDevice: onDevice,
            remedy: "Keep the old part, add a new one next to it, and write both while older versions are in use.",
            failing: LintExample(
                from: title + cloud,
                to: post("<attribute name=\"headline\" optional=\"YES\" attributeType=\"String\" elementID=\"title\"/>")
                    + cloud),
            corrected: LintExample(
                from: title + cloud,
                to: """
                    <entity name="Post">
                        <attribute name="title" optional="YES" attributeType="String"/>
                        <attribute name="headline" optional="YES" attributeType="String"/>
                    </entity>
                    """ + cloud), check: .step(ChangeRules.renamedWithCloudKit)),
    ]
}

/// The rules about stores that are mirrored to CloudKit: models that Core Data refuses or CloudKit does not support.
enum SyncRules {
    static func unique(_ version: LintVersion) -> [LintMatch] {
        entities(version).flatMap { entity in
            entity.uniquenessConstraints.map { constraint in
                LintMatch(
                    version.name, entity.name, constraint.joined(separator: ", "),
                    "\(entity.name) has a uniqueness constraint over \(constraint.joined(separator: ", ")). CloudKit "
                        + "does not support uniqueness constraints.",
                    remedy: "Remove the constraint, and remove duplicates in the app after each import.")
            }
        }
    }

    static func requiredAttributes(_ version: LintVersion) -> [LintMatch] {
        attributes(version) { attribute in
            // The default values of a composite attribute are in its elements.
            attribute.isStored && !attribute.isOptional && attribute.derivation == nil
                && attribute.leaves.allSatisfy { $0.defaultValue == nil }
        }.map {
            entity, attribute in
            let example = DefaultExample(for: attribute)
            return LintMatch(
                version.name, entity, attribute.name,
                "\(entity).\(attribute.name) is required and has no default value. With CloudKit, an attribute is "
                    + "optional or has a default value.",
                remedy: "Make it optional\(markup: ": optional=\"YES\"", "")."
                    + (example.map { " Or give it a default value, such as \(markup: $0.text, $0.value)." } ?? ""),
                edit: .init(("optional", "YES")))
        }
    }

    static func requiredRelationships(_ version: LintVersion) -> [LintMatch] {
        relationships(version) { !$0.isOptional }.map { entity, relationship in
            LintMatch(
                version.name, entity, relationship.name,
                "\(entity).\(relationship.name) is required. With CloudKit, every relationship is optional.",
                remedy: "Make it optional\(markup: ": optional=\"YES\"", "").", edit: .init(("optional", "YES")))
        }
    }

    static func inverses(_ version: LintVersion) -> [LintMatch] {
        relationships(version) { $0.inverseName == nil }.map { entity, relationship in
            LintMatch(
                version.name, entity, relationship.name,
                "\(entity).\(relationship.name) has no inverse. With CloudKit, every relationship has one.",
                remedy:
                    "Add a relationship to \(entity) in \(relationship.destinationEntityName), and name both as each "
                    + "other's inverse.")
        }
    }

    static func ordered(_ version: LintVersion) -> [LintMatch] {
        relationships(version) { $0.isOrdered }.map { entity, relationship in
            LintMatch(
                version.name, entity, relationship.name,
                "\(entity).\(relationship.name) is ordered. CloudKit does not support ordered relationships.",
                remedy: "Make it unordered, and store the position in an attribute of the destination.",
                edit: .init(("ordered", nil)))
        }
    }

    static func deny(_ version: LintVersion) -> [LintMatch] {
        relationships(version) { $0.deleteRule == .deny }.map { entity, relationship in
            LintMatch(
                version.name, entity, relationship.name,
                "\(entity).\(relationship.name) has the delete rule Deny, which CloudKit does not support.",
                remedy: "Choose Nullify or Cascade, and check in the app before a deletion.",
                edit: .init(("deletionRule", "Nullify")))
        }
    }

    static func types(_ version: LintVersion) -> [LintMatch] {
        attributes(version) { !$0.isTransient && [.undefined, .objectID].contains($0.type) }.map { entity, attribute in
            LintMatch(
                version.name, entity, attribute.name,
                "\(entity).\(attribute.name) is of type \(attribute.type.name), which CloudKit does not support.",
                remedy: attribute.type == .objectID
                    ? "Use a relationship, or store the URI of the object as URI."
                    : "Give it a type, or make it transient\(markup: ": transient=\"YES\"", "").",
                edit: attribute.type == .objectID ? nil : .init(("transient", "YES")))
        }
    }

    static func configurations(_ version: LintVersion) -> [LintMatch] {
        let configurations = version.model.configurations.filter { !$0.entityNames.isEmpty }
        let cloud = configurations.filter { configuration in
            version.mirrored.map { $0 == configuration.name } ?? configuration.usedWithCloudKit
        }
        return (cloud.isEmpty ? configurations : cloud).flatMap { configuration -> [LintMatch] in
            let members = Set(configuration.entityNames)
            // A member also has the relationships of its ancestors.
            let entities = (try? version.model.mirroredEntities(configuration.name)) ?? []
            return entities.flatMap { entity in
                entity.relationships.filter { !members.contains($0.destinationEntityName) && !$0.isTransient }.map {
                    LintMatch(
                        version.name, entity.name, $0.name,
                        "\(entity.name).\($0.name) leads from the configuration \(configuration.name) to "
                            + "\($0.destinationEntityName), which is not in it. A store has no such relationships.",
                        remedy:
                            "Add \($0.destinationEntityName) to \(configuration.name), or store its identifier in an "
                            + "attribute.")
                }
            }
        }
    }

    // MARK: The mirrored part

    private static func entities(_ version: LintVersion) -> [EntityDescription] {
        (try? version.model.mirroredEntities(version.mirrored)) ?? version.model.mirroredEntities
    }

    private static func attributes(
        _ version: LintVersion, _ isIncluded: (AttributeDescription) -> Bool
    ) -> [(String, AttributeDescription)] {
        entities(version).flatMap { entity in
            entity.attributes.filter(isIncluded).map { (entity.name, $0) }
        }
    }

    private static func relationships(
        _ version: LintVersion, _ isIncluded: (RelationshipDescription) -> Bool
    ) -> [(String, RelationshipDescription)] {
        entities(version).flatMap { entity in
            entity.relationships.filter { !$0.isTransient && isIncluded($0) }.map { (entity.name, $0) }
        }
    }
}
