import MoultObjects
import TestSupport

typealias RuleWorld = BrokenForum

extension BrokenForum {
    func findings(_ rules: [ValidationRule], source: ((String) throws -> Int)? = nil) throws -> [RuleFinding] {
        try RuleCheck(rules, on: store, source: source).run()
    }

    func finding(_ kind: ValidationRule.Kind, of entityName: String) throws -> RuleFinding {
        try findings([ValidationRule("rule", of: entityName, kind)])[0]
    }
}
