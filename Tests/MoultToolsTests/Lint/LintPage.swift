import MoultBasics
import MoultPlan
import MoultTools

/// The page of a category of rules in the documentation, generated from the table.
enum LintPage {
    /// The name of a category's file.
    static func name(of category: LintRule.Category) -> String { "\(category.rawValue).md" }

    /// The whole page.
    static func markdown(of category: LintRule.Category) -> String {
        let rules = LintRule.all.filter { $0.category == category }
        return """
            # \(category.rawValue)

            \(category.sentence) `moult explain CODE` prints the same ([all rules](README.md)).

            \(rules.map(markdown).joined(separator: "\n"))
            """
    }

    /// The section of a rule. Its heading is its code alone, so that links to it stay.
    private static func markdown(of rule: LintRule) -> String {
        let profile = rule.profile.map { ", with the profile `\($0.rawValue)`" } ?? ""
        let codes = Finding.codes(ofRule: rule.code).map { "`\($0)`" }
        let plan = codes.isEmpty ? "" : " In a plan: \(codes.listed("or"))."
        return """
            ## \(rule.code)

            **\(rule.title)** (\(rule.severity.rawValue)\(profile)).\(plan)

            \(rule.meaning) On a device: \(rule.onDevice)

            **Remedy:** \(rule.remedy)

            **Failing:**

            \(markdown(rule.failing.parts()))

            **Corrected:**

            \(markdown(rule.corrected.parts(after: rule.failing)))

            """
    }

    private static func markdown(_ parts: [LintExample.Part]) -> String {
        parts.map { part in
            guard let code = part.code else { return part.title }
            let language =
                code.hasPrefix("<") ? "xml" : code.hasPrefix("{") ? "json" : code.hasPrefix("DEFINE") ? "text" : "swift"
            return "\(part.title):\n\n```\(language)\n\(code)\n```"
        }.joined(separator: "\n\n")
    }

    /// The list of all rules.
    static var index: String {
        let parts = LintRule.Category.allCases.map { category in
            let rows = LintRule.all.filter { $0.category == category }.map { rule in
                let profile = rule.profile.map { ", `\($0.rawValue)`" } ?? ""
                let place = "\(name(of: category))#\(rule.code.lowercased())"
                return "- [\(rule.code)](\(place)): \(rule.title) (\(rule.severity.rawValue)\(profile))"
            }
            return "## \(category.rawValue)\n\n\(category.sentence)\n\n\(rows.joined(separator: "\n"))"
        }
        return """
            # The rules of lint

            A check of a model applies these rules ([CI](../CI.md)). `moult explain CODE` explains one.

            \(parts.joined(separator: "\n\n"))

            """
    }
}
