import Moult
import MoultModel
import MoultReport
import MoultTools

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
        let rules = try invocation.repairRules()
        let keeper = try invocation.keeper { try invocation.versions(console) }
        let report = try ProgressDisplay.during(console) {
            try keeper.repair(rules, isRehearsal: invocation[.dryRun], $0)
        }
        console.print(report.document) { report.lines(style: $0) }
        return report.isWell ? .done : .findings
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
