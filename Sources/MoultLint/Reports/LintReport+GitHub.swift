import MoultModel

extension LintReport {
    /// Workflow commands of GitHub Actions, which show each finding at its line.
    ///
    /// - Parameter paths: files are named from the root of the repository.
    package func gitHubLines(_ paths: RepositoryPaths?) -> [String] {
        findings.map { finding in
            let file = paths?.place(of: finding.file) ?? finding.file
            let word = finding.severity == .note ? "notice" : finding.severity.rawValue
            let line = finding.line.map { ",line=\($0)" } ?? ""
            let title = "\(finding.rule.code) \(finding.rule.title)".escapedForProperty
            let text = [finding.message, finding.remedy, finding.xml].compactMap { $0 }.joined(separator: "\n")
            return "::\(word) file=\(file.escapedForProperty)\(line),title=\(title)::\(text.escapedForCommand)"
        } + ["\(findings.isEmpty ? "No findings" : counts)."]
    }
}

extension String {
    fileprivate var escapedForCommand: String {
        replacing("%", with: "%25").replacing("\r", with: "%0D").replacing("\n", with: "%0A")
    }

    fileprivate var escapedForProperty: String {
        escapedForCommand.replacing(":", with: "%3A").replacing(",", with: "%2C")
    }
}
