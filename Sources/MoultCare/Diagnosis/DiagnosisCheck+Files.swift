import Moult
import MoultBasics
import MoultEngine
import MoultSQLite

extension DiagnosisCheck {
    /// The check for a file that is missing, is not a store, or cannot be read at all.
    static let unreadable = DiagnosisCheck { site in
        guard let error = site.obstacle else { return [] }
        let remedy: Remedy
        switch error.code {
        case .fileNotFound, .metadataInvalid, .notAStore: remedy = site.restoring ?? error.advice
        case .storeCorrupted where !StoreSalvage.hasPage(site.path, site.system):
            remedy =
                site.restoring ?? "Nothing of the store is left in the file. Copy it again from where it came from."
        case .storeCorrupted: remedy = site.restoring ?? site.salvage
        default: remedy = error.advice
        }
        return [site.finding("store-unreadable", .error, "\(error.message)\(cause(error))", remedy)]
    }

    /// The check for a WAL that belongs to another store, or that is never checkpointed.
    static let sideFiles = DiagnosisCheck { site in
        guard try site.system.status(of: site.path)?.kind == .file else { return [] }
        var findings = try WriteAheadLog.findings(beside: site.path, site.system)
        findings += try DamagedSideFiles.findings(
            beside: site.path, site.system, remedy: "\(site.salvage) reads what is left of it"
        ).map { finding in
            guard finding.code == DamagedSideFiles.zeroedCode,
                try !RollbackJournal.hasEnded(finding.place, of: site.path, site.system)
            else { return finding }
            var finding = finding
            finding.severity = .warning
            return finding
        }
        findings += try MissingLog.findings(of: site.path, isReadable: site.isSound, site.system)
        let sizes = try ["", "-wal"].map { try site.system.status(of: site.path + $0)?.size ?? 0 }
        if sizes[1] > max(sizes[0], 64 << 20) {
            findings.append(
                site.finding(
                    "large-wal", .warning, place: site.path + "-wal",
                    "The -wal has \(Quantity.bytes(sizes[1])), the store "
                        + "\(Quantity.bytes(sizes[0])): a reader that never ends prevents it from being "
                        + "written back, and every read is slow.", "Close every app that has the store open."))
        }
        let journal = site.path + "-journal"
        if try site.system.status(of: journal)?.size ?? 0 > 0, try !RollbackJournal.isSpent(journal, site.system) {
            findings.append(
                site.finding(
                    "hot-journal", .note, place: journal,
                    "A writer died or is active. The next program that opens the store rolls back what it had not finished."
                ))
        }
        return findings
    }

    /// The check for a store or folder that cannot be written, and for a file with several names.
    static let surroundings = DiagnosisCheck { site in
        guard site.obstacle == nil else { return [] }
        do {
            try StorePrecheck.checkFile(site.path, site.system)
            return []
        } catch let error as MigrationError {
            return [site.finding("cannot-be-changed", .error, place: error.place, error.message, error.advice)]
        }
    }

    /// The check for other processes, and for another run of Moult.
    static let neighbours = DiagnosisCheck { site in
        var findings: [Finding] = []
        let holders = site.system.holders(of: site.path) + site.system.holders(of: site.path + "-shm")
        let names = Set(holders.map { "\($0.name.isEmpty ? "process" : $0.name) (\($0.identifier))" }).sorted()
        if !names.isEmpty {
            findings.append(
                site.finding(
                    "store-in-use", .warning, "\(names.joined(separator: ", ")) has the store open.",
                    "Close it before a migration. \(.makeBackup, site.store) works anyway."
                ))
        }
        guard try site.system.exists(site.sidecar.lock), try site.system.lock(site.sidecar.lock) == nil else {
            return findings
        }
        let owner = RunOwner(of: site.sidecar, site.system)
        let process = owner.process
        let isStopped = process.map { site.isStopped($0) } ?? false
        let who = "\(process.map { "Process \($0)" } ?? "A process") is a run of Moult on this store"
        let since = owner.since.map { " since \($0)" } ?? ""
        findings.append(
            site.finding(
                isStopped ? "run-stopped" : "run-under-way", isStopped ? .error : .warning,
                isStopped ? "\(who)\(since). It is stopped. Its lock is never taken from it." : "\(who)\(since).",
                isStopped
                    ? "`kill -CONT \(process.map(String.init) ?? "")` continues it; `kill` ends it, and the store stays whole."
                    : "Wait for it to end, then \(.status, site.store)."))
        return findings
    }

    static func cause(_ error: MigrationError) -> String { error.cause.map { " (\($0))" } ?? "" }
}

