import Moult
import MoultBasics
import MoultEngine
import MoultModel
import MoultSession
import MoultStore

/// The diagnosis of a store: what is wrong with it, why, and which command to type next. It changes nothing.
///
/// A check that could not be done is a finding too, so a store that was only partly examined is never reported as
/// sound.
package struct StoreDiagnosis: Sendable {
    /// The findings, worst first. Each remedy begins with the command that helps, with `MODEL` in place of the model's
    /// path.
    package let findings: [Finding]
    /// The name of the store's version; nil if it is unknown.
    package let version: String?

    /// Whether nothing prevents a migration, and no data is at risk.
    package var isWell: Bool { !findings.contains(where: \.isFault) }

    /// - Parameters:
    ///   - context: the versions of the model, with the settings of a migration; nil if no model was named.
    ///   - target: the version to migrate to; nil for the current one.
    ///   - options: the options of that migration.
    ///   - readsAll: whether to read every page, every row and every backup; otherwise what they say is not examined.
    package init(
        _ store: String, _ context: StoreSession.Context? = nil, to target: String? = nil,
        options: RunOptions = RunOptions(), readingAll readsAll: Bool = true, on system: any System = POSIXSystem()
    ) {
        let site = WorkMeter.part(upTo: 0.1) {
            DiagnosisContext(store, context, target: target, options: options, readsPages: readsAll, on: system)
        }
        var found: [Finding] = []
        for check in DiagnosisCheck.all where readsAll || !check.readsAll {
            do {
                found += try WorkMeter.part(upTo: check.end) { try check.run(site).filter { !found.contains($0) } }
            } catch {
                let obstacle = site.notExamined(error)
                // One obstacle that blocks several checks is reported once.
                let isKnown =
                    site.obstacle.map { $0.code == (error as? MigrationError)?.code } == true
                    || found.contains { $0.message.contains(obstacle.cause) }
                if !isKnown { found.append(obstacle.finding) }
            }
        }
        let general = MigrationError.damagedStoreRemedy
        // Finding a sound backup reads it.
        for position in found.indices where found[position].advice.contains(general) {
            found[position].advice = found[position].advice.replacing(general, with: site.restoring ?? site.salvage)
        }
        found = Self.onceForEachFault(found).map { $0.naming(store: site.name, at: site.path) }
        findings = found.unique().enumerated().sorted {
            ($1.element.severity, $0.offset) < ($0.element.severity, $1.offset)
        }.map(\.element)
        version = site.version?.name
    }

    /// Returns the findings without those of the plan about faults that the rows show already. The check of the rows
    /// comes after that of the plan.
    private static func onceForEachFault(_ found: [Finding]) -> [Finding] {
        let ofRows = ["required-missing", "not-unique"]
        let isMissing = found.contains { $0.code == "required-missing" && $0.severity == .error }
        return found.enumerated().filter { place, finding in
            guard ofRows.contains(finding.code) else { return true }
            // A value that was required already, and may have another name in the next version.
            if finding.code == "required-missing", finding.severity == .warning, isMissing { return false }
            return !found[(place + 1)...].contains { $0.code == finding.code && $0.place == finding.place }
        }.map(\.element)
    }
}

/// The context that the checks of a diagnosis share.
struct DiagnosisContext {
    /// The path as the caller gave it.
    let name: String
    /// The path without symbolic links, if the file exists.
    let path: String
    let sidecar: StoreRecords
    private let context: StoreSession.Context?
    var versions: ModelVersions? { context?.versions }
    let target: String?
    private let options: RunOptions
    let migrator: Migrator
    /// Nil if the file can be read as a store.
    let obstacle: MigrationError?
    /// The damage to the store's pages, in words; nil if there is none, or if the file cannot be read as a store.
    let damage: String?
    /// Whether every page is sound, and no index lists rows that its table has lost.
    var isSound: Bool { snapshot != nil && damage == nil }
    let snapshot: StoreSnapshot?
    let version: ModelVersion?
    /// The name of the version of the model that a damaged store has; nil if it is unknown.
    private let damagedVersion: String?
    private let onceListed = Once<Result<(backups: [StoreBackup], unreadable: [MigrationError]), any Error>>()
    private let onceVerified = Once<Result<StoreBackup?, any Error>>()
    private let onceExamined = Once<Result<PreparedMigration?, any Error>>()
    private let onceMeasured = Once<Result<Room, any Error>>()

