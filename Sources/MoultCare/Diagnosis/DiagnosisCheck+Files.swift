import MoultEngine
import MoultModel
import MoultPages
import MoultStore
import MoultSystem

extension DiagnosisCheck {
    /// The file is missing, no store, or cannot be read at all.
    static let unreadable = DiagnosisCheck { site in
        guard let error = site.obstacle else { return [] }
        // Where its folder cannot be entered neither can that of the backups.
        let backup = (try? site.newestGoodBackup()) ?? nil
        let restore: Remedy? = backup.map { "\(.rollback, site.store, .to($0.name))" }
        let remedy: Remedy
        switch error.code {
        case .fileNotFound, .metadataInvalid: remedy = restore ?? error.advice
        case .storeCorrupted: remedy = restore ?? site.salvage
        case .notAStore where backup != nil: remedy = restore ?? error.advice
        default: remedy = error.advice
        }
        return [site.finding("store-unreadable", .error, "\(error.message)\(cause(error))", remedy)]
    }

    /// A WAL that is not the store's, or that is never written back.
    static let sideFiles = DiagnosisCheck { site in
        guard try site.system.status(of: site.path)?.kind == .file else { return [] }
        var findings: [Finding] = []
        if let log = try WriteAheadLog(beside: site.path, site.system), log.isLog, let reason = try log.strangeness() {
            findings.append(
                site.finding(
                    "stale-wal", reason.isCertain ? .error : .warning, place: site.path + "-wal",
                    "The -wal next to the store may belong to another file: \(reason.sentence) SQLite would mix the two and report no error.",
                    "Copy the store and its -wal again from where they came from, with their times (cp -p). Move the -wal "
                        + "away (mv \((site.name + "-wal").shellQuoted) \((site.name + "-wal.old").shellQuoted)) only if "
                        + "the store is complete without it."))
        }
        findings += try DamagedSideFiles.findings(
            beside: site.path, site.system, remedy: "\(site.salvage) reads what is left of it")
        let sizes = try ["", "-wal"].map { try site.system.status(of: site.path + $0)?.size ?? 0 }
        if sizes[1] > max(sizes[0], 64 << 20) {
            findings.append(
                site.finding(
                    "large-wal", .warning, place: site.path + "-wal",
                    "The -wal has \(Quantity.bytes(Int(clamping: sizes[1]))), the store "
                        + "\(Quantity.bytes(Int(clamping: sizes[0]))): a reader that never ends prevents it from being "
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

    /// The store or its folder cannot be written, or it has several names.
    static let surroundings = DiagnosisCheck { site in
        guard site.obstacle == nil else { return [] }
        do {
            try Preflight.checkFile(site.path, site.system)
            return []
        } catch let error as MigrationError {
            return [site.finding("cannot-be-changed", .error, place: error.place, error.message, error.advice)]
        }
    }

    /// Other processes, and another run of Moult.
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
                    ? "kill -CONT \(process.map(String.init) ?? "") continues it; kill ends it, and the store stays whole."
                    : "Wait for it to end, then \(.status, site.store)."))
        return findings
    }

    static func cause(_ error: MigrationError) -> String { error.cause.map { " (\($0))" } ?? "" }
}

extension DiagnosisSite {
    /// Whether a process has been stopped by a signal, as far as the system tells (`man 5 proc`).
    fileprivate func isStopped(_ process: Int32) -> Bool {
        guard let bytes = try? system.read("/proc/\(process)/stat", prefix: 512) else { return false }
        let fields = String(decoding: bytes, as: UTF8.self).split(separator: ")").last?.split(separator: " ")
        return fields?.first == "T" || fields?.first == "t"
    }
}
