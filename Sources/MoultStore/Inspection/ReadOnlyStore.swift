import MoultBasics
import MoultModel
import MoultSQLite

/// A store opened for inspection, without changing a byte of it or of any file next to it.
///
/// It is opened in one of three ways, tried in this order:
/// 1. If there is no hot `-journal` and `-wal` is absent or empty: the file itself, as immutable.
/// 2. Otherwise: a private copy of the store, `-wal` and `-journal` (never `-shm`), which SQLite may recover after a
///    crash. If a writer interferes, the copy is made again, up to three times in all.
/// 3. If a writer is too busy for that: the file itself, read-only, where side files may change.
///
/// A probe opens and closes the store's files, and closing one drops the locks of every other connection of this
/// process to the same store. Never probe a store that this process has open.
package final class ReadOnlyStore {
    package enum Way: Sendable, Hashable {
        case immutable
        case privateCopy
        /// SQLite may have created or changed `-shm` and `-wal`.
        case readOnly
    }

    /// The store's own path, without symbolic links. External data is next to it, even if a copy is read.
    package let path: String
    package let way: Way
    package let connection: Connection
    let system: any System
    private let before: [FileStatus?]
    private let privateFolder: TemporaryFolder?
    /// The error for insufficient space, if it prevented a private copy.
    private let lackOfRoom: MigrationError?

    /// - Parameter folder: the folder for a private copy; the system's temporary folder if nil.
    /// - Throws: `MigrationError`, with a separate message for each kind of file that is not a usable store.
    package convenience init(_ path: String, system: any System = POSIXSystem(), folder: String? = nil) throws {
        let resolved = try Self.checkFile(path, system)
        try self.init(opening: resolved, system, folder ?? system.temporaryFolder)
        do {
            try checkContents()
        } catch {
            // A read that overlaps with a write says nothing about the store.
            let isDisturbed = way == .immutable && !isUndisturbed
            let foreign = Self.unreadable.contains((error as? MigrationError)?.code) ? foreignSideFile : nil
            close()
            if let foreign { throw foreign }
            // If there was no space for a copy, SQLite cannot roll back a journal.
            if let lackOfRoom, (error as? MigrationError)?.code == .readOnly { throw lackOfRoom }
            throw isDisturbed ? Self.disturbed(path) : error
        }
    }

    /// The error codes for a file that is no store, or that cannot be read with the log or journal next to it.
    package static let unreadable: [MigrationError.Code?] = [.storeCorrupted, .notAStore, .metadataInvalid]

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
                connection = try Connection(copy.path, mode: .readWrite, isProven: true, naming: path)
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

    /// Closes the connection and removes a private copy.
    package func close() {
        connection.close()
        privateFolder?.remove()
    }

    /// Whether the store is unchanged since the probe was created. Do not trust data read from an immutable file that
    /// changed in the meantime; a private copy and a read-only connection stay valid.
    package var isUndisturbed: Bool {
        guard let after = try? Self.statuses(of: path, system) else { return false }
        return after == before
    }

    /// Opens a store, reads it and closes it. If a writer interferes while an immutable file is read, `body` is called
    /// again with a new probe, up to three times, so it must be safe to repeat.
    package static func read<Result>(
        _ path: String, system: any System = POSIXSystem(), folder: String? = nil,
        _ body: (ReadOnlyStore) throws -> Result
    ) throws -> Result {
        for _ in 0..<3 {
            let probe: ReadOnlyStore
            do {
                probe = try ReadOnlyStore(path, system: system, folder: folder)
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

    // MARK: - Ways to open

    /// The suffixes that SQLite appends to a store's name for its side files.
    package static let sideFileSuffixes = ["-wal", "-journal", "-shm"]

    /// Returns the status of the store, `-wal` and `-journal`. `-shm` has no data and changes when a reader connects.
    private static func statuses(of path: String, _ system: any System) throws -> [FileStatus?] {
        try [path, path + "-wal", path + "-journal"].map(system.status)
    }

    private static func isAtRest(_ statuses: [FileStatus?]) -> Bool {
        statuses.dropFirst().allSatisfy { $0.map { $0.size == 0 } ?? true }
    }

    /// Copies one consistent state of the files; nil if a writer interfered three times, or if there is no space.
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

    /// Copies a store with its log and its journal, which SQLite may then recover, and compares the copies.
    ///
    /// - Returns: false if they differ. Either another process wrote to the files in the meantime, possibly within one
    ///   tick of the volume's clock, or the copy was not written correctly. Another copy shows which.
    package static func copy(_ path: String, to copy: String, _ system: any System) throws -> Bool {
        let before = try statuses(of: path, system)
        do {
            for (suffix, status) in zip(["", "-wal", "-journal"], before) where status != nil {
                try system.copy(path + suffix, to: copy + suffix)
            }
        } catch let error as MigrationError where error.code == .fileNotFound {
            // A side file was removed during the copy.
            return false
        }
        guard try statuses(of: path, system) == before else { return false }
        return try zip(["", "-wal", "-journal"], before).allSatisfy { suffix, status in
            try status == nil || system.holdsSame(path + suffix, copy + suffix)
        }
    }

    /// Calls `body` for each object of a store, ordered by entity and key. The store is not changed, and only one
    /// object is in memory at a time.
    ///
    /// - Parameters:
    ///   - entityName: the entity; nil for all.
    ///   - includingSubentities: whether to include objects of its sub-entities.
    ///   - versions: the possible versions of the store; empty to use the model inside it.
    /// - Throws: `storeUnknown` for a store of none of the versions; `modelNotFound` if there is no readable model
    ///   inside; `usage` for an entity that the model does not have; `locked` if another process wrote to the store
    ///   meanwhile, in which case `body` may have received a mix of two states.
    package static func forEachObject(
        of entityName: String? = nil, includingSubentities: Bool = false, in store: String, versions: ModelVersions,
        _ body: (ObjectRow) throws -> Void
    ) throws {
        let probe = try ReadOnlyStore(store)
        defer { probe.close() }
        try probe.undisturbed {
            let snapshot = try StoreSnapshot(probe.connection)
            let layout = try probe.layout(of: snapshot, by: versions)
            let reader = StoreReader(connection: probe.connection, layout: layout, store: probe.path)
            let entities = try entities(named: entityName, in: layout.model)
            let meter = WorkMeter.current
            if meter != nil {
                let counts = try snapshot.rowCounts(in: layout, over: probe.connection)
                let names = entities.flatMap { includingSubentities ? [$0] + layout.model.descendants(of: $0) : [$0] }
                WorkMeter.expect(rows: names.reduce(0) { $0 + (counts[$1.name] ?? 0) })
            }
            for entity in entities {
                try reader.forEachObject(of: entity, includingSubentities: includingSubentities) { row in
                    meter?.advance()
                    try body(row)
                }
            }
        }
    }

    /// Calls `body`, which reads the store once and passes on the data.
    ///
    /// - Throws: `locked` if another process wrote to the store while it was read without a lock. In that case, neither
    ///   the data nor an error of `body` says anything about the store.
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

    private func layout(of snapshot: StoreSnapshot, by versions: ModelVersions) throws -> StoreLayout {
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
        let near = Suggestion.sentence(for: name, among: names)
        throw MigrationError(
            .usage, "The model has no entity \(name).\(near)", place: name,
            remedy: "Its entities are: \(names.joined(separator: ", ")).")
    }
}
