import Moult
import MoultBasics
import MoultEngine
import MoultModel
import MoultPlan
import MoultStore
import MoultVerify

extension DiagnosisCheck {
    static let damagedPages = DiagnosisCheck { site in
        guard let damage = site.damage else { return [] }
        return [
            site.finding(
                "damaged-page", .error, "\(damage) Stop all programs that write to it.", site.restoring ?? site.salvage)
        ]
    }

    /// The check for tables that lack something and rows that contradict each other, whether or not a repair can fix
    /// them.
    static let rows = DiagnosisCheck(upTo: 0.85, readsAll: true) { site in
        guard let version = site.version, site.isSound else { return [] }
        let audit = try WorkMeter.part(upTo: 0.95) {
            try StoreAudit(site.path, model: version.model, requiring: version, full: true, system: site.system)
        }
        let found = try repairs(site, version, audit)
        // An audit counts files next to the store, whether or not a repair may touch them.
        let rules = Set(found.faults.map(\.rule)).subtracting([.externalFiles])
        // A separate check reports damaged side files.
        let elsewhere = [DamagedSideFiles.code, DamagedSideFiles.zeroedCode]
        let remarks = found.remarks.filter { !elsewhere.contains($0.code) }
        let others = audit.findings.filter { finding in
            (finding.severity > .note || finding.code == StoreAudit.unnamedFilesCode)
                && !elsewhere.contains(finding.code) && !remarks.contains(finding)
                && RepairRule.repairing[finding.code]?.isDisjoint(with: rules) ?? true
        }
        let schema = Dictionary(
            audit.findings.filter { $0.severity == .error }.map { ($0.place, $0) }, uniquingKeysWith: { one, _ in one })
        // An index on an empty table slows nothing down.
        let faults = found.faults.filter { $0.rule != .indexes || $0.count > 0 || schema[$0.place] != nil }
        return faults.filter { $0.rule != .externalFiles }.map { site.finding($0, schema[$0.place]) } + remarks + others
    }

    /// Returns the faults that a repair would find; none if a repair must not or cannot touch the store.
    private static func repairs(
        _ site: DiagnosisContext, _ version: ModelVersion, _ audit: StoreAudit
    ) throws -> RepairReport {
        do {
            return try StoreRepair(site.path, at: version, knowing: audit, system: site.system).found
        } catch let error as MigrationError where [.cloudKit, .deferredWork, .metadataInvalid].contains(error.code) {
            return RepairReport()
        }
    }

    /// The check for objects that are in a backup of the same version but not in the store.
    static let fewerRows = DiagnosisCheck(upTo: 0.9, readsAll: true) { site in
        guard let snapshot = site.snapshot, site.isSound else { return [] }
        let hashes = snapshot.hashes.entities.mapValues(\.base64)
        let backup = try site.listed().backups.last { $0.manifest.versionHashes == hashes }
        guard let backup else { return [] }
        let lost = try ChangedObjects.all(in: site.path, since: backup, site.system).filter { changed in
            changed.deleted > 10 && changed.deleted > 2 * changed.inserted
        }
        return lost.map { changed in
            var finding = site.finding(
                "fewer-objects", .warning, place: changed.entityName,
                "\(Quantity.count(changed.deleted, "object")) of \(changed.entityName) in the backup \(backup.name) "
                    + "\(changed.deleted == 1 ? "is" : "are") not in the store.",
                "\(.rollback, site.store, .to(backup.name)), if the app did not delete them")
            finding.keys = changed.deletedKeys
            return finding
        }
    }
}

extension DiagnosisContext {
    /// - Parameter error: the finding of an audit about the same place.
    fileprivate func finding(_ fault: RepairReport.Fault, _ error: Finding?) -> Finding {
        let repair: Remedy = "\(.repair, with: [store] + anyModel + [.dryRun])"
        switch fault.rule {
        case .history where fault.keys.isEmpty:
            return finding(
                "schema-history", .error, place: fault.place,
                error?.message ?? "\(fault.place) of persistent history is missing.", repair)
        case .indexes where error != nil:
            return finding(error?.code ?? "", .error, place: fault.place, error?.message ?? "", repair)
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
                "The column \(fault.place) is missing: reading its \(Quantity.count(fault.count, "object")) fails.",
                repair)
        case .indexes:
            return finding(
                "index-missing", .note, place: fault.place,
                "The index \(fault.place) is missing: each search that needs it reads the whole table "
                    + "(\(Quantity.count(fault.count, "row"))).", repair)
        default:
            let isCounter = fault.rule == .keyCounters
            var rows = finding(
                "rows-\(fault.rule.rawValue)", .error, place: fault.place,
                (isCounter ? error?.message : nil) ?? "\(Quantity.count(fault.count, "row")) affected.", repair)
            rows.keys = fault.keys
            return rows
        }
    }
}

