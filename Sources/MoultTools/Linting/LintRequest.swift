import MoultEngine
import MoultLint
import MoultModel
import MoultModelFiles
import MoultPlan
import MoultReport
import MoultStore
import MoultSystem
import MoultTransform

/// A request to check models: the rules, and what the models are compared with.
package struct LintRequest: Sendable {
    package var profiles: Set<LintRule.Profile>
    /// Rules to leave out, by their codes in upper or lower case.
    package var ignored: [String] = []
    /// By the code of a rule, in place of its own severity; nil for a rule that is off.
    package var severities: [String: Finding.Severity?] = [:]
    /// A git revision to compare with; nil for none.
    package var revision: String?
    /// The lock file to compare with; nil for the one next to the model.
    package var lock: String?
    /// A store whose objects the findings count; nil for none.
    package var store: String?

    package init(profiles: Set<LintRule.Profile> = []) { self.profiles = profiles }

    /// - Throws: `usage` for a rule that does not exist.
    func lint(accepting losses: AcceptedLosses) throws -> Lint {
        let codes = try ignored.map { code in
            if let rule = LintRule.named(code) { return rule.code }
            let near = Suggestion.nearest(to: code.uppercased(), among: LintRule.all.map(\.code))
            throw MigrationError.wrongRequest(
                "There is no rule \(code).\(near.map { " Did you mean \($0)?" } ?? "")")
        }
        return Lint(
            profiles: profiles, ignored: Set(codes).union(severities.filter { $0.value == nil }.keys),
            severities: severities.compactMapValues { $0 }, acceptedLosses: losses)
    }
}

/// The models that are checked, with what migrations between them use.
package struct LintedModels {
    let bundle: ModelBundle
    let versions: ModelVersions
    let answers: Answers
    /// The paths of mapping models.
    let mappings: [String]

    package init(_ bundle: ModelBundle, _ versions: ModelVersions, answers: Answers, mappings: [String]) {
        (self.bundle, self.versions, self.answers, self.mappings) = (bundle, versions, answers, mappings)
    }
}

extension ModelBundle {
    /// Whether it is the model inside a store.
    package var isInsideStore: Bool { get throws { try StoreProbe.isDatabase(path) } }
}

extension LintResult {
    /// Applies the rules to models. Of a model that cannot be read because it refers to nothing, these references are the
    /// findings.
    ///
    /// - Parameters:
    ///   - path: the path of the models; nil for those of the app's code, whose plan is checked too.
    ///   - registry: the app's code.
    ///   - models: reads the models.
    /// - Throws: what ``Project/lint(profiles:ignoring:since:lock:countingObjectsOf:)`` throws.
    package init(
        _ request: LintRequest, ofModelAt path: String?, _ registry: MigrationRegistry,
        _ models: () throws -> LintedModels
    ) throws {
        let lint = try request.lint(accepting: registry.acceptedLosses)
        let plan = path == nil ? registry.plan : nil
        do {
            let models = try models()
            let (bundle, versions) = (models.bundle, models.versions)
            let mappings = try models.mappings.flatMap { try [RegisteredStage](mappingsAt: $0, in: versions, registry) }
            let subject = try LintSubject(
                bundle, answers: models.answers,
                registered: try plan?.stages ?? registry.stages(in: versions) + mappings,
                releases: try LintRelease.all(of: bundle, lock: request.lock, since: request.revision),
                rows: try request.store.map {
                    try StoreRows(
                        ofStore: $0,
                        StoreSession.Context(
                            versions, answers: models.answers, registered: plan == nil ? mappings : [],
                            registry: registry))
                },
                planFindings: plan?.findings, declarations: plan?.lintDeclarations ?? [:])
            report = LintReport(
                lint.findings(in: subject, path: bundle.path), of: subject, path: bundle.path, rules: lint.rules)
        } catch let error as MigrationError where error.code == .modelInvalid {
            let broken = path.map(lint.brokenReferences(inModelAt:)) ?? []
            guard let path, !broken.isEmpty else { throw error }
            report = LintReport(brokenReferences: broken, path: path, rules: lint.rules)
        } catch var error as MigrationError where error.code == .lockFileMismatch {
            // For lint, a lock that cannot be read is bad input, and not a refusal.
            error.code = .modelInvalid
            throw error
        }
    }
}
