import MoultEngine
import MoultModel
import MoultReport

extension Verb {
    static let repair = Verb(
        "repair", "Repair a store: missing tables, columns, indexes and history, and rows that contradict each other.",
        discussion: """
            Looks for: \(RepairRule.allCases.map(\.rawValue).joined(separator: ", ")).
            A store whose metadata name the current version, but which lacks some of its tables, columns or indexes, gets
            them as Core Data would have made them, with the model's default values; no row is removed, run
            the command again to check the rows. --dry-run names each.
            It is done as a migration is: backed up, on a copy, verified, and only then in place. No object is deleted:
            what cannot stay goes to the quarantine, from where moult quarantine restore puts it back. --dry-run does
            all of it on a copy that is not kept. Where more than a quarter of an entity's objects would go there it is
            refused (--allow-large-quarantine): one fault of the table is more likely. Exits with 1 where a fault is left, or
            where moult validate finds one that no rule is for; the remarks name it. Damaged pages are for moult
            salvage, rules of an app for moult validate --rules --fix.
            """,
        operands: [.store], options: [.model, only, .allowLargeQuarantine, .dryRun, .backups, .order],
        examples: [
            "moult repair forum.sqlite --model Forum.xcdatamodeld --dry-run",
            "moult repair forum.sqlite --model Forum.xcdatamodeld --only dangling,key-counters",
            "moult repair forum.sqlite --only indexes",
        ]
    ) { invocation, console in
        let store = try invocation.required(Operand.store)
        let rules = try invocation.repairRules()
        try invocation.heal(store)
        let version = try invocation.versions(console).version(ofStore: store)
        let repair = try StoreRepair(
            store, at: version, rules: rules, allowsLargeQuarantine: invocation[.allowLargeQuarantine])
        guard let migration = repair.migration else {
            let found = repair.found
            console.print(found.document(of: nil, dryRun: invocation[.dryRun])) { style in
                found.lines(style: style)
                    + [found.isWell ? "Nothing to repair." : "Nothing that a repair can do; see above."]
            }
            return found.isWell ? .done : .findings
        }
        let progress = ProgressDisplay(console)
        let outcome: MigrationOutcome?
        do {
            defer { progress.end() }
            if invocation[.dryRun] {
                _ = try invocation.migrator.rehearse(migration, on: store, progress.observer)
                outcome = nil
            } else {
                outcome = try invocation.migrator.run(migration, on: store, progress.observer)
            }
        }
        let report = repair.report
        console.print(report.document(of: outcome, dryRun: invocation[.dryRun])) {
            (report.lines(of: outcome, style: $0) + (repair.leavesRows ? [nextRepair(outcome)] : []))
                .map(console.advised)
        }
        return report.isWell ? .done : .findings
    }

    /// What to do once the tables are whole.
    private static func nextRepair(_ outcome: MigrationOutcome?) -> String {
        outcome == nil
            ? "The rows are looked at once the tables are whole." : "Next: moult repair --dry-run looks at the rows."
    }

    fileprivate static let only = Option.value(
        "only", "RULES", "Which of them, separated by commas; all where it is left out.",
        completes: .words(RepairRule.allCases.map(\.rawValue)))
}

extension Invocation {
    fileprivate func repairRules() throws -> Set<RepairRule> {
        guard let names = list(Verb.only) else { return Set(RepairRule.allCases) }
        return Set(
            try names.map { name in
                guard let rule = RepairRule(rawValue: name) else {
                    let all = RepairRule.allCases.map(\.rawValue).joined(separator: ", ")
                    throw wrong("There is no repair \(name); there are \(all).")
                }
                return rule
            })
    }
}

extension RepairReport {
    fileprivate func document(of outcome: MigrationOutcome?, dryRun: Bool) -> JSONValue {
        [
            "format": 1, "dryRun": .bool(dryRun), "run": JSONValue(outcome?.run),
            "backup": JSONValue(outcome?.backup?.name), "count": .integer(count), "left": .integer(left),
            "quarantined": .integer(quarantined),
            "findings": .array(
                findings.map { finding in
                    [
                        "rule": .string(finding.rule.rawValue), "place": .string(finding.place),
                        "count": .integer(finding.count), "keys": .array(finding.keys.map(JSONValue.integer)),
                        "quarantined": .integer(finding.quarantined), "left": .integer(finding.left),
                        "remedy": .string(finding.rule.remedy),
                    ]
                }), "remarks": .array(remarks.map(\.document)),
        ]
    }

    /// What was found, and what became of it.
    fileprivate func lines(style: TextStyle) -> [String] {
        let remarks = remarks.flatMap { $0.lines(style: style) }
        guard !findings.isEmpty else { return remarks }
        var table = TextTable([
            .left("rule"), .left("at"), .right("rows"), .right("quarantined"), .right("left"), .left("what is done"),
        ])
        for finding in findings {
            table.add(
                finding.rule.rawValue, finding.place, Quantity.count(finding.count),
                Quantity.count(finding.quarantined),
                Quantity.count(finding.left),
                finding.rule.remedy)
        }
        return remarks + table.lines(style: style)
    }

    fileprivate func lines(
        of outcome: MigrationOutcome?, style: TextStyle
    ) -> [String] {
        var lines = lines(style: style)
        if let outcome {
            if let backup = outcome.backup?.name { lines.append("The store before is kept as the backup \(backup).") }
            if quarantined > 0 {
                lines.append("moult quarantine restore --run \(outcome.run.shellQuoted) puts objects back.")
            }
        } else {
            lines.append("Rehearsed and verified on a copy; the store is as it was.")
        }
        if left > 0 {
            let rows = style.yellow(Quantity.count(left, "row"))
            lines.append("\(rows) \(left == 1 ? "is" : "are") left: what would be right is not known.")
        }
        return lines
    }
}