    /// The room that the next migration needs.
    struct Room {
        /// The needed and the free space, in a sentence; nil if no migration was planned, or none is needed.
        var sentence: String?
        /// The refusal of a migration for which there is not enough room.
        var error: MigrationError?
        var fitsWithoutBackup = false
    }

    var system: any System { migrator.system }

    init(
        _ store: String, _ context: StoreSession.Context?, target: String?, options: RunOptions,
        readsPages: Bool = true, on system: any System
    ) {
        let (migrator, versions) = (options.migrator(on: system), context?.versions)
        name = store
        let folder = (try? system.resolve(Path.folder(of: store))) ?? Path.folder(of: store)
        path = (try? system.resolve(store)) ?? Path.join(folder, Path.name(of: store))
        sidecar = StoreRecords(store: path)
        (self.context, self.target, self.options, self.migrator) = (context, target, options, migrator)
        let read = Result {
            try ReadOnlyStore.read(store, system: system) { probe in
                var damage: String?
                do {
                    if readsPages { try probe.connection.checkPages(place: probe.path) }
                } catch let error as MigrationError where [.unsupported, .inputOutput].contains(error.code) {
                    // A collation that only the app defines is not damage, nor a disk that cannot be read.
                    throw error
                } catch {
                    if let foreign = probe.foreignSideFile { throw foreign }
                    damage = (error as? MigrationError)?.message ?? "\(error)"
                }
                return (damage, try StoreSnapshot(probe.connection))
            }
        }
        switch read {
        case .success(let read): (damage, snapshot, obstacle) = (read.0, read.1, nil)
        case .failure(let error):
            (damage, snapshot) = (nil, nil)
            obstacle =
                error as? MigrationError
                ?? MigrationError(.inputOutput, "\(error)", place: store, remedy: "Check the cause.")
        }
        let known = snapshot.flatMap { snapshot in
            versions?.place(of: snapshot.hashes, identifiers: snapshot.metadata.versionIdentifiers)?.version
        }
        // If SQLite cannot read the store, the pages may still show its version.
        damagedVersion =
            known?.name
            ?? (obstacle?.code == .storeCorrupted || damage != nil
                ? Self.damagedVersion(path, in: versions, system) : nil)
        version = known ?? snapshot.flatMap { try? $0.ownVersion().calledTheStoresOwn }
    }

    /// Returns the next migration, for all checks; nil if no model was named.
    ///
    /// - Throws: the errors of planning.
    func prepared() throws -> PreparedMigration? {
        try onceExamined.value {
            Result {
                try context.map {
                    try StoreSession(StoreRequest(path, to: target, .plan, options), $0, on: system).prepared
                }
            }
        }.get()
    }

    /// The room that the next migration needs, by its own estimate.
    var room: Result<Room, any Error> {
        onceMeasured.value {
            guard isSound, let prepared = try? prepared(),
                let migration = try? prepared.examined().get()
            else { return .success(Room()) }
            return Result {
                let needs = try migrator.needs(of: migration, on: path)
                var room = Room(sentence: SpaceRequirement.sentence(needs.volumes, of: "It"))
                do {
                    try needs.space.check(offering: migration.ways(migrator.options), system)
                } catch let error as MigrationError where error.code == .insufficientStorage {
                    (room.error, room.fitsWithoutBackup) = (error, needs.space.isEnoughWithoutBackup(system))
                }
                return room
            }
        }
    }

    /// Returns a finding that replaces a check that could not be done, and the sentence with the cause.
    func notExamined(_ error: any Error) -> (finding: Finding, cause: String) {
        let known = error as? MigrationError
        let cause = known?.message ?? "\(error)"
        let tail = known.map(DiagnosisCheck.cause) ?? ""
        let finding = finding(
            "not-examined", .error, place: known.flatMap { $0.place.isEmpty ? nil : $0.place },
            "A part of the store could not be examined: \(cause)\(tail)",
            known?.advice ?? "Check the cause, then run \(.diagnose, store) again.")
        return (finding, cause)
    }

