import MoultBasics
import MoultModel
import MoultPlan
import MoultStore

/// The progress of a migration that takes several calls, kept in its working folder.
///
/// The script's progress is in the working copy itself, in the same transaction as the changes (``PacedScript``). The
/// checkpoint is valid only for its own store, unchanged as far as file times and sizes show; otherwise the migration
/// starts over.
package struct MigrationCheckpoint: Sendable, Equatable {
    package var run: String
    package var from: String
    package var to: String
    package var startedAt: Timestamp
    /// SHA-256 of the script and of the policies' mapping, in hexadecimal.
    package var script: String
    /// The identifier of the system start during which the working files have been written since they were last
    /// synchronised.
    package var boot: String
    /// The sizes and times of the store's files, valid if the store has not been written to since the beginning.
    package var store: JSONValue
    package var rowFacts: BoundPlan.RowFacts
    /// The number of calls that ended on their budget.
    package var calls = 0
    /// The finished part of the whole, 0 to 1.
    package var fraction = 0.0
    /// The backup whose pages are copied, until it is verified and has its final name.
    var draft: CopiedPages?
    /// The rows by table of the backup, counted by the check of its pages; nil until they have been checked.
    var rowsOfBackup: [String: Int64]?
    var proof: BackupFolder.Proof?
    /// The name of the verified backup.
    var backup: String?
    var hasCopy = false
    /// Whether all statements have run, and the policies.
    var isChanged = false
    /// The results of the policies (``PolicyRecord``), once they have run; null before, and without policies.
    var policies = JSONValue.null
    /// The reason why the work on the copy cannot be done in pieces, if that has shown while it was.
    var reasonForOne: String?
    /// The number of verification pieces that have passed.
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
    }

    /// - Parameter size: the size of the store in bytes.
    init(run: String, _ migration: Pass, startedAt: Timestamp, size: Int64, _ system: any System) {
        self.run = run
        (from, to) = (migration.from, migration.to)
        self.startedAt = startedAt
        script = migration.digest
        boot = Self.boot(system)
        store = .null
        // The first call has to synchronise the backup and the copy.
        endSeconds = CostModel.files + Double(size) * CostModel.synchronisation
        rowFacts = migration.rowFacts ?? .init(rowCounts: [:], disjoint: [])
    }

    /// Returns the start time of the first process, which no two starts of a machine share; empty if unknown.
    static func boot(_ system: any System) -> String { system.startTime(ofProcess: 1) ?? "" }

    static func path(_ sidecar: StoreRecords, run: String) -> String { Path.join(sidecar.work(run), "checkpoint.json") }
}

extension Pass {
    /// SHA-256 of all statements and of the policies' mapping, in hexadecimal.
    var digest: String {
        var stream = SHA256Stream()
        for text in script.statements.map(\.sql) + (policies?.mapping.digestLines ?? []) {
            Array((text + "\n").utf8).withUnsafeBytes { stream.update($0) }
        }
        return stream.finish().hexadecimal
    }
}

// MARK: - On the disk

extension MigrationCheckpoint {
    func write(_ sidecar: StoreRecords, _ system: any System) throws {
        try system.writeAtomically(Array((json.indented + "\n").utf8), to: Self.path(sidecar, run: run), sidecar.rights)
    }

