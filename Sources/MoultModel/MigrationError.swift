/// The one error of Moult: what was found, where, and what to do next.
///
/// A caller branches on ``code``; a person reads the rest. ``exitCode`` is what the command line ends with.
public struct MigrationError: Error, Sendable, Hashable {
    public var code: Code
    /// One sentence that says what was found.
    public var message: String
    /// Where: a path, `Entity.property`, a table; empty where there is none.
    public var place: String
    /// One sentence that says what to do next.
    public var remedy: String
    /// The underlying cause: the words of SQLite or of the system.
    public var cause: String?

    public init(_ code: Code, _ message: String, place: String = "", remedy: String, cause: String? = nil) {
        self.code = code
        self.message = message
        self.place = place
        self.remedy = remedy
        self.cause = cause
    }

    /// The remedy for a damaged store, the same everywhere.
    package static let damagedStoreRemedy =
        "moult doctor STORE says what helps: moult rollback restores a sound backup; without one, moult salvage copies "
        + "what is readable into a new store."

    package static func modelInvalid(_ message: String, place: String, remedy: String) -> MigrationError {
        MigrationError(.modelInvalid, message, place: place, remedy: remedy)
    }
}

extension MigrationError: CustomStringConvertible {
    public var description: String {
        let facts = [place.isEmpty ? nil : place, coreData.map { "\($0.constant) \($0.number)" }, cause].compactMap {
            $0
        }
        let tail = facts.isEmpty ? "" : " (\(facts.joined(separator: "; ")))"
        return "\(message)\(tail) \(remedy)"
    }

    /// Core Data's own name and number for this error, where it has one.
    public var coreData: (constant: String, number: Int)? { code.coreData }

    /// What the command line exits with (Documentation/CommandLine.md).
    public var exitCode: Int32 { code.exitCode }
}

extension MigrationError {
    /// The codes, each with what the command line exits with and Core Data's name for it.
    public struct Code: Sendable, Hashable, CustomStringConvertible {
        public let description: String
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
        public static let usage = Code("usage", exit: 2)

        // Refused: nothing was changed, and a decision is needed.
        public static let question = Code("question", exit: 3)
        public static let cannotInfer = Code("cannotInfer", exit: 3, "NSInferredMappingModelError", 134190)
        /// Stages that cannot be run one after the other, whatever the store: twice the same version, a gap.
        public static let stagesInvalid = Code(
            "stagesInvalid", exit: 3, "NSStagedMigrationFrameworkVersionMismatchError", 134504)
        /// No migration leads from the one semantic version to the other, such as back.
        public static let incompatibleVersion = Code(
            "incompatibleVersion", exit: 3, "NSPersistentStoreIncompatibleVersionHashError", 134100)
        public static let noPath = Code("noPath", exit: 3, "NSMigrationMissingMappingModelError", 134140)
        public static let storeAhead = Code(
            "storeAhead", exit: 3, "NSPersistentStoreIncompatibleVersionHashError", 134100)
        /// The store is of an older version, and whoever opened it may not migrate it, such as an extension of the app.
        public static let migrationRequired = Code(
            "migrationRequired", exit: 3, "NSPersistentStoreIncompatibleVersionHashError", 134100)
        public static let storeUnknown = Code("storeUnknown", exit: 3, "NSMigrationMissingSourceModelError", 134130)
        public static let locked = Code("locked", exit: 3, "NSPersistentStoreTimeoutError", 134090)
        public static let planStale = Code("planStale", exit: 3)
        /// A stage loses what both versions have, without any code having read it, and the loss is not declared.
        public static let lossNotAccepted = Code("lossNotAccepted", exit: 3, "NSMigrationError", 134110)
        /// A file that would be written is there already and holds something else.
        public static let wouldReplace = Code("wouldReplace", exit: 3)
        public static let lockFileMismatch = Code("lockFileMismatch", exit: 3)
        public static let unsupported = Code("unsupported", exit: 3)
        /// A plan names code of an app that this program does not have.
        public static let codeMissing = Code("codeMissing", exit: 3)
        public static let hardLinked = Code("hardLinked", exit: 3)
        public static let cloudKit = Code("cloudKit", exit: 3)
        public static let deferredWork = Code("deferredWork", exit: 3)
        /// A budget of time is shorter than the longest piece of work that cannot be interrupted.
        public static let budgetTooSmall = Code("budgetTooSmall", exit: 3)
        /// A migration died repeatedly and is not started again automatically.
        public static let tooManyAttempts = Code("tooManyAttempts", exit: 3)
        public static let insufficientStorage = Code("insufficientStorage", exit: 3)
        public static let dataConflict = Code("dataConflict", exit: 3, "NSMigrationError", 134110)
        /// A repair or the fixes of rules would put a large part of an entity's objects into the quarantine.
        public static let quarantineTooLarge = Code("quarantineTooLarge", exit: 3)
        public static let readOnly = Code("readOnly", exit: 3)
        /// The second store of a mirror is not as the mirror left it, or is ahead of the first.
        public static let mirrorDiverged = Code("mirrorDiverged", exit: 3)
        /// There is no backup to go back to.
        public static let backupNotFound = Code("backupNotFound", exit: 3)

