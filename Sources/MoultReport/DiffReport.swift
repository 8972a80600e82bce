import MoultModel
import MoultPlan

/// A difference between two versions in words: what a store would notice, what it would not, and what is open.
package struct DiffReport: Sendable {
    private let diff: ModelDiff
    private let inferred: InferredMapping
    private let questions: [Question]

    /// - Throws: `usage` if an answer fits no question.
    package init(from older: ModelVersion, to newer: ModelVersion, answers: Answers = .none) throws {
        let correspondence = try Correspondence(from: older, to: newer, answers: answers)
        diff = ModelDiff(correspondence)
        inferred = try InferredMapping(correspondence)
        questions = inferred.questions.map { $0.bound(to: older, newer) }
    }

    /// The names of the versions.
    package var names: (from: String, to: String) { (diff.from, diff.to) }
    /// One sentence for each change that the version hashes show.
    package var hashed: [String] { diff.hashed.map(\.sentence) }
    /// One sentence for each change that Core Data does not notice.
    package var unhashed: [String] { diff.unhashed.map(\.sentence) }
    /// Whether a mapping can be inferred.
    package var isInferable: Bool { inferred.mapping != nil }
    package var isEmpty: Bool { diff.isEmpty }

    package var document: JSONValue {
        [
            "format": 1, "from": .string(diff.from), "to": .string(diff.to), "equal": .bool(diff.isEmpty),
            "equalForOpening": .bool(diff.hashed.isEmpty), "inferable": .bool(inferred.mapping != nil),
            "changes": .array(diff.changes.map(\.document)),
            "questions": .array(questions.map(\.document)),
            "refusals": .array(inferred.refusals.map(\.finding.planDocument)),
        ]
    }

    package func lines(style: TextStyle) -> [String] {
        if diff.isEmpty { return ["\(diff.from.printable) and \(diff.to.printable) are equal."] }
        var lines = [style.bold("\(diff.from.printable) → \(diff.to.printable)")]
        lines += diff.hashed.map { line($0, style) }
        if !diff.unhashed.isEmpty {
            lines += ["", style.dim("Core Data does not migrate for these: the version hash is the same.")]
            lines += diff.unhashed.map { line($0, style) }
        }
        for question in questions { lines += ["", style.yellow("question: ") + question.text.printableLines] }
        for finding in inferred.refusals.map(\.finding) {
            lines += [""] + finding.lines(style: style, rule: finding.rule)
        }
        return lines + ["", verdict]
    }

    private var verdict: String {
        if diff.hashed.isEmpty { return "A store of either opens with the other." }
        if diff.hashed.allSatisfy({ [.entityLeft, .configuration].contains($0.kind) }) {
            return "A store of either opens with the other, unless it was opened with one of these configurations."
        }
        if inferred.mapping != nil { return "The mapping can be inferred." }
        let parts = [
            questions.isEmpty ? nil : Quantity.count(questions.count, "question") + " to answer",
            inferred.refusals.isEmpty
                ? nil : Quantity.count(inferred.refusals.count, "change") + " that inference does not cover",
        ]
        return "The mapping is not complete: \(parts.compactMap { $0 }.joined(separator: ", "))."
    }

    private func line(_ change: ModelChange, _ style: TextStyle) -> String {
        let mark = change.losesData ? style.red("!") : change.mayFail ? style.yellow("?") : style.green("•")
        return "  \(mark) \(change.sentence.printable)"
    }
}

extension ModelChange {
    package var document: JSONValue {
        [
            "kind": .string(kind.rawValue), "entity": JSONValue(entity), "member": JSONValue(member),
            "old": JSONValue(old),
            "new": JSONValue(new), "sentence": .string(sentence), "hashed": .bool(isHashed),
            "losesData": .bool(losesData), "mayFail": .bool(mayFail),
        ]
    }
}

extension Question {
    package var document: JSONValue {
        [
            "kind": .string(kind.rawValue), "from": .string(from), "to": .string(to), "entity": .string(entity),
            "property": JSONValue(property), "sentence": .string(sentence),
            "candidates": .array(
                candidates.map { ["name": .string($0.name), "evidence": JSONValue($0.evidence)] }),
            "answers": .array(answers.map(\.document)),
        ]
    }
}

extension Answer {
    package var document: JSONValue {
        var members: [JSONValue.Member] = [
            .init("from", .string(from)), .init("to", .string(to)),
        ]
        if let fromChecksum { members.append(.init("fromChecksum", .string(fromChecksum))) }
        if let toChecksum { members.append(.init("toChecksum", .string(toChecksum))) }
        members.append(.init("entity", .string(entity)))
        if let property { members.append(.init("property", .string(property))) }
        members.append(.init("is", .string(self.is.rawValue)))
        if let old { members.append(.init("old", .string(old))) }
        return .object(members)
    }
}