extension DiagnosisContext {
    /// Whether a signal has stopped a process, if the system can tell (`man 5 proc`).
    fileprivate func isStopped(_ process: Int32) -> Bool {
        #if os(Linux)
            guard let bytes = try? system.read("/proc/\(process)/stat", prefix: 512) else { return false }
            let fields = String(decoding: bytes, as: UTF8.self).split(separator: ")").last?.split(separator: " ")
            return fields?.first == "T" || fields?.first == "t"
        #else
            return false
        #endif
    }
}

extension DiagnosisCheck {
    static let unfinishedRun = DiagnosisCheck { site in
        // A running migration is another finding.
        guard let journal = try Journal.read(site.sidecar, site.system),
            let run = try InterruptedRun(of: site.path, site.migrator),
            try site.migrator.underWay(site.path) == nil
        else { return [] }
        func finishing(_ settings: [Remedy.Setting] = []) -> Remedy {
            run.finishing(isModelKnown: site.versions != nil, [site.store] + settings)
        }
        if journal.state == .paused {
            return [
                site.finding(
                    "run-paused", .warning, place: site.sidecar.journal,
                    "The migration from \(journal.from) to \(journal.to) waits for its next call. The store is "
                        + "unchanged.", finishing())
            ]
        }
        let outside = journal.leftOutside.map { " \($0)" } ?? ""
        if journal.operation == .rollback {
            return [
                site.finding(
                    "run-unfinished", .warning, place: site.sidecar.journal,
                    "The run \(journal.run), which restores the backup \(journal.backup ?? ""), began at "
                        + "\(journal.startedAt) and has not ended. The file is the restored store, or what was "
                        + "there before.", "\(.recover, site.store), which says which")
            ]
        }
        let attempts = try CrashLoopGuard.deaths(
            from: journal.from, to: journal.to, journal.operation, site.sidecar, site.system)
        let again: [Remedy.Setting] = attempts + 1 >= site.migrator.options.maximumAttempts ? [.again] : []
        return [
            site.finding(
                "run-unfinished", .warning, place: site.sidecar.journal,
                "The run \(journal.run), from \(journal.from) to \(journal.to), began at \(journal.startedAt) and has not "
                    + "ended. The store is whole.\(outside)",
                finishing(run.migration == nil ? [] : again))
        ]
    }

    /// The check for records of earlier runs that cannot be read.
    static let records = DiagnosisCheck { site in
        var findings: [Finding] = []
        if let unreadable = try RunHistory(site.sidecar, site.system).contents().unreadable {
            findings.append(
                site.finding(
                    "history-unreadable", .warning, place: site.sidecar.runs, unreadable.sentence,
                    "\(.log, site.store) prints what is known in words"))
        }
        let journal = site.sidecar.journal + ".unreadable"
        if try site.system.exists(journal) {
            findings.append(
                site.finding(
                    "journal-unreadable", .note, place: journal,
                    "The journal of a run that died could not be read, so it is not known what became of that run. The "
                        + "store is whole.", "rm \(journal.shellQuoted)"))
        }
        return findings
    }

    /// The check for a migration that is retried again and again without completing.
    static let failingRuns = DiagnosisCheck { site in
        let records = try RunHistory(site.sidecar, site.system).records()
        let failed = records.reversed()
            // A run that a person cancelled might have succeeded.
            .filter { $0.result != .cancelled }.prefix { [.failed, .undone].contains($0.result) }
        guard let last = failed.first else { return [] }
        let died = failed.count { $0.result == .undone }
        let why = last.error.map { ": \($0)" } ?? "."
        guard failed.count >= 3 else {
            return [
                site.finding(
                    "last-run-failed", .warning, place: site.sidecar.runs,
                    "The last run, from \(last.from) to \(last.to), \(last.result == .undone ? "died" : "failed")\(why) "
                        + "The store is unchanged.", "\(.log, site.store)")
            ]
        }
        let words =
            died == failed.count
            ? "Something kills it, such as a watchdog. Give it more time, or work in smaller pieces."
            : "Running it again will not help."
        let isRefused =
            try CrashLoopGuard.deaths(from: last.from, to: last.to, last.operation, site.sidecar, site.system)
            >= site.migrator.options.maximumAttempts
        return [
            site.finding(
                "never-completes", .error, place: site.sidecar.runs,
                "The last \(Quantity.count(failed.count, "run")) failed, \(died) of them because the process died\(why) \(words)",
                last.operation != .migrate
                    ? "\(.log, site.store)"
                    : died > 0
                        ? "\(.migrate, with: site.wanted(last.to) + [.stopAtEachVersion] + (isRefused ? [.again] : []))"
                        : "\(.migrate, with: site.wanted(last.to) + [.dryRun])")
        ]
    }

