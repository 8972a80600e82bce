import Foundation
import MoultData
import MoultModel
import MoultModelFiles
import MoultObjects
import MoultTools
import TestSupport
import Testing

/// The rules over a SwiftData plan, as an app's own tool applies them.
@Suite("Lint of SwiftData plans")
struct PlanRuleTests {
    private typealias Plans = (failing: any SchemaMigrationPlan.Type, corrected: any SchemaMigrationPlan.Type)
    private static var examples: [String: Plans] {
        [
            "OPEN009": (PlainVersions.NoStage.self, PlainVersions.OneStage.self),
            "OPEN010": (SharedType.Plan.self, OwnTypes.Plan.self),
            "OPEN011": (PlainVersions.TwoStages.self, PlainVersions.OneStage.self),
            "DATA010": (SizedVersions.Custom.self, SizedVersions.Transformed.self),
        ]
    }

    private func findings(_ plan: any SchemaMigrationPlan.Type, _ lint: Lint = Lint()) throws -> [LintFinding] {
        let plan = try #require(registry(plan).plan)
        let bundle = try ModelBundle(ModelVersions(versions: plan.versions))
        let subject = try LintSubject(bundle, registered: plan.stages, planFindings: plan.findings)
        return lint.findings(in: subject, path: bundle.path)
    }

    private func registry<Plan: SchemaMigrationPlan>(_ plan: Plan.Type) -> MoultObjects.MigrationRegistry {
        MigrationRegistry(plan: plan)
    }

    @Test(arguments: LintRule.all.filter { $0.failing.swift != nil }.map(\.code))
    func `the failing plan has the finding, the corrected one has not, and both stand on the page`(code: String) throws
    {
        let rule = try #require(LintRule.named(code))
        let (failing, corrected) = try #require(Self.examples[code])
        let found = try findings(failing).filter { $0.rule.code == code }
        #expect(!found.isEmpty && found.allSatisfy { !$0.message.isEmpty && !$0.remedy.isEmpty })
        let left = try findings(corrected)
        #expect(!left.contains { $0.severity > .note }, "\(left.map(\.message))")
        let source = try String(
            contentsOf: packageRoot.appendingPathComponent("Tests/MoultToolsTests/Lint/PlanExamples.swift"),
            encoding: .utf8)
        for example in [rule.failing, rule.corrected] {
            #expect(source.plainLines.contains(try #require(example.swift).plainLines), "\(code)")
        }
    }

    @Test func `a value type that versions share is named with the classes and the versions`() throws {
        let found = try #require(try findings(SharedType.Plan.self).first { $0.rule.code == "OPEN010" })
        #expect(found.place == "Habit.reminder" && found.severity == .warning)
        #expect(found.message.contains("AppV1.Habit and AppV2.Habit have values of Reminder."), "\(found.message)")
        #expect(found.message.contains("the version hashes of 1.0.0 and 2.0.0"), "\(found.message)")
    }

    @Test func `cases of an enum count only without raw values, and a class that versions share counts once`() throws {
        let found = try findings(SharedEnums.Plan.self).filter { $0.rule.code == "OPEN010" }
        #expect(found.map(\.place) == ["Day.weather"], "\(found.map(\.message))")
        #expect(try !findings(PlainVersions.Back.self).contains { $0.rule.code == "OPEN010" })
    }

    @Test func `what a stage leaves behind is a warning if willMigrate can read it, and an error otherwise`() throws {
        let unread = try #require(try findings(SizedVersions.Custom.self).first { $0.rule.code == "DATA010" })
        #expect(unread.place == "Post.size" && unread.severity == .error)
        #expect(unread.remedy.contains(".transform(from: AppV1.Post.self, to: AppV2.Post.self)"), "\(unread.remedy)")
        let readable = try #require(try findings(PlainVersions.Back.self).first { $0.rule.code == "DATA010" })
        #expect(readable.place == "Post.body" && readable.severity == .warning)
        #expect(readable.message.contains("Only willMigrate can read the values."), "\(readable.message)")
    }

    @Test func `what the plan does not infer has the code of its rule, and a remedy in Swift`() throws {
        let found = try findings(SizedVersions.Plain.self).filter { $0.rule.category == .infer }
        #expect(found.map(\.rule.code) == ["INFER003"] && found.map(\.place) == ["Post.size"])
        #expect(found.allSatisfy { $0.remedy.contains(".transform of Post") && !$0.remedy.contains("moult answer") })
    }

    @Test
    func `with the profile of CloudKit, .unique and a required property are errors, and no remedy is in XML`() throws {
        let found = try findings(SharedEnums.Plan.self, Lint(profiles: [.cloudkit]))
        #expect(found.contains { $0.rule.code == "SYNC001" && $0.place == "Day.number" })
        let required = try #require(found.first { $0.rule.code == "SYNC002" })
        #expect(required.place == "Day.word")
        #expect(
            required.remedy.hasPrefix("Make it optional. Or give it a default value, such as "), "\(required.remedy)")
        #expect(!found.contains { $0.remedy.contains("=\"") }, "\(found.map(\.remedy))")
    }
}

extension String {
    /// The lines without their indentation.
    fileprivate var plainLines: String {
        split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }.joined(separator: "\n")
    }
}
