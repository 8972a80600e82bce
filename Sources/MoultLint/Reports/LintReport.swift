import MoultModel
import MoultReport

/// The findings of lint, in the forms that people and services read.
package struct LintReport: Sendable {
    package let path: String
    let versions: [String]
    /// The sources that the versions were compared with, such as `moult.lock`; empty if there were none.
    let sources: [String]
    package let findings: [LintFinding]
    /// The reason why not every rule was applied; nil if every rule was.
    let gap: String?
    let rules: [LintRule]
    /// The last step, for a picture of what changes.
    let lastStep: LintStep?

    package init(_ findings: [LintFinding], of subject: LintSubject, path: String, rules: [LintRule]) {
        self.findings = findings
        self.path = path
        self.rules = rules
        versions = subject.versions.map(\.name)
        sources = subject.releases.map(\.source)
        lastStep = subject.openSteps.last
        gap = nil
    }

    /// For a model that cannot be read, because of references to nothing.
    package init(brokenReferences findings: [LintFinding], path: String, rules: [LintRule]) {
        self.findings = findings
        self.path = path
        self.rules = rules
        (versions, sources, lastStep) = ([], [], nil)
        gap = "The model cannot be read until these are corrected, so no other rule was applied."
    }

    /// Whether there is a finding at this severity or above.
    package func has(atLeast severity: Finding.Severity) -> Bool {
        findings.contains { $0.severity >= severity }
    }

    func count(_ severity: Finding.Severity) -> Int { findings.count { $0.severity == severity } }

    /// `2 errors, 1 warning, 0 notes`.
    var counts: String {
        [
            Quantity.count(count(.error), "error"), Quantity.count(count(.warning), "warning"),
            Quantity.count(count(.note), "note"),
        ].joined(separator: ", ")
    }

    // MARK: JSON

    package var document: JSONValue {
        [
            "format": 1, "model": .string(path), "versions": JSONValue(versions), "comparedWith": JSONValue(sources),
            "findings": .array(findings.map(\.document)),
            "counts": [
                "error": JSONValue(count(.error)), "warning": JSONValue(count(.warning)),
                "note": JSONValue(count(.note)),
            ],
        ]
    }

    // MARK: Text

    package func lines(style: TextStyle) -> [String] {
        let texts = findings.flatMap { finding -> [String] in
            let severity =
                switch finding.severity {
                case .note: style.cyan("note")
                case .warning: style.yellow("warning")
                case .error: style.red("error")
                }
            return [
                "\(severity) [\(finding.rule.code)] \(style.bold(finding.rule.title))",
                "  " + style.dim("at: \(finding.location.printable)"), "  " + finding.message.printable,
                "  " + style.bold("→") + " " + finding.remedy.printable,
            ] + (finding.xml.map { ["    " + $0.printable] } ?? []) + [""]
        }
        return texts + [summary] + (gap.map { [$0] } ?? [])
    }

    private var summary: String {
        let read = versions.isEmpty ? "" : " in \(Quantity.count(versions.count, "version"))"
        let found = findings.isEmpty ? "No findings\(read)." : "\(counts)\(read)."
        guard gap == nil else { return found }
        return sources.isEmpty
            ? String(
                advice: """
                    \(found) Nothing says which versions were released: pass \(option: .since("REV")), or run \
                    \(.lock, .anyModel) at each release.
                    """)
            : "\(found) Compared with \(sources.joined(separator: " and "))."
    }
}

extension LintFinding {
    /// `Model.xcdatamodeld/App 2.xcdatamodel/contents:12: Post.title`.
    var location: String {
        "\(file)\(line.map { ":\($0)" } ?? "")\(place.isEmpty ? "" : ": \(place)")"
    }

    var document: JSONValue {
        [
            "rule": .string(rule.code), "category": .string(rule.category.rawValue),
            "severity": .string(severity.rawValue), "title": .string(rule.title), "version": .string(version),
            "entity": JSONValue(entity), "property": JSONValue(member), "file": .string(file),
            "line": line.map { JSONValue($0) } ?? .null, "message": .string(message), "remedy": .string(remedy),
            "xml": JSONValue(xml), "fingerprint": .string(fingerprint),
        ]
    }
}
