import MoultBasics
import MoultEngine
import MoultObjects
import MoultStore

/// The result of a repair: the faults found, and their outcomes.
public struct RepairReport: Sendable, Equatable {
    /// The faults of one rule at one place.
    public struct Fault: Sendable, Hashable {
        /// The rule.
        public package(set) var rule: RepairRule
        /// `Entity.property`, an entity or a table.
        public package(set) var place: String
        /// Rows at fault before the repair. For a missing column, the rows that get it; for a missing index, the rows
        /// of its table.
        public package(set) var count: Int64
        /// The first of their keys.
        public package(set) var keys: [Int64]
        /// Objects quarantined because of the fault, including those that could not exist without them.
        public package(set) var quarantined: Int64 = 0
        /// Rows still at fault afterwards, because the right value is unknown.
        public package(set) var left: Int64 = 0
        /// The size of files that no row names, or of free pages; 0 for rows.
        public package(set) var bytes: Int64 = 0
        /// Whether the rows are persistent history that is deleted on request.
        package var isTrimmed = false

        /// Returns a sentence about the action that the repair has taken, or will take.
        package func sentence(isDone: Bool) -> String {
            guard isTrimmed else { return rule.sentence(isDone: isDone) }
            return "The rows \(isDone ? "were" : "will be") deleted. "
                + "A reader whose token is older reads the objects anew."
        }

        package static let keyLimit = Finding.keyLimit
    }

    /// The prefix of a fault's place where an entity lacks its number.
    package static let numberPlace = "Z_PRIMARYKEY."

    /// The faults that were found, by rule and place.
    public package(set) var faults: [Fault]
    /// The findings that no repair can fix, each with advice.
    public package(set) var remarks: [Finding]
    /// Whether missing tables or columns kept the rows from being checked: repair the store again to check them.
    public package(set) var leavesRows = false
    /// The outcome of the run; nil if nothing was changed.
    package var outcome: MigrationOutcome?
    /// The space that the run needs, or needed.
    package var space = SpaceRequirement(parts: [])
    /// A sentence about the space that the run will need; nil for a finished run.
    package var spaceSentence: String?
    /// Whether everything was done on a copy that is not kept.
    package var isRehearsal = false
    /// Whether there was something to repair, so that the repair ran or was rehearsed.
    package var isAttempted = false

    package init(faults: [Fault] = [], remarks: [Finding] = []) {
        self.faults = faults
        self.remarks = remarks
    }

    /// Whether no fault that a repair can detect is left.
    public var isWell: Bool { left == 0 && remarks.isEmpty }
    /// The name of the run in the store's history; nil if nothing was changed.
    public var run: String? { outcome?.run }
    /// The backup to go back to; nil if nothing was changed.
    public var backup: StoreBackup? { outcome?.backup }
    /// The names of the backups that the retention policy removed.
    public var prunedBackups: [String] { outcome?.pruned ?? [] }

    /// Returns the audit's findings that have no rule, or whose rules have found nothing. If only some rules were
    /// requested, returns only the findings that these rules fix.
    func remarks(of audit: StoreAudit, _ rules: Set<RepairRule>, handling handled: Set<RepairRule>) -> [Finding] {
        audit.findings.filter { finding in
            let repairing = RepairRule.repairing[finding.code] ?? []
            let isAskedFor = rules.isSuperset(of: RepairRule.byDefault) || !rules.isDisjoint(with: repairing)
            return finding.isFault && isAskedFor && repairing.isDisjoint(with: handled)
                && !remarks.contains { $0.code == finding.code && $0.place == finding.place }
        }
    }

    package var count: Int64 { faults.reduce(0) { $0 + $1.count } }
    package var left: Int64 { faults.reduce(0) { $0 + $1.left } }
    package var quarantined: Int64 { faults.reduce(0) { $0 + $1.quarantined } }
}

/// A kind of fault that a repair can fix, by its name on the command line.
public enum RepairRule: String, CaseIterable, Sendable, Hashable {
    /// Tables that the model needs and the store lacks.
    case tables
    /// Columns that a table lacks.
    case columns
    /// Indexes that the model requires, missing or different, and any index that does not match its table.
    case indexes
    /// Tables and columns of persistent history, and rows of it with dangling references.
    case history
    /// Rows and references with an invalid entity number.
    case numbers
    /// References to objects that do not exist.
    case dangling
    /// One-to-one relationships whose two ends name different objects.
    case inverses
    /// One-to-one relationships of which the app has never written one end.
    case oneSided = "one-sided"
    /// Objects that share the values of a uniqueness constraint, and pairs that a join table holds more than once.
    case duplicates
    /// Objects without the object that a required relationship needs.
    case orphans
    /// Objects that are their own ancestors.
    case cycles
    /// Derived counts that differ from the number of objects.
    case counts
    /// `Z_PRIMARYKEY.Z_MAX` below a key in use.
    case keyCounters = "key-counters"
    /// Files of external data that no row names.
    case externalFiles = "external-files"
    /// Free pages in the file, which the rows of deleted objects have left.
    case space

