import MoultModel
import MoultPlan

/// The rules for the findings of a SwiftData plan about itself. The plan makes the findings, with remedies in Swift;
/// here each gets the code of a rule.
enum PlanRules {
    /// The rule of every finding that is about the plan as a whole.
    private static let whole = "OPEN011"
    private static let judged: Set<String> = [
        "OPEN007", "OPEN009", "OPEN010", whole, "DATA010", "INFER001", "INFER002", "INFER003", "INFER004", "INFER005",
        "INFER006", "INFER007", "INFER008",
    ]

    /// Whether the plan knows better than the rule, which reads only models.
    static func judges(_ rule: LintRule) -> Bool { judged.contains(rule.code) }

    private static func code(of finding: Finding) -> String {
        finding.rule.flatMap { judged.contains($0) ? $0 : nil } ?? whole
    }

    static func matches(of rule: LintRule, in findings: [Finding]) -> [LintMatch] {
        findings.filter { code(of: $0) == rule.code }.map { finding in
            // The place of a fault of the plan itself is a stage or a version.
            let isOfModel = code(of: finding) != whole && !["stage-missing", "checksum-twice"].contains(finding.code)
            let (entity, member) = isOfModel ? LintMatch.parts(of: finding.place) : (nil, nil)
            var match = LintMatch(
                isOfModel ? "" : finding.place, entity, member, finding.message, remedy: finding.advice)
            match.severity = finding.severity
            return match
        }
    }
}
