import MoultModel
import MoultPlan

/// The contents of a SwiftData plan, for rules that judge it, whether or not a store can be opened with it.
package struct PlanOutline: Sendable {
    /// The versions whose models are valid, oldest first.
    package let versions: [ModelVersion]
    /// The stages with code or a mapping of their own.
    package let stages: [RegisteredStage]
    /// The errors and risks found in the plan.
    package let findings: [Finding]
    /// The source location of each model, by the version's name, then the entity's.
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

    /// The source location of a model and its properties.
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
