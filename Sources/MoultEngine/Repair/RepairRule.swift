/// What a repair can mend, by the names that the command line has for it.
package enum RepairRule: String, CaseIterable, Sendable, Hashable {
    /// Tables that the model needs and the store lacks.
    case tables
    /// Columns that a table lacks.
    case columns
    /// Indexes that the model asks for, missing or on something else.
    case indexes
    /// Tables and columns of persistent history, and rows of it that lead to nothing.
    case history
    /// Rows and references whose entity number is none of those they may have.
    case numbers
    /// References to objects that are not there.
    case dangling
    /// One-to-one relationships whose two ends name different objects.
    case inverses
    /// Objects that share the values of a uniqueness constraint.
    case duplicates
    /// Objects without the object that a required relationship needs.
    case orphans
    /// Objects that are their own ancestors.
    case cycles
    /// Derived counts that are not those of the objects.
    case counts
    /// `Z_PRIMARYKEY.Z_MAX` below a key that is taken.
    case keyCounters = "key-counters"

    /// What is done about it, in one sentence.
    package var remedy: String {
        switch self {
        case .tables: "The table, or the entity's number, is made."
        case .columns: "The column is added, with the model's default value."
        case .indexes: "The index is made; a unique one only where no value occurs twice."
        case .history: "What is missing is made, without what it held; what leads to nothing ends."
        case .numbers: "The number is set where only one can be right; else the object goes to the quarantine."
        case .dangling: "The reference ends."
        case .inverses: "The end that is free is set; else the one that the other does not answer ends."
        case .duplicates:
            "The first object stays and gets what led to the others, which go to the quarantine."
        case .orphans: "The object goes to the quarantine, with those that cannot be without it."
        case .cycles: "One link of each cycle is cut, that of the object with the smallest key."
        case .counts: "The count is made anew."
        case .keyCounters: "The counter is set to the highest key."
        }
    }

    /// The rules that repair what an audit finds, by the code of its finding.
    package static let repairing: [String: Set<RepairRule>] = [
        "table-missing": [.tables, .history], "column-missing": [.columns, .history],
        "entity-number": [.tables, .keyCounters], "index-missing": [.indexes], "index-differs": [.indexes],
        "history-change": [.history], "history-text": [.history], "stranger": [.numbers],
        "dangling-reference": [.dangling, .orphans, .numbers], "inverse-disagrees": [.inverses, .dangling, .orphans],
        "not-unique": [.duplicates, .indexes], "key-counter": [.keyCounters], "reference-cycle": [.cycles],
        "derived-count": [.counts],
    ]
}
