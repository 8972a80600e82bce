import MoultSQLite
import MoultStore

/// The pages that a restore writes: the backup's, with counters at least as high as the store's, so that no number is
/// used twice.
///
/// The few pages that differ from the backup's are in memory; the backup is only read.
struct RestoredPages {
    let connection: Connection
    let digests: PageDigests
    /// The keys given to entities that the backup does not have, by the store and in its earlier states.
    let unknownKeys: [String: Int64]

    /// - Parameters:
    ///   - given: the numbers that are in use.
    ///   - run: the run that restores.
    init(of backup: StoreBackup, keeping given: GivenNumbers, run: String) throws {
        let pages = try Connection(overlaying: backup.store)
        do {
            try pages.transaction { try given.keep(in: pages, run: run) }
            digests = try PageDigests(pages)
            unknownKeys = try given.keys(unknownTo: pages)
            connection = pages
        } catch {
            pages.close()
            throw error
        }
    }

    func close() { connection.close() }
}

extension Migrator {
    /// Returns the numbers that a store has used, as known from it, its backups and its records.
    ///
    /// - Parameter store: nil if the store is damaged or missing. The newest file that can be read then takes its place.
    func numbersGiven(
        by sidecar: StoreRecords, over store: Connection?, restoring backup: StoreBackup
    ) throws -> GivenNumbers {
        var given = try store.map(GivenNumbers.init)
        let uuid = backup.manifest.uuid
        let backups = ((try? backupFolders(of: sidecar.store).contents().backups) ?? []).reversed()
        let paths = (store == nil ? [sidecar.store] : []) + backups.filter { $0.manifest.uuid == uuid }.map(\.store)
        for path in paths {
            guard let connection = try? Connection(path, mode: .immutable) else { continue }
            defer { connection.close() }
            guard let numbers = try? GivenNumbers(connection) else { continue }
            if given == nil { given = numbers } else { given?.add(earlier: numbers) }
        }
        var all = given ?? GivenNumbers()
        all.add(earlier: try KeptKeys.read(sidecar, of: uuid, system))
        return all
    }
}

/// The numbers that a store has assigned: the keys of its objects, transactions and changes.
///
/// Changes after a backup have used numbers that the backup does not know. If the store assigned them again, every
/// process that kept such a number would find another object or transaction.
package struct GivenNumbers: Equatable {
    /// The highest key by entity name; a sub-entity has the key of its root.
    private var keys: [String: Int64] = [:]
    /// The highest key by entity name in earlier states of the store, which may have had other entities.
    private var earlier: [String: Int64] = [:]
    /// The number of the last transaction; 0 without history.
    private(set) var transaction: Int64 = 0

    /// Core Data's own entities of persistent history.
    private static let history: [String: String] = [
        "CHANGE": "ACHANGE", "TRANSACTION": "ATRANSACTION", "TRANSACTIONSTRING": "ATRANSACTIONSTRING",
    ]

    init() {}

    /// The highest key by name of each entity that the store has or had, without those of persistent history.
    var entityKeys: [String: Int64] {
        keys.merging(earlier, uniquingKeysWith: max).filter { Self.history[$0.key] == nil }
    }

    /// - Throws: SQLite's error for a damaged store.
    package init(_ store: Connection) throws {
        let tables = Set(try store.catalogue().tables.map(\.name))
        guard tables.contains("Z_PRIMARYKEY") else { return }
        for (root, names) in try Self.families(of: store) {
            for name in names { keys[name] = root.max }
        }
        for (name, table) in Self.history where tables.contains(table) {
            let highest = try store.integer("SELECT max(Z_PK) FROM \(table)") ?? 0
            keys[name] = max(keys[name] ?? 0, highest)
        }
        transaction = tables.contains("ATRANSACTION") ? keys["TRANSACTION"] ?? 0 : 0
    }

    /// Returns the root entities, each with its own name and those of all its descendants: they share one table and one
    /// counter.
    private static func families(of store: Connection) throws -> [PrimaryKeyRow: [String]] {
        let rows = try store.rows("SELECT Z_ENT, Z_NAME, Z_SUPER, \(PrimaryKeyRow.highestSQL) FROM Z_PRIMARYKEY") {
            PrimaryKeyRow(
                number: Int(clamping: $0.integer(0)), name: $0.text(1) ?? "", superNumber: Int(clamping: $0.integer(2)),
                max: $0.integer(3))
        }
        let byNumber = Dictionary(rows.map { ($0.number, $0) }, uniquingKeysWith: { first, _ in first })
        var families: [PrimaryKeyRow: [String]] = [:]
        for row in rows {
            var (root, depth) = (row, 0)
            // In a damaged table, parents may form a cycle.
            while depth < 1_000, let parent = byNumber[root.superNumber] { (root, depth) = (parent, depth + 1) }
            families[root, default: []].append(row.name)
        }
        return families
    }

    /// Adds the numbers of an earlier state of the store.
    mutating func add(earlier other: GivenNumbers) {
        add(earlier: other.keys)
        transaction = max(transaction, other.transaction)
    }

    /// Adds the highest keys, by entity name, of earlier states of the store.
    package mutating func add(earlier keys: [String: Int64]) { earlier.merge(keys, uniquingKeysWith: max) }

    /// Returns the keys of entities that another state of the store does not have.
    package func keys(unknownTo other: Connection) throws -> [String: Int64] {
        let known = try GivenNumbers(other).keys
        return entityKeys.filter { known[$0.key] == nil }
    }

    /// Raises the counters of a store so that none of these numbers is assigned again, and marks the store if that was
    /// necessary.
    ///
    /// A root entity that the present state does not have may have another name there or in an earlier state, even the
    /// name of an entity that has gone since. It continues from the highest key of all entities that are unknown here or
    /// have given keys that are not counted here.
    package func keep(in store: Connection, run: String) throws {
        let present = try GivenNumbers(store)
        let strangers = entityKeys.filter { $0.value > present.keys[$0.key] ?? 0 }
        var isRaised = false
        for (root, names) in try Self.families(of: store) {
            var highest = names.flatMap { [keys[$0], earlier[$0]] }.compactMap(\.self).max() ?? 0
            if keys[root.name] == nil, Self.history[root.name] == nil {
                highest = max(highest, strangers.values.max() ?? 0)
            }
            guard highest > names.compactMap({ present.keys[$0] }).max() ?? 0 else { continue }
            try store.run(
                "UPDATE Z_PRIMARYKEY SET Z_MAX = ? WHERE Z_ENT = ?", [.integer(highest), .integer(Int64(root.number))])
            isRaised = true
        }
        guard isRaised, var metadata = try? StoreMetadata(from: store) else { return }
        var mark = RestoreMark(metadata) ?? RestoreMark(run: run, lost: [])
        mark.run = run
        if transaction > present.transaction { mark.lose(present.transaction + 1...transaction) }
        metadata.entries[RestoreMark.key] = mark.entry
        try metadata.write(to: store)
    }
}
