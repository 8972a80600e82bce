import Moult
import MoultBasics

extension Explanation.Group {
    /// The errors with an exit status.
    fileprivate static func errors(exit status: Int32) -> Self {
        switch status {
        case 2: Self(name: "usage", title: "Errors with exit status 2: the command or the call is wrong.")
        case 3: Self(name: "refused", title: "Errors with exit status 3: nothing was changed, a decision is needed.")
        case 4: Self(name: "unusable", title: "Errors with exit status 4: not a usable store or model.")
        case 5: Self(name: "failed", title: "Errors with exit status 5: the store is as it was.")
        default: Self(name: "bug", title: "Errors with exit status 70: Moult itself is at fault.")
        }
    }
}

extension Explanation {
    private init(
        _ code: MigrationError.Code, _ meaning: String, _ why: String, _ remedy: Remedy
    ) {
        self.init(code.description, .errors(exit: code.exitCode), meaning, why, remedy)
        exitCode = code.exitCode
        coreData = MigrationError(code, "", remedy: "").coreData
    }

    /// The errors.
    static let errors: [Explanation] =
        (usageErrors + refusals + moreRefusals + unusableErrors + failures).sorted {
            ($0.exitCode ?? 0) < ($1.exitCode ?? 0)
        }

    private static let usageErrors: [Explanation] = [
        Explanation(
            .usage, "A call or a command is itself wrong: an argument, an option, or an object of another context.",
            "Nothing was done, because it is not certain what you meant.",
            "Correct the argument that the message names. The help of the verb lists its arguments, with examples."),
        Explanation(
            .unknownKey, "The model has no entity or property of that name, or none for that class.",
            "A misspelt name would otherwise read or write nothing.",
            "Correct the name. \(.inspect, .anyStore) lists the entities and properties of a store."),
        Explanation(
            .wrongType, "A value or an object does not have the type that the model gives the property.",
            "SQLite would store the value, and Core Data would not read it.",
            "Convert the value to the property's type. \(.inspect, .anyStore) shows the types."),
        Explanation(
            .objectGone, "The object's row, store or context is gone.",
            "Another context or process has deleted the object, or its store was removed.",
            "Fetch the object again, or treat it as deleted."),
        Explanation(
            .externalRelationship, "A relationship would lead from an object in one store to an object in another.",
            "Core Data stores the key of an object without its store, so the relationship would lead elsewhere.",
            "Assign both objects to one store, or store the object's URI instead of a relationship."),
    ]

