import MoultBasics
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
            let library = LibraryFace(run: self)
            var answered = try self.answers(of: library, target)
            if !self.hasMet { try self.compare(counts, answered) }
            guard self.isTyped else { return nil }
            let answers =
                target == self.now.version
                ? self.history.answers
                : try self.history.path(from: self.now.version, to: target, keepsReturned: false).answers
            answered.plan = try self.plan(of: library, target, answers)
            let command = try self.commandFace()
            var other = try self.answers(of: command, target)
            other.plan = try self.plan(of: command, target, answers)
            if !self.hasMet { try self.compare(answered, with: other, target) }
            return nil
        }
    }

    private struct Answered {
        var status: Said.Status
        var inspection: Said.Contents
        var validation: Said.Contents
        var plan: Said.Plan?
    }

    private func answers(of face: some StoreFace, _ target: Int) throws -> Answered {
        var answered = Answered(
            status: try face.status(aimingAt: target), inspection: try face.inspect(), validation: try face.validate())
        answered.inspection.findings.sort()
        answered.validation.findings.sort()
        return answered
    }

    private func plan(of face: some StoreFace, _ target: Int, _ answers: [Answer]) throws -> Said.Plan {
        var refusals = way(to: target).last.map(unfit) ?? []
        if now.isDeferred { refusals.insert("deferredWork") }
        if hasSpoiltText { refusals.formUnion(["dataConflict", "wrongType"]) }
        do {
            // A model in a file may have its parts in another order.
            var plan = try face.plan(to: target, answers)
            for edge in plan.edges.indices { plan.edges[edge].sentences.sort() }
            plan.losses.sort { $0.place < $1.place }
            plan.findings.sort()
            return plan
        } catch let error as MigrationError where refusals.contains(error.code.description) {
            return Said.Plan(from: "", to: "", edges: [], losses: [], findings: [], refusal: error.code.description)
        }
    }

    private func compare(_ counts: [String: Int64], _ answered: Answered) throws {
        let said = [
            ("inspect", answered.inspection.version), ("status", answered.status.version),
            ("validate", answered.validation.version),
        ]
        for (face, version) in said where version != name(now.version) {
            throw LifeFailure(kind: "answers differ", words: "\(face) says \(version ?? "no version")")
        }
        for (face, found) in [("inspect", answered.inspection.counts), ("validate", answered.validation.counts)] {
            let counted = found.filter { $0.value != 0 }
            guard counted != counts.filter({ $0.value != 0 }) else { continue }
            throw LifeFailure(kind: "answers differ", words: "\(face) counts \(counted) instead of \(counts)")
        }
        // What a power cut leaves of a log is said, and was never committed.
        let findings = answered.validation.findings.filter {
            $0.severity == "error" && !(hasLostPower && $0.code == "side-file-damaged")
        }
        if !findings.isEmpty, !hasSpoiltText {
            let words = findings.prefix(3).map { "\($0.code) at \($0.place): \($0.message)" }
            throw LifeFailure(kind: "not sound", words: words.joined(separator: "; "))
        }
    }

    /// Compares what the library and the command line say, and the plan's steps with the versions on the way.
    private func compare(_ own: Answered, with other: Answered, _ target: Int) throws {
        func check<Answer: Equatable>(_ question: String, _ one: Answer, _ other: Answer) throws {
            guard one != other else { return }
            let (one, other) = ("\(one)".prefix(400), "\(other)".prefix(400))
            throw LifeFailure(
                kind: "answers differ", words: "\(question): the library says \(one), and moult says \(other)")
        }
        try check("status", own.status, other.status)
        try check("inspect", own.inspection, other.inspection)
        try check("validate", own.validation, other.validation)
        try check("plan", own.plan, other.plan)
        guard let plan = own.plan, !plan.from.isEmpty else { return }
        let steps = plan.edges.map { [$0.from, $0.to] }
        let wanted = (now.version..<target).map { [name($0), name($0 + 1)] }
        guard [plan.from, plan.to] == [name(now.version), name(target)], steps == wanted else {
            throw LifeFailure(
                kind: "answers differ", words: "the plan leads from \(plan.from) to \(plan.to) by \(steps)")
        }
    }

    /// Whether a program wrote a text that is not UTF-8.
    var hasSpoiltText: Bool {
        now.world.objects.values.contains { $0.values.values.contains(where: HistoryValues.isBroken) }
    }

    /// How an app's code on the way to a version refuses such a text, if it does not take it repaired.
    func refusalsOfCode(to target: Int) -> Set<String> {
        hasCode(to: target) && hasSpoiltText ? ["dataConflict", "storeCorrupted", "policyFailed", "stageFailed"] : []
    }
}
