import MoultBasics
import MoultModel
import MoultSQLite
import MoultVerify

/// A record of what a run is about to do, written beforehand, so that the next run can tell how it ended.
///
/// The journal is never the authority on the store: the store's own metadata and counters are.
package struct Journal: Sendable, Equatable {
    package typealias Operation = StoreRun.Operation

    package enum State: String, Sendable {
        /// Backup and working copy are being made; the store is untouched.
        case started
        /// The budget of a call was used up; the store is untouched, and the next call continues
        /// (``MigrationCheckpoint``).
        case paused
        /// From here the store may be the old one or the new one.
        case committing
    }

    package var run: String
    package var operation: Operation
    package var state: State
    package var from: String
    package var to: String
    package var startedAt: String
    /// The store's counter and checksum before the run.
    package var schemaVersion: Int64
    package var oldChecksum: String
    /// The checksum that the store will have; nil before the new store is verified.
    package var newChecksum: String?
    /// The name of the backup, recorded just before the backup gets it. For a rollback, the backup that is restored.
    package var backup: String?
    /// The folder of the backup that a rollback makes of the present state, recorded just before it gets its name.
    package var saved: String?
    /// The folder that holds backups, which may contain an unfinished one.
    package var backups: String
    /// Names of external files that the new store needs and the old one does not.
    package var newExternalFiles: [String]
    /// Names of external files that the old store needs and the new one does not; they are removed after the commit.
    package var droppedFiles: [String] = []
    /// The `NSStoreUUID` of a backup that replaces an unsound or missing store. The old file cannot be queried, so the
    /// restore has happened once the store is sound and has this UUID. Nil for every other run.
    package var restoredUUID: String?
    /// The path that a move brings the store to; nil for every other run.
    package var destination: String?
    /// Steps with an undo that may have begun.
    package var steps: [String] = []
    /// The data missing from the new store, once all of it is counted.
    package var losses: [MigrationLoss] = []
    /// The request that the run is part of, which another process can finish or name; nil if it was not kept, as in the
    /// journals of earlier versions of Moult.
    package var request: JSONValue?

    /// A sentence about effects outside the store that the steps of a dead process may have left; nil if there can be
    /// none.
    package var leftOutside: String? {
        guard !steps.isEmpty else { return nil }
        return "What its steps (\(steps.joined(separator: ", "))) may have done outside the store was not undone; "
            + "the next migration runs them again."
    }
}

// MARK: - On the disk

extension Journal {
    package func write(_ sidecar: StoreRecords, _ system: any System) throws {
        var journal = self
        // A relative path would not resolve in another working folder.
        journal.backups = system.absolute(backups)
        // It is not there yet, but its folder is.
        journal.saved = saved.map { Path.join(system.absolute(Path.folder(of: $0)), Path.name(of: $0)) }
        try system.writeAtomically(Array((journal.json.indented + "\n").utf8), to: sidecar.journal, sidecar.rights)
    }

    /// Returns the journal of an unfinished run; nil if there is none.
    ///
    /// - Throws: `metadataInvalid` if it cannot be read.
    package static func read(_ sidecar: StoreRecords, _ system: any System) throws -> Journal? {
        guard try system.exists(sidecar.journal) else { return nil }
        let bytes = try system.read(sidecar.journal, as: .metadataInvalid)
        let json = try JSONValue(parsing: bytes, place: sidecar.journal, code: .metadataInvalid)
        guard let journal = Journal(json) else {
            throw MigrationError(
                .metadataInvalid, "The format of the journal of the last run is not known to this version of Moult.",
                place: sidecar.journal, remedy: "Use the version of Moult that wrote it.")
        }
        return journal
    }

    /// Returns the journal; nil if there is none, or if it is damaged.
    ///
    /// - Throws: the error of one that cannot be read.
    static func unlessDamaged(_ sidecar: StoreRecords, _ system: any System) throws -> Journal? {
        do {
            return try read(sidecar, system)
        } catch let error as MigrationError where error.code == .metadataInvalid {
            return nil
        }
    }

