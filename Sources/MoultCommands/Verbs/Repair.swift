import MoultEngine
import MoultModel
import MoultReport

extension Verb {
    static let repair = Verb(
        "repair", "Repair a store: missing tables, columns, indexes and history, and rows that contradict each other.",
        discussion: """
            Looks for these faults, by the names that --only takes:
            \(list(of: RepairRule.byDefault))
            Objects that are their own ancestors are a fault only with --only cycles, because Core Data allows them.
            One-to-one relationships of which the app has never written one end are completed only with --only one-sided.
            If a store lacks some tables, columns or indexes of its current version, they are created as Core Data would
            create them, with the model's default values. If tables or columns were missing, or an index did not match
            its table, that run does not repair rows; run the command again for them.
            A repair works as a migration does: backed up, changed on a copy, verified, then committed. No object is
            deleted: what cannot stay goes to the quarantine, and moult quarantine restore puts it back. --dry-run does
            all of this on a copy that is not kept, and names each fault. If more than a quarter of an entity's objects,
            and more than twelve, would go to the quarantine, the repair is refused unless you give
            --allow-large-quarantine: so many faults are more likely one fault of the table than a fault of each object.
            Exits with 1 if a fault is left, or if moult validate finds a fault that no repair rule fixes; the remarks
            name it.
            For damaged pages use moult salvage, for rules of an app moult validate --rules --fix.
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
        let repair = try StoreRepair(store, at: version, rules: rules)
        guard var migration = repair.migration else {
            let found = repair.found
            console.print(found.document(of: nil, dryRun: invocation[.dryRun])) { style in
                found.lines(isDone: false, style: style)
                    + [found.isWell ? "Nothing to repair." : "Nothing that a repair can fix; see above."]
            }
            return found.isWell ? .done : .findings
        }
        migration.allowsLargeQuarantine = invocation[.allowLargeQuarantine]
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

    /// Returns the next step once the tables are whole.
    private static func nextRepair(_ outcome: MigrationOutcome?) -> String {
        outcome == nil
            ? "The rows are checked after tables and indexes are repaired."
            : "Next: moult repair --dry-run checks the rows."
    }

    fileprivate static func names(of rules: Set<RepairRule>) -> String {
        RepairRule.allCases.filter(rules.contains).map(\.rawValue).joined(separator: ", ")
    }

    /// A line for each rule: its name and what it finds.
    private static func list(of rules: Set<RepairRule>) -> String {
        RepairRule.allCases.filter(rules.contains).map { "\($0.rawValue): \($0.fault)" }.joined(separator: "\n")
    }

    fileprivate static let only = Option.value(
        "only", "RULES", "Only these repairs, separated by commas; by default all but cycles and one-sided.",
        completes: .words(RepairRule.allCases.map(\.rawValue)))
}

extension Invocation {
    fileprivate func repairRules() throws -> Set<RepairRule> {
        guard let names = list(Verb.only) else { return RepairRule.byDefault }
        let all = Verb.names(of: Set(RepairRule.allCases))
        guard !names.isEmpty else { throw wrong("--only names no repair; there are \(all).") }
        return Set(
            try names.map { name in
                guard let rule = RepairRule(rawValue: name) else {
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
            "backup": JSONValue(outcome?.backup?.name), "prunedBackups": JSONValue(outcome?.pruned ?? []),
            "count": .integer(count), "left": .integer(left),
            "quarantined": .integer(quarantined),
            "findings": .array(
                findings.map { finding in
                    [
                        "rule": .string(finding.rule.rawValue), "place": .string(finding.place),
                        "count": .integer(finding.count), "keys": .array(finding.keys.map(JSONValue.integer)),
                        "quarantined": .integer(finding.quarantined), "left": .integer(finding.left),
                        "bytes": finding.rule == .externalFiles ? .integer(finding.bytes) : .null,
                        "remedy": .string(finding.rule.sentence(isDone: outcome != nil)),
                    ]
                }), "remarks": .array(remarks.map(\.document)),
        ]
    }

    /// Returns the lines about what was found, and what became of it, or would.
    fileprivate func lines(isDone: Bool, style: TextStyle) -> [String] {
        let remarks = remarks.flatMap { $0.lines(style: style) }
        guard !findings.isEmpty else { return remarks }
        var table = TextTable([
            .left("rule"), .left("at"), .right("rows"), .right("quarantined"), .right("left"),
            .left(isDone ? "what was done" : "what will be done"),
        ])
        for finding in findings {
            table.add(
                finding.rule.rawValue, finding.place, Quantity.count(finding.count),
                Quantity.count(finding.quarantined),
                Quantity.count(finding.left), finding.rule.sentence(isDone: isDone))
        }
        return remarks + table.lines(style: style)
    }

    fileprivate func lines(
        of outcome: MigrationOutcome?, style: TextStyle
    ) -> [String] {
        var lines = lines(isDone: outcome != nil, style: style)
        if let outcome {
            if let backup = outcome.backup?.name { lines.append("The old store is kept as the backup \(backup).") }
            if let files = findings.first(where: { $0.rule == .externalFiles }) {
                lines.append(
                    "\(Quantity.count(files.count, "file")), \(Quantity.bytes(Int(clamping: files.bytes))): "
                        + "external-files/\(outcome.run) in the store's .moult folder. Remove what nobody needs.")
            }
            lines += outcome.removals
            if quarantined > 0 {
                lines.append("moult quarantine restore --run \(outcome.run.shellQuoted) puts objects back.")
            }
        } else {
            lines.append("Rehearsed and verified on a copy. The store is unchanged.")
        }
        if left > 0 {
            let rows = style.yellow(Quantity.count(left, "row"))
            lines.append("\(rows) \(left == 1 ? "is" : "are") left: the right value is not known.")
        }
        return lines
    }
}

extension RepairRule {
    /// The fault that the rule finds, in a few words.
    fileprivate var fault: String {
        switch self {
        case .tables: "tables that the model needs and the store lacks"
        case .columns: "columns that a table lacks"
        case .indexes: "indexes that are missing, are on other columns, or do not match their table"
        case .history: "missing tables and columns of persistent history, and rows of it that refer to nothing"
        case .numbers: "wrong entity numbers of rows and references"
        case .dangling: "references to objects that do not exist"
        case .inverses: "one-to-one relationships whose two ends disagree"
        case .oneSided: "one-to-one relationships of which one end is empty in every row"
        case .duplicates: "objects with equal unique values, and repeated pairs of join tables"
        case .orphans: "objects without the destination of a required relationship"
        case .cycles: "objects that are their own ancestors"
        case .counts: "derived @count attributes with a wrong count"
        case .keyCounters: "values of Z_PRIMARYKEY.Z_MAX below a key in use"
        case .externalFiles: "files of external data that no row names"
        }
    }
}
