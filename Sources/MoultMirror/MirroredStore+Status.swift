import MoultEngine
import MoultModel
import MoultSQLite
import MoultStore
import MoultSystem

extension MirroredStore {
    /// - Throws: as ``synchronise(all:overwriting:)``, where nothing could be taken over.
    package func status() throws -> MirrorStatus {
        let route = try route()
        return try locked { try withWorkFolder { try status(of: route, in: $0) } }
    }

    private func status(of route: MirrorRoute, in folder: String) throws -> MirrorStatus {
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
            // Every transaction may change any row.
            if status.transactions == 0 { status.objects = 0 }
            return status
        }
        let path = Path.join(folder, "rows")
        try system.makeFile(path, .own)
        let connection = try Connection(path, mode: .readWrite, busyTimeout: Self.patience)
        defer { connection.close() }
        watch(connection)
        try connection.attach(route.primary, as: "source", mode: .readWrite)
        try connection.attach(route.replica, as: "replica", mode: .readWrite)
        var reading = MirrorReading(connection, script, mark)
        try connection.transaction(.deferred) { try reading.list(all: false) }
        (status.means, status.objects) = (reading.means, reading.listed)
        return status
    }

    /// Says where the second store is now, after it was moved.
    ///
    /// - Throws: `mirrorDiverged` if another store is at the path.
    package mutating func moveSecond(to path: String) throws {
        let path = try StoreProbe.checkFile(path, system)
        let mark = try StoreProbe.read(path, system: system) { MirrorMark(try StoreMetadata(from: $0.connection)) }
        guard mark?.identifier == record.identifier else {
            throw diverged(
                "The store at this path is not the second store of this mirror.", path,
                "Name the second store of this mirror.")
        }
        record.second = path
        try record.write(sidecar, system)
    }
}
