import MoultModel

/// What a SwiftData plan says of itself. The plan finds it, with remedies in Swift; here it gets the code of a rule.
enum PlanRules {
    /// The rules by the codes of a plan's findings. Every other code is about the plan as a whole.
    private static let codes = [
        "stage-missing": "OPEN009", "type-shared": "OPEN010", "values-unread": "DATA010", "lost-in-stage": "DATA010",
        "checksum-twice": "OPEN007", "class-renamed": "INFER001", "question-rename": "INFER001",
        "question-returned": "INFER001", "question-ambiguous-identifier": "INFER002",
        "question-conversion": "INFER003", "type-not-convertible": "INFER003",
        "destination-not-convertible": "INFER004", "required-without-default": "INFER005",
        "required-relationship": "INFER006", "hierarchies-merged": "INFER007", "inverses-disagree": "INFER008",
    ]
    private static let whole = "OPEN011"

    /// Whether the plan knows better than the rule, which reads only models.
    static func judges(_ rule: LintRule) -> Bool { codes.values.contains(rule.code) || rule.code == whole }

    static func matches(of rule: LintRule, in findings: [Finding]) -> [LintMatch] {
        findings.filter { (codes[$0.code] ?? whole) == rule.code }.map { finding in
            // The place of a fault of the plan itself is a stage or a version.
            let isOfModel = codes[finding.code] != nil && !["stage-missing", "checksum-twice"].contains(finding.code)
            let (entity, member) = isOfModel ? LintMatch.parts(of: finding.place) : (nil, nil)
            var match = LintMatch(
                isOfModel ? "" : finding.place, entity, member, finding.message, remedy: finding.remedy)
            match.severity = finding.severity
            return match
        }
    }
}

extension String {
    /// The text with Swift for the attributes of a model's XML.
    var inSwift: String {
        replacing(#/: [a-zA-Z]+="YES"/#, with: "").replacing(#/[a-zA-Z]+="([^"]*)"/#) { $0.output.1 }
    }
}
