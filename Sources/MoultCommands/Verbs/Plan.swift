import MoultModel
import MoultReport

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
        let plan = try invocation.session(.plan, console)
            .plan(withSQL: invocation[showsSQL], withValues: invocation[values])
        console.print(plan.document) { plan.lines(style: $0) }
        if !console.isJSON {
            // A loss is among the lines.
            if let obstacle = plan.obstacle {
                if obstacle.code != .lossNotAccepted { throw obstacle }
            } else if let undeclared = plan.undeclaredLoss {
                guard invocation[.check] else { throw undeclared }
                console.say(undeclared)
            }
        }
        if invocation[.check], plan.refusal?.code == .lossNotAccepted { return .findings }
        return plan.refusal.map { ExitCode(number: $0.exitCode) } ?? .done
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
