import MoultBasics
import MoultModel
import MoultModelFiles
import MoultPlan
import MoultTools
import Testing

/// A plan, a refusal and lint say one thing in one way.
@Suite("Findings of plans and of lint")
struct PlanAgreementTests {
    private static let codes = LintRule.all.filter {
        $0.failing.swift == nil && $0.failing.versions.count > 1 && ["INFER", "DATA"].contains($0.category.rawValue)
            // Moult goes from version to version; this is of Core Data, which skips those in between.
            && $0.code != "DATA013" && $0.failing.answers.isEmpty
    }.map(\.code)
    /// What a plan only says of the rows of a store.
    private static let ofRows: Set = ["DATA009", "DATA011"]

    @Test(arguments: codes)
    func `a finding of lint is that of the plan: its sentence, its remedy and its place`(code: String) throws {
        let rule = try #require(LintRule.named(code))
        let model = try ExampleModel(rule.failing)
        let found = try ExampleModel.findings(at: model.path, Lint()).filter { $0.rule.code == code }
        let versions = ModelVersions(try ModelBundle(contentsOf: model.path))
        let edges = try MigrationPath(versions, from: 0, to: versions.versions.count - 1).edges
        let planned = edges.flatMap { edge in edge.findings.map { (edge: "\(edge.from) to \(edge.to): ", finding: $0) }
        }
        .filter { $0.finding.rule == code }
        guard !Self.ofRows.contains(code) else {
            #expect(planned.isEmpty && !Finding.codes(ofRule: code).isEmpty)
            return
        }
        #expect(!found.isEmpty && found.count == planned.count)
        for finding in found {
            let same = planned.first { $0.finding.place == finding.place }
            let plan = try #require(same, "\(finding.place)")
            let sentence = plan.finding.message.hasPrefix(plan.edge) ? "" : plan.edge
            #expect(finding.message == sentence + plan.finding.message)
            #expect(finding.remedy == plan.finding.remedy && !finding.remedy.isEmpty)
        }
    }

    @Test
    func `a refusal lists its reasons by the codes of their rules, with the sentences and remedies of lint`() throws {
        let rule = try #require(LintRule.named("INFER005"))
        let model = try ExampleModel(rule.failing)
        let found = try ExampleModel.findings(at: model.path, Lint())
        let finding = try #require(found.first { $0.rule.code == rule.code })
        let versions = ModelVersions(try ModelBundle(contentsOf: model.path)).versions
        let refusals = try InferredMapping(EntityMatching(from: versions[0], to: versions[1])).refusals
        let error = MigrationError.cannotInfer(refusals, from: "App", to: "App 2")
        let sentence = finding.message.replacing("App to App 2: ", with: "")
        #expect(error.message.contains("[INFER005] \(sentence) \(finding.remedy)"), "\(error.message)")
    }

    @Test func `each rule that a plan names exists`() {
        let known = Set(LintRule.all.map(\.code))
        let named = known.filter { !Finding.codes(ofRule: $0).isEmpty }
        #expect(named.count >= 20)
        let kinds = ModelChange.Kind.allCases.map(\.rawValue)
        let rules = kinds.compactMap { Finding(code: $0, severity: .note, place: "", message: "").rule }
        #expect(rules.count >= 16 && Set(rules).isSubset(of: known))
    }
}
