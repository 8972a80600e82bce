import Moult
import MoultBasics

extension Explanation.Group {
    static let fleet = Self(name: "fleet", title: "What fleet plan notes about a store.")
}

extension Explanation {
    /// The findings of a plan, of a SwiftData plan and of a fleet.
    static let planFindings: [Explanation] = losses + conflicts + paths + swiftDataFindings + fleetNotes

    /// The remedy for what an app has added and a migration does not keep.
    private static let keptInBackup: Remedy =
        "The backup keeps the old store. \(.plan, .anyStore, .sql) shows the statements."

    private static let losses: [Explanation] = [
        Explanation(
            "object-dropped", .plan,
            "An index, trigger, view or table of the app does not work with the new version and is dropped.",
            "Code that uses it fails afterwards.", keptInBackup),
        Explanation(
            "object-broken", .plan, "An object of the app refers to something that is not there or will not be.",
            "As a note, it already does not work, and stays. As a warning, SQLite refuses writes to the table.",
            "Create it again without the reference, or with one to a table that stays."),
        Explanation(
            "column-dropped", .plan, "A generated column that an app added to one of Core Data's tables is dropped.",
            "SQLite cannot create the new table with it.", keptInBackup),
        Explanation(
            "constraint-dropped", .plan, "A constraint that an app added to one of Core Data's tables is dropped.",
            "The table is rebuilt, and the constraint may reject what the new version allows.", keptInBackup),
        Explanation(
            "column-unexplained", .plan, "A column that an app added to one of Core Data's tables is lost.",
            "The table is rebuilt, and the model does not explain the column, so its values are not copied.",
            "Copy the values to a table of the app, or accept the loss. \(.plan, .anyStore) counts them."),
        Explanation(
            "history-dropped", .plan, "Changes of removed entities in persistent history are dropped.",
            "A reader of the history does not see them any more.",
            "Let every reader of the history catch up before the migration."),
        Explanation(
            "links-repeated", .plan, "A join table without a primary key holds links more than once.",
            "The new table can hold each only once. Core Data reads it once too.",
            "There is nothing to do; \(.repair, .anyStore, .only(["duplicates"])) removes them before."),
        Explanation(
            "trigger-deaf", .plan, "A trigger of the app waits for the update of a column that goes.",
            "It stays, but no longer fires for that column.",
            "Create the trigger again with the columns of the new version."),
        Explanation(
            "search-not-rebuilt", .plan, "A contentless full-text table covers rows that change.",
            "SQLite cannot rebuild it, so searches find the old text.", "Let the app fill the table again."),
    ]

    private static let conflicts: [Explanation] = [
        Explanation(
            "values-not-converted", .plan, "Values have no equal in the new type of their attribute.",
            "They get the default value, or the migration is refused.",
            "Say in the expression of a mapping what becomes of them, or give the attribute a default value."),
        Explanation(
            "values-not-exact", .plan, "Whole numbers are too large for the new type to hold to the last digit.",
            "They would come out as other numbers, so the migration is refused.",
            "Set them to numbers of the old type that fit before the migration."),
        Explanation(
            "values-rounded", .plan, "Values are rounded to what the new type can hold.",
            "A Double has about 16 digits, a Float about 7.",
            "Keep the type if the digits matter; a Decimal holds 38."),
        Explanation(
            "derived-not-computed", .plan, "A derived attribute gets no value for the objects that exist.",
            "Its expression cannot be computed in a migration.",
            "Save the objects once in the app: Core Data computes the value when an object is saved."),
        Explanation(
            "history-missing", .plan, "A table or column of persistent history is missing.",
            "The migration creates it, without its former contents.",
            "There is nothing to do; \(.repair, .anyStore, .only(["history"])) does the same now."),
        Explanation(
            "configuration-open", .plan, "The store has the entities of more than one configuration.",
            "It gets the tables of the one that was taken; the app may open it with the other.",
            "If the app opens it with another configuration, \(permit: .configuration("NAME"))."),
        Explanation(
            "index-not-made", .plan, "A fetch index has a part that Moult cannot create.",
            "Queries work without it, only slower.",
            "There is nothing to do: Core Data creates the index when it next migrates the store."),
        Explanation(
            "parent-differs", .plan, "An entity differs because the one that it inherits from does.",
            "The same store cannot be used by both models.", "Make the parent entity equal."),
        Explanation(
            "uncertain-hash", .plan, "The version hash of an entity is not known for certain.",
            "SwiftData might not recognise the store.",
            "Open a copy of the store with SwiftData before you rely on it."),
    ]