        // Wrong use of objects.
        public static let unknownKey = Code("unknownKey", exit: 2)
        public static let wrongType = Code("wrongType", exit: 2)
        public static let objectGone = Code("objectGone", exit: 2, "NSManagedObjectReferentialIntegrityError", 133000)
        public static let externalRelationship = Code(
            "externalRelationship", exit: 2, "NSManagedObjectExternalRelationshipError", 133010)

        // Not a usable store or model.
        public static let fileNotFound = Code("fileNotFound", exit: 4, "NSFileNoSuchFileError", 4)
        public static let fileNotReadable = Code("fileNotReadable", exit: 4, "NSFileReadUnknownError", 256)
        public static let notAStore = Code("notAStore", exit: 4, "NSPersistentStoreInvalidTypeError", 134000)
        public static let storeCorrupted = Code("storeCorrupted", exit: 4, "NSFileReadCorruptFileError", 259)
        public static let metadataInvalid = Code("metadataInvalid", exit: 4, "NSPersistentStoreOpenError", 134080)
        public static let modelNotFound = Code("modelNotFound", exit: 4)
        public static let modelInvalid = Code("modelInvalid", exit: 4)
        public static let invalidPredicate = Code("invalidPredicate", exit: 4)
        public static let fetchUnsupported = Code(
            "fetchUnsupported", exit: 3, "NSPersistentStoreUnsupportedRequestTypeError", 134091)
        public static let propertyListInvalid = Code("propertyListInvalid", exit: 4)
        public static let backupInvalid = Code("backupInvalid", exit: 4)

        // Failed: the store is as it was.
        /// A person or another program has stopped it, such as with Control-C.
        public static let cancelled = Code("cancelled", exit: 5, "NSMigrationCancelledError", 134120)
        /// Rules of an app with severity error do not hold.
        public static let rulesBroken = Code("rulesBroken", exit: 5, "NSManagedObjectValidationError", 1550)
        public static let migrationFailed = Code("migrationFailed", exit: 5, "NSMigrationError", 134110)
        /// A migration policy failed, or returned what it may not.
        public static let policyFailed = Code("policyFailed", exit: 5, "NSEntityMigrationPolicyError", 134170)
        /// A custom stage or a step of a migration failed.
        public static let stageFailed = Code("stageFailed", exit: 5, "NSMigrationError", 134110)
        public static let verificationFailed = Code("verificationFailed", exit: 5, "NSMigrationError", 134110)
        public static let inputOutput = Code("inputOutput", exit: 5)
        public static let sqlite = Code("sqlite", exit: 5, "NSSQLiteError", 134180)

        // A bug in Moult.
        public static let `internal` = Code("internal", exit: 70)
    }
}
