import MoultSQLite

/// A piece of work that a deferred migration has postponed. It is done completely in one transaction, or not at all.
package struct DeferredTask: Sendable, Hashable {
    package enum Kind: String, Sendable, Hashable {
        /// Drops the table of an entity or relationship that the model no longer has.
        case dropTable
        /// Drops an index that the model does not declare.
        case dropIndex
        /// Rebuilds a table whose text differs from a new store's, because columns are removed or in another order.
        case rebuildTable
        case makeIndex
    }

    package let kind: Kind
    /// The name of the table or the index.
    package let name: String
    /// The table that the task affects.
    package let table: String
    /// The columns removed by the task, by their names in the older version.
    package let columns: [String]
    /// The number of rows that the task reads and writes.
    package var rows: Int64
    /// The bytes in the file of the task's table, or of the index that it drops; nil if this SQLite cannot tell.
    package var bytes: Int64?
    /// The number of indexes that are dropped with the table or recreated on it.
    package var indexes: Int
    /// The seconds needed to set the old table aside, by renaming or copying it.
    var aside = 0.0

    package init(
        _ kind: Kind, _ name: String, of table: String, columns: [String] = [], rows: Int64 = 0, bytes: Int64? = nil,
        indexes: Int = 0
    ) {
        (self.kind, self.name, self.table, self.columns) = (kind, name, table, columns)
        (self.rows, self.bytes, self.indexes) = (rows, bytes, indexes)
    }

    /// Whether the task removes values that are stored nowhere else.
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
    /// The seconds of the longest unit; 0 if there is none.
    package var longestUnit: Double { map(\.seconds).max() ?? 0 }
}

/// The part of a plan about work that can be deferred, if deferral was requested.
package struct Deferral: Sendable, Hashable {
    /// The reasons why nothing can be deferred and all work is done at once; empty if work can be deferred.
    package let reasons: [String]
    /// The deferred tasks known before the migration; their size in bytes is measured afterwards.
    package let tasks: [DeferredTask]
    /// Sentences about work that is not deferred although its duration depends on the size of the store.
    package let notes: [String]

    package var isPossible: Bool { reasons.isEmpty }

    /// - Parameter reasons: the reasons; at least one.
    package init(impossible reasons: [String]) {
        self.reasons = reasons
        (tasks, notes) = ([], [])
    }

    /// - Parameter bytes: the size of the store.
    init(_ lowering: DeferredLowering, bytes: Int64) {
        reasons = lowering.obstacles + (lowering.slowness(bytes: bytes).map { [$0] } ?? [])
        tasks = reasons.isEmpty ? lowering.tasks : []
        notes = lowering.notes
    }
}

/// The name of a table or column that a deferred migration sets aside because its own name would conflict:
/// `Z_DEFERRED_<n>_<name>`.
///
/// The table of a removed entity always gets such a name, to distinguish it from a table of another program; a column
/// gets one only if a new column takes its name. No name of Core Data or a model begins like that.
enum DeferredName {
    private static let prefix = "Z_DEFERRED_"

    static func isOne(_ name: String) -> Bool { original(of: name) != nil }

    /// Returns the original name of a leftover; nil for any other name.
    static func original(of name: String) -> String? {
        guard name.hasPrefix(prefix) else { return nil }
        let rest = name.dropFirst(prefix.count)
        guard let end = rest.firstIndex(of: "_"), Int(rest[..<end]) != nil else { return nil }
        let original = rest[rest.index(after: end)...]
        return original.isEmpty ? nil : String(original)
    }

    /// Returns an unused name for a leftover called `name`.
    ///
    /// - Parameter taken: the names in use, in capitals, because SQLite's names are not case-sensitive.
    static func make(for name: String, avoiding taken: Set<String>) -> String {
        let original = original(of: name) ?? name
        var number = 1
        while taken.contains("\(prefix)\(number)_\(original)".uppercased()) { number += 1 }
        return "\(prefix)\(number)_\(original)"
    }
}