    /// Whether a person stopped the run, no matter how it ended.
    func wasStopped(_ sidecar: StoreRecords, _ system: any System) throws -> Bool {
        try system.status(of: sidecar.stopped).map { $0.modified.iso8601 >= startedAt } ?? false
    }

    package static func remove(_ sidecar: StoreRecords, _ system: any System) throws {
        if try system.remove(sidecar.journal) { try system.synchronise(sidecar.folder) }
    }

    private var json: JSONValue {
        .object([
            .init("format", .integer(1)), .init("run", .string(run)), .init("operation", .string(operation.rawValue)),
            .init("state", .string(state.rawValue)), .init("from", .string(from)), .init("to", .string(to)),
            .init("startedAt", .string(startedAt)), .init("schemaVersion", .integer(schemaVersion)),
            .init("oldChecksum", .string(oldChecksum)),
            .init("newChecksum", newChecksum.map(JSONValue.string) ?? .null),
            .init("backup", backup.map(JSONValue.string) ?? .null), .init("saved", JSONValue(saved)),
            .init("backups", .string(backups)),
            .init("newExternalFiles", .array(newExternalFiles.map(JSONValue.string))),
            .init("droppedFiles", .array(droppedFiles.map(JSONValue.string))),
            .init("restoredUUID", restoredUUID.map(JSONValue.string) ?? .null),
            .init("destination", JSONValue(destination)),
            .init("steps", .array(steps.map(JSONValue.string))), .init("losses", .array(losses.map(\.document))),
            .init("request", request ?? .null),
        ])
    }

    private init?(_ json: JSONValue) {
        guard json["format"]?.integer == 1, let run = json["run"]?.string,
            let operation = json["operation"]?.string.flatMap(Operation.init),
            let state = json["state"]?.string.flatMap(State.init), let from = json["from"]?.string,
            let to = json["to"]?.string, let startedAt = json["startedAt"]?.string,
            let schemaVersion = json["schemaVersion"]?.integer, let oldChecksum = json["oldChecksum"]?.string,
            let backups = json["backups"]?.string, let files = json["newExternalFiles"]?.array?.compactMap(\.string)
        else { return nil }
        self.init(
            run: run, operation: operation, state: state, from: from, to: to, startedAt: startedAt,
            schemaVersion: schemaVersion, oldChecksum: oldChecksum, newChecksum: json["newChecksum"]?.string,
            backup: json["backup"]?.string, saved: json["saved"]?.string, backups: backups, newExternalFiles: files,
            droppedFiles: json["droppedFiles"]?.array?.compactMap(\.string) ?? [],
            restoredUUID: json["restoredUUID"]?.string, destination: json["destination"]?.string,
            steps: json["steps"]?.array?.compactMap(\.string) ?? [], losses: MigrationLoss.list(json["losses"]),
            request: json["request"].flatMap { $0 == .null ? nil : $0 })
    }
}

extension StoreRun.Operation {
    /// The work of a run, as the subject of a sentence.
    package var work: String {
        switch self {
        case .migrate: "The migration"
        case .rollback: "The rollback"
        case .finish: "The deferred work"
        case .validate: "The correction"
        case .repair: "The repair"
        case .quarantine: "The return of objects"
        case .downgrade: "The downgrade"
        case .move: "The move"
        }
    }

    /// The options of the command that help when space is short.
    package var ways: [SpaceRequirement.Way] {
        switch self {
        case .migrate: [.frugal, .deferred, .into]
        case .validate: [.frugal]
        default: []
        }
    }

    /// Returns a description of the run for the log.
    package func sentence(from: String, to: String) -> String {
        switch self {
        case .migrate: "migrating from \(from) to \(to)."
        case .rollback: "restoring a backup of \(to)."
        case .finish: "doing deferred work, at version \(to)."
        case .validate: "applying the fixes of rules, at version \(to)."
        case .repair: "repairing, at version \(to)."
        case .quarantine: "putting objects from the quarantine back, at version \(to)."
        case .downgrade: "downgrading from \(from) to \(to)."
        case .move: "moving the store, of version \(to)."
        }
    }
}

