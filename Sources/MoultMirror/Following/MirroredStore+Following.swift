import MoultEngine
import MoultModel
import MoultSQLite
import MoultStore
import MoultSystem

extension MirroredStore {
    /// Takes over what was written since the last time.
    ///
    /// The store that is followed is only read, at one moment; apps may write to it in the meantime. The rows and how
    /// far they go are one transaction of the other. When this throws, both stores are as they were.
    ///
    /// - Parameters:
    ///   - all: compare every row, whatever history and counters say.
    ///   - overwriting: give up what something else has written to the store that follows.
    /// - Throws: `locked`, `fileNotFound`, `mirrorDiverged`; `dataConflict` if rows do not fit the other version.
    package mutating func synchronise(all: Bool = false, overwriting: Bool = false) throws -> MirrorSync {
        let route = try route()
        let all = all || overwriting || record.comparesAll
        let outcome = try locked {
            try withWorkFolder { folder in
                try follow(route, reading: route.primary, in: folder, all: all, overwriting: overwriting)
            }
        }
        if record.comparesAll {
            record.comparesAll = false
            try record.write(sidecar, system)
        }
        return outcome
    }

    /// - Parameters:
    ///   - source: the store that is followed, or a copy of it.
    ///   - fresh: what a migration makes of that; nil if it has still to be made, if it is needed.
    func follow(
        _ route: MirrorRoute, reading source: String, in folder: String, all: Bool, overwriting: Bool,
        fresh: String? = nil
    ) throws -> MirrorSync {
        let start = system.monotonicNanoseconds
        try checkCancelled()
        let mark = try checkReplica(route, overwriting: overwriting)
        try requireFile(source)
        let snapshot = try snapshot(of: source)
        try checkPrimary(snapshot, route)
        if !overwriting { try checkRestores(snapshot, route) }
        let (script, obstacle) = try self.script(of: route, over: snapshot)
        var reason = obstacle
        var parts = try script.map {
            try readParts(route, $0, snapshot, source, mark, in: folder, all: all, overwriting: overwriting)
        }
        if let missing = try parts.flatMap({ try missingValue(in: $0, route) }) {
            // Whether the store had that fault before is for the engine to say, which knows the whole store.
            guard !route.keepsUnfilled else { throw missing }
            (parts, reason) = (nil, missing.message)
        }
        if route.keepsUnfilled, parts == nil { throw cannotGoBack(reason ?? "") }
        let step =
            try parts ?? readWhole(route, source, mark, in: folder, overwriting: overwriting, fresh: fresh)
        try bringFiles(of: step, route)
        let changes = try write(step, route, mark)
        noteSeen(route.replica)
        return MirrorSync(
            means: step.means, changes: changes, reason: reason,
            seconds: system.seconds(since: start))
    }

    func snapshot(of path: String) throws -> StoreSnapshot {
        // With the right to write, SQLite recovers what a killed app has left.
        let connection = try Connection(path, mode: .readWrite, busyTimeout: Self.patience)
        defer { connection.close() }
        return try StoreSnapshot(connection)
    }

    /// The statements for single objects, or the reason why there are none.
    func script(of route: MirrorRoute, over snapshot: StoreSnapshot) throws -> (PartialScript?, String?) {
        guard let mapping = route.mapping else { return (nil, route.obstacle) }
        if let obstacle = route.obstacle { return (nil, obstacle) }
        let replica = try self.snapshot(of: route.replica)
        let script = try PartialScript(
            mapping, from: StoreLayout(actual: snapshot, model: route.from.model),
            to: StoreLayout(actual: replica, model: route.to.model), catalogue: snapshot.catalogue)
        return script.obstacle.map { (nil, $0) } ?? (script, nil)
    }
}
