import MoultSQLite

/// One piece of work that a deferred migration has put off: a unit that is done whole, in one transaction, or not at
/// all.
package struct DeferredTask: Sendable, Hashable {
    package enum Kind: String, Sendable, Hashable {
        /// The table of an entity or relationship that the model has no more.
        case dropTable
        /// An index that the model does not ask for.
        case dropIndex
        /// A table whose text is not that of a fresh store: columns that leave, others in another order.
        case rebuildTable
        case makeIndex
    }

    package let kind: Kind
    /// Of the table, or of the index.
    package let name: String
    /// The table that it is about.
    package let table: String
    /// The columns that leave with it, by what the older version called them.
    package let columns: [String]
    /// The rows that it reads and writes.
    package var rows: Int64
    /// The bytes in the file of the task's table, or of the index that it drops; nil where this SQLite cannot tell.
    package var bytes: Int64?
    /// The indexes that go with the table, or that it gets again.
    package var indexes: Int
    /// Seconds that it takes to set the old table aside, by its new name or as a copy.
    var aside = 0.0

    package init(
        _ kind: Kind, _ name: String, of table: String, columns: [String] = [], rows: Int64 = 0, bytes: Int64? = nil,
        indexes: Int = 0
    ) {
        (self.kind, self.name, self.table, self.columns) = (kind, name, table, columns)
        (self.rows, self.bytes, self.indexes) = (rows, bytes, indexes)
    }

    /// Whether values go with it that no other place holds.
    package var losesValues: Bool { kind == .dropTable || !columns.isEmpty }

    /// The effect of the task, in one sentence.
    package var sentence: String {
        switch kind {
        case .dropTable: "Drop the table \(DeferredName.original(of: name) ?? name), which no entity has any more."
        case .dropIndex: "Drop the index \(name), which the model does not ask for."
        case .rebuildTable where columns.isEmpty: "Put the columns of \(name) in their order."
        case .rebuildTable: "Drop \(columns.joined(separator: ", ")) of \(name)."
        case .makeIndex: "Create the index \(name)."
        }
    }
}

extension [DeferredTask] {
    /// Seconds of the longest unit; 0 where there is none.
    package var longestUnit: Double { map(\.seconds).max() ?? 0 }
}

/// The part of a plan about work that can wait, where somebody asked for that.
package struct Deferral: Sendable, Hashable {
    /// The reasons why nothing can wait, so that all is done at once; empty where work can wait.
    package let reasons: [String]
    /// The tasks that wait, as far as they are known before the migration; their bytes are measured afterwards.
    package let tasks: [DeferredTask]
    /// Sentences about work that does not wait although it takes time with the size of the store.
    package let notes: [String]

    package var isPossible: Bool { reasons.isEmpty }

    /// - Parameter reasons: at least one.
    package init(impossible reasons: [String]) {
        self.reasons = reasons
        (tasks, notes) = ([], [])
    }

    /// - Parameter bytes: of the store.
    init(_ lowering: DeferredLowering, bytes: Int64) {
        reasons = lowering.obstacles + (lowering.slowness(bytes: bytes).map { [$0] } ?? [])
        tasks = reasons.isEmpty ? lowering.tasks : []
        notes = lowering.notes
    }
}

/// The name of what a deferred migration leaves behind for later where its own would stand in the way:
/// `Z_DEFERRED_<n>_<name>`.
///
/// The table of a removed entity always gets one, so that it differs from a table of another program; a column
/// only where a new one takes its name. Nothing that Core Data or a model names begins like that.
enum DeferredName {
    private static let prefix = "Z_DEFERRED_"

    static func isOne(_ name: String) -> Bool { original(of: name) != nil }

    /// Returns the original name of a leftover; nil for a name that is none of these.
    static func original(of name: String) -> String? {
        guard name.hasPrefix(prefix) else { return nil }
        let rest = name.dropFirst(prefix.count)
        guard let end = rest.firstIndex(of: "_"), Int(rest[..<end]) != nil else { return nil }
        let original = rest[rest.index(after: end)...]
        return original.isEmpty ? nil : String(original)
    }

    /// A name for a leftover called `name` that is not in use.
    ///
    /// - Parameter taken: in capitals, for SQLite's names ignore case.
    static func make(for name: String, avoiding taken: Set<String>) -> String {
        let original = original(of: name) ?? name
        var number = 1
        while taken.contains("\(prefix)\(number)_\(original)".uppercased()) { number += 1 }
        return "\(prefix)\(number)_\(original)"
    }
}
