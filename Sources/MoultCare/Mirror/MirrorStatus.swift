import MoultBasics
import MoultSQLite
import MoultStore

/// The status of a mirror, read without writing to either store.
public struct MirrorStatus: Sendable, Hashable {
    package var record: MirrorRecord
    /// The path of the store that apps write to.
    public package(set) var primary: String
    /// The path of the store that follows.
    public package(set) var replica: String
    /// The means by which a sync would find the changes.
    public package(set) var means: MirrorMeans
    /// Transactions to copy; nil without history.
    public package(set) var transactions: Int64?
    /// Objects to copy; nil if every row would have to be compared.
    public package(set) var objects: Int64?
    /// The reason why each sync compares every row, in one sentence; nil if it does not.
    public package(set) var reason: String?

    /// The name of the first store's version.
    public var from: String { record.from }
    /// The name of the second store's version.
    public var to: String { record.to }
    /// Whether apps write to the second store.
    public var isCutOver: Bool { record.state == .cutOver }
    /// Whether there is anything to copy.
    public var isBehind: Bool { objects != 0 || record.comparesAll }
    /// The losses that undoing the cut-over would cause, in one sentence each.
    public var losses: [String] { record.losses }

    package var document: JSONValue {
        [
            "format": 1, "state": .string(record.state.rawValue), "primary": .string(primary),
            "replica": .string(replica), "from": .string(from), "to": .string(to),
            "means": .string(means.rawValue), "transactions": transactions.map(JSONValue.integer) ?? .null,
            "objects": objects.map(JSONValue.integer) ?? .null, "behind": .bool(isBehind), "reason": JSONValue(reason),
            "losses": JSONValue(losses),
        ]
    }

    package var lines: [String] {
        let behind: String
        switch (isBehind, objects, transactions) {
        case (false, _, _): behind = "It is up to date."
        case (_, nil, let transactions?): behind = "It is \(Quantity.count(transactions, "transaction")) behind."
        case (_, nil, nil): behind = "To find out whether it is behind, every row has to be compared."
        case (_, let objects?, let transactions?):
            behind =
                "It is \(Quantity.count(transactions, "transaction")) behind, which wrote to \(Quantity.count(objects, "object"))."
        case (_, let objects?, nil): behind = "It is \(Quantity.count(objects, "object")) behind."
        }
        return ["Apps write to \(primary.printable).", "\(replica.printable) follows. \(behind)"]
            + (reason.map { ["Each sync compares every row: \($0)"] } ?? [])
    }
}

/// The means by which a mirror finds changes.
public enum MirrorMeans: String, Sendable, Hashable, CaseIterable, Codable {
    /// By the transactions of persistent history.
    case history
    /// By a scan of the keys and lock counters of both stores.
    case scan
    /// By a comparison of every row.
    case comparison
}

/// The changes that one sync has made to the store that follows.
public struct MirrorSync: Sendable, Hashable {
    /// The means by which the sync found the changes.
    public package(set) var means: MirrorMeans
    package var changes: MirrorChanges
    /// The reason why every row had to be compared, in one sentence; nil if that was unnecessary or only requested.
    public package(set) var reason: String?
    /// The time that the sync took, in seconds.
    public package(set) var seconds: Double

    /// Rows that were inserted.
    public var inserted: Int64 { changes.inserted }
    /// Rows that were updated.
    public var updated: Int64 { changes.updated }
    /// Rows that were deleted.
    public var deleted: Int64 { changes.deleted }
    /// The time that the sync took.
    public var duration: Duration { .seconds(seconds) }

    package var document: JSONValue {
        [
            "format": 1, "means": .string(means.rawValue), "inserted": .integer(inserted), "updated": .integer(updated),
            "deleted": .integer(deleted), "reason": JSONValue(reason), "seconds": .double(seconds),
        ]
    }

    package var lines: [String] {
        let counts = "\(inserted) new, \(updated) changed, \(deleted) deleted"
        let what = changes.all == 0 ? "Nothing has been written since." : "Rows copied: \(counts)."
        return [what] + (reason.map { ["Every row was compared: \($0)"] } ?? [])
    }
}

extension MirroredStore {
    /// - Throws: as ``synchronise(all:overwriting:)``, if no sync would be possible.
    package func status() throws -> MirrorStatus {
        let route = try route()
        return try locked { try withWorkFolder { try status(of: route, in: $0) } }
    }

    private func status(of route: MirrorMapping, in folder: String) throws -> MirrorStatus {
        let mark = try checkReplica(route, overwriting: false)
        try requireFile(route.primary)
        let snapshot = try snapshot(of: route.primary)
        try checkPrimary(snapshot, route)
        try checkRestores(snapshot, route)
        let (script, reason) = try script(of: route, over: snapshot)
        var status = MirrorStatus(
            record: record, primary: route.primary, replica: route.replica, means: .comparison, reason: reason)
        let last = try Self.lastTransaction(of: route.primary)
        if let last, let known = mark.transaction { status.transactions = max(0, last - known) }
        guard let script else {
            // Any transaction may have changed any row.
            if status.transactions == 0 { status.objects = 0 }
            return status
        }
        let path = Path.join(folder, "rows")
        try system.makeFile(path, .own)
        let connection = try Self.open(path)
        defer { connection.close() }
        watch(connection)
        try connection.attach(route.primary, as: "source", mode: .readWrite)
        try connection.attach(route.replica, as: "replica", mode: .readWrite)
        var reading = ChangeReader(connection, script, mark)
        try connection.transaction(.deferred) { try reading.list(all: false) }
        (status.means, status.objects) = (reading.means, reading.listed)
        return status
    }

    /// Records the new path of the second store after it was moved.
    ///
    /// - Throws: `mirrorDiverged` if another store is at the path.
    package mutating func moveSecond(to path: String) throws {
        let path = try ReadOnlyStore.checkFile(path, system)
        let mark = try ReadOnlyStore.read(path, system: system) { MirrorMark(try StoreMetadata(from: $0.connection)) }
        guard mark?.identifier == record.identifier else {
            throw diverged(
                "The store at this path is not the second store of this mirror.", path,
                "Name the second store of this mirror.")
        }
        record.second = path
        try record.write(sidecar, system)
    }
}
