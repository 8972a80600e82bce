import MoultBasics
import MoultEngine
import MoultModel
import MoultObjects
import MoultSQLite
import MoultStore
import MoultVerify
import Synchronization

/// The restoration of objects from the quarantine to their store, as a run of the engine: locked, backed up, done on a
/// copy, verified, one commit.
package final class Restoration: StepAction {
    private let told = Mutex(RestorationResult())
    private let entries: [Int64]
    private let version: ModelVersion
    private let quarantine: Quarantine
    /// The path without symbolic links.
    private let store: String
    private let binding: BoundPlan.Binding
    private let system: any System

    /// - Parameters:
    ///   - entries: the numbers of the objects, or nil for all.
    ///   - run: the run whose objects to restore; nil for any run.
    ///   - version: the version of the store.
    /// - Throws: `usage` if the quarantine has no such object; `cloudKit` and `deferredWork` for a store that must not
    ///   be changed.
    package init(
        of entries: [Int64]? = nil, run: String? = nil, into store: String, at version: ModelVersion,
        system: any System = POSIXSystem()
    ) throws {
        (self.store, binding) = try ReadOnlyStore.read(store, system: system) { probe in
            let snapshot = try StoreSnapshot(probe.connection)
            try PreparedMigration.refuseToChangeObjects(snapshot)
            return (probe.path, BoundPlan.Binding(snapshot))
        }
        self.version = version
        self.system = system
        quarantine = Quarantine(StoreRecords(store: self.store), system)
        var found: [Int64] = []
        try quarantine.forEachEntry { entry in
            guard entries?.contains(entry.id) ?? true, run.map({ $0 == entry.run }) ?? true else { return }
            found.append(entry.id)
        }
        self.entries = found
        let missing = (entries ?? []).filter { !found.contains($0) }
        guard !found.isEmpty, missing.isEmpty else {
            let what = missing.isEmpty ? "such object" : "object \(missing.map(String.init).joined(separator: ", "))"
            throw MigrationError(
                .usage, "The quarantine has no \(what).", place: store,
                remedy: "\(.listQuarantine) shows the numbers and runs.")
        }
    }

    /// The outcome for the objects, once the migration has run or been rehearsed.
    package var report: RestorationResult { told.withLock { $0 } }

    package var migration: Pass {
        var migration = Pass(at: kept, "restore", "Objects from the quarantine are put back.", self)
        migration.operation = .quarantine
        migration.preconditions = [UnchangedStore(binding: binding, store: store)]
        return migration
    }

    private var kept: KeptVersion { KeptVersion(version: version, store: store, system: system) }

    package func execute(_ site: CodeContext) throws {
        let model = try kept.model(over: site.connection)
        try site.connection.withoutAppTriggers { try run(site, model) }
    }

    private func run(_ site: CodeContext, _ model: ManagedObjectModel) throws {
        let objects = try ObjectStore(over: site.connection, model: model, external: site.external, on: site.system)
        let restorer = try QuarantineRestorer(objects, site.connection) {
            guard !site.isCancelled() else { throw site.cancellation }
        }
        let wanted = Set(entries)
        let report = try restorer.run { body in
            try quarantine.forEachEntry { if wanted.contains($0.id) { try body($0.id, $0.object) } }
        }
        told.withLock { $0 = report }
        // If an unfinished run turned out to have restored all objects, none is refused.
        if report.restored.isEmpty, let first = report.refused.first {
            throw MigrationError(
                .dataConflict,
                "None of \(Quantity.count(report.refused.count, "object")) can be put back: of \(first.entityName) \(first.key), "
                    + first.reason,
                place: "\(first.entityName) \(first.key)",
                remedy: "Correct the reason, or insert the object with the app. The store is unchanged.")
        }
        try ChangeVerifier(site.connection, objects.layout).verify()
    }
}