/// The properties by which the engine tells one state of a store from another.
package struct StoreState: Sendable, Equatable {
    /// `NSStoreUUID`; empty where there is none.
    package var uuid: String
    /// Nil if the metadata cannot be read.
    package var hashes: VersionHashes?
    /// SQLite's own counter, raised by every change of a table and every copy over the store.
    package var schemaVersion: Int64
    package var pageSize: Int64
    package var pageCount: Int64
    package var usesWAL: Bool

    /// The bytes of the database, including the pages in a WAL.
    package var size: Int64 { pageSize * pageCount }
    /// The model's checksum in hexadecimal; empty if unknown.
    package var checksum: String { hashes?.checksum.hexadecimal ?? "" }
    /// A name for a version whose own name is unknown: eight digits of its checksum, the same for each such store.
    package var unnamedVersion: String { String(checksum.prefix(8)) }

    package init(_ connection: Connection, schema: String = "main") throws {
        let name = schema.quotedName
        schemaVersion = try connection.integer("PRAGMA \(name).schema_version") ?? 0
        pageSize = try connection.integer("PRAGMA \(name).page_size") ?? 0
        pageCount = try connection.integer("PRAGMA \(name).page_count") ?? 0
        let mode = try connection.text("PRAGMA \(name).journal_mode")
        // A connection that reads no WAL names another mode.
        usesWAL = try mode == "wal" || schema == "main" && mode != "memory" && connection.isFileInWALMode
        uuid = try connection.text("SELECT Z_UUID FROM \(name).Z_METADATA LIMIT 1") ?? ""
        let list = try connection.value("SELECT Z_PLIST FROM \(name).Z_METADATA LIMIT 1")?.blob
        let entries = list.flatMap { try? PropertyList(parsing: $0) }?["NSStoreModelVersionHashes"]?.dictionary
        hashes = entries.map { VersionHashes(read: $0.compactMapValues(\.data)) }
    }
}

extension Connection {
    /// Returns the number of rows of every ordinary table, by its name.
    ///
    /// - Parameter known: counts that have been made; the other tables are read.
    package func rowCounts(schema: String = "main", knowing known: [String: Int64] = [:]) throws -> [String: Int64] {
        var counts: [String: Int64] = [:]
        // A virtual table's rows are in tables of their own, and its module may be missing.
        for table in try catalogue(schema: schema).tables where !table.isVirtual {
            counts[table.name] =
                try known[table.name] ?? integer("SELECT count(*) FROM \(schema.quotedName).\(table.name.quotedName)")
        }
        return counts
    }

    /// Throws unless every page is sound and each index has as many entries as its table has rows. Reads every page.
    ///
    /// - Parameter place: the path that the error names.
    package func checkSoundness(schema: String = "main", place: String) throws {
        if let stale = try checkPages(schema: schema, place: place).first { throw stale.refusal(place) }
    }

    /// Throws if SQLite reports a damaged page, or an index has entries for rows that its table has lost.
    ///
    /// - Returns: the indexes to rebuild in a repair, because their entries do not match their tables' row counts.
    @discardableResult
    package func checkPages(schema: String = "main", place: String) throws -> [IndexCount] {
        let complaint = try checkMessages("quick_check", schema: schema, of: "1").first ?? "no answer"
        guard complaint == "ok" else {
            throw MigrationError(
                .storeCorrupted, "The database is damaged.", place: place, remedy: MigrationError.damagedStoreRemedy,
                cause: complaint)
        }
        let counts = try IndexCount.differences(self, schema: schema)
        if let damage = counts.first(where: \.lacksRows) ?? counts.first(where: \.isDamage) {
            throw damage.refusal(place)
        }
        return counts
    }
}

extension Journal {
    /// Creates the journal of a move that begins.
    ///
    /// - Parameters:
    ///   - name: the version of the store.
    ///   - before: the state of the store.
    ///   - backups: the folder of its backups.
    package init(
        ofMove run: String, at time: String, of name: String, _ before: StoreState, backups: String,
        to destination: String
    ) {
        self.init(
            run: run, operation: .move, state: .started, from: name, to: name, startedAt: time,
            schemaVersion: before.schemaVersion, oldChecksum: before.checksum, backups: backups, newExternalFiles: [],
            destination: destination)
    }
}