    /// Returns the checkpoint that a run has left next to its store; nil if there is no readable one.
    package static func read(_ sidecar: StoreRecords, _ system: any System) -> MigrationCheckpoint? {
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

// MARK: - Matching the store

extension MigrationCheckpoint {
    /// Returns the sizes and times of a store's files, or null if the last write is too recent: the next write could
    /// have the same time.
    static func facts(ofStore path: String, _ system: any System) throws -> JSONValue {
        var facts: [JSONValue] = []
        for name in [path, path + "-wal", path + "-journal"] {
            // An empty WAL is equivalent to none: SQLite leaves either.
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

    /// The granularity of file times in seconds, with a margin: they advance in steps of a few milliseconds.
    static let clockGrain = 0.02

    /// Returns the facts that an earlier call found in the rows; nil if the store was written to since, or the path
    /// differs.
    static func rowFacts(
        of store: String, _ plan: MigrationPlan, _ system: any System
    ) throws -> BoundPlan.RowFacts? {
        guard let checkpoint = read(StoreRecords(store: store), system), checkpoint.from == plan.from.name,
            checkpoint.to == plan.to.name, checkpoint.store != .null,
            try facts(ofStore: store, system) == checkpoint.store
        else { return nil }
        return checkpoint.rowFacts
    }

    /// Returns the reason why the work cannot continue from here, in one sentence; nil if it can.
    ///
    /// - Parameter isDurable: whether nothing has been written to the working files since they were synchronised.
    func obstacle(
        _ migration: Pass, _ sidecar: StoreRecords, _ backups: BackupFolder, isDurable: Bool, _ system: any System
    ) throws -> String? {
        guard store != .null, try Self.facts(ofStore: sidecar.store, system) == store else {
            return "The store was written to since the last call."
        }
        guard script == migration.digest, from == migration.from, to == migration.to else {
            return "The last call migrated from \(from) to \(to) with another plan."
        }
        guard isDurable || boot == Self.boot(system) else {
            return "The machine stopped during the last call."
        }
        let source = sourceFolder(backups)
        var needed = [source].compactMap { $0 }
        if hasCopy { needed.append(Path.join(sidecar.work(run), sidecar.nameOfCopy)) }
        if policies != .null { needed.append(Path.join(sidecar.work(run), sidecar.nameOfPolicyRows)) }
        guard try (source != nil || !hasCopy) && needed.allSatisfy(system.exists) else {
            return "Working files of the last call are missing."
        }
        return nil
    }

    /// Returns the folder of the backup, or of its draft; nil if neither exists.
    func sourceFolder(_ backups: BackupFolder) -> String? {
        (backup ?? draft?.name).map { Path.join(backups.folder, $0) }
    }
}

extension MigrationCheckpoint {
    var json: JSONValue {
        let seconds = timings.map { ($0.phase.rawValue, JSONValue.double($0.seconds)) }
        return .object([
            .init("format", 1), .init("run", .string(run)), .init("from", .string(from)), .init("to", .string(to)),
            .init("startedAt", .string(startedAt.iso8601WithMilliseconds)), .init("script", .string(script)),
            .init("boot", .string(boot)), .init("store", store),
            .init("rowCounts", JSONValue(sorted: rowFacts.rowCounts.mapValues(JSONValue.integer))),
            .init("disjoint", .array(rowFacts.disjoint.map { .array($0.map { JSONValue($0) }) })),
            .init("losses", .array(rowFacts.losses.map(\.document))),
            .init("calls", JSONValue(calls)), .init("fraction", .double(fraction)),
            .init("draft", draft?.json ?? .null),
            .init("rowsOfBackup", rowsOfBackup.map { JSONValue(sorted: $0.mapValues(JSONValue.integer)) } ?? .null),
            .init("proof", proof?.json ?? .null),
            .init("backup", JSONValue(backup)), .init("hasCopy", .bool(hasCopy)), .init("isChanged", .bool(isChanged)),
            .init("policies", policies), .init("reasonForOne", JSONValue(reasonForOne)),
            .init("verified", JSONValue(verified)), .init("pagesAreSound", .bool(pagesAreSound)),
            .init("slowness", .double(slowness)),
            .init("endSeconds", .double(endSeconds)),
            .init("seconds", JSONValue(sorted: Dictionary(seconds, uniquingKeysWith: { first, _ in first }))),
        ])
    }

    init?(_ json: JSONValue) {
        guard json["format"]?.integer == 1, let run = json["run"]?.string, let from = json["from"]?.string,
            let to = json["to"]?.string, let startedAt = json["startedAt"]?.string.flatMap(Timestamp.init(iso8601:)),
            let script = json["script"]?.string, let boot = json["boot"]?.string, let store = json["store"],
            let calls = json["calls"]?.integer, let fraction = json["fraction"]?.double,
            let verified = json["verified"]?.integer, let slowness = json["slowness"]?.double, slowness.isFinite,
            slowness > 0, let endSeconds = json["endSeconds"]?.double
        else { return nil }
        (self.run, self.from, self.to, self.startedAt) = (run, from, to, startedAt)
        (self.script, self.boot, self.store) = (script, boot, store)
        let disjoint = (json["disjoint"]?.array ?? []).map { pair in
            (pair.array ?? []).compactMap { $0.integer.map { Int(clamping: $0) } }
        }
        rowFacts = BoundPlan.RowFacts(
            rowCounts: json["rowCounts"].counts, disjoint: Set(disjoint),
            losses: MigrationLoss.list(json["losses"]))
        self.calls = Int(clamping: calls)
        self.fraction = min(max(fraction, 0), 1)
        draft = json["draft"].flatMap(CopiedPages.init)
        rowsOfBackup = json["rowsOfBackup"]?.members == nil ? nil : json["rowsOfBackup"].counts
        proof = json["proof"].flatMap(BackupFolder.Proof.init)
        backup = json["backup"]?.string.flatMap { $0.isPlainFileName ? $0 : nil }
        hasCopy = json["hasCopy"]?.bool == true
        isChanged = json["isChanged"]?.bool == true
        policies = json["policies"] ?? .null
        reasonForOne = json["reasonForOne"]?.string
        self.verified = Int(clamping: max(verified, 0))
        pagesAreSound = json["pagesAreSound"]?.bool == true
        self.slowness = slowness
        self.endSeconds = endSeconds
        timings = MigrationProgress.Phase.allCases.compactMap { phase in
            json["seconds"]?[phase.rawValue]?.double.map { .init(phase: phase, seconds: $0) }
        }
    }
}

extension MigrationCheckpoint.CopiedPages {
    fileprivate var json: JSONValue {
        .object([
            .init("name", .string(name)), .init("createdAt", .string(createdAt.iso8601WithMilliseconds)),
        ])
    }

    /// Returns nil unless the name can be a draft's, because its folder may have to be removed.
    fileprivate init?(_ json: JSONValue) {
        guard let name = json["name"]?.string, name.isPlainFileName, name.hasPrefix("."),
            name.hasSuffix(BackupFolder.draftSuffix),
            let createdAt = json["createdAt"]?.string.flatMap(Timestamp.init(iso8601:))
        else { return nil }
        self.init(name: name, createdAt: createdAt)
    }
}

extension BackupFolder.Proof {
    fileprivate var json: JSONValue {
        .object([.init("size", .integer(size)), .init("sha256", .string(sha256))])
    }

    fileprivate init?(_ json: JSONValue) {
        guard let size = json["size"]?.integer, let sha256 = json["sha256"]?.string else { return nil }
        self.init(size: size, sha256: sha256)
    }
}

extension JSONValue? {
    /// The numbers by name.
    fileprivate var counts: [String: Int64] {
        let members = (self?.members ?? []).compactMap { member in member.value.integer.map { (member.key, $0) } }
        return Dictionary(members, uniquingKeysWith: { first, _ in first })
    }
}
