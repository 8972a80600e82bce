import MoultBasics
import MoultModel
import MoultPlan

/// The rules about the schema of CloudKit that a model needs.
enum SchemaRules {
    /// Returns matches for the gaps of some kinds between the model and the schema in Production.
    static func gaps(_ codes: [CloudKitGap.Code]) -> @Sendable (LintSchema, LintSubject) -> [LintMatch] {
        { schema, subject in
            guard let requirements = subject.requirements, let version = subject.shipping else { return [] }
            let gaps = requirements.gaps(in: schema.schema).filter { codes.contains($0.code) }
            guard !gaps.isEmpty else { return [] }
            let former = FormerRequirements(subject, schema)
            return gaps.map { gap in
                var match = match(gap, in: version)
                match.message += former.sentence(about: gap)
                if let rename = former.rename(of: gap) {
                    match.message += " \(rename.sentence) \(ModelChange.forbiddenByCloudKit)"
                    match.remedy = Remedy(rename.remedyForCloudKit)
                }
                return match
            }
        }
    }

    /// Returns matches for the parts of the model that no schema of CloudKit can have.
    static func faults(_ subject: LintSubject) -> [LintMatch] {
        guard let requirements = subject.requirements, let version = subject.shipping else { return [] }
        let former = FormerRequirements(subject, subject.schema)
        return requirements.faults.map { gap in
            var match = match(gap, in: version)
            match.message += former.sentence(about: gap)
            return match
        }
    }

    private static func match(_ gap: CloudKitGap, in version: LintVersion) -> LintMatch {
        // A field of the framework is at the root entity of its type.
        let root = String(gap.recordType.dropFirst("CD_".count))
        let entity = gap.origin?.entity ?? (version.model.hasEntity(root) ? root : nil)
        var match = LintMatch(
            version.name, entity, gap.origin?.property, gap.message, remedy: gap.remedy)
        match.gap = gap
        return match
    }
}

/// The schema that CloudKit needs for an earlier state of a model: the one at a revision, or else the version before.
private struct FormerRequirements {
    private let requirements: CloudKitRequirements?
    private let gaps: [CloudKitGap]
    /// The revision, as typed and with its commit; nil for the version before.
    private let revision: String?
    /// The renames that Core Data refuses in a mirrored store, on the way to the version that ships.
    private let renames: [ModelChange]

    init(_ subject: LintSubject, _ schema: LintSchema?) {
        let release = subject.releases.last { !$0.isLock }
        revision = release?.source
        let released = release.flatMap { release in
            release.versions.first { $0.name == release.currentName } ?? release.versions.last
        }?.model
        let place = subject.versions.firstIndex { $0.name == subject.shipping?.name } ?? 0
        let before = place > 0 ? subject.versions[place - 1].version : nil
        let requirements = (release == nil ? before : released).flatMap {
            try? CloudKitRequirements($0.model, configuration: schema?.configuration)
        }
        self.requirements = requirements
        gaps = (schema.flatMap { requirements?.gaps(in: $0.schema) } ?? []) + (requirements?.faults ?? [])
        let edit = released.flatMap { released in
            subject.shipping.flatMap { try? ModelDiff(from: released, to: $0.version) }
        }
        let edited =
            subject.shipping.flatMap {
                edit?.renamesForbiddenByCloudKit(in: $0.model, configuration: schema?.configuration)
            } ?? []
        renames = edited + subject.steps.flatMap(\.forbiddenRenames)
    }

    /// Returns the rename that made a part of the schema missing in Production; nil if there is none.
    func rename(of gap: CloudKitGap) -> ModelChange? {
        guard [.addType, .addField, .addCompanion].contains(gap.code) else { return nil }
        let entity = gap.origin?.entity ?? String(gap.recordType.dropFirst("CD_".count))
        return renames.first { $0.entity == entity && $0.member == gap.origin?.property }
    }

    /// Returns a sentence, with a leading space, about a gap in the earlier state; empty if there is nothing to say.
    func sentence(about gap: CloudKitGap) -> String {
        guard let requirements else { return "" }
        if let revision, gap.code.severity > .note,
            gaps.contains(where: { $0.code == gap.code && $0.name == gap.name && $0.needed == gap.needed })
        {
            return " The model of \(revision) has this gap too."
        }
        guard gap.isImpossible, let field = gap.field else { return "" }
        let isReused = requirements.schema.types[gap.recordType]?.fields[field] == nil
        return isReused ? " The name is that of a property that was removed earlier." : ""
    }
}
