/// One of several contexts that write at the same time, and plain values that say what it must see: objects by their keys,
/// each with a number for every property.
package final class WritingContext<Context, Held> {
    package typealias Row = [String: Int]

    /// A row with the number of times that it was saved.
    package struct Stored: Equatable {
        package var row: Row
        package var version: Int

        package init(row: Row, version: Int) { (self.row, self.version) = (row, version) }
    }

    package let name: String
    package let context: Context
    /// The objects that the program holds on to.
    package var held: [Int: Held] = [:]
    /// As they were read.
    package var base: [Int: Stored] = [:]
    /// The properties that were changed.
    package var own: [Int: Row] = [:]
    package var inserted: [Int: Row] = [:]
    package var deleted: Set<Int> = []

    package init(_ name: String, _ context: Context) { (self.name, self.context) = (name, context) }

    package var hasChanges: Bool { !own.isEmpty || !inserted.isEmpty || !deleted.isEmpty }

    package func isPending(_ key: Int) -> Bool { own[key] != nil || deleted.contains(key) }

    /// What it sees: rows that are gone are not there, unless it has changed them.
    package func seen(in stored: [Int: Stored]) -> [Int: Row] {
        var rows = inserted
        for (key, read) in base where !deleted.contains(key) && (stored[key] != nil || isPending(key)) {
            rows[key] = read.row.merging(own[key] ?? [:]) { $1 }
        }
        return rows
    }

    /// What it changed or deleted, and another one saved since it was read.
    package func conflicts(with stored: [Int: Stored]) -> Set<Int> {
        Set(own.keys).union(deleted).filter { stored[$0]?.version != base[$0]?.version }
    }

    // MARK: - What it does

    package func change(_ property: String, of key: Int, to value: Int) {
        if inserted[key] != nil { inserted[key]?[property] = value } else { own[key, default: [:]][property] = value }
    }

    package func delete(_ key: Int) {
        if inserted.removeValue(forKey: key) == nil { deleted.insert(key) } else { held[key] = nil }
    }

    /// New objects go; what becomes of the others' values is the caller's to say.
    package func giveUpChanges() {
        for key in inserted.keys { held[key] = nil }
        endChanges()
    }

    /// Every new object is saved.
    package func saveInserted(to stored: inout [Int: Stored]) {
        for (key, row) in inserted {
            stored[key] = Stored(row: row, version: 1)
            base[key] = stored[key]
        }
    }

    package func endChanges() { (own, inserted, deleted) = ([:], [:], []) }

    /// It fetches everything: what is new is read, and what is gone is not there any more.
    package func fetchAll(of stored: [Int: Stored]) {
        for (key, row) in stored where base[key] == nil { base[key] = row }
        for key in base.keys where stored[key] == nil && !isPending(key) { forget(key) }
    }

    package func forget(_ key: Int) {
        (base[key], own[key], held[key]) = (nil, nil, nil)
        deleted.remove(key)
    }
}
