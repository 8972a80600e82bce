import Foundation
import Moult
import MoultBasics
import MoultModel
import MoultTools
import TestSupport
import Testing

/// Every code that Moult prints has an explanation.
@Suite("Explanations of codes")
struct ExplanationTests {
    private static let codes = Set(Explanation.all.map(\.code))

    /// Words with hyphens in the sources that are no codes: names of options, of files, of headers and of kinds.
    private static let otherWords: Set<String> = [
        "accept-losses", "ambiguous-identifier", "cat-file", "external-files", "key-counters", "ls-tree", "merge-base",
        "model-cache", "moult-fleet", "moult-proven", "moult-unwritten", "moult-watched", "one-sided", "rev-parse",
        "sub-entities", "sub-entity", "to-many", "to-one", "utf-8", "with-run",
    ]

    /// The sources that make findings. The command line has names of options, pages and pictures those of HTML.
    private static func sources() throws -> [(name: String, text: String)] {
        let folder = packageRoot.appendingPathComponent("Sources")
        let names = try FileManager.default.subpathsOfDirectory(atPath: folder.path).filter { name in
            name.hasSuffix(".swift")
                && !["MoultCommands/", "MoultTesting/", "MoultDataExpansion/", "MoultDataMacros/", "moult-"]
                    .contains(where: name.hasPrefix)
                && !["MoultTools/Explanations/", "MoultTools/Page/", "MoultTools/Diagrams/"]
                    .contains(where: name.hasPrefix)
        }
        return try names.map { ($0, try String(contentsOf: folder.appendingPathComponent($0), encoding: .utf8)) }
    }

    @Test func `every rule and every error has an explanation, with the exit status of the error`() throws {
        #expect(Self.codes.isSuperset(of: LintRule.all.map(\.code)))
        for code in MigrationError.Code.all {
            let explanation = try #require(Explanation.named(code.description).first { $0.code == code.description })
            #expect(explanation.exitCode == code.exitCode)
        }
    }

    @Test func `every literal in the sources that looks like the code of a finding has one, or is a known other word`()
        throws
    {
        var seen: Set<String> = []
        for (name, text) in try Self.sources() {
            for match in text.matches(of: /"([a-z]+(?:-[a-z0-9]+)+)"/) {
                let word = String(match.1)
                seen.insert(word)
                let isKnown = Self.codes.contains(word) || Self.otherWords.contains(word)
                #expect(isKnown, "\(name): \(word) has no explanation, and is not listed as another word")
            }
            for match in text.matches(of: /(?:finding|Finding)\(\s*(?:code: )?"([a-zA-Z-]+)"/) {
                #expect(Self.codes.contains(String(match.1)), "\(name): \(match.1) has no explanation")
            }
        }
        #expect(seen.count > 150)
        #expect(Self.otherWords.subtracting(seen) == [])
    }

    @Test func `no explanation is of a code that nothing prints`() throws {
        let text = try Self.sources().map(\.text).joined()
        let made = Set(LintRule.all.map(\.code) + MigrationError.Code.all.map(\.description))
            .union(RepairRule.allCases.map { "rows-\($0.rawValue)" })
        // These end with the kind of a question.
        let questions: Set<String> = [
            "question-rename", "question-returned", "question-ambiguous-identifier", "question-conversion",
            "question-destination",
        ]
        let stale = Self.codes.subtracting(made).subtracting(questions).filter { !text.contains("\"\($0)\"") }
        #expect(stale == [])
    }

    @Test func `no message points to a page, which a package does not install`() throws {
        let folder = packageRoot.appendingPathComponent("Sources")
        for name in try FileManager.default.subpathsOfDirectory(atPath: folder.path) where name.hasSuffix(".swift") {
            let text = try String(contentsOf: folder.appendingPathComponent(name), encoding: .utf8)
            let lines = text.split(separator: "\n").filter { !$0.contains(/^ *\/\//) }
            #expect(lines.filter { $0.contains("Documentation/") } == [], "\(name)")
        }
    }

    @Test func `each says what it means, why it matters and what to do, in sentences`() {
        for explanation in Explanation.all {
            for text in [explanation.meaning, explanation.why, explanation.remedy.text()] {
                #expect(text.count > 5 && !text.contains("  "), "\(explanation.code): \(text)")
            }
            #expect([".", "?"].contains(explanation.meaning.last), "\(explanation.code)")
        }
        #expect(Self.codes.count == Explanation.all.count)
    }

    @Test func `a number of Core Data leads to its errors, a group to its codes, and a misspelt code to the right one`()
        throws
    {
        #expect(Explanation.named("134130").map(\.code) == ["storeUnknown"])
        #expect(Explanation.named("open001").map(\.code) == ["OPEN001"])
        #expect(Explanation.named("INFER").count == LintRule.all.count { $0.category == .infer })
        let error = #expect(throws: MigrationError.self) { try Explanations(of: "OPEN0O1") }
        #expect(error?.code == .usage && error?.message.contains("OPEN001") == true)
    }
}
