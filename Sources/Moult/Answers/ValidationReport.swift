import MoultBasics
import MoultEngine
import MoultModel
import MoultObjects
import MoultSession

/// The result of reading a whole store.
public struct ValidationReport: Sendable {
    /// The name of the store's version.
    public let version: String
    /// The version as a noun of a sentence.
    private let title: String
    /// The findings in the store, after the fixes if these have changed it.
    package var audit: StoreAudit
    private let ruleFindings: [RuleFinding]
    /// The result of the fixes of rules; nil if none was requested or needed.
    public package(set) var fixes: FixReport?

    package init(_ version: ModelVersion, _ audit: StoreAudit, rules: [RuleFinding]) {
        (self.version, title, self.audit, ruleFindings) = (version.name, version.title, audit, rules)
    }

    /// Objects by entity, without those of its sub-entities.
    public var rowCounts: [String: Int64] { audit.rowCounts }
    /// The faults of the store, and other findings; after fixes, those that are left.
    public var findings: [Finding] { audit.findings }
    /// The rules of the app that do not hold, or could not be checked, before any fix; the code is the rule's name.
    public var rules: [Finding] { [Finding](ruleFindings) }
    /// Whether the store has no fault and no rule of severity error is broken.
    public var isSound: Bool { audit.isSound && present.errors.isEmpty }

    private var present: [RuleFinding] {
        // A rehearsal does not repair the store.
        guard let fixes, fixes.run != nil else { return ruleFindings }
        return fixes.rules.last?.present ?? ruleFindings
    }

    private var counts: [(key: String, value: Int64)] { rowCounts.inByteOrder { $0.key } }

    package var document: JSONValue {
        .object(
            [
                .init("format", 1), .init("sound", .bool(isSound)), .init("version", .string(version)),
                .init("entities", .array(counts.map { ["name": .string($0.key), "rows": .integer($0.value)] })),
                .init("findings", .array(findings.map(\.document))),
                .init("rules", .array(ruleFindings.map(\.document))),
                .init("dryRun", .bool(fixes != nil && fixes?.run == nil)),
            ] + (fixes ?? FixReport([], quarantined: 0, nil)).members)
    }

    package func lines(style: TextStyle) -> [String] {
        let total = Int(clamping: counts.reduce(0) { $0 + $1.value })
        let verdict = audit.isSound ? style.green("sound") : style.red("not sound")
        return findings.flatMap { $0.lines(style: style) } + ruleFindings.flatMap { $0.lines(style: style) } + [
            "The store is \(verdict): \(title.printable), \(Quantity.count(total, "object")) in "
                + "\(Quantity.count(counts.count, "entity", plural: "entities"))."
        ] + ruleLines(style) + (fixes?.lines(style: style) ?? [])
    }

    private func ruleLines(_ style: TextStyle) -> [String] {
        guard !ruleFindings.isEmpty else { return [] }
        let broken = present.count(where: \.isBroken)
        let number = Quantity.count(present.count, "rule")
        let moment = fixes?.run == nil ? "" : " after the fixes"
        return broken == 0
            ? ["\(style.green("All hold"))\(moment): \(number)."]
            : ["\(style.red("Broken"))\(moment): \(broken) of \(number), \(present.errors.count) of severity error."]
    }
}
