import Moult
import MoultBasics
import MoultModel
import MoultPlan

/// The findings of lint, in formats for people and services.
package struct LintReport: Sendable {
    package let path: String
    let versions: [String]
    /// The sources that the versions were compared with, such as `moult.lock`; empty if there were none.
    let sources: [String]
    package let findings: [LintFinding]
    /// The reason why some rules were not applied; nil if all were.
    let gap: String?
    let rules: [LintRule]
    /// The last step, for a picture of its changes.
    let lastStep: LintStep?

    package init(_ findings: [LintFinding], of subject: LintSubject, path: String, rules: [LintRule]) {
        (self.findings, self.path, self.rules) = (findings, path, rules)
        versions = subject.versions.map(\.name)
        sources = subject.releases.map(\.source)
        lastStep = subject.openSteps.last
        gap = nil
    }

    /// Creates a report on a model that cannot be read because of broken references.
    package init(brokenReferences findings: [LintFinding], path: String, rules: [LintRule]) {
        (self.findings, self.path, self.rules) = (findings, path, rules)
        (versions, sources, lastStep) = ([], [], nil)
        gap = "The model cannot be read until these are corrected, so no other rule was applied."
    }

    /// Whether there is a finding at this severity or above.
    package func has(atLeast severity: Finding.Severity) -> Bool { findings.contains { $0.severity >= severity } }

    func count(_ severity: Finding.Severity) -> Int { findings.count { $0.severity == severity } }

    /// The number of findings of each severity, such as `2 errors, 1 warning, 0 notes`.
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
    /// The location of the finding, such as `Model.xcdatamodeld/App 2.xcdatamodel/contents:12: Post.title`.
    var location: String { "\(file)\(line.map { ":\($0)" } ?? "")\(place.isEmpty ? "" : ": \(place)")" }

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

extension LintReport {
    /// Returns workflow commands of GitHub Actions, which show each finding at its line.
    ///
    /// - Parameter paths: the repository; file names are relative to its root.
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

extension LintReport {
    /// The maximum number of findings in a comment, whose length GitHub limits to 65,536 characters.
    private static let limit = 50

    /// A comment for a pull request: a table of the findings, their remedies, and a picture of the last step.
    package var markdownLines: [String] {
        let heading = String(advice: "### \(.lint): \(findings.isEmpty ? "no findings" : counts)")
        let compared =
            sources.isEmpty ? [] : ["Compared with \(sources.map(\.inCode).joined(separator: " and ")).", ""]
        guard !findings.isEmpty else { return [heading, ""] + compared + picture }
        let table =
            ["| | rule | place | finding |", "|---|---|---|---|"]
            + findings.prefix(Self.limit).map { finding in
                "| \(finding.severity.rawValue) | \(finding.rule.code) | \(finding.location.inCode) | "
                    + "\(finding.message.inTable) |"
            }
        let others = findings.count - Self.limit
        let rest =
            others > 0
            ? ["", "\(Quantity.count(others, "more finding is", plural: "more findings are")) not shown here."] : []
        let remedies = findings.prefix(Self.limit).flatMap { finding -> [String] in
            let title = "**\(finding.rule.code) \(finding.rule.title)**, \(finding.place.inCode): "
            let xml = finding.xml.map { ["", "```xml", $0, "```"] } ?? []
            return ["", title + finding.remedy.inTable] + xml
        }
        return [heading, ""] + compared + table + rest + (gap.map { ["", $0] } ?? [])
            + ["", "<details><summary>What to do</summary>"] + remedies + ["", "</details>", ""] + picture
    }

    /// The changed entities of the last step as a diagram.
    private var picture: [String] {
        guard let lastStep else { return [] }
        let changes = lastStep.diff.hashed.filter { $0.entity != nil }
        let entities = Set(changes.compactMap(\.entity)).sorted { $0.precedesInByteOrder($1) }
        guard !entities.isEmpty else { return [] }
        let classes = entities.prefix(20).enumerated().flatMap { number, entity in
            ["    class e\(number)[\"\(entity.inDiagram)\"] {"]
                + changes.filter { $0.entity == entity }.prefix(20).map { change in
                    "        \(change.kind.classSign) \(change.member?.inDiagram ?? change.kind.noun)"
                } + ["    }"]
        }
        return ["\(lastStep.older.name.inCode) → \(lastStep.newer.name.inCode)", "", "```mermaid", "classDiagram"]
            + classes + ["```"]
    }
}

extension ModelChange.Kind {
    fileprivate var classSign: String {
        rawValue.hasSuffix("-added") ? "+" : rawValue.hasSuffix("-removed") ? "-" : "#"
    }
}

extension String {
    /// The text as code in a table. A backtick would end it, so it becomes an apostrophe.
    fileprivate var inCode: String { isEmpty ? "" : "`\(replacing("`", with: "'").inTable)`" }

    /// The text, escaped for a cell of a table.
    fileprivate var inTable: String {
        replacing("\n", with: " ").replacing("|", with: "\\|").replacing("<", with: "&lt;")
    }

    /// The text as a name in a diagram, without characters that have a meaning there.
    fileprivate var inDiagram: String { String(map { $0.isLetter || $0.isNumber || " _.".contains($0) ? $0 : "_" }) }
}

extension LintReport {
    /// Returns the findings as SARIF 2.1.0 (https://docs.oasis-open.org/sarif/sarif/v2.1.0/).
    ///
    /// - Parameters:
    ///   - version: the version of Moult.
    ///   - paths: the repository; paths are relative to its root.
    /// - Throws: `usage` for a model outside the repository.
    package func sarif(version: String, paths: RepositoryPaths) throws -> JSONValue {
        _ = try paths.required(path)
        let positions = Dictionary(uniqueKeysWithValues: rules.enumerated().map { ($1.code, $0) })
        return [
            "$schema": "https://json.schemastore.org/sarif-2.1.0.json", "version": "2.1.0",
            "runs": [
                [
                    "tool": [
                        "driver": [
                            "name": "moult lint", "version": .string(version), "rules": .array(rules.map(\.sarif)),
                        ]
                    ],
                    "columnKind": "unicodeCodePoints",
                    "results": .array(
                        try findings.map { finding in
                            finding.sarif(
                                position: positions[finding.rule.code] ?? -1,
                                place: try paths.required(finding.file, line: finding.line))
                        }),
                ]
            ],
        ]
    }
}

extension Finding.Severity {
    /// The severity as a SARIF level.
    fileprivate var level: JSONValue { .string(rawValue) }
}

extension LintRule {
    fileprivate var sarif: JSONValue {
        let help = "\(meaning) \(onDevice) \(remedy)"
        return [
            "id": .string(code), "name": .string(title.split(separator: " ").map(\.capitalizedFirst).joined()),
            "shortDescription": ["text": .string(title + ".")], "fullDescription": ["text": .string(meaning)],
            "help": [
                "text": .string(help.replacing("`", with: "")),
                "markdown": .string("\(meaning)\n\n**On a device:** \(onDevice)\n\n**What to do:** \(remedy)"),
            ],
            "defaultConfiguration": ["level": severity.level],
            "properties": ["category": .string(category.rawValue)],
        ]
    }
}

extension LintFinding {
    fileprivate func sarif(position: Int, place file: String) -> JSONValue {
        let pasted = xml.map { "\n\n\($0)" } ?? ""
        var location: [JSONValue.Member] = [.init("artifactLocation", ["uri": .string(file.percentEncoded)])]
        if let line { location.append(.init("region", ["startLine": JSONValue(line)])) }
        var whole: [JSONValue.Member] = [.init("physicalLocation", .object(location))]
        if !place.isEmpty { whole.append(.init("logicalLocations", [["fullyQualifiedName": .string(place)]])) }
        return [
            "ruleId": .string(rule.code), "ruleIndex": JSONValue(position), "level": severity.level,
            "message": ["text": .string("\(message)\n\n\(remedy)\(pasted)")], "locations": [.object(whole)],
            "partialFingerprints": ["moultLint/v1": .string(fingerprint)],
        ]
    }
}

extension String {
    /// The text as a relative URI.
    fileprivate var percentEncoded: String {
        utf8.map { byte in
            let isPlain =
                byte < 0x80 && (Character(Unicode.Scalar(byte)).isLetter || Character(Unicode.Scalar(byte)).isNumber)
            return isPlain || Array("-._~/".utf8).contains(byte)
                ? String(Unicode.Scalar(byte)) : "%" + [byte].hexadecimal.uppercased()
        }.joined()
    }
}
