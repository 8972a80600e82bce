import Moult
import MoultBasics
import MoultEngine
import MoultModel
import MoultPlan

/// The same question to every face has one answer, which is the reference's.
extension LifeRun {
    func asking(_ target: Int) -> Work {
        let target = min(max(target, now.version), history.models.count - 1)
        return Work(refusals: []) {
            let model = self.model()
            var counts: [String: Int64] = [:]
            for entity in model.entities where !entity.isAbstract { counts[entity.name] = 0 }
            for object in self.now.world.objects.values {
                counts[model.entity(object.entity)?.name ?? "", default: 0] += 1
            }
            let answered = try self.answers(target)
            if !self.disk.hasMet { try self.compare(counts, answered) }
            return nil
        }
    }

    private struct Answered {
        var versions: [String: String?] = [:]
        var counts: [String: [String: Int64]] = [:]
        var isSound = true
        var findings: [String] = []
    }

    private func answers(_ target: Int) throws -> Answered {
        var answered = Answered()
        let keeper = keeper()
        let status = try keeper.status(aimingAt: name(target))
        answered.versions["status"] = status.version
        let inspection = try StoreInspection(of: store, in: history.versions)
        (answered.versions["inspect"], answered.counts["inspect"]) = (inspection.version, inspection.rowCounts)
        let audit = try keeper.validate(RulesToCheck([]), full: true)
        (answered.versions["validate"], answered.counts["validate"]) = (audit.version, audit.rowCounts)
        // What a power cut leaves of a log is said, and was never committed.
        let findings = audit.findings.filter {
            $0.severity == .error && !(hasLostPower && $0.code == "side-file-damaged")
        }
        answered.isSound = findings.isEmpty
        answered.findings = findings.map { "\($0.code) at \($0.place): \($0.message)" }
        return answered
    }

    private func compare(_ counts: [String: Int64], _ answered: Answered) throws {
        for (face, version) in answered.versions.sorted(by: { $0.key < $1.key }) where version != name(now.version) {
            throw LifeFailure(kind: "answers differ", words: "\(face) says \(version ?? "no version")")
        }
        for (face, found) in answered.counts.sorted(by: { $0.key < $1.key }) {
            let counted = found.filter { $0.value != 0 }
            guard counted != counts.filter({ $0.value != 0 }) else { continue }
            throw LifeFailure(kind: "answers differ", words: "\(face) counts \(counted) instead of \(counts)")
        }
        if !answered.isSound, !hasSpoiltText {
            throw LifeFailure(kind: "not sound", words: "\(answered.findings.prefix(3).joined(separator: "; "))")
        }
    }

    /// Whether a program wrote a text that is not UTF-8.
    var hasSpoiltText: Bool {
        now.world.objects.values.contains { $0.values.values.contains(where: HistoryValues.isBroken) }
    }

    /// How an app's code on the way to a version refuses such a text, if it does not take it repaired.
    func refusalsOfCode(to target: Int) -> Set<String> {
        let hasCode = ((now.version + 1)...target).contains {
            history.stages[$0] != nil || history.mappings[$0] != nil
        }
        return hasCode && hasSpoiltText ? ["dataConflict", "storeCorrupted", "policyFailed", "stageFailed"] : []
    }
}
