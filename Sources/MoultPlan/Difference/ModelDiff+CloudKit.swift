import MoultModel

extension ModelDiff {
    /// The renames that Core Data forbids in a store that is mirrored to CloudKit.
    ///
    /// - Parameter newer: the version that they lead to. Where it marks configurations for CloudKit, these alone are mirrored.
    package func renamesForbiddenByCloudKit(in newer: ManagedObjectModel) -> [ModelChange] {
        let mirrored = Set(newer.configurations.filter(\.usedWithCloudKit).flatMap(\.entityNames))
        return hashed.filter { change in
            [.entityRenamed, .attributeRenamed, .relationshipRenamed].contains(change.kind)
                && (mirrored.isEmpty || change.entity.map(mirrored.contains) ?? false)
        }
    }
}

extension ModelChange {
    /// The rule of Core Data about a rename in a store that is mirrored to CloudKit.
    package static let forbiddenByCloudKit =
        "CloudKit integration forbids renaming: Core Data refuses to open the mirrored store with this model, and the "
        + "schema in production and older app versions keep the old name."

    /// The alternative to such a rename.
    package var remedyForCloudKit: String {
        let old = old ?? "the old one"
        let new = member ?? entity ?? "the new one"
        return
            "Keep \(old) as it is and add \(new) next to it, without a renaming identifier; let the app copy the values "
            + "and write both while older versions of it are in use."
    }
}

extension ManagedObjectModel {
    /// Whether the model says that its stores, or those of one of its configurations, are mirrored to CloudKit.
    package var isUsedWithCloudKit: Bool {
        documentAttributes["usedWithCloudKit"] == "YES" || configurations.contains(where: \.usedWithCloudKit)
    }
}

extension MigrationPlan {
    /// One warning for each rename on the way of a store that is mirrored to CloudKit.
    package func cloudKitFindings(in versions: ModelVersions) -> [Finding] {
        edges.flatMap { edge in
            edge.diff.renamesForbiddenByCloudKit(in: versions.versions[edge.newer].model).map { change in
                Finding(
                    code: "cloudkit-rename", severity: .warning,
                    place: [change.entity, change.member].compactMap(\.self).joined(separator: "."),
                    message: "\(change.sentence) \(ModelChange.forbiddenByCloudKit)", remedy: change.remedyForCloudKit)
            }
        }
    }
}
