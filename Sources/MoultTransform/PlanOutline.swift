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
    /// Where each model is declared: by the version's name, then the entity's.
    package let declarations: [String: [String: Declaration]]

    package init(
        versions: [ModelVersion], stages: [RegisteredStage], findings: [Finding],
        declarations: [String: [String: Declaration]] = [:]
    ) {
        self.versions = versions
        self.stages = stages
        self.findings = findings
        self.declarations = declarations
    }

    /// Where the source declares a model.
    package struct Declaration: Sendable, Hashable {
        /// `Module/File.swift`, as `#fileID` has it.
        package let file: String
        /// From 1.
        package let line: Int
        /// The line of each property.
        package let properties: [String: Int]

        package init(file: String, line: Int, properties: [String: Int]) {
            self.file = file
            self.line = line
            self.properties = properties
        }
    }
}
