import MoultModel
import MoultPlan

/// What a SwiftData plan says, whether or not a store can be opened with it: for rules that judge it.
package struct PlanOutline: Sendable {
    /// Those whose models are right, oldest first.
    package let versions: [ModelVersion]
    /// The stages with code or a mapping of their own.
    package let stages: [RegisteredStage]
    /// What is wrong or risky.
    package let findings: [Finding]

    package init(versions: [ModelVersion], stages: [RegisteredStage], findings: [Finding]) {
        self.versions = versions
        self.stages = stages
        self.findings = findings
    }
}
