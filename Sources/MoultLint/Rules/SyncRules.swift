import MoultModel
import MoultPlan

/// The rules about stores that are mirrored to CloudKit: what Core Data refuses then, or CloudKit cannot hold.
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
            // A composite attribute has its default values in its elements.
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
        let cloud = configurations.filter(\.usedWithCloudKit)
        return (cloud.isEmpty ? configurations : cloud).flatMap { configuration -> [LintMatch] in
            let members = Set(configuration.entityNames)
            return version.model.entities.filter { members.contains($0.name) }.flatMap { entity in
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

    // MARK: The part that is mirrored

    /// The entities of the configurations that are used with CloudKit; all of them if none is marked so.
    private static func entities(_ version: LintVersion) -> [EntityDescription] {
        let cloud = version.model.configurations.filter(\.usedWithCloudKit).flatMap(\.entityNames)
        guard !cloud.isEmpty else { return version.model.entities }
        let names = Set(cloud)
        return version.model.entities.filter { names.contains($0.name) }
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
