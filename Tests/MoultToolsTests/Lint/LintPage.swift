import MoultBasics
import MoultPlan
import MoultTools

/// The page of a rule in the documentation, generated from the table.
enum LintPage {
    /// The whole page.
    static func markdown(of rule: LintRule) -> String {
        let profile = rule.profile.map { " Only with the profile `\($0.rawValue)`." } ?? ""
        return """
            # \(rule.code): \(rule.title)

            Severity: \(rule.severity.rawValue). \(rule.category.sentence)\(profile)

            \(rule.meaning)

            On a device: \(rule.onDevice)
            \(plan(rule))
            ## What to do

            \(rule.remedy)

            ## A \(rule.failing.swift == nil ? "model" : "plan") with this finding

            \(markdown(of: rule.failing))

            ## A \(rule.failing.swift == nil ? "model" : "plan") without it

            \(markdown(of: rule.corrected))

            """
    }

    /// The findings of a plan with the same sentences and remedies; an empty line if there are none.
    private static func plan(_ rule: LintRule) -> String {
        let codes = Finding.codes(ofRule: rule.code).map { "`\($0)`" }
        return codes.isEmpty ? "" : "\nIn a plan, it has the code \(codes.listed("or")).\n"
    }

    /// The list of all rules.
    static var index: String {
        let parts = LintRule.Category.allCases.map { category in
            let rows = LintRule.all.filter { $0.category == category }.map { rule in
                let profile = rule.profile.map { "`\($0.rawValue)`" } ?? ""
                return "| [\(rule.code)](\(rule.code).md) | \(rule.title) | \(rule.severity.rawValue) | \(profile) |"
            }
            return """
                ## \(category.rawValue)

                \(category.sentence)

                | rule | title | severity | profile |
                |---|---|---|---|
                \(rows.joined(separator: "\n"))
                """
        }
        return """
            # The rules of lint

            A check of a model applies these rules ([CI](../CI.md)). This page and the pages of the rules are made from the \
            table of rules in `MoultTools/Lint`.

            \(parts.joined(separator: "\n\n"))

            """
    }

    private static func markdown(of example: LintExample) -> String {
        if let swift = example.swift { return "```swift\n\(swift)\n```" }
        func blocks(_ versions: [LintExample.Version], _ title: (String) -> String) -> [String] {
            versions.map { version in
                "\(title(version.name)):\n\n```xml\n\(version.xml.shortened)\n```"
            }
        }
        let released = blocks(example.released) { "`\($0)`, as it was released" }
        let now = blocks(example.versions) { "`\($0)`\(example.released.isEmpty ? "" : " now")" }
        let current = example.current.map { ["The current version is `\($0)`."] } ?? []
        let was = example.releasedCurrent.map { ["The current version was `\($0)` when it was released."] } ?? []
        return (released + was + now + current).joined(separator: "\n\n")
    }
}

extension String {
    /// A long list of lines with its middle left out.
    fileprivate var shortened: String {
        let lines = split(separator: "\n", omittingEmptySubsequences: false)
        guard lines.count > 40 else { return self }
        return (lines.prefix(4) + ["    …"] + lines.suffix(4)).joined(separator: "\n")
    }
}

extension LintRule.Category {
    /// A sentence that says who or what breaks.
    fileprivate var sentence: String {
        switch self {
        case .open: "A store of a released version may no longer open."
        case .infer: "Moult does not infer the migration between two versions."
        case .data: "A migration may lose values or rows, or may be refused because of them."
        case .sync: "Another device, process or app version that shares the data may fail."
        case .code: "Swift source that uses the model may no longer compile or run."
        case .shape: "The model itself is wrong, or is likely to cause trouble."
        }
    }
}
