import MoultModel

extension ModelVersions {
    /// Every reason why there is no migration from one version to another; empty if there is one.
    ///
    /// Version names are free text. Their order is the order of the versions, never of the names.
    package func pathIssues(
        from: String, to: String, answers: Answers = .none, registered: [RegisteredStage] = []
    ) -> [Finding] {
        let (start, end) = (position(named: from), position(named: to))
        let names = versions.map(\.name).joined(separator: ", ")
        var issues: [Finding] = []
        if start == nil {
            issues.append(
                issue("source-not-supported", from, "There is no version \(from).", "The versions are: \(names)."))
        }
        if end == nil {
            issues.append(
                issue("target-not-supported", to, "There is no version \(to).", "The versions are: \(names)."))
        }
        guard let start, let end else { return issues }
        if start == end {
            return [issue("same-version", from, "\(from) and \(to) are the same version.", "There is nothing to do.")]
        }
        if start > end {
            return [
                issue(
                    "backwards", from, "\(from) is later than \(to).",
                    "Restore a backup of \(to), or choose a later version.")
            ]
        }
        do {
            let path = try MigrationPath(self, from: start, to: end, answers: answers, registered: registered)
            let returned = path.questions.filter { $0.kind == .returned }.map(\.finding)
            return path.findings.filter { $0.severity == .error } + returned
        } catch {
            return [issue(error.code.description, error.place, error.message, error.advice)]
        }
    }

    private func issue(_ code: String, _ place: String, _ message: String, _ remedy: Remedy) -> Finding {
        Finding(code: code, severity: .error, place: place, message: message, remedy: remedy)
    }
}
