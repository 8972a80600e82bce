import MoultEngine
import MoultModel
import MoultModelFiles
import MoultPlan
import MoultReport
import MoultStore
import MoultSystem
import MoultTransform

extension Verb {
    static let plan = Verb(
        "plan", "Print what a migration of a store will do, without changing it.",
        discussion: """
            Prints every edge with one sentence per change, what would be lost, and how to go back. You can keep a plan
            printed with --json and give it to moult migrate --plan, which refuses a store that has changed since. On a
            terminal, an open question is asked and the answer is kept next to the model; otherwise moult answer records
            it.

            --model may name another store. The plan then goes from the model inside STORE to the model inside that
            store. Without --model there is only the model inside STORE, so there is nothing to do.

            The lines about tables say how each of them changes: altered in place, its rows updated, or rebuilt and why.
            The store itself is changed in one transaction, after it has been backed up, if three things are true: no
            table is rebuilt, no code or rule of an app runs, and there is only one pass. Options such as --in-place,
            --deferred and --accept-losses only say which migration to plan.

            If moult migrate would be refused, plan exits with the code that moult migrate would exit with: 3 for an
            undeclared loss, for rows that do not fit the new version, or for --in-place if rows have to be written.
            With --check, it exits with 1 instead of 3 for an undeclared loss. Too little free space is only said.
            """,
        operands: [.store],
        options: [
            .model, .target, .answers, .mapping, .stops, showsSQL, .inPlace, .normalise, .deferred, .cloudKit,
            .experimental, .acceptLosses, .storeConfiguration, .checking("a loss is not declared, instead of 3"),
            values, .order,
        ],
        examples: [
            "moult plan forum.sqlite --model Forum.xcdatamodeld",
            "moult plan forum.sqlite --model Forum.xcdatamodeld --to \"Forum 2\" --sql",
        ]
    ) { invocation, console in
        let prepared = try invocation.preparedMigration(console)
        let losses = try prepared.foreseenLosses()
        let examined = try prepared.examined()
        let obstacle: MigrationError? = if case .failure(let error) = examined { error } else { nil }
        let needs = try (try? examined.get()).flatMap { $0 }.map {
            try invocation.migrator.needs(of: $0, on: prepared.store)
        }
        let undeclared = prepared.undeclaredLosses(among: losses)
        let refusal = obstacle ?? losses.first { $0.fate == .refused }?.refusal ?? undeclared
        let script = invocation[showsSQL] && obstacle == nil ? try prepared.script() : nil
        let report = PlanReport(
            prepared, script: script, losses: losses, refusal: refusal, needs: needs, withValues: invocation[values])
        console.print(report.document) { report.lines(style: $0) }
        // A loss is among the lines.
        if let obstacle, obstacle.code != .lossNotAccepted, !console.isJSON { throw obstacle }
        if obstacle == nil, let undeclared, !console.isJSON {
            guard invocation[.check] else { throw undeclared }
            console.say(undeclared.advised(by: Advice(invocation)))
        }
        if invocation[.check], refusal?.code == .lossNotAccepted { return .findings }
        return refusal.map { ExitCode(number: $0.exitCode) } ?? .done
    }

    private static let showsSQL = Option.flag("sql", "Show the SQL statements.")
    private static let values = Option.flag(
        "values", "With --sql: include the store's metadata and the literals of the app's own indexes and triggers.")
}

extension Option {
    static let target = value(
        "to", "VERSION",
        "The version to migrate to; by default the model's current version, or the newest if none is marked as "
            + "current.")
    static let storeConfiguration = value(
        "store-configuration", "NAME",
        "The configuration that the app opens the store with; by default the one whose entities the store has.")
    static let mapping = value(
        "mapping", "PATH", "A mapping model (.xcmappingmodel, .cdm) to use, or a folder of them.", completes: .files)
    static let inPlace = flag(
        "in-place", "Change the store itself in one transaction, after backing it up; only for schema changes.")
    static let normalise = flag(
        "normalise", "Rebuild every table that changes, with its columns in the order of a new store.")
    static let cloudKit = flag("cloudkit", "Allow the migration of a store that is mirrored to CloudKit.")
}

extension Invocation {
    /// The app's code, with the losses that `moult.json` declares.
    var registryWithDeclaredLosses: MigrationRegistry {
        var registry = registry
        registry.acceptedLosses.formUnion(AcceptedLosses(configuration?.acceptedLosses ?? []))
        return registry
    }

    private var comparesUnwritten: Bool {
        get throws {
            switch self[value: .verify] {
            case nil, "changed": false
            case "full": true
            case let other?: throw wrong("--verify is changed or full, not \(other).")
            }
        }
    }

    /// The versions of the model and all that the arguments say of a migration, but for the store.
    func migrationInput(_ console: Console) throws -> (versions: ModelVersions, options: PreparedMigration.Options) {
        if self[.inPlace], self[.normalise] { throw wrong("--in-place and --normalise exclude each other.") }
        if self[.inPlace], self[.stops] { throw wrong("--in-place and --stop-at-each-version exclude each other.") }
        let versions = try versionsOnTheWay(console)
        try versions.checkReleased()
        return (versions, try planOptions(in: versions, console))
    }

    /// The options of a migration between versions, as far as the verb has them: what plans, diagnoses and draws it sees
    /// what migrates it.
    func planOptions(in versions: ModelVersions, _ console: Console) throws -> PreparedMigration.Options {
        let registered = try self[value: .mapping].map { path in
            try [RegisteredStage](mappingsAt: path, in: versions, self.registry)
        }
        var registry = registryWithDeclaredLosses
        if self[.fix] { registry.appliesFixes = true }
        if self[.allowLargeQuarantine] { registry.allowsLargeQuarantine = true }
        if self[.acceptLosses] { registry.acceptedLosses = .all }
        if let path = self[value: .rules] {
            registry.rules += try RulesFile(json: try POSIXSystem().read(path), place: path).rules
        }
        var options = PreparedMigration.Options(
            answers: try answers(for: versions, console), registered: registered ?? [], registry: registry,
            stopsAtEachVersion: self[.stops],
            isExperimental: self[.experimental], allowsCloudKit: self[.cloudKit])
        options.remedies = .commandLine
        options.part = self[value: .storeConfiguration].map(StorePart.configuration)
        options.defersWork = self[.deferred]
        options.comparesUnwritten = try comparesUnwritten
        options.continuesEarlierCall = self[value: .budget] != nil
        options.choice =
            self[.inPlace] ? .inPlace : self[.normalise] || options.continuesEarlierCall ? .normalised : .cheapest
        return options
    }
}

extension MigrationRemedies {
    fileprivate static let commandLine = MigrationRemedies(
        allowingCloudKit: "pass --cloudkit", choosingConfiguration: "pass --store-configuration"
    ) {
        "To declare it in moult.json: \"acceptedLosses\": \($0.swiftLiteral). To accept every loss of this migration: "
            + "--accept-losses."
    }
}