    private static let paths: [Explanation] = [
        Explanation(
            "same-version", .plan, "The two versions are the same.", "Nothing changes between them.",
            "There is nothing to do."),
        Explanation(
            "backwards", .plan, "The first version is later than the second.", "A migration only goes forward.",
            "\(.downgrade, .anyStore, .to("VERSION")), or restore a backup: \(.rollback, .anyStore)."),
        Explanation(
            "source-not-supported", .plan, "There is no version of the name to begin with.",
            "No path begins there.", "Name a version of the model; the message lists them."),
        Explanation(
            "target-not-supported", .plan, "There is no version of the name to go to.", "No path leads there.",
            "Name a version of the model; the message lists them."),
    ]

    private static let swiftDataFindings: [Explanation] = [
        Explanation(
            "no-versions", .swiftData, "The plan has no versions.", "There is nothing to migrate to.",
            "Return at least the current schema from schemas."),
        Explanation(
            "model-invalid", .swiftData, "The models of a version contradict themselves.",
            "No store can have that version.", "Correct the model as the message says."),
        Explanation(
            "models-drifted", .swiftData, "The container's models match no version of the plan.",
            "A released version was edited, or the newest is missing from the plan.",
            "Leave released versions as they are, and add the new one to the plan."),
        Explanation(
            "identifier-twice", .swiftData, "Two versions have the same versionIdentifier.",
            "Messages and backups could not tell them apart.", "Give each version an identifier of its own."),
        Explanation(
            "stage-not-neighbours", .swiftData, "A stage does not lead from a version to the next one.",
            "The versions in between would be skipped.",
            "Let each stage lead from a version to the next one in schemas."),
        Explanation(
            "stage-twice", .swiftData, "Two stages lead from the same version.", "Only one of them could run.",
            "Combine them into one custom stage."),
        Explanation(
            "transform-twice", .swiftData, "A model has two transforms from one version.",
            "Only one of them could run.", "Combine them into one."),
        Explanation(
            "transform-unclear", .swiftData, "A transform fits between no two versions, or between several.",
            "It is not known when it is to run.",
            "Name the models of two neighbouring versions, or give fromVersion and toVersion."),
        Explanation(
            "version-unknown", .swiftData, "A stage names a version that is not among the plan's schemas.",
            "The stage could never run.", "Add the version to schemas, in its place."),
        Explanation(
            "values-undecodable", .swiftData, "A property holds JSON that its type can no longer decode.",
            "No object of the entity could be fetched.",
            "Let the type decode what its earlier versions wrote (decodeIfPresent), or convert the values with a "
                + ".transform."),
    ]

    private static let fleetNotes: [Explanation] = [
        Explanation(
            "unfinished-run", .fleet, "A run of Moult on this store has not ended.", "The next one recovers it first.",
            "There is nothing to do; \(.recover, .anyStore) does it now."),
        Explanation(
            "log-not-read", .fleet, "The store is in use or was not closed, and was looked at without its log.",
            "Its version may be newer than the plan says.", "Close the program that has it open, and plan again."),
        Explanation(
            "deferred-work", .fleet, "A deferred migration has work left.", "A further migration waits for it.",
            "\(.finish, .anyStore) does the rest."),
        Explanation(
            "hard-linked", .fleet, "The store's file has several names.",
            "SQLite keeps its journals next to one name only, so a migration is refused.",
            "Remove the other names, or copy the store to a file of its own."),
    ]
}
