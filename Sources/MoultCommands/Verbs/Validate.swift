import MoultEngine
import MoultModel
import MoultPlan
import MoultReport
import MoultStore
import MoultSystem
import MoultTransform

extension Verb {
    static let validate = Verb(
        "validate", "Read a whole store and report every fault; with --rules, also what breaks the rules of an app.",
        discussion: """
            Checks pages, tables, indexes, persistent history, entity numbers, references and their inverses, values
            that do not fit their type, required values, uniqueness and external files. Each fault is printed with the
            keys of the first rows and, with --values, with what these rows hold. With --rules, the rules in a file are
            checked too. Exits with 0 if the store is sound and no rule of severity error is broken, otherwise with 1,
            or with 4 if the store cannot be read.
            With --fix, objects that break a rule are changed by the fix of that rule, if it has one. This works as a
            migration does: backed up, changed on a copy, verified, then committed. --fix --dry-run shows what would
            change and changes nothing.
            """,
        operands: [.store],
        options: [
            .model, full, values, .rules, source, .fix, .allowLargeQuarantine, .dryRun, .frugal, .backups, .order,
        ],
        examples: [
            "moult validate forum.sqlite --model Forum.xcdatamodeld",
            "moult validate forum.sqlite --model Forum.xcdatamodeld --rules Forum.rules.json --fix",
        ]
    ) { invocation, console in
        let store = try invocation.required(Operand.store)
        if invocation[.fix] { try invocation.heal(store) }
        let versions = try invocation.versions(console)
        let version = try versions.version(ofStore: store)
        let (rules, place) = try invocation.rulesToCheck()
        guard invocation[value: .rules] != nil || !(invocation[.fix] || invocation[value: source] != nil) else {
            throw invocation.wrong("--fix and --source require rules; name their file with --rules.")
        }
        guard invocation[.fix] || !invocation[.dryRun] else {
            throw invocation.wrong("--dry-run requires --fix; without it nothing is changed anyway.")
        }
        let compared = try invocation[value: source].map { (path: $0, version: try versions.version(ofStore: $0)) }
        // What does not fit the model is said before the store is read.
        var names = RuleModelCheck(version.model)
        try names.check(rules, place: place)
        let audit = try StoreAudit(
            store, model: version.model, requiring: version, full: invocation[full], withValues: invocation[values])
        let ruled = try RuleAudit(store, rules, version: version, source: compared, place: place)
        var report = ValidationReport(
            version: version.name, audit: audit, rules: ruled.findings, withValues: invocation[values])
        if invocation[.fix], var migration = try ruled.mending() {
            migration.allowsLargeQuarantine = invocation[.allowLargeQuarantine]
            try report.mend(migration, store, invocation, console)
        }
        console.print(report.document) { report.lines(style: $0) }
        return report.isSound ? .done : .findings
    }

    private static let full = Option.flag(
        "full",
        "Also look for objects that are their own ancestors, and for derived @count attributes with a wrong count.")
    private static let values = Option.flag(
        "values", "Print what the faulty rows hold, not only their keys.")
    private static let source = Option.value(
        "source", "STORE", "A store, such as a backup, to compare the numbers of objects with.", completes: .files)
}

extension Option {
    static let rules = value(
        "rules", "FILE", "Rules of the app as JSON (Documentation/Rules.md).", completes: .files)
    static let fix = flag("fix", "Apply the fixes of the rules, which change data.")
    static let allowLargeQuarantine = flag(
        "allow-large-quarantine",
        "Let fixes and repairs move more than a quarter (and more than 12) of an entity's objects to the quarantine.")
}

extension Invocation {
    /// The rules of the file, and those that the app checks after a migration; where they came from.
    fileprivate func rulesToCheck() throws -> ([ValidationRule], String) {
        let own = registry.rules.filter { $0.when.contains(.after) }
        guard let path = self[value: .rules] else { return (own, "the rules of the app") }
        return (own + (try RulesFile(json: try POSIXSystem().read(path), place: path)).rules, path)
    }
}