    /// The rules of a repair that names none. Core Data saves cycles, and an app may want them; Apple's own apps write
    /// only one end of some one-to-one relationships; free pages are no fault. A repair changes these only on request.
    public static let byDefault = Set(allCases).subtracting([.cycles, .oneSided, .space])

    /// The rules that touch no row.
    static let keepingRows: Set<RepairRule> = [.externalFiles, .space]

    /// A sentence about the action that a repair takes.
    public var remedy: String { sentence(isDone: false) }

    /// Returns a sentence about the action that a repair has taken, or will take.
    package func sentence(isDone: Bool) -> String {
        let (was, were) = isDone ? ("was", "were") : ("will be", "will be")
        let (goes, go) = isDone ? ("went", "went") : ("will go", "will go")
        return switch self {
        case .tables: "The table, or the entity's number, \(was) created."
        case .columns: "The column \(was) added, with the model's default value."
        case .indexes: "The index \(was) created; a unique one only if no value occurs twice."
        case .history:
            "Missing tables and columns \(were) created, without their former contents. References to nothing \(were) "
                + "cleared."
        case .numbers: "The number \(was) set if only one can be right; otherwise the object \(goes) to the quarantine."
        case .dangling: "The reference \(was) cleared."
        case .inverses: "The free end \(was) set; otherwise the end without a counterpart \(was) cleared."
        case .oneSided: "The empty end \(was) set."
        case .duplicates:
            "The first object \(isDone ? "stayed and got" : "will stay and get") the references to the others, which \(go) "
                + "to the quarantine. Of repeated pairs one row \(isDone ? "stayed" : "will stay")."
        case .orphans: "The object \(goes) to the quarantine, with those that require it."
        case .cycles: "One link of each cycle \(was) removed: that of the object with the smallest key."
        case .counts: "The count \(was) computed again."
        case .keyCounters: "The counter \(was) set to the highest key."
        case .externalFiles:
            "The files \(were) moved to \(StoreRecords.unnamedFilesName), in the store's .moult folder."
        case .space: "The pages \(were) given back: the file \(isDone ? "was made" : "will be made") smaller."
        }
    }

    /// The rules that repair what an audit finds, by the code of its finding.
    package static let repairing: [String: Set<RepairRule>] = [
        "table-missing": [.tables, .history], "column-missing": [.columns, .history],
        "entity-number": [.tables, .keyCounters], "index-missing": [.indexes], "index-differs": [.indexes],
        "index-damaged": [.indexes], "history-change": [.history], "history-text": [.history], "stranger": [.numbers],
        "dangling-reference": [.dangling, .orphans, .numbers], "inverse-disagrees": [.inverses, .dangling, .orphans],
        "inverse-one-sided": [.oneSided], "not-unique": [.duplicates, .indexes], "pair-repeated": [.duplicates],
        "key-counter": [.keyCounters], "reference-cycle": [.cycles], "derived-count": [.counts],
        "external-files-unnamed": [.externalFiles],
    ]
}

/// One kind of fault at one place of a store, as a statement that finds the rows.
struct RepairFault: Sendable {
    let rule: RepairRule
    /// `Entity.property`, an entity or a table.
    let place: String
    /// Selects the key of each faulty row in its first column, ordered; for a join table, its rowid.
    let select: String
    let action: Action

    enum Action: Sendable {
        /// Clears a reference in a row of objects.
        case clear(Link)
        /// Removes a row of a join table that has a dangling end or repeats a pair.
        case unlink(table: String, columns: [PairColumn])
        /// Sets or clears one side of a one-to-one relationship.
        case answer(Link, inverse: Link)
        /// Gives a table's row the number of its entity.
        case number(table: String, entities: [String])
        /// Gives a reference the number of the object that it leads to.
        case renumber(Link)
        /// Keeps the first of several objects, whose key is the statement's second column.
        case merge(entity: String)
        /// Quarantines objects of a table.
        case quarantine(table: String)
        /// The fix of a rule.
        case rule(ValidationRule)
        /// Counts the destinations of a relationship again.
        case recount(table: String, column: String, property: String, counted: String)
        case raise(table: String, number: Int)
        /// Changes or removes rows of persistent history. The statement lacks its condition.
        case history(String)
        /// Deletes rows of a table of persistent history that are older than a date.
        case trim(table: String)
    }

    /// A key column of a join table.
    struct PairColumn: Sendable {
        let name: String
        /// The table of the objects that it leads to.
        let target: String
        /// The entity numbers that these objects may have.
        let numbers: [Int]
        /// The relationship of these objects.
        let property: String
    }

    /// A reference as columns of a row.
    struct Link: Sendable {
        let table: String
        let column: String
        /// The columns that are cleared with it: entity number and place in an ordered list.
        let companions: [String]
        /// The companion column with the entity number.
        let entityColumn: String?
        let property: String
        let target: String
        let isOptional: Bool
    }
}
