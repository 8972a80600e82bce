import Moult
import MoultBasics
import MoultTools

extension Verb {
    static let repair = Verb(
        "repair", "Repair a store: missing tables, columns, indexes and history, and rows that contradict each other.",
        discussion: """
            Looks for these faults, by the names that --only takes:
            \(list(of: RepairRule.byDefault))
            Objects that are their own ancestors are a fault only with --only cycles, because Core Data allows them.
            One-to-one relationships of which the app has never written one end are completed only with --only one-sided.
            The file gives its free pages back only with --only space, which needs room for the backup and for two more
            copies of the store.
            --only history with --before also deletes the persistent history before a date, except for the newest
            transaction. A reader whose token is older reads all objects anew, so choose a date that every reader has
            passed. --only history,space makes the file smaller too.
            If a store lacks some tables, columns or indexes of its current version, they are created as Core Data would
            create them, with the model's default values. If tables or columns were missing, or an index did not match
            its table, that run does not repair rows; run the command again for them.
            A repair works as a migration does: backed up, changed on a copy, verified, then committed. No object is
            deleted: what cannot stay goes to the quarantine, and moult quarantine restore puts it back. --dry-run does
            all of this on a copy that is not kept, and names each fault. If more than a quarter of an entity's objects,
            and more than twelve, would go to the quarantine, the repair is refused unless you give
            --allow-large-quarantine: so many faults are more likely one fault of the table than a fault of each object.
            For the same reason a repair that would clear more than half of the references of a relationship, of twenty or
            more, is refused unless you give --accept-losses.
            Exits with 1 if a fault is left, or if moult validate finds a fault that no repair rule fixes; the remarks
            name it.
            For damaged pages use moult salvage, for rules of an app moult validate --rules --fix.
            """,
        operands: [.store],
        options: [
            .model, only, before, .allowLargeQuarantine, acceptLosses, .dryRun, .backups, .order, .events,
        ],
        examples: [
            "moult repair forum.sqlite --model Forum.xcdatamodeld --dry-run",
            "moult repair forum.sqlite --model Forum.xcdatamodeld --only dangling,key-counters",
            "moult repair forum.sqlite --only indexes",
            "moult repair forum.sqlite --only history,space --before 2024-01-01",
        ]
    ) { invocation, console in
        let rules = try invocation.repairRules()
        let limit = try invocation.historyLimit()
        guard limit == nil || invocation[value: only] != nil && rules.contains(.history) else {
            throw invocation.wrong("--before is for persistent history: add --only history.")
        }
        let keeper = try invocation.keeper { try invocation.versions(console) }
        let report = try ProgressDisplay.during(console) {
            try keeper.repair(rules, trimmingHistory: limit, isRehearsal: invocation[.dryRun], $0)
        }
        console.print(report.document) { report.lines(style: $0) }
        return report.isWell ? .done : .findings
    }

    fileprivate static func names(of rules: Set<RepairRule>) -> String {
        RepairRule.allCases.filter(rules.contains).map(\.rawValue).joined(separator: ", ")
    }

    /// Returns a line for each rule: its name and the fault it finds.
    private static func list(of rules: Set<RepairRule>) -> String {
        RepairRule.allCases.filter(rules.contains).map { "\($0.rawValue): \($0.fault)" }.joined(separator: "\n")
    }

    private static let acceptLosses = Option.flag(
        Option.acceptLosses.name, "Clear references even if they are more than half of those of a relationship.")

    fileprivate static let only = Option.value(
        "only", "RULES", "Only these repairs, separated by commas; by default all but cycles, one-sided and space.",
        completes: .words(RepairRule.allCases.map(\.rawValue)))
}

extension Verb {
    fileprivate static let before = Option.value(
        "before", "DATE",
        "With --only history: delete the history before this date, such as 2024-01-01 or 2024-01-01T12:00:00Z (UTC).")
}

extension Invocation {
    fileprivate func historyLimit() throws -> HistoryLimit? {
        guard let text = self[value: Verb.before] else { return nil }
        guard let date = Timestamp(iso8601: text.contains("T") ? text : text + "T00:00:00Z") else {
            throw wrong("--before takes a date, such as 2024-01-01 or 2024-01-01T12:00:00Z, not \(text).")
        }
        return HistoryLimit(text, seconds: date.seconds(since: Timestamp(seconds: 978_307_200)))
    }

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
    /// The fault that the rule finds, in brief.
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
        case .space: "free pages in the file, which deleted rows have left"
        }
    }
}

