import Moult
import MoultBasics
import MoultEngine

extension Explanation {
    /// The findings about a store, its surroundings and its runs.
    static let storeFindings: [Explanation] = surroundings + runs + versions + pages + rowFindings + repairFindings

    private static let surroundings: [Explanation] = [
        Explanation(
            "store-unreadable", .doctor, "The file is missing, is not a store, or cannot be read at all.",
            "Nothing else about the store can be checked.",
            "Do what the message says. \(.rollback, .anyStore) restores a sound backup; \(.salvage, .anyStore) copies "
                + "what is readable."),
        Explanation(
            "stale-wal", .doctor, "The -wal next to the store may belong to another file.",
            "SQLite would mix the pages of two files and report no error.",
            "Copy the store and its -wal again from where they came from, with their times (`cp -p`). Move the -wal away "
                + "only if the store is complete without it."),
        Explanation(
            "side-file-damaged", .doctor, "The -wal or -journal next to the store is damaged.",
            "SQLite leaves out what follows the damage, so the last saves are gone without an error.",
            "Copy the files again from where they came from, or continue without what cannot be read: "
                + "\(.salvage, .anyStore) reads what is left."),
        Explanation(
            "side-file-torn", .doctor, "The -wal ends inside a frame, which SQLite leaves out.",
            "If a copy of it was cut off, the last saves are missing. After a power cut only an unfinished one is.",
            "If the store was copied, copy it and its -wal again. The next run keeps a copy of the -wal."),
        Explanation(
            "journal-zeroed", .doctor, "The -journal has pages, and its header is zeros, so that SQLite ignores it.",
            "In journal_mode PERSIST each transaction leaves it so. Otherwise the header was lost, and the store may "
                + "have a part of an unfinished transaction.",
            "Without PERSIST, read what is left: \(.salvage, .anyStore). The next run keeps a copy of the -journal."),
        Explanation(
            "wal-missing", .store, "The store is in WAL mode, was used elsewhere, and has no -wal next to it.",
            "If it was copied while an app had it open, what the app wrote since the last checkpoint is missing.",
            "Copy the -wal together with the store. If the app had closed the store first, nothing is missing."),
        Explanation(
            "large-wal", .doctor, "The -wal is larger than the store.",
            "A reader that never ends prevents it from being written back, and every read is slow.",
            "Close every app that has the store open."),
        Explanation(
            "hot-journal", .doctor, "A writer died or is active.",
            "The next program that opens the store rolls back what the writer had not finished.",
            "Let the app open the store once, or go on: every verb that writes does the same."),
        Explanation(
            "cannot-be-changed", .doctor, "The store, its folder or its volume is not writable.",
            "A migration would be refused.",
            "Give this user permission to write to the file and its folder, or work on a copy."),
        Explanation(
            "store-in-use", .doctor, "Another process has the store open.",
            "A migration waits for it, or is refused.",
            "Close the process before a migration. \(.makeBackup, .anyStore) works anyway."),
        Explanation(
            "insufficient-storage", .doctor, "The volume has too little space for the next migration.",
            "The migration would be refused before it begins.",
            "\(.pruneBackups, .anyStore) removes expired backups. \(.migrate, .anyStore, .frugal) keeps none; "
                + "\(option: .backups("FOLDER")) puts it on another volume."),
        Explanation(
            "mostly-free", .doctor, "A quarter of the file, or a tenth that is 10 MiB, is empty pages.",
            "The file is larger than it needs to be, and every copy and backup with it.",
            "\(.repair, .anyStore, .only(["space"])) gives them back."),
        Explanation(
            "history-large", .doctor,
            "Persistent history has 1,000 rows or more, and takes up a tenth of the file or 10 MiB of it.",
            "Nothing deletes them by itself; they take space in the store and in every backup.",
            "\(.repair, .anyStore, .only(["history", "space"]), .before("DATE")) deletes what is older. Choose a date "
                + "that every reader of the history has passed."),
        Explanation(
            "objects-without-owner", .doctor,
            "Most objects of an entity have no owner that would delete them with itself.",
            "They may have been forgotten, or the app may want them so.",
            "\(.export, .anyStore, .entity("NAME"), .matching("OWNER == nil")) lists them. There is nothing to repair."),
        Explanation(
            "external-file-strange", .store, "The store's external data contains something that is not a plain file.",
            "Moult follows no links and reads no pipes, so it cannot be copied.",
            "Replace it with the file itself, or remove it."),
        Explanation(
            "external-files-unnamed", .store, "Files of external data belong to no row.",
            "They take space, and no app reads them.",
            "\(.repair, .anyStore, .only(["external-files"])) moves them out of the way."),
        Explanation(
            "external-file-missing", .store, "A row keeps its value in a file that is not there.",
            "The app reads no value, or fails.",
            "Put the store's support folder (.NAME_SUPPORT) back next to the store, or restore a backup."),
        Explanation(
            "uuid-invalid", .store, "The store's UUID in Z_METADATA is not a UUID.",
            "Core Data identifies the store and its objects by it.",
            "Restore a backup: \(.rollback, .anyStore). \(.salvage, .anyStore) makes a store with a UUID."),
        Explanation(
            "not-examined", .doctor, "A part of the store could not be examined.",
            "A fault in that part would not be seen.", "Correct the cause, then run \(.diagnose, .anyStore) again."),
    ]

