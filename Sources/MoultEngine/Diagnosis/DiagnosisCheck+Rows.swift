import MoultModel
import MoultStore
import MoultSystem

extension DiagnosisCheck {
    static let damagedPages = DiagnosisCheck { site in
        guard site.snapshot != nil, !site.isSound else { return [] }
        let restore = try site.newestGoodBackup().map { "moult rollback \(site.typed) --to \($0.name)" }
        return [
            site.finding(
                "damaged-page", .error, "SQLite finds the database damaged. Nothing should write to it any more.",
                restore ?? "moult salvage \(site.typed) SAVED.sqlite --model MODEL")
        ]
    }

    /// Tables that lack something and rows that contradict each other: what a repair mends, and what it cannot.
    static let rows = DiagnosisCheck { site in
        guard let version = site.version, site.isSound else { return [] }
        let found = try StoreRepair(site.path, at: version, system: site.system).found
        let mended = [
            "dangling-reference", "inverse-disagrees", "not-unique", "key-counter", "stranger", "table-missing",
            "column-missing", "entity-number",
        ]
        let audit = try StoreAudit(site.path, model: version.model, system: site.system)
        let others = audit.findings.filter {
            $0.severity > .note && !mended.contains($0.code) && !found.remarks.contains($0)
        }
        // An index without rows makes nothing slow.
        let faults = found.findings.filter { $0.rule != .indexes || $0.count > 0 }
        return faults.map { site.finding($0) } + found.remarks + others
    }

    /// Objects that a backup of the same version has and the store has not.
    static let fewerRows = DiagnosisCheck { site in
        guard let snapshot = site.snapshot, site.isSound else { return [] }
        let hashes = snapshot.hashes.entities.mapValues(\.base64)
        let backups = try site.migrator.backups(of: site.path).list()
        guard let backup = backups.last(where: { $0.manifest.versionHashes == hashes }) else { return [] }
        let lost = try ChangedObjects.all(in: site.path, since: backup, site.system).filter { changed in
            changed.deleted > 10 && changed.deleted > 2 * changed.inserted
        }
        return lost.map { changed in
            site.finding(
                "fewer-objects", .warning, place: changed.entity,
                "\(changed.deleted) objects of \(changed.entity) that the backup \(backup.name) has are gone.",
                "moult rollback \(site.typed) --to \(backup.name), if nobody deleted them")
        }
    }

    /// What makes every read slow.
    static let slowness = DiagnosisCheck { site in
        guard site.isSound, site.snapshot != nil else { return [] }
        let (pages, free) = try StoreProbe.read(site.path, system: site.system) { probe in
            (
                try probe.connection.integer("PRAGMA page_count") ?? 0,
                try probe.connection.integer("PRAGMA freelist_count") ?? 0
            )
        }
        guard pages > 1_000, free * 3 > pages else { return [] }
        return [
            site.finding(
                "mostly-free", .note, "\(free) of \(pages) pages hold nothing.",
                "sqlite3 \(site.typed) VACUUM, when no app has it open")
        ]
    }
}

extension DiagnosisSite {
    fileprivate func finding(_ fault: RepairReport.Finding) -> Finding {
        let repair = "moult repair \(typed) --model MODEL --dry-run"
        switch fault.rule {
        case .tables where fault.place.hasPrefix(RepairReport.numberPlace):
            return finding(
                "schema-tables", .error, place: fault.place,
                "The entity \(fault.place.dropFirst(RepairReport.numberPlace.count)) has no number in Z_PRIMARYKEY: its "
                    + "objects cannot be read.", repair)
        case .tables:
            return finding(
                "schema-tables", .error, place: fault.place,
                "The table \(fault.place) is missing: reading its objects fails.", repair)
        case .columns:
            return finding(
                "schema-columns", .error, place: fault.place,
                "The column \(fault.place) is missing: reading its \(fault.count) objects fails.", repair)
        case .indexes:
            return finding(
                "index-missing", .note, place: fault.place,
                "The index \(fault.place) is missing: each search that needs it reads all \(fault.count) rows of its "
                    + "table.", repair)
        default:
            return finding(
                "rows-\(fault.rule.rawValue)", .error, place: fault.place,
                "\(fault.count) rows at fault, such as \(fault.keys.map(String.init).joined(separator: ", ")).", repair)
        }
    }
}
