import MoultModel
import MoultStore
import MoultSystem

extension DiagnosisCheck {
    static let unfinishedRun = DiagnosisCheck { site in
        guard let journal = try Journal.read(site.sidecar, site.system) else { return [] }
        if journal.state == .paused {
            return [
                site.finding(
                    "run-paused", .warning, place: site.sidecar.journal,
                    "The migration from \(journal.from) to \(journal.to) waits for its next call. The store is as it "
                        + "was.", "moult migrate \(site.typed) --model MODEL --budget TIME")
            ]
        }
        let outside = journal.leftOutside.map { " \($0)" } ?? ""
        return [
            site.finding(
                "run-unfinished", .warning, place: site.sidecar.journal,
                "The run \(journal.run), from \(journal.from) to \(journal.to), began at \(journal.startedAt) and has not "
                    + "ended. The store is whole.\(outside)", "moult resume \(site.typed) --model MODEL")
        ]
    }

    /// A migration that never completes begins again and again.
    static let failingRuns = DiagnosisCheck { site in
        let records = try RunHistory(site.sidecar, site.system).records()
        let failed = records.reversed().prefix { [.failed, .undone, .cancelled].contains($0.result) }
        guard let last = failed.first else { return [] }
        let died = failed.count { $0.result == .undone }
        let why = last.error.map { ": \($0)" } ?? "."
        guard failed.count >= 3 else {
            return [
                site.finding(
                    "last-run-failed", .warning, place: site.sidecar.runs,
                    "The last run, from \(last.from) to \(last.to), \(last.result == .undone ? "died" : "failed")\(why) "
                        + "The store is as it was.", "moult log \(site.typed)")
            ]
        }
        let words =
            died == failed.count
            ? "Something kills it, such as a watchdog: give it more time, or go in smaller pieces."
            : "It will not get further by itself."
        return [
            site.finding(
                "never-completes", .error, place: site.sidecar.runs,
                "The last \(failed.count) runs came to nothing, \(died) of them because the process died\(why) \(words)",
                died > 0
                    ? "moult migrate \(site.typed) --model MODEL --stop-at-each-version"
                    : "moult migrate \(site.typed) --model MODEL --dry-run")
        ]
    }

    static let backups = DiagnosisCheck { site in
        let folder = try site.migrator.backups(of: site.path)
        let (all, unreadable) = try folder.contents()
        if let first = unreadable.first {
            return [
                site.finding(
                    "backup-unreadable", .warning, place: first.error.place,
                    "\(unreadable.count) of \(all.count + unreadable.count) backups cannot be restored: "
                        + first.error.message,
                    "moult backup verify \(site.typed), then moult backup create \(site.typed)")
            ]
        }
        guard !all.isEmpty else {
            return site.obstacle == nil
                ? [site.finding("no-backup", .note, "There is no backup yet.", "moult backup create \(site.typed)")]
                : []
        }
        var bad: [(StoreBackup, MigrationError)] = []
        for backup in all {
            do {
                try folder.verify(backup)
            } catch let error as MigrationError {
                bad.append((backup, error))
            }
        }
        guard let newest = all.last, let first = bad.first else { return [] }
        let isUseless = bad.count == all.count
        return [
            site.finding(
                "backup-damaged", isUseless ? .error : .warning, place: first.0.folder,
                "\(bad.count) of \(all.count) backups cannot be restored: \(first.1.message)",
                isUseless
                    ? "moult backup create \(site.typed)"
                    : bad.contains { $0.0 == newest }
                        ? "moult backup create \(site.typed), for the newest is among them"
                        : "moult backup verify \(site.typed)")
        ]
    }

    static let quarantine = DiagnosisCheck { site in
        var count = 0
        try Quarantine(site.sidecar, site.system).forEachEntry { _ in count += 1 }
        guard count > 0 else { return [] }
        return [
            site.finding(
                "quarantined", .note, place: site.sidecar.quarantine,
                "\(count) objects lie in the quarantine.", "moult quarantine list \(site.typed)")
        ]
    }

    /// Room for a migration, with a backup and without.
    static let space = DiagnosisCheck { site in
        guard let snapshot = site.snapshot, site.obstacle == nil else { return [] }
        func need(isFrugal: Bool) throws -> MigrationError? {
            let size = snapshot.file.size
            let space = SpaceRequirement(
                sidecar: site.sidecar, backups: Path.folder(of: site.path),
                temporary: site.migrator.options.temporaryFolder ?? site.system.temporaryFolder, size: size,
                newSize: size, external: try site.system.size(below: site.sidecar.support), isFrugal: isFrugal,
                isInPlace: false)
            do {
                try space.check(site.system)
                return nil
            } catch let error as MigrationError {
                return error
            }
        }
        guard let error = try need(isFrugal: false) else { return [] }
        let fits = try need(isFrugal: true) == nil
        return [
            site.finding(
                "insufficient-storage", .error, error.message,
                fits
                    ? "moult migrate \(site.typed) --model MODEL --frugal needs less room and keeps no backup; or free some."
                    : "moult backup prune \(site.typed), or free some space: not even --frugal fits.")
        ]
    }
}
