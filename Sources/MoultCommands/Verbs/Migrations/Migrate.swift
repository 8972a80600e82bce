import Moult
import MoultBasics
import MoultTools

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

    /// - Parameter options: the options of the run to finish; nil for those of the command.
    static func migrate(
        _ invocation: Invocation, _ console: Console, with options: RunOptions? = nil
    ) throws -> ExitCode {
        let started = invocation.system.monotonicNanoseconds
        try invocation.requireModel()
        let profiled = try ProfiledRun(invocation)
        var request = try invocation.request(invocation.migrationWork())
        if let options { request.options = options }
        let session = try invocation.session(request, console, started: started)
        console.say(session.warnings)
        showPlan(of: session, console)
        let progress = ProgressDisplay(console)
        defer { progress.end() }
        if !session.isEmpty {
            progress.debug("Migrating from version \(session.from) to version \(session.to)")
            progress.debug("Inferred mapping model")
        }
        let result = Result { try session.run(profiled?.watching(progress.observer) ?? progress.observer) }
        if case .success(let report) = result {
            if [.migrated, .rehearsed].contains(report.outcome) { progress.debug("Completed successfully") }
            progress.end()
            report.spaceMade.forEach(console.say)
            console.print(report.document) { report.lines(style: $0) }
            if report.outcome == .nothingToDo { return .done }
        }
        progress.end()
        let isProfileWritten = profiled?.end(console) ?? true
        if try result.get().outcome == .paused { return .unfinished }
        return isProfileWritten ? .done : .unwritten
    }
}

extension Verb {
    /// Shows a person what is about to be done, in about five lines. It asks nothing.
    fileprivate static func showPlan(of session: StoreSession, _ console: Console) {
        guard console.errors.isTerminal, !console.tellsEvents, !console.isJSON, !session.isEmpty,
            let plan = try? session.plan()
        else { return }
        plan.summary(style: console.errors.style).forEach(console.say)
    }
}

extension Invocation {
    /// Returns the work that the options of migrate ask for.
    ///
    /// - Throws: `usage` for options that conflict.
    fileprivate func migrationWork() throws -> StoreRequest.Work {
        if self[.dryRun], self[value: .budget] != nil { throw wrong("--budget and --dry-run exclude each other.") }
        guard let path = self[value: .into] else { return self[.dryRun] ? .rehearse : .migrate }
        let flags: [Option] = [.dryRun, .frugal, .again]
        if let other = flags.first(where: { self[$0] })
            ?? (self[value: .backups] == nil || isConfigured(.backups) ? nil : .backups)
        {
            throw wrong("--into and --\(other.name) exclude each other.")
        }
        return .migrateInto(path)
    }
}

extension Option {
    static let dryRun = flag("dry-run", "Rehearse and verify on a copy, and change nothing.")
    static let stops = flag("stop-at-each-version", "Make a backup and a commit for each version on the way.")
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
    static let again = flag("again", "Start again even though the last runs all died.")
    static let into = value(
        "into", "FILE", "Write the new store to this file, and leave the old one as it is.", completes: .files)
    static let acceptLosses = flag(
        "accept-losses", "Migrate even if undeclared losses of objects, values or links occur.")
    static let frugal = flag("frugal", "Keep no backup after the run. This needs less space.")

    static let profile = value(
        "profile", "FILE",
        "Write a profile of the time to this new file, for Speedscope, Perfetto or Chrome, and print the slowest steps.",
        completes: .files)
}

/// A profile that is written when its run ends, for whatever reason.
struct ProfiledRun {
    private let profile: RunProfile
    private let path: String
    private let store: String
    private let system: any System

    /// Returns nil without --profile.
    ///
    /// - Throws: `usage` if the path is taken, and for options that conflict with it.
    init?(_ invocation: Invocation) throws {
        guard let path = invocation[value: .profile] else { return nil }
        if let other = [Option.budget, .into].first(where: { invocation[value: $0] != nil }) {
            throw invocation.wrong("--profile and --\(other.name) exclude each other.")
        }
        system = invocation.system
        try system.checkNewPath(path)
        self.path = path
        store = try invocation.required(Operand.store)
        profile = RunProfile(begun: system.monotonicNanoseconds)
    }

    /// Returns an observer that also sends its reports to the profile.
    func watching(_ observer: MigrationObserver) -> MigrationObserver {
        var observer = observer
        observer.onProgress = { [profile, system, onProgress = observer.onProgress] progress in
            profile.note(progress, at: system.monotonicNanoseconds)
            onProgress(progress)
        }
        return observer
    }