    private static let runs: [Explanation] = [
        Explanation(
            "run-under-way", .doctor, "A run of Moult works on the store at this moment.",
            "A second one would be refused.", "Wait for it to end, then \(.status, .anyStore)."),
        Explanation(
            "run-stopped", .doctor, "A run of Moult holds the store, and its process is stopped.",
            "It keeps its lock for as long as it exists.",
            "`kill -CONT PID` continues it; `kill PID` ends it, and the store stays whole."),
        Explanation(
            "run-unfinished", .doctor, "A run began and has not ended: its process died.",
            "The store is whole. Files of the run are still next to it.",
            "\(.recover, .anyStore) cleans up, and finishes a migration as it was begun."),
        Explanation(
            "run-paused", .doctor, "A migration with a budget waits for its next call.",
            "The store has its old version until the last call.",
            "\(.recover, .anyStore) continues it."),
        Explanation(
            "last-run-failed", .doctor, "The last run on this store failed or died.", "The store is unchanged.",
            "\(.log, .anyStore) shows why."),
        Explanation(
            "never-completes", .doctor, "The last runs all failed or died.",
            "Running the same command again will not help.",
            "\(.log, .anyStore) shows why. If the process was killed, give it more time or smaller pieces "
                + "(\(option: .stopAtEachVersion), \(option: .budget(nil)))."),
        Explanation(
            "leftovers", .doctor, "A process that died has left unfinished files.",
            "They take space; nothing reads them.", "\(.recover, .anyStore) removes them."),
        Explanation(
            "mirror-unfinished", .doctor, "A mirror was being made when its process died.",
            "The second store is not complete.", "\(.stopMirror, .anyStore), or \(.startMirror, .anyStore) again."),
        Explanation(
            "history-unreadable", .doctor, "The history of runs cannot be read.",
            "What was done to the store earlier is only known in words.", "\(.log, .anyStore) prints what is known."),
        Explanation(
            "journal-unreadable", .doctor, "The journal of a run that died could not be read.",
            "It is not known what became of that run. The store is whole.", "Remove the file that the message names."),
        Explanation(
            "no-backup", .doctor, "There is no backup yet.", "A migration makes its own; until then there is none.",
            "\(.makeBackup, .anyStore)"),
        Explanation(
            "backup-unreadable", .doctor, "A backup or its manifest cannot be read.",
            "It cannot be restored until it can be read.",
            "\(.verifyBackups, .anyStore), then \(.makeBackup, .anyStore)."),
        Explanation(
            "backup-damaged", .doctor, "A backup is not as it was written.", "It cannot be restored.",
            "\(.makeBackup, .anyStore) makes a sound one; \(.verifyBackups, .anyStore) names the damaged ones."),
        Explanation(
            "quarantined", .doctor, "Objects are in the quarantine.",
            "A repair or a migration took them out of the store; nothing of them is lost.",
            "\(.listQuarantine, .anyStore) lists them, with the reason of each."),
        Explanation(
            "fewer-objects", .doctor, "Objects that a backup of the same version has are not in the store.",
            "The app has deleted them, or they were lost.",
            "\(.rollback, .anyStore) restores the backup, if the app did not delete them."),
    ]

    private static let versions: [Explanation] = [
        Explanation(
            "behind", .doctor, "The store has an older version than the model.",
            "The app migrates it when it opens it.", "\(.plan, .anyStore) shows how; \(.migrate, .anyStore) does it."),
        Explanation(
            "ahead", .doctor, "The store has a later version than the model.",
            "A newer program wrote it. An older one cannot open it.",
            "Use the newer model, or \(.downgrade, .anyStore, .to("VERSION"))."),
        Explanation(
            "unknown-version", .doctor, "The store matches no version of the model.",
            "Core Data says: the model used to open the store is incompatible.",
            "\(.inspect, .anyStore) shows the model inside it; \(.difference) and \(.lock, .anyModel) show which "
                + "released version was changed."),
        Explanation(
            "not-core-data", .doctor, "It is an SQLite database without Core Data's tables.",
            "Moult has nothing to migrate in it.", "Name a Core Data or SwiftData store."),
        Explanation(
            "no-model", .doctor, "No model was named.", "It is not known whether the store is behind.",
            "Name the model of the newest version with \(option: .model(nil))."),
        Explanation(
            "can-migrate", .doctor, "The store can be migrated.", "Nothing prevents it.",
            "\(.plan, .anyStore) shows what will be done; \(.migrate, .anyStore) does it."),
        Explanation(
            "open-question", .doctor, "A migration waits for an answer.",
            "The model leaves open what becomes of some values.", "\(.answer, .anyModel) records the answer."),
        Explanation(
            "cannot-infer", .doctor, "A lightweight migration is not possible.",
            "Core Data would fail at this point too.",
            "\(.lint, .anyModel) shows the changes, with corrections; a mapping model (\(option: .mapping(nil))) can do it."
        ),
        Explanation(
            "cannot-plan", .doctor, "A migration to the newest version cannot be planned.",
            "The message has the reason.", "Do what the message says, then \(.plan, .anyStore)."),
        Explanation(
            "model-cache-stale", .store, "The model inside the store does not match its metadata.",
            "Another program has changed one of the two.", "Name the model that made the store."),
        Explanation(
            "model-does-not-fit", .store, "The store's metadata name entities that the model does not have.",
            "Rows of these entities cannot be read with it.", "Name the model that made the store."),
        Explanation(
            "framework-unknown", .store, "The store is of a framework level that this release does not know.",
            "Parts that a newer system has added are left as they are.",
            "There is nothing to do; look for a newer release of Moult."),
    ]

