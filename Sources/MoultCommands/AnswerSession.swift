import MoultEngine
import MoultModel
import MoultModelFiles
import MoultPlan
import MoultReport
import MoultStore
import MoultSystem

/// The open questions of a range of versions, and the answers to them.
struct AnswerSession {
    let versions: ModelVersions
    /// The file of answers; nil if they are not kept.
    let path: String?
    /// The positions of the first and the last version.
    let range: ClosedRange<Int>
    /// Whether the way is that of a downgrade, from the last to the first.
    private let isWayBack: Bool
    let registered: [RegisteredStage]
    private(set) var answers: Answers
    /// Answers about versions of other stores, which the file keeps.
    private var others: Answers
    private(set) var recorded: [Answer] = []
    /// Answers that no longer answer anything, because another one has changed.
    private(set) var dropped: [Answer] = []
    private(set) var questions: [Question] = []
    /// The questions that were open at first.
    private var first: [Question] = []

    /// An answer without a question counts as none, so that it can be removed.
    init(
        _ versions: ModelVersions, from: Int, to: Int, answers: Answers, path: String?,
        registered: [RegisteredStage] = []
    ) throws {
        self.versions = versions
        self.path = path
        self.registered = registered
        let isElsewhere = { (answer: Answer) in
            versions.positions(of: answer) == nil && (answer.isBound || versions.areInsideStores)
        }
        others = answers.removing { !isElsewhere($0) }
        self.answers = answers.removing(where: isElsewhere)
        isWayBack = from > to
        range = min(from, to)...max(from, to)
        _ = try questions(under: .none)
        questions = try settled(self.answers).questions
        first = questions
    }

    /// The mapping back from the last version to the first.
    private func wayBack(_ answers: Answers) throws(MigrationError) -> InferredMapping {
        try InferredMapping(
            back: versions.versions[range.upperBound], to: versions.versions[range.lowerBound], in: versions,
            answers: answers)
    }

    private func questions(under answers: Answers) throws(MigrationError) -> [Question] {
        if isWayBack { return try wayBack(answers).questions }
        return try MigrationPath(
            versions, from: range.lowerBound, to: range.upperBound, answers: answers, registered: registered
        ).questions
    }

    // MARK: - Recording

    /// Records what `--set` says: `PLACE=ANSWER`. An answer given before is replaced.
    ///
    /// - Throws: `usage` if nothing is asked about the place, or the answer is none of its answers.
    mutating func record(_ text: String, _ invocation: Invocation) throws {
        let parts = text.split(separator: "=", maxSplits: 1).map(String.init)
        let place = parts.first ?? text
        if let choice = parts.dropFirst().first, choice.hasPrefix("value:") {
            return try recordValue(String(choice.dropFirst("value:".count)), of: place, invocation)
        }
        var asked = questions.filter { $0.place == place }
        if asked.isEmpty {
            asked = try settled(answers.removing { $0.place == place && isOnTheWay($0) }).questions
                .filter { $0.place == place }
        }
        guard let question = asked.first else {
            // An answer before it may have left nothing to ask: the order of answers does not matter.
            guard first.contains(where: { $0.place == place }) else {
                throw invocation.wrong("Nothing is asked about \(place).")
            }
            guard parts.dropFirst().first != "new" else { return }
            throw invocation.wrong("Another answer has settled \(place): nothing else can be answered there.")
        }
        guard asked.count == 1 else {
            throw invocation.wrong("Several versions ask about \(question.place). Select one with --from and --to.")
        }
        guard let answer = question.answers.first(where: { $0.choice == parts.dropFirst().first }) else {
            let choices = question.answers.map(\.choice).joined(separator: ", ")
            throw invocation.wrong("The answer to \(question.place) is one of: \(choices).")
        }
        try add(answer)
    }

    /// Gives a required attribute without a default value one for the objects that exist.
    private mutating func recordValue(_ text: String, of place: String, _ invocation: Invocation) throws {
        let others = answers.removing { $0.place == place && isOnTheWay($0) }
        let edges = try edgesWithoutValue(of: place, others)
        guard let edge = edges.first, edges.count == 1 else {
            throw invocation.wrong(
                edges.isEmpty
                    ? "\(place) needs no value: it is no new required attribute without a default value."
                    : "Several versions need a value for \(place). Select one with --from and --to.")
        }
        let (older, newer) = (edge.from, edge.to)
        let names = place.split(separator: ".", maxSplits: 1).map(String.init)
        guard let model = versions.position(named: newer).map({ versions.versions[$0].named(newer).model }),
            let entity = names.first.flatMap(model.entity),
            let attribute = names.last.flatMap({ model.attribute($0, of: entity) })
        else { throw invocation.wrong("\(newer) has no attribute \(place).") }
        let answer = Answer(
            from: older, to: newer, entity: entity.name, property: attribute.name, is: .value, value: text)
        guard answer.value(for: attribute) != nil else {
            throw invocation.wrong("The text is no value of type \(attribute.type.name), which \(place) has.")
        }
        try add(answer)
    }

