import MoultEngine
import MoultModel
import MoultSystem

/// The losses of one earlier run, and what it moved to the quarantine. A reverse mapping restores neither.
public struct EarlierLosses: Sendable, Equatable {
    /// The run.
    public let run: StoreRun
    /// The backup that the run made and that still holds what it lost; nil if there was none, or where it is gone or
    /// damaged.
    public let backup: StoreBackup?

    /// Objects that the run put into the quarantine.
    public var quarantined: Int64 { run.quarantined }
    /// The losses of the run. What a deferred migration left is not counted: it is lost when that work is done.
    public var losses: [MigrationLoss] { run.losses.filter { !$0.isPutOff } }

    /// Returns the earlier losses of every run that led from a version to a newer one and is still in force, oldest
    /// first.
    ///
    /// - Parameters:
    ///   - goal: the version to go back to. What is lost since an older version is not on the way back to this one.
    ///   - system: reads the history next to the store.
    /// - Throws: what reading the history or the list of backups throws.
    static func all(
        of store: String, since goal: ModelVersion, in versions: ModelVersions, _ migrator: Migrator
    ) throws -> [EarlierLosses] {
        let system = migrator.system
        let runs = RunHistory.inForce(
            try RunHistory(Sidecar(store: try system.resolve(store)), system).records())
        let backups = try migrator.backups(of: store)
        let position = versions.position(named: goal.name)
        return try runs.compactMap { run in
            if let position, let reached = versions.position(named: run.to), reached <= position { return nil }
            let backup = run.backup.flatMap { name in try? backups.backup(named: name) }
                .flatMap { backup in (try? backups.verify(backup)) == nil ? nil : backup }
            let earlier = EarlierLosses(run: run, backup: backup)
            guard try earlier.losses.contains(where: { $0.count != 0 }) || earlier.quarantined(migrator, store) > 0
            else { return nil }
            return earlier
        }
    }

    /// The objects of the run that are still in the quarantine.
    private func quarantined(_ migrator: Migrator, _ store: String) throws -> Int64 {
        guard run.quarantined > 0 else { return 0 }
        return try Quarantine(Sidecar(store: try migrator.system.resolve(store)), migrator.system).count(run: run.run)
    }
}

extension RunHistory {
    /// The runs whose result the store still has: a rollback undoes those that came after its backup.
    static func inForce(_ records: [StoreRun]) -> [StoreRun] {
        // What was in force before each record.
        var before: [[StoreRun]] = []
        var now: [StoreRun] = []
        for record in records {
            before.append(now)
            guard [.done, .recovered].contains(record.result) else { continue }
            guard record.operation == .rollback else {
                now.append(record)
                continue
            }
            // A run's backup is the store before it; another one is as old as its name says.
            if let restored = record.restored {
                if let maker = records.firstIndex(where: { $0.backup == restored && $0.run != record.run }),
                    before.indices.contains(maker)
                {
                    now = before[maker]
                } else {
                    let time = restored.prefix { $0 != "-" }
                    now = now.filter { $0.endTime.filter { $0 != "-" && $0 != ":" } <= time }
                }
            } else if let left = now.lastIndex(where: { $0.from == record.to }) {
                now.removeSubrange(left...)
            }
        }
        return now
    }
}
