import Moult
import MoultBasics
import MoultEngine
import MoultModel
import MoultSQLite
import MoultStore

extension MirroredStore {
    /// Makes the second store the one that apps write to. From then on the first follows it, so that the cut-over can
    /// be undone (``undoCutOver()``) with all that was written since.
    ///
    /// No process may have the first one open. The second is brought up to date and compared as a whole; the record of
    /// the mirror is the last thing that is written, and the one that counts.
    ///
    /// - Parameter acceptingLosses: continue although some of what is written to the second store, or all of it, could
    ///   not be undone.
    /// - Returns: what cannot be undone, in sentences.
    /// - Throws: `unsupported` with that list where it was not accepted; `verificationFailed` if the stores differ;
    ///   `locked` where somebody has the first store open or writes to it in the meantime.
    package mutating func cutOver(acceptingLosses: Bool = false) throws -> [String] {
        guard record.state == .mirroring else {
            throw MigrationError(
                .usage, "The cut-over is done: apps write to the second store.", place: store,
                remedy: "Undo it with \(option: .undo), or end the mirror.")
        }
        let route = try forward()
        let back = route.mapping.map { MirrorReversal($0, from: route.from.model, to: route.to.model) }
        let obstacles = try locked { try self.obstacles(to: back, of: route) }
        let losses = obstacles.isEmpty ? back?.losses ?? [] : obstacles
        guard losses.isEmpty || acceptingLosses else { throw losing(losses, isAll: !obstacles.isEmpty) }
        try locked { try turn(route, isTakenBack: obstacles.isEmpty) }
        record.state = .cutOver
        (record.isOneWay, record.losses) = (!obstacles.isEmpty, losses)
        try record.write(sidecar, system)
        noteSeen(obstacles.isEmpty ? store : record.second)
        return losses
    }

    /// Makes the first store the one that apps write to again, with what was written to the second since.
    ///
    /// - Throws: `unsupported` if the cut-over was made as one that is not undone; as ``cutOver(acceptingLosses:)``.
    package mutating func undoCutOver() throws {
        guard record.state == .cutOver else {
            throw MigrationError(
                .usage, "There is no cut-over to undo: apps write to the first store.", place: store,
                remedy: "Nothing needs to be done.")
        }
        let route = try route()
        try locked { try turn(route, isTakenBack: true) }
        // What could not be undone is in the second store alone; it follows in everything again.
        record.comparesAll = true
        record.state = .mirroring
        record.losses = []
        try record.write(sidecar, system)
        noteSeen(record.second)
        // The direction is turned, which can no longer be cancelled.
        isCancelled = { false }
        _ = try synchronise()
    }

    /// Ends the mirror; both stores stay.
    package static func stop(_ store: String, system: any System = POSIXSystem()) throws {
        let (path, record) = try record(of: store, system, isStarting: true)
        let mirror = MirroredStore(
            path, record, StoreSession.Context(ModelVersions(versions: [])), RunOptions(), system)
        try mirror.locked {
            guard record.state != .starting else { return try mirror.removeUnfinished(record) }
            for path in [path, record.second] where try system.exists(path) { try mirror.removeMark(from: path) }
            try MirrorRecord.remove(mirror.sidecar, system)
        }
    }

    /// A store that cannot be asked keeps its mark, which means nothing without a mirror.
    private func removeMark(from path: String) throws {
        guard let connection = try? Connection(path, mode: .readWrite, busyTimeout: Self.patience) else { return }
        defer { connection.close() }
        guard let metadata = try? StoreMetadata(from: connection),
            MirrorMark(metadata)?.identifier == record.identifier
        else { return }
        var unmarked = metadata
        unmarked.entries[MirrorMark.key] = nil
        try connection.transaction { try unmarked.write(to: connection) }
    }

    // MARK: - Turning round

    /// Returns the reasons why nothing could be undone; empty where it can.
    private func obstacles(to back: MirrorReversal?, of route: MirrorRoute) throws -> [String] {
        if let obstacle = try script(of: route, over: snapshot(of: store)).1 { return [obstacle] }
        guard let back else { return [Self.noWayBack] }
        guard back.obstacles.isEmpty else { return back.obstacles }
        let second = try snapshot(of: record.second)
        let (script, reason) = try script(of: MirrorRoute(back, of: route), over: second)
        return script == nil ? [reason ?? Self.noWayBack] : []
    }

    private static let noWayBack = "There is no reverse mapping."

    private func losing(_ losses: [String], isAll: Bool) -> MigrationError {
        let what =
            isAll ? "Nothing that is written to the second store could be copied back" : "This could not be copied back"
        return MigrationError(
            .unsupported, "\(what): \(losses.joined(separator: " "))", place: record.second,
            remedy: "Pass \(option: .acceptLosses) to cut over anyway.")
    }

    /// Brings the follower up to date, verifies it equal, and has the store that was followed so far follow from here.
    ///
    /// - Parameter isTakenBack: whether it does follow.
    private func turn(_ route: MirrorRoute, isTakenBack: Bool) throws {
        try requireAlone(route.primary)
        let before = try facts(of: route.primary)
        try withWorkFolder { folder in
            let result = try verify(route, in: folder)
            guard result.isEqual else {
                throw MigrationError(
                    .verificationFailed,
                    "The two stores differ" + (result.obstacle.map { ": \($0)" } ?? "") + " in "
                        + (result.differences.map(\.table) + result.others).joined(separator: ", ") + ".",
                    place: route.replica, remedy: "\(.verifyMirror) shows the differences. Nothing was changed.")
            }
        }
        guard try facts(of: route.primary) == before else {
            throw MigrationError(
                .locked, "Another process wrote to the store in the meantime.", place: route.primary,
                remedy: "Close every app that uses it and run the command again. Nothing was changed.")
        }
        try checkCancelled()
        guard isTakenBack else { return }
        try mark(route.primary, of: route.from, at: Self.lastTransaction(of: route.primary))
    }

    /// - Throws: `locked` if another process has the store open.
    private func requireAlone(_ path: String) throws {
        let connection = try Connection(path, mode: .readWrite, busyTimeout: 2_000, isProven: true)
        defer { connection.close() }
        do {
            try connection.execute("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; COMMIT")
            // Then the file alone tells whether somebody writes.
            try connection.writeBackLog(system)
        } catch let error as MigrationError where error.code == .locked {
            throw StoreLock.openElsewhere(path, system, cause: error.cause)
        }
    }
}
