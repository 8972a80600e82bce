import MoultEngine
import MoultModel
import MoultPlan
import MoultReport
import MoultStore
import MoultSystem

extension Verb {
    static let migrate = Verb(
        "migrate", "Migrate a store: backed up, changed, verified, then committed.",
        discussion: """
            Each table changes in the cheapest safe way; moult plan says which. The store itself is changed in one
            transaction, after it has been backed up, if three things are true: no table is rebuilt, no code or rule of
            an app runs, and there is only one pass. Otherwise, and with --frugal or --budget, a copy is changed, and
            its pages are copied back in one transaction. Before the commit, the rows are compared with those of the
            backup. If the store itself is changed, only tables with a changed page, or with a column of another type,
            are compared. SQLite's WAL or rollback journal shows which pages have changed. With --verify full, the rows
            of all tables are compared. With --normalise every table that changes is rebuilt, with its columns in the
            order of a new store.

            If the migration is interrupted at any moment, the store is the complete old one or the complete new one.
            With --dry-run everything is done and verified on a copy in a scratch folder; the store and its folder are
            unchanged.

            A migration over several versions is one commit, all or nothing. With --stop-at-each-version, there is a
            backup and a commit for each version on the way. After an interruption, the same command continues from the
            last committed version.

            With --deferred the store is changed in place, in milliseconds whatever its size and without a backup, if no
            row has to be written. The slow work is left to moult finish; nothing is lost before that. If one of the
            app's own tables, indexes, triggers or views, or persistent history, has to be dropped immediately, a backup
            is made first. If rows have to be written, everything is done as without --deferred; moult plan --deferred
            says which rows and why.

            With --budget the call ends in about the given time, with exit code 6 if the migration is not finished. The
            same command continues, and the last call commits the new store. If the store was written to between two
            calls, the migration starts over. moult plan prints the time of the longest piece of work that cannot be
            interrupted. The budget must be longer than that.

            With --into the store and its folder stay as they are, and the new store is another file, which must not
            exist. The new store is written under a temporary name, and renamed when it is complete and verified. No
            backup is made, because the old store is kept.

            Losses are counted, and an app's own tables, indexes, triggers and views that are dropped are named: in the
            result, in moult runs and in moult log. A migration that loses objects, values or links is refused unless
            the loss is declared: in acceptedLosses of moult.json, by an answer, or by a mapping model or stage. A stage
            is also refused if data would be lost that both versions have a place for, and the code of the stage does
            not read that data; the message contains the code to write. --accept-losses accepts every loss. --dry-run
            only counts them.
            """,
        operands: [.store], options: migrateOptions + [.into, .profile, .rules, .fix, .allowLargeQuarantine],
        examples: [
            "moult migrate forum.sqlite --model Forum.xcdatamodeld --dry-run",
            "moult migrate forum.sqlite --model Forum.xcdatamodeld --into newest.sqlite",
            "moult migrate forum.sqlite --model Forum.xcdatamodeld",
            "moult migrate forum.sqlite --model Forum.xcdatamodeld --budget 5s",
            "moult migrate forum.sqlite --model Forum.xcdatamodeld --accept-losses",
            "moult migrate forum.sqlite --model Forum.xcdatamodeld --dry-run --profile trace.json",
        ]
    ) { try migrate($0, $1) }

    static let migrateOptions: [Option] = [
        .model, .target, .dryRun, .stops, .budget, .answers, .mapping, .plan, .inPlace, .normalise, .deferred, .verify,
        .frugal, .makeRoom, .again, .acceptLosses, .cloudKit, .experimental, .storeConfiguration, .backups,
        .order, .events,
    ]

    static func migrate(_ invocation: Invocation, _ console: Console) throws -> ExitCode {
        try invocation.requireModel()
        let profiled = try ProfiledRun(invocation)
        if let budget = try invocation.seconds(.budget) { return try migrate(invocation, within: budget, console) }
        let path = try invocation.newStore()
        let kept = try invocation.keptPlan()
        try kept?.checkCode(invocation.registry)
        if path == nil { try invocation.heal(try invocation.required(Operand.store)) }
        let prepared = try invocation.preparedMigration(console)
        try kept?.check(prepared)
        console.say(prepared.warnings)
        if let path { return try migrate(prepared, into: path, invocation, console) }
        let plan = prepared.plan
        guard let migration = try prepared.migration() else {
            console.print(OutcomeReport(nothingToDoAt: plan.to.name).document) { PlanReport(prepared).lines(style: $0) }
            return .done
        }
        let progress = ProgressDisplay(console)
        defer { progress.end() }
        progress.debug("Migrating from version \(plan.from.name) to version \(plan.to.name)")
        progress.debug("Inferred mapping model")
        let migrator = invocation.migrator
        let observer = profiled?.watching(progress.observer) ?? progress.observer
        let result = Result {
            if invocation[.dryRun] {
                return OutcomeReport(
                    plan, try migrator.rehearse(migration, on: prepared.store, observer),
                    deferral: prepared.deferral)
            }
            let outcomes = try run(invocation, prepared.store, console) { migrator in
                prepared.stopsAtEachVersion
                    ? try migrator.run(prepared, observer)
                    : [try migrator.run(migration, on: prepared.store, observer)]
            }
            return MigrationOutcome(joining: outcomes).map { OutcomeReport(plan, $0, deferral: prepared.deferral) }
                ?? OutcomeReport(nothingToDoAt: plan.to.name)
        }
        if case .success(let report) = result {
            progress.debug("Completed successfully")
            progress.end()
            console.print(report.document) { report.lines(style: $0).map(console.advised) }
        }
        progress.end()
        let isProfileWritten = profiled?.end(console) ?? true
        _ = try result.get()
        return isProfileWritten ? .done : .unwritten
    }

    /// With --make-room a run that has too little is helped on.
    private static func run(
        _ invocation: Invocation, _ store: String, _ console: Console,
        _ body: (Migrator) throws -> [MigrationOutcome]
    ) throws -> [MigrationOutcome] {
        guard invocation[.makeRoom] else { return try body(invocation.migrator) }
        let (outcomes, made) = try invocation.migrator.makingRoom(for: store, body)
        for name in made.pruned { console.say(BackupFolder.removal(of: name)) }
        if made.isFrugal, !invocation[.frugal] {
            console.say("There was no space for a backup. The migration kept none.")
        }
        return outcomes
    }
}

extension Option {
    static let dryRun = flag("dry-run", "Rehearse and verify on a copy, and change nothing.")
    static let stops = flag(
        "stop-at-each-version", "Make a backup and a commit for each version on the way.")
    static let deferred = flag(
        "deferred", "Change the store in place at once, and leave the slow work to moult finish.")
    static let plan = value(
        "plan", "FILE", "A plan kept from moult plan --json; refused if the store has changed since.",
        completes: .files)
    static let verify = value(
        "verify", "WHAT",
        "changed (the default): compare the rows of tables that were changed; full: those of all tables.",
        completes: .words(["changed", "full"]))
    static let makeRoom = flag(
        "make-room",
        "If space is short, remove the backups that moult backup prune removes by default. If that is not enough, keep "
            + "no backup of this run.")
    static let again = flag(
        "again", "Start again even though the last runs all died.")
    static let into = value(
        "into", "FILE", "Write the new store to this file, and leave the old one as it is.", completes: .files)
    static let acceptLosses = flag(
        "accept-losses", "Migrate even if undeclared losses of objects, values or links occur.")
    static let frugal = flag("frugal", "Keep no backup after the run. This needs less space.")
}
