/// The only error type of Moult: what was found, where, and what to do next.
///
/// Branch on ``code``; the other properties are for people to read. ``exitCode`` is the command line's exit status.
public struct MigrationError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kind of the error.
    public var code: Code
    /// One sentence that says what was found.
    public var message: String
    /// The place: a path, `Entity.property` or a table; empty if there is none.
    public var place: String
    /// One sentence that says what to do next, in the words of the library or of the command line.
    public var remedy: String {
        get { advice.text() }
        set { advice = Remedy(newValue) }
    }
    /// The remedy as a value, which each interface renders in its own words.
    package var advice: Remedy
    /// The underlying cause, as reported by SQLite or the operating system.
    public var cause: String?
    /// The bytes that the work needs on the volume that is too small; nil unless the code is `insufficientStorage` and
    /// they are known.
    public package(set) var neededSpace: Int64?
    /// The bytes that are free on that volume.
    public package(set) var freeSpace: Int64?

    /// Creates an error of a kind, with what was found, where, and what to do next.
    public init(_ code: Code, _ message: String, place: String = "", remedy: String, cause: String? = nil) {
        self.init(code, message, place: place, remedy: Remedy(remedy), cause: cause)
    }

    package init(_ code: Code, _ message: String, place: String = "", remedy: Remedy, cause: String? = nil) {
        self.code = code
        // A person has named the file, and not the unfinished one next to it.
        (self.message, self.place) = (message.withoutStagedNames, place.withoutStagedNames)
        advice = remedy
        self.cause = cause?.withoutStagedNames
    }

    /// The remedy for a damaged store, the same everywhere.
    package static let damagedStoreRemedy: Remedy = """
        \(.diagnose, .anyStore) says what helps: \(.rollback) restores a sound backup; without one, \(.salvage) copies \
        what is readable into a new store.
        """

    package static func modelInvalid(_ message: String, place: String, remedy: String) -> MigrationError {
        MigrationError(.modelInvalid, message, place: place, remedy: remedy)
    }

    /// The message, with the place, Core Data's name and number and the cause in parentheses, then the remedy. A list
    /// has lines of its own.
    public var description: String {
        let facts = [place.isEmpty ? nil : place, coreData.map { "\($0.constant) \($0.number)" }, cause].compactMap {
            $0
        }
        let tail = facts.isEmpty ? "" : " (\(facts.joined(separator: "; ")))"
        let text = message.hasSuffix("\n") ? String(message.dropLast()) : message
        let next = remedy
        if next.isEmpty || next.hasPrefix("\n") { return text + tail + next }
        return text + tail + (text.contains("\n") ? "\n" : " ") + next
    }

    /// Core Data's own name and number for this error, where it has one.
    public var coreData: (constant: String, number: Int)? { code.coreData }

    /// The exit status of the command line for this error (Documentation/CommandLine.md).
    public var exitCode: Int32 { code.exitCode }

    /// The codes, each with the exit status of the command line and the name that Core Data has for it.
    public struct Code: Sendable, Hashable, CustomStringConvertible {
        /// The code's name, such as `storeAhead`.
        public let description: String
        /// The exit status of the command line for an error of this code.
        public let exitCode: Int32
        let constant: String?
        let number: Int

        var coreData: (constant: String, number: Int)? { constant.map { ($0, number) } }

        private init(_ name: String, exit: Int32, _ constant: String? = nil, _ number: Int = 0) {
            self.description = name
            self.exitCode = exit
            self.constant = constant
            self.number = number
        }

        // Wrong usage.
        /// A call or a command is itself wrong: an argument, an option, or an object of another context.
        public static let usage = Code("usage", exit: 2)

        // Refused: nothing was changed, and a decision is needed.
        /// A decision is needed that Moult does not guess; the message lists the questions.
        public static let question = Code("question", exit: 3)
        /// The mapping between two versions cannot be inferred, or a mapping model cannot run.
        public static let cannotInfer = Code("cannotInfer", exit: 3, "NSInferredMappingModelError", 134190)
        /// The stages cannot run one after the other, for any store: a version occurs twice, or there is a gap.
        public static let stagesInvalid = Code(
            "stagesInvalid", exit: 3, "NSStagedMigrationFrameworkVersionMismatchError", 134504)
        /// No migration leads from one semantic version to the other, for example to an earlier one.
        public static let incompatibleVersion = Code(
            "incompatibleVersion", exit: 3, "NSPersistentStoreIncompatibleVersionHashError", 134100)
        /// No path leads to the requested version: it does not exist, no mapping fits, or inference is not allowed.
        public static let noPath = Code("noPath", exit: 3, "NSMigrationMissingMappingModelError", 134140)
        /// The store has a later version than the model, or no longer has the version that it was opened with.
        public static let storeAhead = Code(
            "storeAhead", exit: 3, "NSPersistentStoreIncompatibleVersionHashError", 134100)
        /// The store has an older version, and the opener may not migrate it, for example an app extension.
        public static let migrationRequired = Code(
            "migrationRequired", exit: 3, "NSPersistentStoreIncompatibleVersionHashError", 134100)
        /// The store matches no known version of the model.
        public static let storeUnknown = Code("storeUnknown", exit: 3, "NSMigrationMissingSourceModelError", 134130)
        /// Another process has the store open, is migrating it, or wrote to it meanwhile.
        public static let locked = Code("locked", exit: 3, "NSPersistentStoreTimeoutError", 134090)
        /// A saved plan no longer fits: the store, the model or the mapping has changed since.
        public static let planStale = Code("planStale", exit: 3)
        /// A stage loses data that both versions have and that no code has read, and the loss is not declared.
        public static let lossNotAccepted = Code("lossNotAccepted", exit: 3, "NSMigrationError", 134110)
        /// The output file already exists and has other contents.
        public static let wouldReplace = Code("wouldReplace", exit: 3)
        /// A released version of the model differs from the lock file, or the lock file cannot be read.
        public static let lockFileMismatch = Code("lockFileMismatch", exit: 3)
        /// The model or the mapping needs a feature that Moult does not know or support.
        public static let unsupported = Code("unsupported", exit: 3)
        /// A plan names app code that this program does not contain.
        public static let codeMissing = Code("codeMissing", exit: 3)
        /// The store's file has several hard links; SQLite keeps its journals next to one name only.
        public static let hardLinked = Code("hardLinked", exit: 3)
        /// The store is mirrored to CloudKit, and the migration would lose the identity of its records there.
        public static let cloudKit = Code("cloudKit", exit: 3)
        /// Work that a deferred migration postponed must be finished first.
        public static let deferredWork = Code("deferredWork", exit: 3)
        /// A time budget is shorter than the longest step that cannot be interrupted.
        public static let budgetTooSmall = Code("budgetTooSmall", exit: 3)
        /// A migration died repeatedly and is not started again automatically.
        public static let tooManyAttempts = Code("tooManyAttempts", exit: 3)
        /// The volume has too little free space, by the estimate before the run or as found during it.
        public static let insufficientStorage = Code("insufficientStorage", exit: 3)
        /// A conflict between the store's data and the model, or the version to migrate to.
        public static let dataConflict = Code("dataConflict", exit: 3, "NSMigrationError", 134110)
        /// A repair or the fixes of rules would move a large part of an entity's objects to quarantine.
        public static let quarantineTooLarge = Code("quarantineTooLarge", exit: 3)
        /// The store, its folder or its volume is not writable, or the store was opened read-only.
        public static let readOnly = Code("readOnly", exit: 3)
        /// The system does not open the file now, such as before the device is first unlocked. Try again later.
        public static let protectedData = Code("protectedData", exit: 3, "NSFileReadNoPermissionError", 257)
        /// The second store of a mirror is not as the mirror left it, or it is ahead of the first.
        public static let mirrorDiverged = Code("mirrorDiverged", exit: 3)
        /// The persistent history after a token is no longer available: it was deleted, or a restore went back to a
        /// state before the token.
        public static let historyTokenExpired = Code(
            "historyTokenExpired", exit: 3, "NSPersistentHistoryTokenExpiredError", 134301)
        /// There is no backup to go back to.
        public static let backupNotFound = Code("backupNotFound", exit: 3)

        // Wrong use of objects.
        /// The model has no entity or property of that name, or none for that class.
        public static let unknownKey = Code("unknownKey", exit: 2)
        /// A value or an object does not have the type that the model gives the property.
        public static let wrongType = Code("wrongType", exit: 2)
        /// The object's row, store or context is gone.
        public static let objectGone = Code("objectGone", exit: 2, "NSManagedObjectReferentialIntegrityError", 133000)
        /// A relationship would lead from an object in one store to an object in another.
        public static let externalRelationship = Code(
            "externalRelationship", exit: 2, "NSManagedObjectExternalRelationshipError", 133010)

        // Not a usable store or model.
        /// There is nothing at the path.
        public static let fileNotFound = Code("fileNotFound", exit: 4, "NSFileReadNoSuchFileError", 260)
        /// The file or folder cannot be read by this user.
        public static let fileNotReadable = Code("fileNotReadable", exit: 4, "NSFileReadUnknownError", 256)
        /// The file is not an SQLite database, or was made by neither Core Data nor SwiftData.
        public static let notAStore = Code("notAStore", exit: 4, "NSFileReadCorruptFileError", 259)
        /// The database is damaged, or a value in it cannot be read.
        public static let storeCorrupted = Code("storeCorrupted", exit: 4, "NSFileReadCorruptFileError", 259)
        /// The store is sound without the log or journal next to it, and damaged with it.
        public static let sideFileForeign = Code("sideFileForeign", exit: 4, "NSFileReadCorruptFileError", 259)
        /// The store's metadata, or a record that Moult keeps next to the store, cannot be read.
        public static let metadataInvalid = Code("metadataInvalid", exit: 4, "NSPersistentStoreOpenError", 134080)
        /// There is no model at the path, in the bundle or in the store.
        public static let modelNotFound = Code("modelNotFound", exit: 4)
        /// The model cannot be read, or contradicts itself.
        public static let modelInvalid = Code("modelInvalid", exit: 4)
        /// A predicate or an expression does not parse, or refers to something that does not exist.
        public static let invalidPredicate = Code("invalidPredicate", exit: 4)
        /// A store cannot answer the fetch in SQL.
        public static let fetchUnsupported = Code(
            "fetchUnsupported", exit: 3, "NSPersistentStoreUnsupportedRequestTypeError", 134091)
        /// A property list is damaged, such as a compiled model or a store's metadata.
        public static let propertyListInvalid = Code("propertyListInvalid", exit: 4)
        /// A backup or an archive is damaged or incomplete.
        public static let backupInvalid = Code("backupInvalid", exit: 4)

        // Failed: the store is as it was.
        /// The user or another program has stopped the run, for example with Control-C.
        public static let cancelled = Code("cancelled", exit: 5, "NSMigrationCancelledError", 134120)
        /// App rules with severity error do not hold.
        public static let rulesBroken = Code("rulesBroken", exit: 5, "NSManagedObjectValidationError", 1550)
        /// A statement or another part of the migration failed; the cause says why.
        public static let migrationFailed = Code("migrationFailed", exit: 5, "NSMigrationError", 134110)
        /// A migration policy failed, or returned an invalid result.
        public static let policyFailed = Code("policyFailed", exit: 5, "NSEntityMigrationPolicyError", 134170)
        /// A custom stage or a step of a migration failed.
        public static let stageFailed = Code("stageFailed", exit: 5, "NSMigrationError", 134110)
        /// The new store does not match its plan, so it was not put in place.
        public static let verificationFailed = Code("verificationFailed", exit: 5, "NSMigrationError", 134110)
        /// The disk failed while a file was read or written.
        public static let inputOutput = Code("inputOutput", exit: 5)
        /// SQLite refused a statement for a reason that has no code of its own.
        public static let sqlite = Code("sqlite", exit: 5, "NSSQLiteError", 134180)

        // A bug in Moult.
        /// Moult itself is at fault; please report it.
        public static let `internal` = Code("internal", exit: 70)

        /// All codes.
        package static let all: [Code] = [
            .usage, .question, .cannotInfer, .stagesInvalid, .incompatibleVersion, .noPath, .storeAhead,
            .migrationRequired, .storeUnknown, .locked, .planStale, .lossNotAccepted, .wouldReplace, .lockFileMismatch,
            .unsupported, .codeMissing, .hardLinked, .cloudKit, .deferredWork, .budgetTooSmall, .tooManyAttempts,
            .insufficientStorage, .dataConflict, .quarantineTooLarge, .readOnly, .protectedData, .mirrorDiverged,
            .historyTokenExpired, .backupNotFound, .unknownKey, .wrongType, .objectGone, .externalRelationship,
            .fileNotFound,
            .fileNotReadable, .notAStore, .storeCorrupted, .sideFileForeign, .metadataInvalid, .modelNotFound,
            .modelInvalid, .invalidPredicate, .fetchUnsupported, .propertyListInvalid, .backupInvalid, .cancelled,
            .rulesBroken, .migrationFailed, .policyFailed, .stageFailed, .verificationFailed, .inputOutput, .sqlite,
            .internal,
        ]

        /// Returns the code of that name; nil if there is none.
        package init?(named name: String) {
            guard let code = Self.all.first(where: { $0.description == name }) else { return nil }
            self = code
        }
    }

    /// Returns the error for a copy that differs from its original: a disk, a cable or the memory has changed the data.
    ///
    /// - Parameter page: the first page of a database that differs.
    package static func changedOnTheWay(_ path: String, page: Int? = nil) -> MigrationError {
        MigrationError(
            .inputOutput,
            "\(path) is not read as it was written\(page.map { ": its page \($0) differs from the original" } ?? "").",
            place: path, remedy: "Check the disk and the memory of this machine, then run the command again.")
    }
}
