import MoultModel
import MoultSQLite
import MoultSystem

/// A store opened for looking, without changing a byte of it or of any file beside it.
///
/// Three ways, tried in this order:
/// 1. no hot `-journal`, and `-wal` absent or empty: the file itself, as immutable;
/// 2. otherwise a private copy of store, `-wal` and `-journal` (never `-shm`), in which SQLite may heal what a dead
///    process left behind; taken again, up to three times, when a writer came in between;
/// 3. where a writer is too busy for that: the file itself, read-only, where side files may change.
///
/// A probe opens and closes files of the store, at which this process would lose the locks of any connection that it
/// has to the same store: never probe a store that this process has open.
package final class StoreProbe {
    package enum Way: Sendable, Hashable {
        case immutable
        case privateCopy
        /// SQLite may have made or changed `-shm` and `-wal`.
        case readOnly
    }

    /// The store's own path, without symbolic links; external data lies beside it, also when a copy is read.
    package let path: String
    package let way: Way
    package let connection: Connection
    private let system: any System
    private let before: [FileStatus?]
    private let privateFolder: String?

    /// - Parameter folder: where a private copy is made; the system's temporary folder when nil.
    /// - Throws: `MigrationError`, with a message of its own for each kind of file that is no usable store.
    package convenience init(_ path: String, system: any System = POSIXSystem(), folder: String? = nil) throws {
        let resolved = try Self.checkFile(path, system)
        try self.init(opening: resolved, system, folder ?? system.temporaryFolder)
        do {
            try checkContents()
        } catch {
            // What was read while somebody wrote says nothing of the store.
            let isDisturbed = way == .immutable && !isUndisturbed
            close()
            throw isDisturbed ? Self.disturbed(path) : error
        }
    }

    private init(opening path: String, _ system: any System, _ folder: String) throws {
        self.path = path
        self.system = system
        before = try Self.statuses(of: path, system)
        if Self.isAtRest(before) {
            (way, privateFolder) = (.immutable, nil)
            connection = try Connection(path, mode: .immutable)
            return
        }
        if let copy = try Self.privateCopy(of: path, in: folder, system) {
            (way, privateFolder) = (.privateCopy, Path.folder(of: copy))
            connection = try Self.removing(Path.folder(of: copy), system) { try Connection(copy, mode: .readWrite) }
            return
        }
        (way, privateFolder) = (.readOnly, nil)
        connection = try Connection(path, mode: .readOnly, busyTimeout: 5_000)
    }

    deinit { close() }

    /// Ends the connection and removes a private copy.
    package func close() {
        connection.close()
        if let privateFolder { _ = try? system.removeTree(privateFolder) }
    }

    /// Whether nobody wrote to the store since the probe was made. What was read from an immutable file that changed
    /// meanwhile is not to be trusted; a private copy and a read-only connection stay sound.
    package var isUndisturbed: Bool {
        guard let after = try? Self.statuses(of: path, system) else { return false }
        return after == before
    }

    /// Opens, reads and closes. When a writer came in while an immutable file was read, `body` is called again on a
    /// new probe, up to three times; so it must not do anything that may not happen twice.
    package static func read<Result>(
        _ path: String, system: any System = POSIXSystem(), folder: String? = nil, _ body: (StoreProbe) throws -> Result
    ) throws -> Result {
        for _ in 0..<3 {
            let probe: StoreProbe
            do {
                probe = try StoreProbe(path, system: system, folder: folder)
            } catch let error as MigrationError where error.message == disturbed(path).message {
                continue
            }
            defer { probe.close() }
            let result = Swift.Result { try body(probe) }
            if probe.way != .immutable || probe.isUndisturbed { return try result.get() }
        }
        throw disturbed(path)
    }

    private static func disturbed(_ path: String) -> MigrationError {
        MigrationError(
            .locked, "Another process kept writing to the store while it was read.", place: path,
            remedy: "Close every app that has it open and run the command again.")
    }
}

// MARK: - The three ways

extension StoreProbe {
    /// The names that SQLite puts behind a store's own for its side files.
    package static let sideFileSuffixes = ["-wal", "-journal", "-shm"]

    /// Store, `-wal`, `-journal`; `-shm` is nobody's data and changes when a reader comes.
    private static func statuses(of path: String, _ system: any System) throws -> [FileStatus?] {
        try [path, path + "-wal", path + "-journal"].map(system.status)
    }

    private static func isAtRest(_ statuses: [FileStatus?]) -> Bool {
        statuses.dropFirst().allSatisfy { $0.map { $0.size == 0 } ?? true }
    }

    /// The path of a copy that nobody wrote to while it was made; nil when three tries found a writer, or the folder
    /// has no room.
    private static func privateCopy(of path: String, in folder: String, _ system: any System) throws -> String? {
        for _ in 0..<3 {
            let own = Path.join(folder, "moult-probe-\(system.uniqueName())")
            try system.makeFolder(own)
            do {
                try system.setMode(0o700, of: own)
                let copy = Path.join(own, Path.name(of: path))
                let before = try statuses(of: path, system)
                for (suffix, status) in zip(["", "-wal", "-journal"], before) where status != nil {
                    try system.copy(path + suffix, to: copy + suffix)
                    try system.setMode(0o600, of: copy + suffix)
                }
                if try statuses(of: path, system) == before { return copy }
            } catch let error as MigrationError where [.insufficientStorage, .fileNotFound].contains(error.code) {
                // No room, or a side file went away while it was copied.
            } catch {
                try system.removeTree(own)
                throw error
            }
            try system.removeTree(own)
        }
        return nil
    }

    private static func removing<Result>(_ folder: String, _ system: any System, _ body: () throws -> Result) throws
        -> Result
    {
        do {
            return try body()
        } catch {
            try system.removeTree(folder)
            throw error
        }
    }
}
