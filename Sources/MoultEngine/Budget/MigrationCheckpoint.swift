import MoultModel
import MoultPlan
import MoultStore
import MoultSystem

/// The progress of a migration that is done in several calls, kept in its working folder.
///
/// What the script has done is not in it but in the working copy itself, in the same transaction (``PacedScript``). The
/// checkpoint holds only for the store that it was made for, byte by byte as far as times and sizes tell: a store that
/// was written to since is migrated from the start.
package struct MigrationCheckpoint: Sendable, Equatable {
    package var run: String
    package var from: String
    package var to: String
    package var startedAt: Timestamp
    /// SHA-256 of the script, in hexadecimal.
    package var script: String
    /// The identifier of the system start during which the working files have been written since they were last
    /// synchronised.
    package var boot: String
    /// Sizes and times of the store's files if it was not written to since the beginning.
    package var store: JSONValue
    package var rowFacts: BoundPlan.RowFacts
    /// Calls that ended on their budget.
    package var calls = 0
    /// Of the whole, 0 to 1.
    package var fraction = 0.0
    /// The backup whose pages are copied, until it has been verified and has its last name.
    var draft: CopiedPages?
    /// Whether its pages were checked, and what reading it once more has shown.
    var backupIsSound = false
    var proof: BackupFolder.Proof?
    /// The name of the verified backup.
    var backup: String?
    var hasCopy = false
    /// Whether all statements have run.
    var isChanged = false
    /// Pieces of the verification that have passed.
    var verified = 0
    var pagesAreSound = false
    /// The factor by which this machine is slower than estimated.
    var slowness = 1.0
    /// The seconds that the end of the last call took, from its last piece on.
    var endSeconds: Double
    var timings: [MigrationOutcome.Timing] = []

    /// A draft among the backups (``BackupFolder/Draft``).
    struct CopiedPages: Sendable, Equatable {
        var name: String
        var createdAt: Timestamp
        var rows: [String: Int64]
    }

    /// - Parameter size: bytes of the store.
    init(run: String, _ migration: Migration, startedAt: Timestamp, size: Int64, _ system: any System) {
        self.run = run
        (from, to) = (migration.from, migration.to)
        self.startedAt = startedAt
        script = migration.script.digest
        boot = Self.boot(system)
        store = .null
        // The first call has backup and copy to synchronise.
        endSeconds = WorkCost.files + Double(size) * WorkCost.synchronisation
        rowFacts = migration.rowFacts ?? .init(rowCounts: [:], disjoint: [])
    }

    /// The first process' start, which no two starts of a machine share; empty where it is not known.
    static func boot(_ system: any System) -> String { system.startTime(ofProcess: 1) ?? "" }

    static func path(_ sidecar: Sidecar, run: String) -> String { Path.join(sidecar.work(run), "checkpoint.json") }
}

extension StoreScript {
    /// SHA-256 of all statements, in hexadecimal.
    var digest: String {
        var stream = SHA256Stream()
        for statement in statements {
            Array((statement.sql + "\n").utf8).withUnsafeBytes { stream.update($0) }
        }
        return stream.finish().hexadecimal
    }
}

// MARK: - On the disk

extension MigrationCheckpoint {
    func write(_ sidecar: Sidecar, _ system: any System) throws {
        try system.writeAtomically(Array((json.indented + "\n").utf8), to: Self.path(sidecar, run: run), sidecar.rights)
    }

    /// The checkpoint that a run has left next to its store; nil if there is none that can be read.
    package static func read(_ sidecar: Sidecar, _ system: any System) -> MigrationCheckpoint? {
        guard let journal = try? Journal.read(sidecar, system), journal.operation == .migrate,
            journal.state != .committing, journal.run.isPlainFileName
        else { return nil }
        let path = path(sidecar, run: journal.run)
        guard let bytes = try? system.read(path),
            let json = try? JSONValue(parsing: bytes, place: path, code: .metadataInvalid)
        else { return nil }
        return MigrationCheckpoint(json).flatMap { $0.run == journal.run ? $0 : nil }
    }
}

// MARK: - The store that it is about

extension MigrationCheckpoint {
    /// Sizes and times of a store's files, or null where they tell nothing because the last write is too young: the
    /// next one could have the same time.
    static func facts(ofStore path: String, _ system: any System) throws -> JSONValue {
        var facts: [JSONValue] = []
        for name in [path, path + "-wal", path + "-journal"] {
            // An empty log is equivalent to none: SQLite leaves either.
            guard let status = try system.status(of: name), name == path || status.size > 0 else {
                facts.append(.null)
                continue
            }
            guard system.now.seconds(since: status.modified).magnitude > clockGrain else { return .null }
            facts.append(
                .array([
                    .integer(status.size), .integer(Int64(truncatingIfNeeded: status.inode)),
                    .integer(status.modified.seconds), .integer(Int64(status.modified.nanoseconds)),
                    .integer(status.changed.seconds), .integer(Int64(status.changed.nanoseconds)),
                ]))
        }
        return .array(facts)
    }

    /// File times move in steps of a few milliseconds.
    static let clockGrain = 0.02

    /// Returns the facts about the rows that an earlier call has found; nil if the store was written to since, or the
    /// way is another.
    static func rowFacts(
        of store: String, _ plan: MigrationPlan, _ system: any System
    ) throws -> BoundPlan.RowFacts? {
        guard let checkpoint = read(Sidecar(store: store), system), checkpoint.from == plan.from.name,
            checkpoint.to == plan.to.name, checkpoint.store != .null,
            try facts(ofStore: store, system) == checkpoint.store
        else { return nil }
        return checkpoint.rowFacts
    }

    /// Returns the reason why the work cannot continue from here, in one sentence; nil if it can.
    ///
    /// - Parameter isDurable: whether nothing was written to the working files since they were synchronised.
    func obstacle(
        _ migration: Migration, _ sidecar: Sidecar, _ backups: BackupFolder, isDurable: Bool, _ system: any System
    ) throws -> String? {
        guard store != .null, try Self.facts(ofStore: sidecar.store, system) == store else {
            return "The store was written to since the last call."
        }
        guard script == migration.script.digest, from == migration.from, to == migration.to else {
            return "The last call migrated from \(from) to \(to) with another plan."
        }
        guard isDurable || boot == Self.boot(system) else {
            return "The machine stopped during the last call."
        }
        let source = sourceFolder(backups)
        var needed = [source].compactMap { $0 }
        if hasCopy { needed.append(Path.join(sidecar.work(run), sidecar.nameOfCopy)) }
        guard try (source != nil || !hasCopy) && needed.allSatisfy(system.exists) else {
            return "Working files of the last call are missing."
        }
        return nil
    }

    /// The folder of the backup, or of its draft; nil if neither was made.
    func sourceFolder(_ backups: BackupFolder) -> String? {
        (backup ?? draft?.name).map { Path.join(backups.folder, $0) }
    }
}
