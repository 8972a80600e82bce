import MoultBasics
import MoultModel
import MoultSQLite

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

    /// The store's own path, without symbolic links; external data lies next to it, also when a copy is read.
    package let path: String
    package let way: Way
    package let connection: Connection
    let system: any System
    private let before: [FileStatus?]
    private let privateFolder: TemporaryFolder?
    /// The error for the lack of room that prevented a private copy.
    private let lackOfRoom: MigrationError?

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
            let foreign = Self.unreadable.contains((error as? MigrationError)?.code) ? foreignSideFile : nil
            close()
            if let foreign { throw foreign }
            // Without a copy, for which there was no space, SQLite cannot play a journal back.
            if let lackOfRoom, (error as? MigrationError)?.code == .readOnly { throw lackOfRoom }
            throw isDisturbed ? Self.disturbed(path) : error
        }
    }

    /// The error codes for a store that cannot be read with the log or the journal next to it.
    private static let unreadable: [MigrationError.Code?] = [.storeCorrupted, .notAStore, .metadataInvalid]

    private init(opening path: String, _ system: any System, _ folder: String) throws {
        self.path = path
        self.system = system
        before = try Self.statuses(of: path, system)
        if Self.isAtRest(before) {
            (way, privateFolder, lackOfRoom) = (.immutable, nil, nil)
            connection = try Connection(path, mode: .immutable)
            return
        }
        var lack: MigrationError?
        if let copy = try Self.privateCopy(of: path, in: folder, system, &lack) {
            (way, privateFolder, lackOfRoom) = (.privateCopy, copy.folder, nil)
            do {
                connection = try Connection(copy.path, mode: .readWrite, naming: path)
            } catch {
                copy.folder.remove()
                throw error
            }
            return
        }
        (way, privateFolder, lackOfRoom) = (.readOnly, nil, lack)
        connection = try Connection(path, mode: .readOnly, busyTimeout: 5_000)
    }

    deinit { close() }

    /// Ends the connection and removes a private copy.
    package func close() {
        connection.close()
        privateFolder?.remove()
    }

    /// Whether the store is as it was when the probe was made. What was read from an immutable file that changed in
    /// the meantime is not to be trusted; a private copy and a read-only connection stay sound.
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
            if case .failure(let error as MigrationError) = result, unreadable.contains(error.code),
                let foreign = probe.foreignSideFile
            {
                throw foreign
            }
            if probe.way != .immutable || probe.isUndisturbed { return try result.get() }
        }
        throw disturbed(path)
    }

    package static func disturbed(_ path: String) -> MigrationError {
        MigrationError(
            .locked, "Another process kept writing to the store while it was read.", place: path,
            remedy: "Close every app that has it open and run the command again.")
    }

    // MARK: - The three ways

    /// The names that SQLite puts behind a store's own for its side files.
    package static let sideFileSuffixes = ["-wal", "-journal", "-shm"]

    /// Store, `-wal`, `-journal`; `-shm` holds no data and changes when a reader comes.
    private static func statuses(of path: String, _ system: any System) throws -> [FileStatus?] {
        try [path, path + "-wal", path + "-journal"].map(system.status)
    }

    private static func isAtRest(_ statuses: [FileStatus?]) -> Bool {
        statuses.dropFirst().allSatisfy { $0.map { $0.size == 0 } ?? true }
    }

    /// A copy of one state of the files; nil when three tries found a writer, or the folder has no space.
    private static func privateCopy(
        of path: String, in folder: String, _ system: any System, _ lack: inout MigrationError?
    ) throws -> (path: String, folder: TemporaryFolder)? {
        for _ in 0..<3 {
            let own = try TemporaryFolder("probe", in: folder, system)
            do {
                let copy = Path.join(own.path, Path.name(of: path))
                if try Self.copy(path, to: copy, system) { return (copy, own) }
            } catch let error as MigrationError where error.code == .insufficientStorage {
                lack = error
            } catch {
                own.remove()
                throw error
            }
            own.remove()
        }
        return nil
    }

    /// Copies a store with its log and its journal, which SQLite may then heal, and compares the copies.
    ///
    /// - Returns: false where they differ: somebody wrote to them in the meantime, maybe within one tick of the volume's
    ///   clock, or a copy is not read as it was written. Another copy tells which.
    package static func copy(_ path: String, to copy: String, _ system: any System) throws -> Bool {
        let before = try statuses(of: path, system)
        do {
            for (suffix, status) in zip(["", "-wal", "-journal"], before) where status != nil {
                try system.copy(path + suffix, to: copy + suffix)
            }
        } catch let error as MigrationError where error.code == .fileNotFound {
            // A side file went away while it was copied.
            return false
        }
        guard try statuses(of: path, system) == before else { return false }
        return try zip(["", "-wal", "-journal"], before).allSatisfy { suffix, status in
            try status == nil || system.holdsSame(path + suffix, copy + suffix)
        }
    }

    /// Calls `body` for each object of a store, ordered by entity and key. The store is not changed, and one object is in
    /// memory at a time.
    ///
    /// - Parameters:
    ///   - entityName: the entity; nil for all.
    ///   - includingSubentities: whether the objects of its sub-entities come too.
    ///   - versions: one of which the store is; empty to use the model inside it.
    /// - Throws: `storeUnknown` for a store of none of the versions; `modelNotFound` if there is no readable model inside;
    ///   `usage` for an entity that the model does not have; `locked` if another process wrote to the store meanwhile, so
    ///   that what `body` was given may mix two states.
    package static func forEachObject(
        of entityName: String? = nil, includingSubentities: Bool = false, in store: String, versions: ModelVersions,
        _ body: (ObjectRow) throws -> Void
    ) throws {
        let probe = try StoreProbe(store)
        defer { probe.close() }
        try probe.undisturbed {
            let layout = try probe.layout(by: versions)
            let reader = StoreReader(connection: probe.connection, layout: layout, store: probe.path)
            for entity in try entities(named: entityName, in: layout.model) {
                try reader.forEachObject(of: entity, includingSubentities: includingSubentities, body)
            }
        }
    }

    /// Calls `body`, which reads the store once and hands on what it reads.
    ///
    /// - Throws: `locked` if another process wrote to the store while it was read without a lock: neither what was read
    ///   nor an error of `body` says anything about the store then.
    package func undisturbed<Result>(_ body: () throws -> Result) throws -> Result {
        let result: Result
        do {
            result = try body()
        } catch let error as MigrationError {
            try checkUndisturbed()
            throw error
        }
        try checkUndisturbed()
        return result
    }

    private func checkUndisturbed() throws {
        guard way == .immutable, !isUndisturbed else { return }
        throw MigrationError(
            .locked, "Another process wrote to the store while it was read. What was printed may mix two states.",
            place: path, remedy: "Close every app that has it open and run the command again.")
    }

    private func layout(by versions: ModelVersions) throws -> StoreLayout {
        let snapshot = try StoreSnapshot(connection)
        let recognition = try StoreRecognition(of: snapshot, in: versions)
        if !versions.versions.isEmpty, recognition.position == nil {
            throw MigrationError.storeUnknown(nearest: versions.nearest(to: snapshot.hashes))
        }
        guard let model = recognition.model else {
            throw MigrationError(
                .modelNotFound, "The store contains no readable model.", place: path,
                remedy: "Name the model that made it: \(option: .model("PATH")).")
        }
        return try StoreLayout(actual: snapshot, model: model)
    }

    private static func entities(named name: String?, in model: ManagedObjectModel) throws -> [EntityDescription] {
        guard let name else { return model.entities }
        if let entity = model.entity(name) { return [entity] }
        let names = model.entities.map(\.name)
        let near = Suggestion.nearest(to: name, among: names).map { " Did you mean \($0)?" } ?? ""
        throw MigrationError(
            .usage, "The model has no entity \(name).\(near)", place: name,
            remedy: "Its entities are: \(names.joined(separator: ", ")).")
    }
}
