import MoultEngine
import MoultModel
import MoultSQLite
import MoultStore
import MoultSystem

extension MirroredStore {
    /// The mark of the store that follows, when it is the one that the mirror has left.
    ///
    /// - Parameter overwriting: whether rows that another user has written there are to be given up.
    /// - Throws: `fileNotFound`, `mirrorDiverged`.
    func checkReplica(_ route: MirrorRoute, overwriting: Bool) throws -> MirrorMark {
        try requireFile(route.replica)
        let isSeen = try isAsSeen(route.replica)
        let connection = try Connection(route.replica, mode: .readWrite, busyTimeout: Self.patience)
        defer { connection.close() }
        watch(connection)
        let snapshot = try StoreSnapshot(connection)
        guard let mark = MirrorMark(snapshot.metadata), mark.identifier == record.identifier else {
            throw diverged(
                "The store at this path is not the second store of this mirror.", route.replica,
                "Restore that store, or stop the mirror and start a new one.")
        }
        guard snapshot.hashes.isCompatible(with: route.to.hashes) else {
            throw diverged(
                "The store that follows is no longer of version \(route.to.name).", route.replica,
                "Stop the mirror and start a new one.")
        }
        guard !isSeen, !overwriting else { return mark }
        // Somebody may have written to the file: its rows say whether it was anything but the mirror.
        try MirrorContents.register(on: connection)
        let layout = try StoreLayout(actual: snapshot, model: route.to.model)
        let sums = try MirrorContents.sums(connection, MirroredTable.all(of: layout))
        let changed = Set(sums.keys).union(mark.contents.keys).sorted().filter { sums[$0] != mark.contents[$0] }
        guard changed.isEmpty else {
            throw diverged(
                "Something other than the mirror has written to the store that follows, in "
                    + "\(changed.joined(separator: ", ")).", "\(route.replica): \(changed.joined(separator: ", "))",
                "\(.verifyMirror) lists the rows; \(.syncMirror, .overwrite) discards them.")
        }
        return mark
    }

    /// - Throws: `mirrorDiverged` if the store that is followed is another one; what it is not in a state for.
    func checkPrimary(_ snapshot: StoreSnapshot, _ route: MirrorRoute) throws {
        try PreparedMigration.refuse(snapshot, options)
        guard snapshot.metadata.uuid == record.uuid else {
            throw diverged(
                "The store is not the one with which the mirror was started: its UUID is \(snapshot.metadata.uuid), not "
                    + "\(record.uuid).", route.primary,
                "Restore the store, or stop the mirror and start a new one.")
        }
        guard snapshot.hashes.isCompatible(with: route.from.hashes) else {
            throw diverged(
                "The store is no longer of version \(route.from.name): it was migrated.", route.primary,
                "Stop the mirror and start a new one from the store's current version.")
        }
    }

    /// Checks that neither store was restored from a backup since: a restore leaves the counters as high as they were, and
    /// takes back what was taken over.
    ///
    /// - Throws: `mirrorDiverged`.
    func checkRestores(_ primary: StoreSnapshot, _ route: MirrorRoute) throws {
        let replica = try snapshot(of: route.replica)
        guard primary.metadata.entries[RestoreMark.key] != replica.metadata.entries[RestoreMark.key] else { return }
        throw MirrorReading.ahead("One of the two stores was restored from a backup since.")
    }

    func diverged(_ message: String, _ place: String, _ remedy: Remedy) -> MigrationError {
        MigrationError(.mirrorDiverged, message, place: place, remedy: remedy)
    }
}

// MARK: - How a file was left

extension MirroredStore {
    /// Notes sizes and times of the files of the store that follows. It only saves work, so it may fail: where it is
    /// missing, or tells of another file, the rows are asked.
    func noteSeen(_ path: String) {
        guard let facts = try? facts(of: path) else { return }
        try? system.write(Array(facts.compact.utf8), to: sidecar.mirrorSeen, sidecar.rights)
    }

    private func isAsSeen(_ path: String) throws -> Bool {
        guard try system.exists(sidecar.mirrorSeen) else { return false }
        let bytes = try system.read(sidecar.mirrorSeen)
        return bytes == Array(try facts(of: path).compact.utf8)
    }

    func facts(of path: String) throws -> JSONValue {
        .array(
            try [path, path + "-wal", path + "-journal"].map { name in
                // An empty log is equivalent to none: SQLite leaves either.
                guard let status = try system.status(of: name), name == path || status.size > 0 else { return .null }
                return .array([
                    .integer(status.size), .integer(status.modified.seconds),
                    .integer(Int64(status.modified.nanoseconds)), .integer(Int64(truncatingIfNeeded: status.inode)),
                ])
            })
    }
}