    private static let pages: [Explanation] = [
        Explanation(
            "damaged-page", .store, "Pages of the database are damaged.",
            "SQLite may return wrong rows, or fail at any moment.",
            "Stop all programs that write to it. " + MigrationError.damagedStoreRemedy),
        Explanation(
            "index-damaged", .store, "An index does not match its table.",
            "Searches by it miss rows or find others.", "\(.repair, .anyStore, .only(["indexes"])) makes it again."),
        Explanation(
            "table-missing", .store, "A table that the model or persistent history needs is missing.",
            "Reading its objects fails.", "\(.repair, .anyStore, .only(["tables"])) creates it, empty."),
        Explanation(
            "column-missing", .store, "A column that the model or persistent history needs is missing.",
            "Reading its objects fails.",
            "\(.repair, .anyStore, .only(["columns"])) adds it, with the model's default value."),
        Explanation(
            "schema-tables", .doctor, "A table, or the number of an entity, is missing.",
            "Reading the objects fails.", "\(.repair, .anyStore, .dryRun) shows what a repair would do."),
        Explanation(
            "schema-columns", .doctor, "A column is missing.", "Reading the objects fails.",
            "\(.repair, .anyStore, .dryRun) shows what a repair would do."),
        Explanation(
            "schema-history", .doctor, "A table or column of persistent history is missing.",
            "The next save with history fails.", "\(.repair, .anyStore, .dryRun) shows what a repair would do."),
        Explanation(
            "index-missing", .store, "An index of the model is missing.",
            "Each search that needs it reads the whole table; without a unique index, equal values can get in.",
            "\(.repair, .anyStore, .only(["indexes"])) creates it."),
        Explanation(
            "index-differs", .store, "An index has other columns than the model's.",
            "Searches that need the model's read the whole table.",
            "\(.repair, .anyStore, .only(["indexes"])) creates the model's."),
        Explanation(
            "index-left-over", .store, "The store has an index that the model does not have.",
            "An earlier migration may have left it; it only takes space.",
            "There is nothing to do. \(.migrate, .anyStore, .normalise) leaves it out."),
        Explanation(
            "constraint-missing", .store, "A table lacks the uniqueness of a column that was missing.",
            "SQLite cannot add it to a table that exists, so equal values can get in.",
            "\(.salvage, .anyStore) copies every object into a new store, whose tables are as the model asks."),
        Explanation(
            "name-taken", .store, "A view or another object has the name of one of Core Data's tables.",
            "The table cannot be created.", "Drop or rename the object, then run \(.repair, .anyStore)."),
        Explanation(
            "column-type", .store, "A column has another declared type than the model's.",
            "SQLite may store numbers as texts, or the other way round.",
            "\(.migrate, .anyStore, .normalise) makes the table again."),
        Explanation(
            "column-unknown", .store, "A table has a column that the model does not explain.",
            "Another version, or another program, has added it.", "Moult leaves it unchanged."),
        Explanation(
            "column-deferred", .store, "A column belongs to an older version and is still to be dropped.",
            "A deferred migration has left it for later.", "\(.finish, .anyStore) drops it."),
        Explanation(
            "table-unknown", .store, "The store has a table that the model does not explain.",
            "An app or another library has added it.",
            "Moult leaves it unchanged, unless the plan of a migration says otherwise."),
        Explanation(
            "entity-unknown", .store, "Z_PRIMARYKEY lists an entity that the model does not have.",
            "Its rows are not read.", "Name the model that made the store."),
        Explanation(
            "entity-without-name", .store, "Z_PRIMARYKEY lists a number without an entity's name.",
            "The table is damaged.", MigrationError.damagedStoreRemedy),
        Explanation(
            "schema-missing", .store, "A table, index or trigger of a new store is missing.",
            "The store is not as the plan promised.", "Migrate the store again, or restore a backup."),
        Explanation(
            "schema-differs", .store, "A table, index or trigger is not as a new store has it.",
            "It is harmless after a migration in place: the columns are in another order.",
            "\(.migrate, .anyStore, .normalise) makes it anew."),
        Explanation(
            "schema-surplus", .store, "The new store has an object that neither the old store nor a new one has.",
            "The migration made something that its plan does not contain. The store is unchanged.",
            "Please report this."),
    ]
}
