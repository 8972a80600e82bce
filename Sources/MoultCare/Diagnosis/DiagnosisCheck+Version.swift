import MoultEngine
import MoultModel
import MoultPlan
import MoultStore
import MoultSystem

extension DiagnosisCheck {
    static let version = DiagnosisCheck { site in
        guard let snapshot = site.snapshot else { return [] }
        guard let versions = site.versions else {
            // A store that was not examined is not reported as sound.
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
        case .unknown:
            return found + [
                site.finding(
                    "unknown-version", .error,
                    "\(recognition.status.sentence) Core Data says: the model used to open the store is incompatible.",
                    "\(.inspect, site.store) shows the model inside it; \(.difference) and \(.lock) show which "
                        + "released version was changed.")
            ]
        case .notCoreData(let reason): return [site.finding("not-core-data", .error, reason)]
        }
    }

    /// The check for reasons why a migration would be refused, and for what it would lose.
    static let plan = DiagnosisCheck { site in
        guard site.versions != nil, site.isSound else { return [] }
        do {
            guard let prepared = try site.prepared(), !prepared.plan.isEmpty else { return [] }
            var findings = prepared.storeFindings + (try prepared.bound?.findings(prepared.options.choice) ?? [])
            for position in findings.indices where findings[position].remedy.isEmpty {
                findings[position].advice = "\(.plan, with: site.wanted)"
            }
            if findings.allSatisfy({ $0.severity < .error }), try site.room.get() == nil {
                let refusal = prepared.undeclaredLosses(among: try prepared.foreseenLosses())
                findings.append(
                    site.finding(
                        "can-migrate", .note,
                        "The store can be migrated to \(prepared.plan.to.name)"
                            + (refusal == nil ? "." : ", once its losses are declared or accepted."),
                        "\(refusal == nil ? .migrate : .plan, with: site.wanted)"))
            }
            return findings
        } catch let error as MigrationError {
            let command: Remedy
            switch error.code {
            // Nothing is wrong with the store: the model leaves open what becomes of its values.
            case .question:
                return [
                    site.finding(
                        "open-question", .note, place: error.place, "A migration waits for an answer: \(error.message)",
                        error.advice)
                ]
            case .cannotInfer:
                command =
                    "\(.plan, with: site.wanted) shows the change; a mapping model (\(option: .mapping)) can do it."
            // The version says it already.
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
