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
                return match
            }
        }
    }

    /// Returns matches for the parts of the model that no schema of CloudKit can have.
    static func faults(_ subject: LintSubject) -> [LintMatch] {
        guard let requirements = subject.requirements, let version = subject.shipping else { return [] }
        return requirements.faults.map { match($0, in: version) }
    }

    private static func match(_ gap: CloudKitGap, in version: LintVersion) -> LintMatch {
        // A field of the framework is at the root entity of its type.
        let root = String(gap.recordType.dropFirst("CD_".count))
        let entity = gap.origin?.entity ?? (version.model.hasEntity(root) ? root : nil)
        var match = LintMatch(
            version.name, entity, gap.origin?.property, gap.message, remedy: Remedy(gap.remedy))
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

    init(_ subject: LintSubject, _ schema: LintSchema) {
        let release = subject.releases.last { !$0.isLock }
        revision = release?.source
        let released = release.flatMap { release in
            release.versions.first { $0.name == release.currentName } ?? release.versions.last
        }?.model
        let place = subject.versions.firstIndex { $0.name == subject.shipping?.name } ?? 0
        let before = place > 0 ? subject.versions[place - 1].version : nil
        requirements = (release == nil ? before : released).flatMap {
            try? CloudKitRequirements($0.model, configuration: schema.configuration)
        }
        gaps = requirements?.gaps(in: schema.schema) ?? []
    }

    /// Returns a sentence, with a leading space, about a gap in the earlier state; empty if there is nothing to say.
    func sentence(about gap: CloudKitGap) -> String {
        guard let requirements else { return "" }
        switch gap.code {
        case .addType, .addField:
            let isOlder = gaps.contains { $0.code == gap.code && $0.name == gap.name }
            return revision.map { isOlder ? " The model of \($0) needs it too." : "" } ?? ""
        case .retype, .encrypt:
            let isReused = gap.field.map { requirements.schema.types[gap.recordType]?.fields[$0] == nil } ?? false
            return isReused ? " The name is that of a property that was removed earlier." : ""
        case .addCompanion, .addReceipt, .conflict, .badName, .collision, .tooManyFields, .orphan, .share: return ""
        }
    }
}