extension DiagnosisCheck {
    static let version = DiagnosisCheck { site in
        guard let snapshot = site.snapshot else { return [] }
        guard let versions = site.versions else {
            // A store that was not examined must not be reported as sound.
            return snapshot.findings + [
                site.finding(
                    "no-model", site.version == nil ? .warning : .note,
                    site.version == nil
                        ? "No model was named, and the store contains none that fits. Its version and rows are not checked."
                        : "No model was named. The rows are checked with the model inside the store. It is not known whether the store is "
                            + "behind.",
                    "Name the model of the newest version with \(option: .model(nil)).")
            ]
        }
        let recognition = try StoreRecognition(of: snapshot, in: versions, target: site.target)
        let found = recognition.findings
        switch recognition.status {
        case .current: return found
        case .behind: return found + [site.finding("behind", .note, recognition.status.sentence)]
        case .ahead(_, _, let target):
            return found + [
                site.finding(
                    "ahead", .error,
                    "\(recognition.status.sentence) A newer program wrote it. An older one cannot open it.",
                    "\(.downgrade, site.store, .model("MODEL"), .to(target))")
            ]
        case .unknown(let nearest):
            let sentence =
                "\(recognition.status.sentence) Core Data says: the model used to open the store is incompatible."
            if nearest?.isOfAnotherApp == true {
                let remedy: Remedy = "Name the model of the app that made the store. \(.inspect, site.store) shows it."
                return found + [site.finding("unknown-version", .error, sentence, remedy)]
            }
            return found + [
                site.finding(
                    "unknown-version", .error, sentence,
                    "\(.inspect, site.store) shows the model inside it; \(.difference) and \(.lock) show which "
                        + "released version was changed.")
            ]
        case .notCoreData(let reason): return [site.finding("not-core-data", .error, reason)]
        }
    }

    /// The check for reasons to refuse a migration, and for the losses it would cause.
    static let plan = DiagnosisCheck(upTo: 0.2) { site in
        guard site.versions != nil, site.isSound else { return [] }
        do {
            guard let prepared = try site.prepared(), !prepared.plan.isEmpty else { return [] }
            var findings = prepared.storeFindings + (try prepared.bound?.findings(prepared.options.choice) ?? [])
            for position in findings.indices where findings[position].remedy.isEmpty {
                findings[position].advice = "\(.plan, with: site.wanted)"
            }
            if findings.allSatisfy({ $0.severity < .error }), case let room = try site.room.get(), room.error == nil {
                let refusal = prepared.undeclaredLosses(among: try prepared.foreseenLosses())
                findings.append(
                    site.finding(
                        "can-migrate", .note,
                        "The store can be migrated to \(prepared.plan.to.name)"
                            + (refusal == nil ? "." : ", once its losses are declared or accepted.")
                            + (room.sentence.map { " \($0)" } ?? ""),
                        "\(refusal == nil ? .migrate : .plan, with: site.wanted)"))
            }
            return findings
        } catch let error as MigrationError {
            let command: Remedy
            switch error.code {
            // The store is sound: the model leaves open how some values migrate.
            case .question:
                return [
                    site.finding(
                        "open-question", .note, place: error.place, "A migration waits for an answer: \(error.message)",
                        error.advice)
                ]
            case .cannotInfer:
                command =
                    "\(.plan, with: site.wanted) shows the change; a mapping model (\(option: .mapping(nil))) can do it."
            // The check of the version already reports this.
            case .storeAhead, .storeUnknown: return []
            default: command = error.advice
            }
            let isInferring = error.code == .cannotInfer
            return [
                site.finding(
                    isInferring ? "cannot-infer" : "cannot-plan", .error, place: error.place,
                    isInferring ? "A lightweight migration is not possible: \(error.message)" : error.message, command)
            ]
        }
    }
}
