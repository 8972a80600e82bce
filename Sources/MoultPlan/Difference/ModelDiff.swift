import MoultBasics
import MoultModel

/// Everything that differs between two versions of a model.
package struct ModelDiff: Sendable, Equatable {
    /// The names of the versions.
    package let from: String
    package let to: String
    /// The changes of the entities, ordered by name, then those of the model as a whole.
    package internal(set) var changes: [ModelChange]

    /// - Parameter answers: recorded answers about the two versions; without an answer, an entity or property counts as
    ///   removed and added.
    /// - Throws: `usage` if an answer does not fit any question about the versions.
    package init(
        from older: ModelVersion, to newer: ModelVersion, answers: Answers = .none,
        history: RenamingHistory = RenamingHistory()
    ) throws(MigrationError) {
        self.init(try EntityMatching(from: older, to: newer, answers: answers, history: history))
    }

    package init(_ correspondence: EntityMatching) {
        var differ = Differ(correspondence)
        differ.run()
        from = correspondence.from
        to = correspondence.to
        changes = differ.changes
    }

    package var isEmpty: Bool { changes.isEmpty }

    /// The changes that alter a version hash, so that Core Data migrates for them.
    package var hashed: [ModelChange] { changes.filter(\.isHashed) }
    /// The changes that alter no version hash. Core Data does not migrate for them.
    package var unhashed: [ModelChange] { changes.filter { !$0.isHashed } }
    /// The changes that may leave values or rows behind.
    package var losses: [ModelChange] { changes.filter(\.losesData) }

    /// The renames that Core Data forbids in a store that is mirrored to CloudKit.
    ///
    /// - Parameters:
    ///   - newer: the newer version of the two. If it marks configurations for CloudKit, only these are mirrored.
    ///   - configuration: the configuration that is mirrored, if it is not one that the model marks.
    package func renamesForbiddenByCloudKit(
        in newer: ManagedObjectModel, configuration: String? = nil
    ) -> [ModelChange] {
        let entities = (try? newer.mirroredEntities(configuration)) ?? newer.mirroredEntities
        let mirrored = Set(entities.map(\.name))
        return hashed.filter { change in
            [.entityRenamed, .attributeRenamed, .relationshipRenamed].contains(change.kind)
                && change.entity.map(mirrored.contains) ?? false
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

extension CloudKitSchema {
    /// Returns whether the schema has the record type or field of what was renamed.
    package func hasOldName(of rename: ModelChange, in older: ManagedObjectModel) -> Bool {
        guard let old = rename.old else { return false }
        func type(_ entity: String?) -> RecordType? {
            entity.flatMap(older.entity).flatMap { types["CD_\(older.root(of: $0).name)"] }
        }
        guard rename.kind != .entityRenamed else { return type(old) != nil }
        // The entity may be renamed as well.
        let candidates = type(rename.entity).map { [$0] } ?? Array(types.values)
        return candidates.contains { $0.fields["CD_\(old)"] != nil }
    }
}

extension ManagedObjectModel {
    /// Whether the model marks its stores, or those of one configuration, as mirrored to CloudKit.
    package var isUsedWithCloudKit: Bool {
        isOn("usedWithCloudKit") || configurations.contains(where: \.usedWithCloudKit)
    }
}

extension MigrationPlan {
    /// Returns what the way of a store that is mirrored to CloudKit means for its sync: the forbidden renames, the fields
    /// that the schema in Production can never have, and what has to be deployed.
    ///
    /// - Parameter production: the schema in Production; nil if it is not known. It then counts as that of the plan's first
    ///   version.
    package func cloudKitFindings(
        in versions: ModelVersions, _ production: CloudKitProduction? = nil
    ) -> [Finding] {
        cloudKitRenames(in: versions) + cloudKitGaps(in: versions, production)
    }

    /// Returns the gaps between the schemas of the plan's first and last version: a warning for each field that changes
    /// its type, and one with all that is new.
    private func cloudKitGaps(in versions: ModelVersions, _ production: CloudKitProduction?) -> [Finding] {
        guard let first = edges.first, let last = edges.last,
            let old = try? CloudKitRequirements(
                versions.versions[first.older].model, configuration: production?.configuration),
            let new = try? CloudKitRequirements(
                versions.versions[last.newer].model, configuration: production?.configuration)
        else { return [] }
        let gaps = new.gaps(in: production?.schema ?? old.schema(takingEncryptionFrom: new.schema))
        let changed = gaps.filter { $0.isImpossible || $0.code == .encryptionUnknown }.map { gap in
            Finding(
                code: gap.isImpossible ? "cloudkit-retype" : gap.code.rawValue,
                severity: gap.isImpossible ? .warning : .note, place: gap.name.isEmpty ? to.name : gap.place,
                message: gap.message, remedy: gap.remedy)
        }
        let added = gaps.filter { [.addType, .addField].contains($0.code) }.map(\.name)
        guard !added.isEmpty else { return changed }
        let reason = production == nil ? "what \(from.name) does not" : "what is not there"
        return changed + [
            Finding(
                code: "cloudkit-deploy", severity: .warning, place: to.name,
                message: "\(to.name) needs in CloudKit's Production \(reason): \(added.listed()).",
                remedy: "Deploy Development to Production in the CloudKit console before the app ships.")
        ]
    }

    /// Returns one warning for each rename on the way of a store that is mirrored to CloudKit.
    package func cloudKitRenames(in versions: ModelVersions) -> [Finding] {
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

/// The part of a model's version number to increase for a difference.
///
/// The kind of migration is irrelevant: an additive change may need a mapping model, and a breaking one may be
/// inferred.
package struct VersionBump: Sendable, Equatable {
    package enum Level: String, Sendable, Comparable, CaseIterable {
        /// The change does not affect stores.
        case patch
        /// Something is added, and everything that an older app or query uses is still there.
        case minor
        /// The change removes, renames or refuses something that older code or data uses.
        case major

        package static func < (left: Level, right: Level) -> Bool {
            let all = allCases
            return (all.firstIndex(of: left) ?? 0) < (all.firstIndex(of: right) ?? 0)
        }
    }

    package let level: Level
    /// The changes that require this level.
    package let reasons: [ModelChange]

    /// Returns nil for equal versions.
    package init?(_ diff: ModelDiff) {
        guard let level = diff.changes.map(\.level).max() else { return nil }
        self.level = level
        reasons = diff.changes.filter { $0.level == level }
    }
}

extension ModelChange {
    fileprivate var level: VersionBump.Level {
        guard isHashed else { return .patch }
        return losesData || mayFail || Self.breaking.contains(kind) ? .major : .minor
    }

    private static let breaking: Set<Kind> = [
        .entityRemoved, .entityRenamed, .attributeRemoved, .attributeRenamed, .attributeMoved, .relationshipRemoved,
        .relationshipRenamed, .relationshipMoved, .type, .cardinality, .destination, .order, .parent, .abstract,
        .transient, .valueTransformer, .valueClass,
    ]
}

/// A version number of the form `1.2` or `1.2.3`.
package struct VersionNumber: Sendable, Equatable, Comparable, CustomStringConvertible {
    package var major: Int
    package var minor: Int
    package var patch: Int

    /// Returns nil for any other text.
    package init?(_ text: String) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        let numbers = parts.compactMap { part in part.allSatisfy(\.isASCIIDigit) ? Int(part) : nil }
        guard (2...3).contains(parts.count), numbers.count == parts.count else { return nil }
        (major, minor, patch) = (numbers[0], numbers[1], numbers.count > 2 ? numbers[2] : 0)
    }

    package var description: String { "\(major).\(minor).\(patch)" }

    /// Returns the next number at a level; a number at the maximum stays as it is.
    package func next(_ level: VersionBump.Level) -> VersionNumber {
        func risen(_ number: Int) -> Int { number == .max ? number : number + 1 }
        var next = self
        switch level {
        case .major: (next.major, next.minor, next.patch) = (risen(major), 0, 0)
        case .minor: (next.minor, next.patch) = (risen(minor), 0)
        case .patch: next.patch = risen(patch)
        }
        return next
    }

    package static func < (left: VersionNumber, right: VersionNumber) -> Bool {
        (left.major, left.minor, left.patch) < (right.major, right.minor, right.patch)
    }
}

extension Character {
    fileprivate var isASCIIDigit: Bool { ("0"..."9").contains(self) }
}