    /// Returns the edges on which the objects that exist have no value for a required attribute.
    private func edgesWithoutValue(of place: String, _ answers: Answers) throws -> [(from: String, to: String)] {
        if isWayBack {
            guard try wayBack(answers).missing.contains(where: { $0.place == place }) else { return [] }
            return [(versions.versions[range.upperBound].name, versions.versions[range.lowerBound].name)]
        }
        return try MigrationPath(
            versions, from: range.lowerBound, to: range.upperBound, answers: answers, registered: registered
        ).edges.filter { edge in
            guard case .open(_, let refusals) = edge.means else { return false }
            return refusals.contains { $0.reason == .requiredWithoutDefault && $0.place == place }
        }.map { ($0.from, $0.to) }
    }

    /// Takes back what was answered about a place.
    ///
    /// - Throws: `usage` if nothing was.
    mutating func forget(_ place: String, _ invocation: Invocation) throws {
        let left = answers.removing { $0.place == place && isOnTheWay($0) }
        guard left != answers else {
            let elsewhere = others.removing { $0.place == place }
            if elsewhere != others {
                others = elsewhere
                return
            }
            let places = Set(kept.list.map(\.place)).sorted().joined(separator: ", ")
            throw invocation.wrong(
                "There is no answer about \(place)." + (places.isEmpty ? "" : " There are answers about: \(places)."))
        }
        try settle(left)
    }

    private mutating func add(_ answer: Answer) throws {
        recorded.append(answer)
        try settle(try answers.replacing(with: answer), keeping: answer)
    }

    private mutating func settle(_ answers: Answers, keeping answer: Answer? = nil) throws {
        let settled = try settled(answers, keeping: answer)
        dropped += self.answers.list.filter { old in
            answers.list.contains(old) && !settled.answers.list.contains(old)
        }
        (self.answers, questions) = settled
    }

    /// The answers without those that answer nothing any more, and what they leave open.
    private func settled(
        _ answers: Answers, keeping answer: Answer? = nil
    ) throws -> (answers: Answers, questions: [Question]) {
        var answers = answers
        while true {
            do throws(MigrationError) {
                return (answers, try questions(under: answers))
            } catch {
                guard error.code == .usage else { throw error }
                let left = answers.removing { $0.place == error.place && $0 != answer }
                guard left != answers else { throw error }
                answers = left
            }
        }
    }

    /// Whether an answer is about two versions in the range.
    private func isOnTheWay(_ answer: Answer) -> Bool {
        // Nothing else can take back what is about versions that there are no more.
        guard let (from, to) = versions.positions(of: answer) else { return true }
        return range.contains(from) && range.contains(to) && (from > to) == isWayBack
    }

    /// Answers to open questions that take the same old thing, each as `PLACE=ANSWER`: one of each list can be given.
    var exclusive: [[String]] {
        let renames = questions.flatMap(\.answers).filter { $0.is == .rename }
        let groups = Dictionary(grouping: renames) { answer in
            [answer.from, answer.to, answer.property == nil ? "" : answer.entity, answer.old ?? ""]
        }
        return groups.values.map { $0.map { "\($0.place)=\($0.choice)" } }.filter { $0.count > 1 }
            .sorted { $0[0].precedesInByteOrder($1[0]) }
    }

    /// All that the file holds.
    var kept: Answers { answers.joined(with: others) }

    /// - Throws: `usage` if there is no file to keep them in.
    func save() throws {
        guard let path else {
            throw MigrationError(
                .usage, "There is no file for the answers. Nothing was recorded.",
                remedy: "Name one: --answers FILE.")
        }
        try UnfinishedPath.replace([(path, kept.json)], .byUmask, POSIXSystem())
    }
}

// MARK: - A person at a terminal

extension AnswerSession {
    /// Whether a person can be asked: only where both ends of the talk are a terminal.
    static func canAsk(_ console: Console) -> Bool {
        console.errors.isTerminal && Console.isInputTerminal && !console.isJSON && !console.tellsEvents
    }

    /// Asks a person, one question after the other, as answers may raise new ones or settle others. An empty line
    /// leaves the rest open.
    mutating func ask(_ console: Console) throws {
        while let question = questions.first {
            console.say("\(question.from) → \(question.to): \(question.sentence)".printable)
            for candidate in question.candidates {
                console.say("  \(candidate.name): \(candidate.evidence.joined(separator: "; "))".printable)
            }
            for (number, answer) in question.answers.enumerated() {
                console.say("  \(number + 1)  \(answer.choice): \(answer.consequence(question))".printable)
            }
            console.sayRaw("Which one? (1 to \(question.answers.count), or nothing to stop) ")
            guard let line = readLine()?.trimmed, !line.isEmpty else { return }
            guard let number = Int(line), question.answers.indices.contains(number - 1) else { continue }
            try add(question.answers[number - 1])
        }
    }
}

extension Answer {
    /// Describes the effect on the data, in a few words.
    fileprivate func consequence(_ question: Question) -> String {
        let what = property == nil ? "objects" : "values"
        let candidates = question.candidates.map(\.name).joined(separator: ", ")
        return switch self.is {
        case .rename: "the \(what) of \(old ?? "") continue here"
        case .new: "it starts empty or with its default; the \(what) of \(candidates) are not copied"
        case .keep: "the old \(what) are kept"
        case .drop: "the old \(what) are lost"
        case .value: "the objects that exist get this value"
        }
    }
}