    /// The check for temporary files that killed processes have left.
    static let leftovers = DiagnosisCheck { site in
        guard try site.migrator.underWay(site.path) == nil else { return [] }
        // The files of an unfinished run are reported with that run.
        let isUnfinished = try site.migrator.isUnfinished(site.path)
        let own = try isUnfinished ? [] : site.migrator.leftovers(of: site.sidecar)
        let beside = try StagedPath.abandoned(in: Path.folder(of: site.path), site.system)
        var findings: [Finding] = []
        if let first = own.first {
            findings.append(
                site.finding(
                    "leftovers", .note, place: first,
                    "A process that died has left \(own.count) unfinished \(own.count == 1 ? "file" : "files"): "
                        + "\(own.map(Path.name(of:)).joined(separator: ", ")).",
                    "\(.recover, with: [site.store] + site.backups)"))
        }
        if let first = beside.first {
            findings.append(
                site.finding(
                    "leftovers", .note, place: first,
                    "A process that died while it wrote a new file has left "
                        + "\(beside.map(Path.name(of:)).joined(separator: ", ")). The same command removes it.",
                    "rm -r \(beside.map(\.shellQuoted).joined(separator: " "))"))
        }
        if let mirror = try MirrorRecord.read(site.sidecar, site.system), mirror.state == .starting {
            findings.append(
                site.finding(
                    "mirror-unfinished", .note, place: site.sidecar.mirror,
                    "A mirror was being made at \(mirror.second) when the process died.",
                    "\(.stopMirror, site.store), or \(.startMirror) again"))
        }
        return findings
    }

    static let backups = DiagnosisCheck(upTo: 1, readsAll: true) { site in
        let folder = try site.migrator.backups(of: site.path)
        let (all, unreadable) = try site.listed()
        if let first = unreadable.first {
            return [
                site.finding(
                    "backup-unreadable", .warning, place: first.place,
                    "\(unreadable.count) of \(Quantity.count(all.count + unreadable.count, "backup")) cannot be restored: "
                        + first.message,
                    "\(.verifyBackups, site.store), then \(.makeBackup, site.store)")
            ]
        }
        guard !all.isEmpty else {
            // A damaged store cannot be backed up.
            return site.isSound
                ? [site.finding("no-backup", .note, "There is no backup yet.", "\(.makeBackup, site.store)")]
                : []
        }
        let failed: [(StoreBackup, MigrationError)] = try WorkMeter.each(
            beats: 1,
            all.map { backup in
                (
                    backup.bytes,
                    {
                        do {
                            try folder.verify(backup)
                            return []
                        } catch let error as MigrationError {
                            return [(backup, error)]
                        }
                    }
                )
            })
        let bad = failed.filter { BackupFolder.isFault($0.1) }
        let unread = failed.filter { !BackupFolder.isFault($0.1) }
        let findings = unread.prefix(1).map { backup, error in
            site.finding(
                "backup-unreadable", .warning, place: backup.folder,
                "\(unread.count) of \(Quantity.count(all.count, "backup")) could not be read, and may be whole: "
                    + error.message, "\(.verifyBackups, site.store)")
        }
        guard let newest = all.last, let first = bad.first else { return findings }
        let isUseless = bad.count == all.count
        return findings + [
            site.finding(
                "backup-damaged", isUseless ? .error : .warning, place: first.0.folder,
                "\(bad.count) of \(Quantity.count(all.count, "backup")) cannot be restored: \(first.1.message)",
                isUseless
                    ? "\(.makeBackup, site.store)"
                    : bad.contains { $0.0 == newest }
                        ? "\(.makeBackup, site.store), because the newest is among them"
                        : "\(.verifyBackups, site.store)")
        ]
    }

    static let quarantine = DiagnosisCheck { site in
        var count = 0
        try Quarantine(site.sidecar, site.system).forEachEntry { _ in count += 1 }
        guard count > 0 else { return [] }
        return [
            site.finding(
                "quarantined", .note, place: site.sidecar.quarantine,
                "\(Quantity.count(count, "object is", plural: "objects are")) in the quarantine.",
                "\(.listQuarantine, site.store)")
        ]
    }

    /// The check for enough room for the next migration.
    static let space = DiagnosisCheck { site in
        let room = try site.room.get()
        guard let error = room.error else { return [] }
        return [
            site.finding(
                "insufficient-storage", .error, error.message,
                (room.fitsWithoutBackup
                    ? "\(.migrate, with: site.wanted + [.frugal]) keeps no backup. "
                    : "\(.pruneBackups, site.store) removes expired backups. ") + error.advice)
        ]
    }
}