extension Verb {
    static let validate = Verb(
        "validate", "Read a whole store and report every fault; with --rules, also what breaks the rules of an app.",
        discussion: """
            Checks pages, tables, indexes, persistent history, entity numbers, references and their inverses, values
            that do not fit their type, required values, uniqueness, derived counts and external files. Each fault is
            printed with the keys of the first rows and, with --values, with what these rows hold. With --rules, the
            rules in a file are checked too. Exits with 0 if the store is sound and no rule of severity error is broken,
            otherwise with 1, or with 4 if the store cannot be read.
            With --fix, objects that break a rule are changed by the fix of that rule, if it has one. This works as a
            migration does: backed up, changed on a copy, verified, then committed. --fix --dry-run shows what would
            change and changes nothing.
            A file of rules, each with one of predicate, orphan, minimum, count, noCycle and unique:
            {"format": 1, "rules": [{"name": "namedUsers", "entity": "User", "predicate": "name != ''",
            "severity": "warning", "fix": {"set": {"name": "'(unknown)'"}}}]}
            """,
        operands: [.store],
        options: [
            .model, full, values, .rules, source, .fix, .allowLargeQuarantine, .dryRun, .frugal, .backups, .order,
            .events,
        ],
        examples: [
            "moult validate forum.sqlite --model Forum.xcdatamodeld",
            "moult validate forum.sqlite --model Forum.xcdatamodeld --rules Forum.rules.json --fix",
        ]
    ) { invocation, console in
        guard invocation[value: .rules] != nil || !(invocation[.fix] || invocation[value: source] != nil) else {
            throw invocation.wrong("--fix and --source require rules; name their file with --rules.")
        }
        guard invocation[.fix] || !invocation[.dryRun] else {
            throw invocation.wrong("--dry-run requires --fix; without it nothing is changed anyway.")
        }
        let rules = try invocation.rulesToCheck()
        let keeper = try invocation.keeper { try invocation.versions(console) }
        let report = try ProgressDisplay.during(console) {
            try keeper.validate(
                rules, full: invocation[full], withValues: invocation[values],
                comparedWith: invocation[value: source], fixing: invocation[.fix], isRehearsal: invocation[.dryRun], $0)
        }
        console.print(report.document) { report.lines(style: $0) }
        return report.isSound ? .done : .findings
    }

    private static let full = Option.flag(
        "full", "Also look for objects that are their own ancestors, which Core Data allows.")
    private static let values = Option.flag("values", "Print what the faulty rows hold, not only their keys.")
    private static let source = Option.value(
        "source", "STORE", "A store, such as a backup, to compare the numbers of objects with.", completes: .files)
}

extension Option {
    static let rules = value(
        "rules", "FILE", "Rules of the app as JSON; moult validate --help shows one.", completes: .files)
    static let fix = flag("fix", "Apply the fixes of the rules, which change data.")
    static let allowLargeQuarantine = flag(
        "allow-large-quarantine",
        "Let fixes and repairs move more than a quarter (and more than 12) of an entity's objects to the quarantine.")
}

extension Invocation {
    /// Returns the rules of the file and those that the app checks after a migration, with their origin.
    fileprivate func rulesToCheck() throws -> RulesToCheck {
        let own = registry.rules.filter { $0.when.contains(.after) }
        guard let path = self[value: .rules] else { return RulesToCheck(own) }
        return RulesToCheck(own + (try RulesFile(json: try system.read(path), place: path)).rules, from: path)
    }
}

extension Verb {
    static let salvage = Verb(
        "salvage", "Copy everything readable from a damaged store into a new store.",
        discussion: """
            For a store that SQLite calls malformed and that has no backup. The damaged store is not changed. The new
            store has the tables of the model and every row that can be read, with the keys and the UUID of the old
            store. What could not be read is listed by table and key: "by index" counts the rows that an index lists,
            "in part" those with a value that could not be read. A changed byte inside a value cannot be detected, so
            compare what was read with a backup or an export. Rows and columns for which the model has no place
            are kept in NEW.aside.sqlite. Exits with 1 if something is missing in NEW. Then run moult repair NEW
            --dry-run to find references to lost rows. The first line says which version the store is of, and how that is
            known. Without --model, the model inside the damaged store is used if it can be read.
            """,
        operands: [.store, Operand("NEW", "The path of the new store; nothing may exist there.")],
        options: [.model, sourceVersion, .order, .events],
        examples: [
            "moult salvage forum.sqlite saved.sqlite",
            "moult salvage forum.sqlite saved-again.sqlite --model Forum.xcdatamodeld --version Forum",
        ]
    ) { invocation, console in
        let path = try invocation.required(Operand("NEW", ""))
        let name = invocation[value: sourceVersion]
        if name != nil, invocation[value: .model] == nil, invocation.registry.models == nil {
            throw invocation.wrong("--version names a version of a model: name the model with --model.")
        }
        let report = try invocation.keeper { try invocation.versionsIfKnown(console) }.salvage(
            into: path, as: name.map { name in { try invocation.version(named: name, in: $0) } },
            isCancelled: Interruption.heard)
        // The new store has a model of its own, which the named one may not include.
        let model = report.evidence == .model ? nil : invocation[value: .model]
        _ = try CommandWords().speaking { console.print(report.document) { report.lines(model: model, style: $0) } }
        return report.isWhole ? .done : .findings
    }

    private static let sourceVersion = Option.value(
        "version", "NAME",
        "The store's version; by default the one that its metadata, or the model inside it, name. If neither can be read, "
            + "the version of the model that places the most rows is used.")
}
