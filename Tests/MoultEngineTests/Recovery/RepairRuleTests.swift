import Moult
import Testing

@testable import MoultEngine

struct RepairRuleTests {
    @Test(arguments: RepairRule.allCases)
    func `each rule says what it has done, and what it will do`(rule: RepairRule) {
        let (done, planned) = (rule.sentence(isDone: true), rule.sentence(isDone: false))
        #expect(["was", "were", "went", "stayed"].contains { done.contains(" \($0) ") })
        #expect(planned.contains(" will ") && !done.contains(" will "))
        #expect(!done.contains(" is ") || rule == .numbers || rule == .orphans)
        #expect(rule.remedy == planned)
    }
}
