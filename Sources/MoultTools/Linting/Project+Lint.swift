import Moult
import MoultLint
import MoultModel
import MoultModelFiles
import MoultSystem

extension Project {
    /// Checks the models by rules: released versions, inference, data, sync, source and shape.
    ///
    /// - Parameters:
    ///   - profiles: further rules to apply.
    ///   - ignoring: the codes of rules to leave out, such as `SHAPE003`, in upper or lower case.
    ///   - revision: a git revision to compare with, such as `origin/main`; nil for none.
    ///   - lock: the lock file to compare with; nil for `moult.lock` next to the model.
    ///   - store: a store whose objects the findings count; nil for none.
    /// - Throws: `usage` for a rule that does not exist, and without git or that revision; `modelInvalid` for a lock file
    ///   that cannot be read; `modelNotFound` if it has no versions of this model; `storeUnknown` for a store of another
    ///   app.
    public func lint(
        profiles: Set<LintProfile> = [], ignoring: Set<String> = [], since revision: String? = nil,
        lock: String? = nil, countingObjectsOf store: String? = nil
    ) async throws -> LintResult {
        try await onThread { _ in
            let ignored = try ignoring.sorted().map { code in
                if let rule = LintRule.named(code) { return rule.code }
                throw MigrationError(.usage, "There is no rule \(code).", remedy: "Documentation/Lint lists the rules.")
            }
            let lint = Lint(
                profiles: Set(profiles.map(\.rules)), ignored: Set(ignored), acceptedLosses: registry.acceptedLosses)
            let (bundle, plan) = (try bundle(), path == nil ? registry.plan : nil)
            let subject = try LintSubject(
                bundle, answers: answers,
                registered: try plan?.stages ?? (registry.stages(in: versions) + stages(in: versions)),
                releases: try LintRelease.all(of: bundle, lock: lock, since: revision),
                rows: try store.map {
                    try StoreRows(
                        ofStore: $0, in: versions,
                        options: .init(answers: answers, registered: stages(in: versions), registry: registry))
                },
                planFindings: plan?.findings, declarations: plan?.lintDeclarations ?? [:])
            return LintResult(
                LintReport(
                    lint.findings(in: subject, path: bundle.path), of: subject, path: bundle.path, rules: lint.rules))
        }
    }
}