    private static let refusals: [Explanation] = [
        Explanation(
            .question, "A decision is needed that Moult does not guess, such as: renamed, or removed and added?",
            "A wrong guess would drop values that the app still needs.",
            "\(.answer, .anyModel) lists the questions and records the answers next to the model. Or set the renaming "
                + "identifier in the model."),
        Explanation(
            .cannotInfer, "The mapping between two versions cannot be inferred, or a mapping model cannot run.",
            "Core Data would fail at this point too, on the device of a user.",
            "\(.lint, .anyModel) shows each change that is not inferred, with the correction. Otherwise add a mapping "
                + "model or a custom stage between the two versions."),
        Explanation(
            .stagesInvalid,
            "The stages cannot run one after the other, for any store: a version occurs twice, or there is a gap.",
            "A store of the version at the gap could never be migrated.",
            "Let each stage lead from a version to the next one in the plan."),
        Explanation(
            .incompatibleVersion,
            "No migration leads from one semantic version to the other, for example to an earlier one.",
            "A migration only goes forward; an earlier version has no place for what was added.",
            "\(.downgrade, .anyStore, .to("VERSION")) goes back. \(.rollback, .anyStore) restores the backup of the "
                + "last migration."),
        Explanation(
            .noPath,
            "No path leads to the requested version: it does not exist, no mapping fits, or inference is not allowed.",
            "The store stays at its version, and the app cannot open it with the newer model.",
            "Name a version of the model; \(.lint, .anyModel) checks every step between them."),
        Explanation(
            .storeAhead,
            "The store has a later version than the model, or no longer has the version that it was opened with.",
            "A newer app wrote the store. An older one would not find the columns that it expects.",
            "Use the newer model. \(.downgrade, .anyStore, .to("VERSION")) makes the store readable for the older app, "
                + "and reports what is lost."),
        Explanation(
            .migrationRequired,
            "The store has an older version, and the opener may not migrate it, for example an app extension.",
            "Two processes that migrate one store at the same time would disturb each other.",
            "Let the app itself open the store first, or run \(.migrate, .anyStore)."),
        Explanation(
            .storeUnknown, "The store matches no known version of the model.",
            "Its version was edited after the release, is missing from the model, or belongs to another app.",
            "\(.inspect, .anyStore) shows the model inside the store; \(.difference) compares it with yours. Restore "
                + "the released version, which \(.reconstruct, .anyModel) finds at the tags of the repository, and make "
                + "the change in a new one."),
        Explanation(
            .locked, "Another process has the store open, is migrating it, or wrote to it meanwhile.",
            "A migration beside a writer would lose what it writes.",
            "Close the program that has the store open; \(.diagnose, .anyStore) names it. Then run the command again."),
        Explanation(
            .planStale, "A saved plan no longer fits: the store, the model or the mapping has changed since.",
            "The plan that was read and approved is not the one that would run.",
            "Make the plan again with \(.plan, .anyStore), read it, and migrate with the new file."),
        Explanation(
            .lossNotAccepted,
            "A migration would lose data, and the loss is not declared; or a repair would clear most references of a "
                + "relationship.",
            "Rows or values would be gone without anyone having decided it.",
            "\(.plan, .anyStore) counts what would be lost. Keep the data by a stage or a mapping model, or declare the "
                + "loss: \"acceptedLosses\" in moult.json for a place, \(option: .acceptLosses) for this run. Only the "
                + "latter lets a repair clear references."),
        Explanation(
            .wouldReplace, "The output file already exists and has other contents.",
            "What is there may be the only copy of something.",
            "Name another file, move the one that is there away, or pass the option for replacing it, if the verb has "
                + "one."),
        Explanation(
            .lockFileMismatch,
            "A released version of the model differs from the lock file, or the lock file cannot be read.",
            "Stores of the released version would match no version of the model any more.",
            "Undo the edit of the released version, and make the change in a new version. \(.lint, .anyModel) shows "
                + "what differs."),
        Explanation(
            .unsupported, "The model, the store or the mapping needs a feature that Moult does not know or support.",
            "To go on would mean to guess at a format, and to risk the data.",
            "The message names the feature. If it is not certain, \(option: .experimental) allows it for the verbs that "
                + "have the option."),
        Explanation(
            .codeMissing, "A plan names app code that this program does not contain.",
            "The steps and policies of a migration are Swift code, which only the app's own program has.",
            "Build the app's own tool, three lines of Swift, which the message shows, and run the same command with "
                + "it."),
    ]

