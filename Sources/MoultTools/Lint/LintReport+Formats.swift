import Moult
import MoultBasics
import MoultModel
import MoultPlan

extension LintReport {
    /// Returns workflow commands of GitHub Actions, which show each finding at its line.
    ///
    /// - Parameter paths: the repository; file names are relative to its root.
    package func gitHubLines(_ paths: RepositoryPaths?) -> [String] {
        findings.map { finding in
            let file = paths?.place(of: finding.file) ?? finding.file
            let word = finding.severity == .note ? "notice" : finding.severity.rawValue
            let line = finding.line.map { ",line=\($0)" } ?? ""
            let title = "\(finding.rule.code) \(finding.title)".escapedForProperty
            let text = [finding.message, finding.remedy, finding.xml].compactMap { $0 }.joined(separator: "\n")
            return "::\(word) file=\(file.escapedForProperty)\(line),title=\(title)::\(text.escapedForCommand)"
        }
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
    /// Returns a comment for a pull request: a table of the findings, their remedies, the exceptions, and a picture of
    /// the last step.
    ///
    /// - Parameter share: the number of models that share the comment, whose length GitHub limits to 65,536 characters.
    package func markdownLines(share: Int) -> [String] {
        let limit = max(5, 50 / max(1, share))
        let picture = picture(limit: max(3, 20 / max(1, share)))
        let command = String(advice: share > 1 ? "\(use, .path(path))" : "\(use)")
        let heading = "### \(command): \(findings.isEmpty ? "no findings" : counts)"
        let compared =
            (compared.isEmpty ? [] : ["Compared with \(compared.map(\.inCode).listed()).", ""])
            + (off.isEmpty ? [] : [off.trimmed, ""])
        guard !findings.isEmpty else { return [heading, ""] + compared + exceptions(limit: limit) + picture }
        let table =
            ["| | rule | place | finding |", "|---|---|---|---|"]
            + findings.prefix(limit).map { finding in
                "| \(finding.severity.rawValue) | \(finding.label) | \(finding.location.inCode) | "
                    + "\(finding.message.inTable) |"
            }
        let others = findings.count - limit
        let rest =
            others > 0
            ? ["", "\(Quantity.count(others, "more finding is", plural: "more findings are")) not shown here."] : []
        let remedies = findings.prefix(limit).flatMap { finding -> [String] in
            let title = "**\(finding.rule.code) \(finding.title)**, \(finding.place.inCode): "
            let xml = finding.xml.map { ["", "```xml", $0, "```"] } ?? []
            return ["", title + finding.remedy.inTable] + xml
        }
        return [heading, ""] + compared + table + rest + (gap.map { ["", $0] } ?? [])
            + ["", "<details><summary>What to do</summary>"] + remedies + ["", "</details>", ""]
            + exceptions(limit: limit) + picture
    }

    /// Returns the findings that have an exception, with its reason.
    private func exceptions(limit: Int) -> [String] {
        guard !excepted.isEmpty else { return [] }
        let rows = excepted.prefix(limit).map { finding in
            "| \(finding.label) | \(finding.location.inCode) | \(finding.exception?.why.inTable ?? "") |"
        }
        return [
            "<details><summary>\(Quantity.count(excepted.count, "exception"))</summary>", "",
            "| rule | place | reason |", "|---|---|---|",
        ] + rows + ["", "</details>", ""]
    }

    /// Returns the changed entities of the last step as a diagram.
    private func picture(limit: Int) -> [String] {
        guard let lastStep else { return [] }
        let changes = lastStep.diff.hashed.filter { $0.entity != nil }
        let entities = Set(changes.compactMap(\.entity)).inByteOrder()
        guard !entities.isEmpty else { return [] }
        let classes = entities.prefix(limit).enumerated().flatMap { number, entity in
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
    /// Returns the findings as results of SARIF. Those with an exception are suppressed.
    ///
    /// - Parameters:
    ///   - rules: the rules of the run, in the order of its list.
    ///   - paths: the repository; paths are relative to its root.
    ///   - saysSuppressions: whether any model has an exception. Then each result lists its own, even if it has none.
    /// - Throws: `usage` for a model outside the repository.
    func sarifResults(
        _ rules: [LintRule], _ paths: RepositoryPaths, saysSuppressions: Bool
    ) throws -> [JSONValue] {
        _ = try paths.required(path)
        let positions = Dictionary(uniqueKeysWithValues: rules.enumerated().map { ($1.code, $0) })
        return try (findings + excepted).map { finding in
            finding.sarif(
                position: positions[finding.rule.code] ?? -1,
                place: try paths.required(finding.file, line: finding.line), saysSuppressions: saysSuppressions)
        }
    }
}

extension LintException {
    /// Returns the exception as a notification of SARIF, which says that it matches nothing.
    func sarif(_ paths: RepositoryPaths) -> JSONValue {
        let locations: [JSONValue] =
            paths.place(of: source.file).map { file in
                let place: JSONValue = [
                    "artifactLocation": ["uri": .string(file.percentEncoded(keeping: "/"))],
                    "region": ["startLine": JSONValue(source.line)],
                ]
                return [["physicalLocation": place]]
            } ?? []
        return [
            "level": "note", "message": ["text": .string("\(unusedMessage) \(Self.unusedRemedy.text())")],
            "associatedRule": ["id": .string(rule)], "locations": .array(locations),
        ]
    }

    /// Returns a workflow command of GitHub Actions, which says that the exception matches nothing.
    func gitHubLine(_ paths: RepositoryPaths?) -> String {
        let file = paths?.place(of: source.file) ?? source.file
        let text = "\(unusedMessage)\n\(Self.unusedRemedy.text())".escapedForCommand
        return "::notice file=\(file.escapedForProperty),line=\(source.line),title=\(rule) Unused exception::\(text)"
    }

    /// The sentence that says that the exception matches nothing, for a comment.
    var markdownLine: String { "\(location.inCode): \(unusedMessage) \(Self.unusedRemedy.text())".inTable }
}

extension Finding.Severity {
    /// The severity as a SARIF level.
    fileprivate var level: JSONValue { .string(rawValue) }
}

extension LintRule {
    /// The rule with its help, as SARIF has it.
    var sarif: JSONValue {
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
    /// The code of the rule, with the kind of the gap in a schema of CloudKit.
    fileprivate var label: String { [rule.code, gap?.code.rawValue].compactMap(\.self).joined(separator: " ") }

    fileprivate func sarif(position: Int, place file: String, saysSuppressions: Bool) -> JSONValue {
        let pasted = xml.map { "\n\n\($0)" } ?? ""
        var location: [JSONValue.Member] = [
            .init("artifactLocation", ["uri": .string(file.percentEncoded(keeping: "/"))])
        ]
        if let line { location.append(.init("region", ["startLine": JSONValue(line)])) }
        var whole: [JSONValue.Member] = [.init("physicalLocation", .object(location))]
        if !place.isEmpty { whole.append(.init("logicalLocations", [["fullyQualifiedName": .string(place)]])) }
        let suppressions: [JSONValue] =
            exception.map {
                [["kind": "external", "status": "accepted", "justification": .string($0.why)]]
            } ?? []
        return .object(
            [
                .init("ruleId", .string(rule.code)), .init("ruleIndex", JSONValue(position)),
                .init("level", severity.level),
                .init("message", ["text": .string("\(message)\n\n\(remedy)\(pasted)")]),
                .init("locations", [.object(whole)]),
                .init("partialFingerprints", ["moultLint/v1": .string(fingerprint)]),
            ]
                + (gap.map { [.init("properties", ["code": .string($0.code.rawValue), "field": .string($0.name)])] }
                    ?? [])
                + (saysSuppressions ? [.init("suppressions", .array(suppressions))] : []))
    }
}
