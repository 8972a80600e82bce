import MoultModel
import MoultReport
import MoultSystem
import MoultTools

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
    fileprivate func rulesToCheck() throws -> RulesToCheck {
        let own = registry.rules.filter { $0.when.contains(.after) }
        guard let path = self[value: .rules] else { return RulesToCheck(own) }
        return RulesToCheck(own + (try RulesFile(json: try POSIXSystem().read(path), place: path)).rules, from: path)
    }
}