    private static let moreRefusals: [Explanation] = [
        Explanation(
            .hardLinked, "The store's file has several hard links; SQLite keeps its journals next to one name only.",
            "A program that opens the other name would not see the journal, and would damage the store.",
            "Remove the other names, or copy the store to a file of its own (cp), with its -wal."),
        Explanation(
            .cloudKit,
            "The store is mirrored to CloudKit, and the migration would lose the identity of its records there.",
            "CloudKit would upload every object again, next to the old records.",
            "Let the app migrate the store itself. If its records may be uploaded again, \(permit: .cloudKit)."),
        Explanation(
            .deferredWork, "Work that a deferred migration postponed must be finished first.",
            "The next step would read values that are not yet converted.",
            "\(.finish, .anyStore) does the rest. Then run the command again."),
        Explanation(
            .budgetTooSmall, "A time budget is shorter than the longest step that cannot be interrupted.",
            "No call could ever complete the step, so the migration would never end.",
            "\(.plan, .anyStore) says how long the longest piece takes. Give a larger \(option: .budget(nil))."),
        Explanation(
            .tooManyAttempts, "A migration died repeatedly and is not started again automatically.",
            "The system or a watchdog kills it every time, so it would die again.",
            "\(.log, .anyStore) shows the last runs. Remove the cause, or use \(option: .budget(nil)); then "
                + "\(option: .again) starts it once more."),
        Explanation(
            .insufficientStorage,
            "The volume has too little free space, by the estimate before the run or as found during it.",
            "A full disk in the middle of a write would stop every program on it.",
            "Free the space that the message names. \(.pruneBackups, .anyStore) removes expired backups; "
                + "\(option: .into("FILE")) and \(option: .backups("FOLDER")) use another volume; \(option: .frugal) "
                + "needs no room for a backup."),
        Explanation(
            .dataConflict, "A conflict between the store's data and the model, or the version to migrate to.",
            "Rows do not fit what the newer version requires, such as a value that must be unique.",
            "\(.validate, .anyStore) lists the rows. Correct them in the app or with \(.repair, .anyStore), then run "
                + "the command again."),
        Explanation(
            .quarantineTooLarge,
            "A repair or the fixes of rules would move a large part of an entity's objects to quarantine.",
            "So many faults are more often a wrong rule or model than wrong data.",
            "Check the rule or the model first. \(option: .allowLargeQuarantine) allows it."),
        Explanation(
            .readOnly, "The store, its folder or its volume is not writable, or the store was opened read-only.",
            "SQLite writes a journal next to the store, so it needs the folder too.",
            "Give this user permission to write to the file and its folder, or work on a copy."),
        Explanation(
            .protectedData, "The system does not open the file now, such as before the device is first unlocked.",
            "The permissions of the file are right. On iOS its protection class closes it while the device is locked; on "
                + "a computer a policy of the system does.",
            "Wait for protectedDataDidBecomeAvailable and try again, or allow the program to open the folder."),
        Explanation(
            .mirrorDiverged, "The second store of a mirror is not as the mirror left it, or it is ahead of the first.",
            "Changes of one store would overwrite those of the other.",
            "\(.verifyMirror, .anyStore) lists the differences. \(.stopMirror, .anyStore) ends the mirror, and "
                + "\(.startMirror, .anyStore) begins a new one."),
        Explanation(
            .historyTokenExpired, "The persistent history after a token is no longer available.",
            "It was deleted, or a restore went back to a state before the token, so changes would be missed.",
            "Read the store's objects as a whole, and go on from a new token."),
        Explanation(
            .backupNotFound, "There is no backup to go back to.",
            "Without one, the state before the migration is nowhere.",
            "\(.listBackups, .anyStore) lists what there is. If backups are in another folder, name it with "
                + "\(option: .backups("FOLDER"))."),
        Explanation(
            .fetchUnsupported, "A store cannot answer the fetch in SQL.",
            "The predicate or the sort order uses a part that only objects in memory have.",
            "Fetch with the part of the predicate that is about stored properties, and filter the result."),
    ]