    /// Writes the profile and prints the slowest parts on standard error.
    ///
    /// - Returns: whether the profile was written.
    func end(_ console: Console) -> Bool {
        profile.end(at: system.monotonicNanoseconds)
        for line in profile.lines(style: console.errors.style) { console.say(line) }
        do {
            let part = try StagedPath.begin(path, system)
            defer { _ = try? system.remove(part) }
            try system.write(Array((profile.trace.compact + "\n").utf8), to: part, .like(store))
            try system.synchronise(part)
            try StagedPath.end(part, as: path, system)
            return true
        } catch {
            let reason = (error as? MigrationError)?.message ?? "\(error)"
            console.say("The profile was not written to \(path.printable). \(reason.printable)")
            return false
        }
    }
}

extension Verb {
    static let resume = Verb(
        "resume", "Finish an interrupted run: recover the store and, if the run was a migration, complete it.",
        discussion: """
            A run that died after its commit is completed, and one that died before it is undone. Leftover files are
            removed. If the run was a migration, it is then finished at its own target, with its own model and options.
            An option that you give replaces that of the run. Without --model, a migration of a program that has its
            model in code is only recovered. A repair, a rollback or any other work is not begun again: the command that
            does it is printed. If no run was interrupted, nothing is migrated.
            STORE may also be the new store of an interrupted moult migrate --into. If that file does not exist yet, the
            leftover files of the run are removed.
            """,
        operands: [.store], options: migrateOptions,
        examples: ["moult resume forum.sqlite", "moult resume forum.sqlite --model Forum.xcdatamodeld"]
    ) { invocation, console in
        let keeper = try invocation.keeper()
        guard let run = try keeper.interrupted(), let begun = run.migration else {
            return try recover(keeper, console)
        }
        var whole = invocation
        whole.settle(.target, begun.target.map { [$0] })
        if run.request != nil { try whole.settle(filesOf: begun) }
        guard whole[value: .model] != nil || whole.registry.models != nil else { return try recover(keeper, console) }
        let options = try run.request == nil ? nil : begun.options.replacing(with: invocation.typedRunOptions())
        return try migrate(whole, console, with: options)
    }

    private static func recover(_ keeper: StoreKeeper, _ console: Console) throws -> ExitCode {
        let report = try keeper.recover()
        return console.print(report.document) { report.lines(style: $0) }
    }

    static let finish = Verb(
        "finish", "Do the deferred work of a migration: drop columns and tables, reorder columns, create indexes.",
        discussion: """
            Each task is one transaction of the store. If the call is interrupted, each task is complete or not started,
            and the next call continues. Before the first task that drops values the store is backed up, unless you give
            --frugal. Until that task has run, moult downgrade brings the older version back. Without --model, the model
            inside the store is used.
            """,
        operands: [.store], options: [.model, one, .budget, .frugal, .backups, .order, .events],
        examples: ["moult finish forum.sqlite --one", "moult finish forum.sqlite --budget 5s"]
    ) { invocation, console in
        let keeper = try invocation.keeper { try invocation.versionsIfKnown(console) }
        let budget = try invocation.seconds(.budget)
        guard !(invocation[one] && budget != nil) else {
            throw invocation.wrong("--one and --budget exclude each other.")
        }
        let limit = budget.map(CallLimit.seconds) ?? (invocation[one] ? .one : .all)
        let report = try ProgressDisplay.during(console) { try keeper.finish(limit, $0) }
        return console.print(report.document) { report.lines(style: $0) }
    }

    private static let one = Option.flag("one", "Do the next task only.")
}

extension Option {
    static let budget = value("budget", "TIME", "The time that the call may take, such as 5s or 250ms.")
}

extension Invocation {
    /// Parses a time such as `5s`, `250ms`, `2m` or `1.5`, in seconds; nil if the option was not given.
    ///
    /// - Throws: `usage` for text that is not a time. The engine refuses times that are too short.
    func seconds(_ option: Option) throws -> Double? {
        guard let text = self[value: option] else { return nil }
        for (suffix, factor) in [("ms", 0.001), ("min", 60), ("m", 60), ("s", 1), ("h", 3600), ("", 1)]
        where text.hasSuffix(suffix) {
            guard let number = Double(text.dropLast(suffix.count)), number.isFinite else { continue }
            return number * factor
        }
        throw wrong("--\(option.name) is \(text), which is not a time: write 5s, 250ms or 2min.")
    }
}
