import TestSupport
import Testing

extension Trait where Self == IssueHandlingTrait {
    /// Adds the seed of the run to each failure, to repeat it.
    static var saysSeed: Self {
        compactMapIssues { issue in
            var issue = issue
            issue.comments.append("MOULT_SEED=\(SeededGenerator.seedOfRun)")
            return issue
        }
    }
}
