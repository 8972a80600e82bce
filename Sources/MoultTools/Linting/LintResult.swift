import MoultEngine
import MoultLint
import MoultModel
import MoultReport

/// Rules that apply only to some apps.
public enum LintProfile: String, Sendable, Hashable, CaseIterable {
    /// Stores that are mirrored to CloudKit.
    case cloudKit
    /// Stores that an app shares with its extensions.
    case appExtension

    var rules: LintRule.Profile {
        switch self {
        case .cloudKit: .cloudkit
        case .appExtension: .extension
        }
    }
}

/// The findings of the lint rules in a model.
public struct LintResult: Sendable, CustomStringConvertible {
    /// One finding of a rule at its place.
    public struct Finding: Sendable, Hashable {
        /// The code of the rule, such as `OPEN001`; Documentation/Lint has a page for each.
        public let rule: String
        /// The rule's title, a noun phrase.
        public let title: String
        /// The severity of the finding.
        public let severity: MoultModel.Finding.Severity
        /// `Entity.property`, `Entity`, or the name of the version; empty for the model as a whole.
        public let place: String
        /// The file; the path of the model if the place has none.
        public let file: String
        /// The line in it, from 1; nil for a file without lines, such as a compiled model.
        public let line: Int?
        /// A sentence that says what was found.
        public let message: String
        /// The remedy: what to do next.
        public let remedy: String
        /// The element with the correction, to paste; nil if there is none.
        public let correction: String?
    }

    /// A format in which findings are written for a service.
    public enum Format: String, Sendable, Hashable, CaseIterable {
        /// SARIF 2.1.0, with paths relative to the root of the repository of the model.
        case sarif
        /// Commands of GitHub Actions, which show the findings in a pull request.
        case gitHub
        /// Markdown, for a comment.
        case markdown
    }

    let report: LintReport

    /// The findings, by severity.
    public var findings: [Finding] {
        report.findings.map {
            Finding(
                rule: $0.rule.code, title: $0.rule.title, severity: $0.severity, place: $0.place, file: $0.file,
                line: $0.line, message: $0.message, remedy: $0.remedy, correction: $0.xml)
        }
    }
    /// The text that `moult lint` prints.
    public var description: String { report.lines(style: .plain).joined(separator: "\n") }
    /// The JSON that `moult lint --json` prints, on one line.
    public var json: String { report.document.compact }

    /// The findings as text for a service.
    ///
    /// - Throws: what looking for the repository throws; `usage` for a finding in a file outside of it.
    public func text(as format: Format) throws -> String {
        try lines(as: format, around: report.path).joined(separator: "\n")
    }

    /// - Parameter model: the model whose repository paths start at; nil for the repository around the working folder.
    package func lines(as format: Format, around model: String? = nil) throws -> [String] {
        switch format {
        case .sarif: [try report.sarif(version: MoultVersion.number, paths: RepositoryPaths(ofModelAt: model)).indented]
        case .gitHub: report.gitHubLines(try? RepositoryPaths(ofModelAt: model))
        case .markdown: report.markdownLines
        }
    }

    /// Whether there is a finding at this severity or above.
    package func has(atLeast severity: MoultModel.Finding.Severity) -> Bool { report.has(atLeast: severity) }
}

extension LintResult: ToolAnswer {
    package var document: JSONValue { report.document }
    package func lines(style: TextStyle) -> [String] { report.lines(style: style) }
}
