import MoultBasics

/// The changes that SQLite makes to the columns of a table that is kept.
struct ColumnAlteration: Hashable, Sendable {
    struct Rename: Hashable, Sendable {
        let from: String
        let to: String
    }

    /// The columns that get another type.
    struct Retyping: Hashable, Sendable {
        let columns: [EntityTable.Column]
        /// The text of the table, followed by the text with the new types.
        let before: String
        let sql: String
    }

    /// The columns added at the end of the table.
    var added: [EntityTable.Column] = []
    /// The columns to drop. For each, SQLite rewrites all rows of the table.
    var dropped: [String] = []
    var renamed: [Rename] = []
    /// The columns whose type changes; their values are written afterwards.
    var retyping: Retyping?

    var isEmpty: Bool { added.isEmpty && dropped.isEmpty && renamed.isEmpty && retyping == nil }

    /// `changes the type of ZF to FLOAT, adds ZA and ZB, drops ZC, renames ZD to ZE`
    fileprivate var words: String {
        var words: [String] = []
        if let columns = retyping?.columns {
            words.append(columns.map { "changes the type of \($0.name) to \($0.type)" }.listed())
        }
        if !added.isEmpty { words.append("adds \(added.map(\.name).listed())") }
        if !dropped.isEmpty { words.append("drops \(dropped.listed())") }
        if !renamed.isEmpty { words.append("renames \(renamed.map { "\($0.from) to \($0.to)" }.listed())") }
        return words.joined(separator: ", ")
    }
}

/// The reason why a table cannot be kept.
enum RebuildReason: Hashable, Sendable {
    /// The columns should be in the order of a new store.
    case isNormalised
    case rowsMove(from: [String])
    case keysChange
    case rowsArePicked
    /// The column's values cannot be converted in place.
    case typeChanges(column: String, from: String, to: String)
    /// The column's type changes, and the value of another column is computed from it.
    case valuesAreUsed(column: String)
    /// A column's type changes, and a generated column may be in an index.
    case hasGeneratedColumns
    /// The table's own text contains uniqueness constraints, or definitions of an app.
    case hasConstraints
    case namesClash(column: String)
    /// For every dropped column, SQLite would rewrite all rows.
    case writesTooOften
    case tooManyColumns
    /// There are this many changes for which SQLite would parse the whole catalogue.
    case altersTooOften(Int)
    /// An object of the app would be parsed by SQLite, which may reject or change it.
    case isUsed(by: String)
    case policyRuns(String)
    case workIsPending
    /// The pairs of a relationship change.
    case pairsChange

    fileprivate var words: String {
        switch self {
        case .isNormalised: "the columns were asked for in the order of a new store"
        case .rowsMove(let tables): "its rows come from \(tables.listed())"
        case .keysChange: "its objects get new keys"
        case .rowsArePicked: "only some of its objects are taken"
        case .typeChanges(let column, let from, let to):
            "the values of \(column) cannot be converted in place from \(from) to \(to)"
        case .valuesAreUsed(let column): "another column is computed from \(column), which gets another type"
        case .hasGeneratedColumns: "a column gets another type, and the table has a generated column"
        case .hasConstraints: "its text has more than columns with a type"
        case .namesClash(let column): "the name \(column) is still taken when it is needed"
        case .writesTooOften: "to drop its columns one by one would write all rows more often"
        case .tooManyColumns: "it would have too many columns until the old ones are dropped"
        case .altersTooOften(let count):
            "SQLite would read every table and index \(Quantity.count(count, "time")) to alter them one by one"
        case .isUsed(let name): "\(name) uses the columns of tables"
        case .policyRuns(let name): "the policy \(name) makes objects"
        case .workIsPending: "an earlier migration has deferred work"
        case .pairsChange: "its pairs change, or are stored in another way"
        }
    }
}

/// The change of a table of the new version, and the reason for it.
package struct TableStrategy: Sendable, Hashable {
    package enum Kind: String, Sendable, Hashable {
        case unchanged
        /// The table is new.
        case made
        /// Only the catalogue changes, unless a column is dropped.
        case altered
        case updated
        case rebuilt
    }

    package let table: String
    package private(set) var kind: Kind
    /// A description in one sentence, such as `ZNOTE is altered in place: adds ZMARK.`
    package private(set) var sentence: String

    init(_ change: TableChange) {
        let name = change.table.name
        table = name
        switch change.kind {
        case .untouched: (kind, sentence) = (.unchanged, "\(name) is unchanged.")
        case .rebuilt(let fills) where fills.isEmpty:
            // The rows of a policy are not filled in by SQL.
            (kind, sentence) = (.made, change.reason.map { Self.rebuilt(name, $0) } ?? "\(name) is made.")
        case .rebuilt: (kind, sentence) = (.rebuilt, Self.rebuilt(name, change.reason))
        case .updated(let columns, let leaving):
            let alteration = change.alteration.isEmpty ? "" : " is altered in place: \(change.alteration.words)"
            guard !columns.isEmpty || !leaving.isEmpty else {
                (kind, sentence) = (.altered, "\(name)\(alteration).")
                return
            }
            var words: [String] = []
            if !columns.isEmpty {
                words.append("\(columns.map(\.column).listed()) \(columns.count == 1 ? "gets" : "get") new values")
            }
            if !leaving.isEmpty { words.append("rows of removed entities leave") }
            let rows = words.joined(separator: ", and ")
            (kind, sentence) = (
                .updated,
                alteration.isEmpty
                    ? "Rows of \(name) are updated: \(rows)."
                    : "\(name)\(alteration). Its rows are updated: \(rows)."
            )
        }
    }

    init(_ change: JoinChange, isNew: Bool) {
        let name = change.table.name
        table = name
        switch change.kind {
        case .untouched: (kind, sentence) = (.unchanged, "\(name) is unchanged.")
        case .rebuilt(let inserts) where inserts.isEmpty && isNew: (kind, sentence) = (.made, "\(name) is made.")
        case .rebuilt: (kind, sentence) = (.rebuilt, Self.rebuilt(name, .pairsChange))
        }
    }

    /// Returns the same change, after which the given values are computed.
    func computing(_ sentences: [String]) -> Self {
        guard !sentences.isEmpty else { return self }
        var strategy = self
        if [.unchanged, .altered].contains(kind) { strategy.kind = .updated }
        let first = kind == .unchanged ? "Rows of \(table) are updated." : sentence
        strategy.sentence = ([first] + sentences).joined(separator: " ")
        return strategy
    }

    private static func rebuilt(_ name: String, _ reason: RebuildReason?) -> String {
        "\(name) is rebuilt\(reason.map { ", because \($0.words)" } ?? "")."
    }
}
