import Foundation
import MoultBasics
import MoultTools
import TestSupport
import Testing

/// Each rule with its two models, written by hand in the table.
@Suite("Examples of the rules of lint")
struct RuleExampleTests {  // tier: long
    private static let codes = LintRule.all.map(\.code)
    /// The rules whose examples are models; PlanRuleTests has the others.
    private static let modelCodes = LintRule.all.filter { $0.failing.swift == nil }.map(\.code)

    private func findings(_ example: LintExample, of rule: LintRule) throws -> [LintFinding] {
        try ExampleModel.findings(example, Lint(profiles: Set([rule.profile].compactMap { $0 })))
    }

    @Test(arguments: modelCodes)
    func `the failing model has the finding, with a file and a remedy; the corrected one has not`(code: String) throws {
        let rule = try #require(LintRule.named(code))
        let found = try findings(rule.failing, of: rule).filter { $0.rule.code == code }
        #expect(!found.isEmpty)
        for finding in found {
            #expect(!finding.message.isEmpty && !finding.remedy.isEmpty)
            #expect(finding.file.contains("App.xcdatamodeld"))
            guard let xml = finding.xml else { continue }
            let closed = xml.hasSuffix("/>") ? xml : String(xml.dropLast()) + "/>"
            #expect(throws: Never.self) { try XMLElement.root(of: Array(closed.utf8), limits: .init(depth: 4)) }
        }
        let left = try findings(rule.corrected, of: rule).filter { $0.rule.code == code }
        #expect(left.isEmpty, "\(left.map(\.message))")
    }

    @Test(arguments: modelCodes)
    func `a corrected model has no error of another rule, so that no remedy leads to the next finding`(code: String)
        throws
    {
        let rule = try #require(LintRule.named(code))
        let errors = try findings(rule.corrected, of: rule).filter { $0.severity == .error }
        #expect(errors.isEmpty, "\(errors.map { "\($0.rule.code) \($0.message)" })")
    }

    @Test func `codes are unique, begin with their category and are numbered from 001`() {
        #expect(Set(Self.codes).count == Self.codes.count)
        for category in LintRule.Category.allCases {
            let own = LintRule.all.filter { $0.category == category }.map(\.code)
            let expected = (1...own.count).map { category.rawValue + String(format: "%03d", $0) }
            #expect(own == expected)
        }
    }

    @Test func `the pages of the documentation are those of the table`() throws {
        let folder = packageRoot.appendingPathComponent("Documentation/Lint")
        var expected = Dictionary(
            uniqueKeysWithValues: LintRule.Category.allCases.map {
                (LintPage.name(of: $0), LintPage.markdown(of: $0))
            })
        expected["README.md"] = LintPage.index
        // MOULT_RECORD=1 writes the pages, and the test fails so that nobody leaves it set.
        if ProcessInfo.processInfo.environment["MOULT_RECORD"] == "1" {
            try? FileManager.default.removeItem(at: folder)
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            for (name, text) in expected {
                try text.write(to: folder.appendingPathComponent(name), atomically: true, encoding: .utf8)
            }
            Issue.record("The pages were written; run again without MOULT_RECORD.")
        }
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
        #expect(names == expected.keys.sorted())
        for (name, text) in expected {
            let page = try String(contentsOf: folder.appendingPathComponent(name), encoding: .utf8)
            #expect(page == text, "\(name): run the test with MOULT_RECORD=1")
        }
    }
}