    /// The command that restores the newest sound backup; nil if there is none. A newer one that cannot be read may be
    /// whole.
    var restoring: Remedy? {
        do {
            return try newestGoodBackup().map { "\(.rollback, store, .to($0.name))" }
        } catch {
            return "\(.verifyBackups, store) says which can be read, and \(.rollback, store, .to(nil)) restores one."
        }
    }

    var salvage: Remedy {
        // Without a named model, a salvage uses the model inside the store.
        let model: [Remedy.Setting] =
            versions == nil ? [] : [.model("MODEL")] + (damagedVersion.map { [.version($0)] } ?? [])
        return "\(.salvage, with: [store, .path("SAVED.sqlite")] + model)"
    }

    /// Returns the name of the version of the model that a damaged store has, as read from its pages.
    private static func damagedVersion(_ path: String, in versions: ModelVersions?, _ system: any System) -> String? {
        guard let versions, let identity = try? DamagedIdentity(of: path, place: path, system),
            let (version, _) = identity.version(in: versions), versions.position(named: version.name) != nil
        else { return nil }
        return version.name
    }

    /// Returns the backups of the store, oldest first, and the errors of those with an unreadable manifest.
    func listed() throws -> (backups: [StoreBackup], unreadable: [MigrationError]) {
        try onceListed.value {
            Result {
                let (backups, unreadable) = try migrator.backups(of: path).contents()
                return (backups, unreadable.map(\.error))
            }
        }.get()
    }

    /// Returns the newest backup that matches its manifest.
    ///
    /// - Throws: the error of a newer one that cannot be read.
    func newestGoodBackup() throws -> StoreBackup? {
        let (folder, backups) = (try migrator.backups(of: path), try listed().backups)
        return try onceVerified.value { Result { try backups.last(where: folder.isWhole) } }.get()
    }

    /// The store's path, quoted for a shell.
    var typed: String { name.shellQuoted }

    /// The model option of a command; empty if the command can use the model inside the store.
    var anyModel: [Remedy.Setting] { versions == nil && version != nil ? [] : [.model("MODEL")] }

    /// The store, the model and the target version, if one was named.
    var wanted: [Remedy.Setting] { [store, .model("MODEL")] + (target.map { [.to($0)] } ?? []) }

    /// Returns the store, the model and the target of an earlier run.
    func wanted(_ target: String) -> [Remedy.Setting] { [store, .model("MODEL"), .to(self.target ?? target)] }

    /// The folder of backups, if one was named.
    var backups: [Remedy.Setting] { options.backupFolder.map { [.backups($0)] } ?? [] }

    /// The store, as a setting of a remedy.
    var store: Remedy.Setting { .store(name) }

    func finding(
        _ code: String, _ severity: Finding.Severity, place: String? = nil, _ message: String, _ remedy: Remedy = ""
    ) -> Finding {
        Finding(code: code, severity: severity, place: place ?? path, message: message, remedy: remedy)
    }
}

/// One check of a diagnosis.
struct DiagnosisCheck: Sendable {
    /// The part of the whole diagnosis that is usually done after this check, 0 to 1.
    let end: Double
    /// Whether the check reads every row or every backup, which takes long.
    let readsAll: Bool
    let run: @Sendable (DiagnosisContext) throws -> [Finding]

    init(
        upTo end: Double = 0, readsAll: Bool = false, run: @escaping @Sendable (DiagnosisContext) throws -> [Finding]
    ) {
        (self.end, self.readsAll, self.run) = (end, readsAll, run)
    }

    /// All checks. Findings of equal severity are reported in this order.
    static let all: [DiagnosisCheck] = [
        unreadable, sideFiles, surroundings, neighbours, unfinishedRun, leftovers, records, failingRuns, damagedPages,
        version, plan, space, rows, fewerRows, contents, backups, quarantine,
    ]
}

/// The diagnosis of a store: what is wrong with it, and what to do about it.
public struct DiagnosisReport: Sendable {
    /// The name of the store's version; nil if it is not known.
    public let version: String?
    /// The findings, worst first. Each remedy begins with the command that helps.
    public let findings: [Finding]
    /// Whether nothing prevents a migration, and no data is at risk.
    public let isWell: Bool

    init(_ diagnosis: StoreDiagnosis) {
        (version, findings, isWell) = (diagnosis.version, diagnosis.findings, diagnosis.isWell)
    }
}
