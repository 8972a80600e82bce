import MoultBasics
import MoultStore

/// The folder next to a store where Moult keeps its own files: `<name>.moult/`.
package struct StoreRecords: Sendable, Hashable {
    /// The store's path, without symbolic links.
    package let store: String
    /// The file rights of the folder and its contents: those of the store, or of the store that it is made from.
    package let rights: FileRights

    /// - Parameter other: a store whose rights apply while there is none at the path yet.
    package init(store: String, like other: String? = nil) {
        self.store = store
        rights = .like(other ?? store)
    }

    /// Creates the sidecar of the store at a path, even if the store is gone.
    ///
    /// - Throws: `fileNotFound` if the store's folder does not exist either.
    package init(of path: String, _ system: any System) throws {
        let folder = Path.folder(of: path)
        if let present = try Self.resolve(path, system) {
            self.init(store: present)
        } else if try system.exists(folder) {
            self.init(store: Path.join(try system.resolve(folder), Path.name(of: path)))
        } else {
            throw try ReadOnlyStore.missing(path, system)
        }
    }

    /// Returns the path without symbolic links; nil if nothing is there, or not any more.
    private static func resolve(_ path: String, _ system: any System) throws -> String? {
        do {
            return try system.exists(path) ? system.resolve(path) : nil
        } catch let error as MigrationError where error.code == .fileNotFound {
            return nil
        }
    }

    /// The path of the folder.
    package var folder: String { Path.sidecar(of: store) }

    /// The store's name, for a copy next to which SQLite may create a `-journal`.
    package var nameOfCopy: String {
        let name = Path.name(of: store)
        return name.utf8.count + "-journal".utf8.count > 255 ? "store" : name
    }
    /// The name of the file, next to a working copy, with the objects that policies have changed or quarantined.
    package var nameOfPolicyRows: String { ".policies" }
    package var lock: String { Path.join(folder, "lock") }
    package var journal: String { Path.join(folder, "journal.json") }
    package var runs: String { Path.join(folder, "runs.jsonl") }
    package var log: String { Path.join(folder, "log.txt") }
    package var backups: String { Path.join(folder, "backups") }
    /// The keys of entities that a rollback or a downgrade has taken out of the store.
    package var keys: String { Path.join(folder, "keys.json") }
    /// The objects that runs removed from the store.
    package var quarantine: String { Path.join(folder, "quarantine.sqlite") }
    /// The folder of external data files that no row named, by the run that moved them here.
    package var unnamedFiles: String { Path.join(folder, Self.unnamedFilesName) }
    package static let unnamedFilesName = "external-files"
    /// The mark that a person has stopped a run, written at the request.
    package var stopped: String { Path.join(folder, Self.stoppedName) }
    static let stoppedName = "stopped"
    /// The record of the run that moved the store here, while that run has not ended at the old place.
    package var arrival: String { Path.join(folder, Self.arrivalName) }
    static let arrivalName = "arrival.json"
    /// The record of the store's mirror.
    package var mirror: String { Path.join(folder, "mirror.json") }
    /// The file that records the state in which the mirror left the file of its second store.
    package var mirrorSeen: String { Path.join(folder, "mirror.seen") }
    /// The folder for the files of an unusable store that a backup has replaced.
    package var damaged: String { Path.join(folder, "damaged") }

    /// The working folder of a run.
    package func work(_ run: String) -> String { Path.join(folder, "work-\(run)") }

    /// Core Data's folder for a store's external data, next to the store or in a backup.
    package static func supportName(ofStore name: String) -> String { ".\(Path.stem(of: name))_SUPPORT" }

    package var support: String { Path.join(Path.folder(of: store), Self.supportName(ofStore: Path.name(of: store))) }
    package var externalData: String { Path.join(support, "_EXTERNAL_DATA") }

    /// Returns the path of the database in which a salvage to `path` keeps data that has no place in the new store.
    package static func aside(of path: String) -> String { path + ".aside.sqlite" }

    /// Makes the folder, or makes an existing one no more readable than the store.
    ///
    /// - Throws: `readOnly` if something else has that name.
    package func make(_ system: any System) throws {
        guard let present = try system.status(of: folder) else {
            // A dangling symbolic link is not a folder either.
            guard try !system.isLink(folder) else { throw foreign("is a symbolic link") }
            try system.makeFolder(folder, rights)
            return try system.synchronise(Path.folder(of: folder))
        }
        guard try !system.isLink(folder) else { throw foreign("is a symbolic link") }
        guard present.kind == .folder else { throw foreign("is not a folder") }
        guard let owner = try system.status(of: store), present.owner != owner.owner else {
            return try restrict(present, system)
        }
        let parent = try system.status(of: Path.folder(of: folder))
        guard [0, parent?.owner].contains(present.owner) || present.owner == system.user else {
            throw foreign("belongs to another user (\(present.owner))")
        }
        try restrict(present, system)
    }

    private func restrict(_ present: FileStatus, _ system: any System) throws {
        guard let mode = try system.status(of: store)?.mode else { return }
        let most = (mode & 0o666) | (mode & 0o444) >> 2 | 0o700
        let isOwn = present.owner == system.user || system.user == 0
        if present.mode & 0o777 & ~most != 0, isOwn { try system.setMode(present.mode & most, of: folder) }
    }

    private func foreign(_ what: String) -> MigrationError {
        MigrationError(
            .readOnly, "\(folder) \(what). Moult writes nothing there.", place: folder,
            remedy: "Find out what put it there, and move it away. Moult keeps its records of the store there.")
    }
}

/// The log of a store: `[time] sentence` lines, append-only.
package struct MigrationLog: Sendable {
    package let sidecar: StoreRecords
    private let system: any System

    package init(_ sidecar: StoreRecords, _ system: any System = POSIXSystem()) {
        self.sidecar = sidecar
        self.system = system
    }

    /// Adds a line. Never fails a run: errors in logging are ignored.
    package func append(_ message: String) {
        // The line may contain names from the store, and people may print the log to a terminal.
        let line = message.split(whereSeparator: \.isNewline).joined(separator: " ").printable
        try? system.append(
            Array("[\(system.now.iso8601WithMilliseconds)] \(line)\n".utf8), to: sidecar.log, sidecar.rights)
    }

    /// Adds a sentence that ends with an error. Leaves out the text of an app's own errors, which may contain a row's
    /// value, and logs the error's type in its place.
    package func append(_ message: String, _ error: any Error) { append("\(message)\(Self.words(of: error))") }

    static func words(of error: any Error) -> String {
        guard var known = error as? MigrationError else { return "\(type(of: error))" }
        if [.policyFailed, .stageFailed, .migrationFailed].contains(known.code) { known.cause = nil }
        return "\(known)"
    }

    /// Returns the whole log; empty if there is none.
    package func read() throws -> String {
        guard try system.exists(sidecar.log) else { return "" }
        return String(decoding: try system.read(sidecar.log), as: UTF8.self)
    }
}
