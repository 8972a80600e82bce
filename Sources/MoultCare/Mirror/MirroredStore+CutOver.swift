import Moult
import MoultBasics
import MoultEngine
import MoultModel
import MoultSQLite
import MoultSession
import MoultStore

extension MirroredStore {
    /// Switches apps to the second store. From then on the first store follows it, so that ``undoCutOver()`` can switch
    /// back without losing later changes.
    ///
    /// No process may have the first store open. The second is brought up to date and compared in full. The record is
    /// written last; until then the cut-over has not happened.
    ///
    /// - Parameter acceptingLosses: continue even if some or all changes to the second store could not be copied back.
    /// - Returns: the losses that undoing the cut-over would cause, in sentences.
    /// - Throws: `unsupported` with that list if it was not accepted; `verificationFailed` if the stores differ;
    ///   `locked` if another process has the first store open or writes to it in the meantime.
    package mutating func cutOver(acceptingLosses: Bool = false) throws -> [String] {
        guard record.state == .mirroring else {
            throw MigrationError(
                .usage, "The cut-over is done: apps write to the second store.", place: store,
                remedy: "Undo it with \(option: .undo), or end the mirror.")
        }
        let route = try forward()
        let back = route.mapping.map { ReverseMapping($0, from: route.from.model, to: route.to.model) }
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

    /// Switches apps back to the first store, which has the changes made to the second since the cut-over.
    ///
    /// - Throws: `unsupported` if the cut-over was one-way; otherwise as ``cutOver(acceptingLosses:)``.
    package mutating func undoCutOver() throws {
        guard record.state == .cutOver else {
            throw MigrationError(
                .usage, "There is no cut-over to undo: apps write to the first store.", place: store,
                remedy: "Nothing needs to be done.")
        }
        let route = try route()
        try locked { try turn(route, isTakenBack: true) }
        // Changes that could not be copied back are in the second store only. Comparing every row removes them.
        record.comparesAll = true
        record.state = .mirroring
        record.losses = []
        try record.write(sidecar, system)
        noteSeen(record.second)
        // The direction has changed; from here on the work cannot be cancelled.
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
            // With the record goes the mirror, in one step. Marks that a dead machine leaves have no effect.
            try MirrorRecord.remove(mirror.sidecar, system)
            for path in [path, record.second] where try system.exists(path) { try mirror.removeMark(from: path) }
        }
    }

    /// Removes the mark from a store. A store that cannot be read keeps it; without a mirror, a mark has no effect.
    private func removeMark(from path: String) throws {
        guard let connection = try? Self.open(path) else { return }
        defer { connection.close() }
        guard let metadata = try? StoreMetadata(from: connection),
            MirrorMark(metadata)?.identifier == record.identifier
        else { return }
        var unmarked = metadata
        unmarked.entries[MirrorMark.key] = nil
        try connection.execute("PRAGMA synchronous = FULL")
        try connection.transaction { try unmarked.write(to: connection) }
    }

    // MARK: - Changing direction

    /// Returns the reasons why no change could be copied back after a cut-over; empty if changes can be.
    private func obstacles(to back: ReverseMapping?, of route: MirrorMapping) throws -> [String] {
        guard let back, let forward = try partialScript(of: route, over: snapshot(of: store)) else {
            return [route.obstacle ?? Self.noWayBack]
        }
        if let obstacle = forward.obstacleToReturn { return [obstacle] }
        guard back.obstacles.isEmpty else { return back.obstacles }
        let second = try snapshot(of: record.second)
        let (script, reason) = try script(of: MirrorMapping(back, of: route), over: second)
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

    /// Brings the store that follows up to date, verifies that both stores are equal, and swaps their roles.
    ///
    /// - Parameter isTakenBack: whether to mark the store that was followed so far as the one that follows.
    private func turn(_ route: MirrorMapping, isTakenBack: Bool) throws {
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
            // Empty the WAL, so that any later write shows in the file's own size and time.
            try connection.writeBackLog(system)
        } catch let error as MigrationError where error.code == .locked {
            throw StoreLock.openElsewhere(path, system, cause: error.cause)
        }
    }
}
