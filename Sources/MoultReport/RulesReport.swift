import MoultEngine
import MoultModel
import MoultTransform

extension RuleFinding {
    package var document: JSONValue {
        [
            "rule": .string(rule), "severity": .string(severity.rawValue), "entity": .string(entityName),
            "sentence": .string(sentence), "count": .integer(count), "objects": .array(examples.map(\.document)),
            "notChecked": JSONValue(obstacle),
        ]
    }

    /// A line for the rule, and one for each object that is shown; none for a rule that holds.
    package func lines(style: TextStyle) -> [String] {
        if let obstacle { return ["\(style.cyan("note")) [\(rule.printable)] not checked: \(obstacle)"] }
        guard isBroken else { return [] }
        let word = severity == .error ? style.red("error") : style.yellow("warning")
        let number = Quantity.count(Int(clamping: count))
        return ["\(word) [\(rule.printable)] \(entityName.printable): \(number) × \(sentence.printable)"]
            + examples.map(\.line) + (count > Int64(examples.count) && !examples.isEmpty ? ["  …"] : [])
    }
}

extension RuleFinding.Example {
    fileprivate var document: JSONValue {
        [
            "entity": .string(id.entityName), "pk": .integer(id.key), "uri": .string(id.description),
            "detail": .string(safeDetail),
        ]
    }

    fileprivate var line: String {
        "  \(id.entityName.printable) \(id.key)\(safeDetail.isEmpty ? "" : ": \(safeDetail.printable)")"
    }
}

extension RuleFixOutcome {
    package var document: JSONValue {
        [
            "rule": .string(rule), "fix": .string(fix), "changed": .integer(changed), "deleted": .integer(deleted),
            "quarantined": .integer(quarantined), "inserted": .integer(inserted),
            "objects": .array(examples.map(\.document)),
        ]
    }

    /// - Parameter isRehearsed: whether it was done on a copy that is not kept.
    package func lines(style: TextStyle, isRehearsed: Bool) -> [String] {
        let parts = [
            (changed, "changed"), (deleted, "deleted"), (quarantined, "quarantined"), (inserted, "made"),
        ].filter { $0.0 > 0 }.map { "\(Quantity.count(Int(clamping: $0.0), "object")) \($0.1)" }
        guard !parts.isEmpty else { return [] }
        let verb = isRehearsed ? "would be" : "fixed:"
        let total = changed + deleted + quarantined
        return ["\(style.green(verb)) [\(rule.printable)] \(parts.joined(separator: ", "))"] + examples.map(\.line)
            + (total > Int64(examples.count) ? ["  …"] : [])
    }
}

extension RuleReport {
    package var document: JSONValue {
        [
            "moment": .string(moment), "findings": .array(findings.map(\.document)),
            "fixes": .array(fixes.map(\.document)), "remaining": .array(remaining.map(\.document)),
        ]
    }

    package func lines(style: TextStyle, isRehearsed: Bool) -> [String] {
        let lines =
            findings.flatMap { $0.lines(style: style) }
            + fixes.flatMap { $0.lines(style: style, isRehearsed: isRehearsed) }
        return lines.isEmpty ? [] : ["Rules \(moment.printable):"] + lines
    }
}
