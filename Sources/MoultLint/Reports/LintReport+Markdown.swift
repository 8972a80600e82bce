import MoultModel
import MoultPlan

extension LintReport {
    /// A comment may have 65,536 characters.
    private static let limit = 50

    /// A comment for a pull request: a table of the findings, what to do, and a picture of the last step.
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
    /// As code in a table; a backtick would end it.
    fileprivate var inCode: String { isEmpty ? "" : "`\(replacing("`", with: "'").inTable)`" }

    /// As text in a cell of a table.
    fileprivate var inTable: String {
        replacing("\n", with: " ").replacing("|", with: "\\|").replacing("<", with: "&lt;")
    }

    /// As a name in a diagram, which has signs of its own.
    fileprivate var inDiagram: String {
        String(map { $0.isLetter || $0.isNumber || " _.".contains($0) ? $0 : "_" })
    }
}