    private static let unusableErrors: [Explanation] = [
        Explanation(
            .fileNotFound, "There is nothing at the path.",
            "Moult makes no empty store in place of a missing one.",
            "Correct the path. \(.diagnose, .store("PATH")) says whether there is a backup of a store that is gone."),
        Explanation(
            .fileNotReadable, "The file or folder cannot be read by this user, or is not a plain file.",
            "Its contents are unknown, so nothing can be said about it.",
            "Give this user permission to read it (ls -l shows who may), or run the command as another user."),
        Explanation(
            .notAStore, "The file is not an SQLite database, or was made by neither Core Data nor SwiftData.",
            "It is another kind of file, encrypted, overwritten, or the database of another library.",
            "Name the store itself; the message says what the file is. `file PATH` shows its kind."),
        Explanation(
            .storeCorrupted, "The database is damaged, or a value in it cannot be read.",
            "SQLite may return wrong rows, or fail at any moment.", MigrationError.damagedStoreRemedy),
        Explanation(
            .sideFileForeign, "The store is sound without the log or journal next to it, and damaged with it.",
            "The -wal or -journal belongs to another state of the store: the two were copied at different times.",
            "Copy the store and its -wal again from where they came from. If that is not possible, move the -wal away "
                + "and check the store with \(.validate, .anyStore)."),
        Explanation(
            .metadataInvalid,
            "The store's metadata, or a record that Moult keeps next to the store, cannot be read.",
            "The metadata say which version the store has.",
            "\(.diagnose, .anyStore) says what helps; \(.salvage, .anyStore) reads the rows without the metadata."),
        Explanation(
            .modelNotFound, "There is no model at the path, in the bundle or in the store.",
            "Without a model, tables are known and entities are not.",
            "Name a model with \(option: .model("PATH")): an .xcdatamodeld, a .momd, a folder of versions, or a store "
                + "that contains one."),
        Explanation(
            .modelInvalid, "The model cannot be read, or contradicts itself.",
            "Its version hashes would be wrong, and stores would not be recognised.",
            "\(.lint, .anyModel) names the line and the correction."),
        Explanation(
            .invalidPredicate,
            "A predicate or an expression does not parse, or refers to something that does not exist.",
            "A part that is ignored would give other rows.",
            "Correct the predicate at the position that the message names. Property names are those of the model."),
        Explanation(
            .propertyListInvalid, "A property list is damaged, such as a compiled model or a store's metadata.",
            "What it describes cannot be trusted.",
            "Compile the model again with \(.compile, .anyModel), or copy the file again from where it came from."),
        Explanation(
            .backupInvalid, "A backup or an archive is damaged or incomplete.",
            "A restore from it would put a damaged store in place.",
            "\(.verifyBackups, .anyStore) checks every backup. Use another one, and make a new one with "
                + "\(.makeBackup, .anyStore)."),
    ]

    private static let failures: [Explanation] = [
        Explanation(
            .cancelled, "The user or another program has stopped the run, for example with Control-C.",
            "The store is as it was before; nothing is half done.", "Run the command again when it suits."),
        Explanation(
            .rulesBroken, "App rules with severity error do not hold.",
            "The app has declared that its data must not be in this state, so the new store was not put in place.",
            "\(.validate, .anyStore) lists the objects. Correct them, or let the fixes of the rules do it "
                + "(\(option: .fix))."),
        Explanation(
            .migrationFailed, "A statement or another part of the migration failed; the cause says why.",
            "The transaction was rolled back, and the store is unchanged.",
            "\(.log, .anyStore) shows the run. \(.migrate, .anyStore, .dryRun) tries it on a copy."),
        Explanation(
            .policyFailed, "A migration policy failed, or returned an invalid result.",
            "The app's own code decides about these objects, so Moult cannot go on without it.",
            "Correct the policy; the message names the object. Try it with \(.migrate, .anyStore, .dryRun)."),
        Explanation(
            .stageFailed, "A custom stage or a step of a migration failed.",
            "The steps before it were undone, and the store is unchanged.",
            "Correct the stage; \(.log, .anyStore) shows its error. Try it with \(.migrate, .anyStore, .dryRun)."),
        Explanation(
            .verificationFailed, "The new store does not match its plan, so it was not put in place.",
            "Rows, values or tables are not what the plan promised. The old store is unchanged.",
            "\(.validate, .anyStore) finds faults that the old store already has. If it finds none, please report this "
                + "with the archive of a diagnosis, \(.diagnose, .anyStore), which holds no data."),
        Explanation(
            .inputOutput, "The disk failed while a file was read or written.",
            "What was written may not be what is read later.",
            "Check the disk and its free space (dmesg, df), then run the command again."),
        Explanation(
            .sqlite, "SQLite refused a statement for a reason that has no code of its own.",
            "The cause has SQLite's own words; the transaction was rolled back.",
            "Correct the cause. \(.diagnose, .anyStore) shows the state of the store."),
        Explanation(
            .internal, "Moult itself is at fault.",
            "A case occurred that was thought impossible. The store is unchanged.",
            "Please report this, with the command and what it printed."),
    ]
}
