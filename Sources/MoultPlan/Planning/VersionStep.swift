import MoultModel

/// The difference between a version and the next one, and the mapping that is inferred from it.
package struct VersionStep: Sendable {
    package let diff: ModelDiff
    package let inferred: InferredMapping
}

extension ModelVersions {
    /// Each version with the next one, as a plan over all of them looks at them.
    ///
    /// - Throws: `usage` if an answer fits no question.
    package func steps(answers: Answers = .none) throws(MigrationError) -> [VersionStep] {
        guard versions.count > 1 else { return [] }
        var walker = PathWalker(versions: self, answers: answers)
        var steps: [VersionStep] = []
        for correspondence in try walker.correspondences(from: 0, to: versions.count - 1) {
            steps.append(
                VersionStep(diff: ModelDiff(correspondence), inferred: try InferredMapping(correspondence)))
        }
        return steps
    }
}
