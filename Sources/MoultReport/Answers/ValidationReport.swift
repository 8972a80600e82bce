import MoultEngine
import MoultModel
import MoultTransform

/// The result of reading a whole store.
public struct ValidationReport: Sendable {
    /// The name of the store's version.
    public let version: String
    private let audit: StoreAudit
    private let ruleFindings: [RuleFinding]
    /// The result of the fixes of rules; nil if none was asked for or needed.
    public internal(set) var fixes: FixReport?

    init(_ version: String, _ audit: StoreAudit, rules: [RuleFinding]) {
        (self.version, self.audit, ruleFindings) = (version, audit, rules)
    }

    /// Objects by entity, without those of its sub-entities.
    public var rowCounts: [String: Int64] { audit.rowCounts }
    /// The faults of the store, and what was noticed.
    public var findings: [Finding] { audit.findings }
    /// The rules of the app that do not hold, or that could not be checked, before any fix; the code is the rule's name.
    public var rules: [Finding] { [Finding](ruleFindings) }
    /// Whether the store has no fault and no rule of severity error is broken.
    public var isSound: Bool { audit.isSound && present.errors.isEmpty }

    private var present: [RuleFinding] {
        // A rehearsal leaves the store with all its faults.
        guard let fixes, fixes.run != nil else { return ruleFindings }
        return fixes.rules.last?.present ?? ruleFindings
    }

    private var counts: [(key: String, value: Int64)] {
        rowCounts.sorted { $0.key.precedesInByteOrder($1.key) }
    }

    package var document: JSONValue {
        .object(
            [
                .init("format", 1), .init("sound", .bool(isSound)), .init("version", .string(version)),
                .init(
                    "entities", .array(counts.map { ["name": .string($0.key), "rows": .integer($0.value)] })),
                .init("findings", .array(findings.map(\.document))),
                .init("rules", .array(ruleFindings.map(\.document))),
                .init("dryRun", .bool(fixes != nil && fixes?.run == nil)),
            ] + (fixes ?? FixReport([], quarantined: 0, nil)).members)
    }

    package func lines(style: TextStyle) -> [String] {
        let total = Int(clamping: counts.reduce(0) { $0 + $1.value })
        let verdict = audit.isSound ? style.green("sound") : style.red("not sound")
        return findings.flatMap { $0.lines(style: style) } + ruleFindings.flatMap { $0.lines(style: style) } + [
            "The store is \(verdict): version \(version.printable), \(Quantity.count(total, "object")) in "
                + "\(Quantity.count(counts.count, "entity", plural: "entities"))."
        ] + ruleLines(style) + (fixes?.lines(style: style) ?? [])
    }

    private func ruleLines(_ style: TextStyle) -> [String] {
        guard !ruleFindings.isEmpty else { return [] }
        let broken = ruleFindings.count(where: \.isBroken)
        let number = Quantity.count(ruleFindings.count, "rule")
        return broken == 0
            ? ["\(style.green("All hold")): \(number)."]
            : ["\(style.red("Broken")): \(broken) of \(number), \(ruleFindings.errors.count) of severity error."]
    }
}