/// The findings of a store's validation, and the repairs that were made.
private struct ValidationReport {
    let version: String
    let audit: StoreAudit
    let rules: [RuleFinding]
    private let withValues: Bool
    private var mended: (report: RuleReport, run: String?, quarantined: Int64, backup: String?)?
    /// The names of the backups that the retention policy let go.
    private var pruned: [String] = []

    /// - Parameter withValues: whether the objects that break rules are shown with their values.
    init(version: String, audit: StoreAudit, rules: [RuleFinding], withValues: Bool) {
        self.version = version
        self.audit = audit
        self.withValues = withValues
        self.rules = withValues ? rules.map(\.showingValues) : rules
    }

    private var present: [RuleFinding] {
        // A dry run leaves the store with all its faults.
        guard let mended, mended.run != nil else { return rules }
        return mended.report.present
    }

    var isSound: Bool { audit.isSound && present.errors.isEmpty }

    mutating func mend(
        _ migration: Migration, _ store: String, _ invocation: Invocation, _ console: Console
    ) throws {
        let progress = ProgressDisplay(console)
        defer { progress.end() }
        let migrator = invocation.migrator
        if invocation[.dryRun] {
            let outcome = try migrator.rehearse(migration, on: store, progress.observer)
            mended = outcome.rules.last.map { ($0, nil, outcome.quarantined, nil) }
        } else {
            let outcome = try migrator.run(migration, on: store, progress.observer)
            mended = outcome.rules.last.map { ($0, outcome.run, outcome.quarantined, outcome.backup?.name) }
            pruned = outcome.pruned
        }
        guard withValues, var report = mended?.report else { return }
        report.fixes = report.fixes.map(\.showingValues)
        report.remaining = report.remaining.map(\.showingValues)
        mended?.report = report
    }

    private var counts: [(key: String, value: Int64)] {
        audit.rowCounts.sorted { $0.key.precedesInByteOrder($1.key) }
    }

    var document: JSONValue {
        [
            "format": 1, "sound": .bool(isSound), "version": .string(version),
            "entities": .array(counts.map { ["name": .string($0.key), "rows": .integer($0.value)] }),
            "findings": .array(audit.findings.map(\.document)), "rules": .array(rules.map(\.document)),
            "dryRun": .bool(mended != nil && mended?.run == nil),
            "fixes": .array((mended?.report.fixes ?? []).map(\.document)),
            "remaining": .array((mended?.report.remaining ?? []).map(\.document)),
            "quarantined": .integer(mended?.quarantined ?? 0), "run": JSONValue(mended?.run),
            "backup": JSONValue(mended?.backup), "prunedBackups": JSONValue(pruned),
        ]
    }

    func lines(style: TextStyle) -> [String] {
        let total = Int(clamping: counts.reduce(0) { $0 + $1.value })
        let verdict = audit.isSound ? style.green("sound") : style.red("not sound")
        return audit.findings.flatMap { $0.lines(style: style) } + rules.flatMap { $0.lines(style: style) } + [
            "The store is \(verdict): version \(version.printable), \(Quantity.count(total, "object")) in "
                + "\(Quantity.count(counts.count, "entity", plural: "entities"))."
        ] + ruleLines(style) + mendedLines(style)
    }

    private func ruleLines(_ style: TextStyle) -> [String] {
        guard !rules.isEmpty else { return [] }
        let broken = rules.count(where: \.isBroken)
        let number = Quantity.count(rules.count, "rule")
        return broken == 0
            ? ["\(style.green("All hold")): \(number)."]
            : ["\(style.red("Broken")): \(broken) of \(number), \(rules.errors.count) of severity error."]
    }

    private func mendedLines(_ style: TextStyle) -> [String] {
        guard let mended else { return [] }
        let isRehearsed = mended.run == nil
        var lines = mended.report.fixes.flatMap { $0.lines(style: style, isRehearsed: isRehearsed) }
        if isRehearsed {
            lines.append("Rehearsed and verified on a copy. The store is unchanged.")
        } else if let backup = mended.backup {
            lines.append("The old store is kept as the backup \(backup).")
        }
        return lines + pruned.map(BackupFolder.removal)
    }
}
