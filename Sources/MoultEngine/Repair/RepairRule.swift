/// A kind of fault that a repair can fix, by its name on the command line.
public enum RepairRule: String, CaseIterable, Sendable, Hashable {
    /// Tables that the model needs and the store lacks.
    case tables
    /// Columns that a table lacks.
    case columns
    /// Indexes that the model asks for, missing or on something else, and any index that does not match its table.
    case indexes
    /// Tables and columns of persistent history, and rows of it that lead to nothing.
    case history
    /// Rows and references whose entity number is none of those they may have.
    case numbers
    /// References to objects that are not there.
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
    /// Derived counts that are not those of the objects.
    case counts
    /// `Z_PRIMARYKEY.Z_MAX` below a key that is taken.
    case keyCounters = "key-counters"
    /// Files of external data that no row names.
    case externalFiles = "external-files"

    /// The rules of a repair that names none. Core Data saves cycles, and an app may want them; apps of Apple's write only one
    /// end of some one-to-one relationships. Both are changed only if asked for.
    public static let byDefault = Set(allCases).subtracting([.cycles, .oneSided])

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
        case .externalFiles: "The files \(were) moved to \(Sidecar.unnamedFilesName), in the store's .moult folder."
        }
    }

    /// The rules that repair what an audit finds, by the code of its finding.
    package static let repairing: [String: Set<RepairRule>] = [
        "table-missing": [.tables, .history], "column-missing": [.columns, .history],
        "entity-number": [.tables, .keyCounters], "index-missing": [.indexes], "index-differs": [.indexes],
        "index-damaged": [.indexes],
        "history-change": [.history], "history-text": [.history], "stranger": [.numbers],
        "dangling-reference": [.dangling, .orphans, .numbers], "inverse-disagrees": [.inverses, .dangling, .orphans],
        "inverse-one-sided": [.oneSided],
        "not-unique": [.duplicates, .indexes], "pair-repeated": [.duplicates], "key-counter": [.keyCounters],
        "reference-cycle": [.cycles], "derived-count": [.counts], "external-files-unnamed": [.externalFiles],
    ]
}
