import Moult
import MoultBasics
import MoultEngine
import MoultModel
import MoultPlan
import MoultStore

/// The open questions of a range of versions, and the answers to them.
package struct AnswerSession: ToolAnswer {
    package let versions: ModelVersions
    /// The file of answers; nil if the answers are not saved.
    package let path: String?
    /// The positions of the first and the last version.
    let range: ClosedRange<Int>
    /// Whether this is a downgrade, from the last version to the first.
    private let isWayBack: Bool
    let registered: [RegisteredStage]
    package private(set) var answers: Answers
    /// Answers about versions of other stores, which remain in the file.
    private var others: Answers
    package private(set) var recorded: [Answer] = []
    /// Answers that were dropped because a change to another answer removed their question.
    package private(set) var dropped: [Answer] = []
    package private(set) var questions: [Question] = []
    /// The names of the versions that are released. The questions between two of them are not listed.
    package var released: Set<String> = []
    /// The questions to answer: those that lead to a version that is not released.
    package var open: [Question] { questions.filter { !(released.contains($0.from) && released.contains($0.to)) } }
    /// The questions that were open at the start.
    private var first: [Question] = []

    /// Starts a session. An answer that matches no question is ignored, so that the user can remove it.
    package init(
        _ versions: ModelVersions, from: Int, to: Int, answers: Answers, path: String?,
        registered: [RegisteredStage] = []
    ) throws {
        (self.versions, self.path, self.registered) = (versions, path, registered)
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

    /// Returns the mapping back from the last version to the first.
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

    /// Records an argument of `--set` in the form `PLACE=ANSWER`. It replaces an earlier answer.
    ///
    /// - Throws: `usage` if there is no question about the place, or the answer is not one of its choices.
    package mutating func record(_ text: String) throws {
        let parts = text.split(separator: "=", maxSplits: 1).map(String.init)
        let place = parts.first ?? text
        if let choice = parts.dropFirst().first, choice.hasPrefix("value:") {
            return try recordValue(String(choice.dropFirst("value:".count)), of: place)
        }
        var asked = questions.filter { $0.place == place }
        if asked.isEmpty {
            asked = try settled(answers.removing { $0.place == place && isOnTheWay($0) }).questions
                .filter { $0.place == place }
        }
        guard let question = asked.first else {
            // The order of answers does not matter, so an earlier answer may already have settled this question.
            guard first.contains(where: { $0.place == place }) else {
                throw MigrationError.wrongRequest("Nothing is asked about \(place).")
            }
            guard parts.dropFirst().first != "new" else { return }
            throw MigrationError.wrongRequest(
                "Another answer has settled \(place): nothing else can be answered there.")
        }
        guard asked.count == 1 else { throw MigrationError.wrongRequest(Self.several("ask about \(question.place)")) }
        guard let answer = question.answers.first(where: { $0.choice == parts.dropFirst().first }) else {
            let choices = question.answers.map(\.choice).joined(separator: ", ")
            throw MigrationError.wrongRequest("The answer to \(question.place) is one of: \(choices).")
        }
        try add(answer)
    }

    private static func several(_ what: String) -> String {
        String(advice: "Several versions \(what). Select one with \(option: .from(nil)) and \(option: .to(nil)).")
    }

    /// Records the value that existing objects get for a required attribute without a default value.
    private mutating func recordValue(_ text: String, of place: String) throws {
        let others = answers.removing { $0.place == place && isOnTheWay($0) }
        let edges = try edgesWithoutValue(of: place, others)
        guard let edge = edges.first, edges.count == 1 else {
            throw MigrationError.wrongRequest(
                edges.isEmpty
                    ? "\(place) needs no value: it is no new required attribute without a default value."
                    : Self.several("need a value for \(place)"))
        }
        let (older, newer) = (edge.from, edge.to)
        let names = place.split(separator: ".", maxSplits: 1).map(String.init)
        guard let model = versions.position(named: newer).map({ versions.versions[$0].named(newer).model }),
            let entity = names.first.flatMap(model.entity),
            let attribute = names.last.flatMap({ model.attribute($0, of: entity) })
        else { throw MigrationError.wrongRequest("\(newer) has no attribute \(place).") }
        let answer = Answer(
            from: older, to: newer, entity: entity.name, property: attribute.name, is: .value, value: text)
        guard answer.value(for: attribute) != nil else {
            throw MigrationError.wrongRequest(
                "The text is no value of type \(attribute.type.name), which \(place) has.")
        }
        try add(answer)
    }

    /// Returns the edges that leave existing objects without a value for a required attribute.
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

    /// Removes the answer about a place.
    ///
    /// - Throws: `usage` if there is none.
    package mutating func forget(_ place: String) throws {
        let left = answers.removing { $0.place == place && isOnTheWay($0) }
        guard left != answers else {
            let elsewhere = others.removing { $0.place == place }
            if elsewhere != others {
                others = elsewhere
                return
            }
            let places = Set(kept.list.map(\.place)).sorted().joined(separator: ", ")
            throw MigrationError.wrongRequest(
                "There is no answer about \(place)." + (places.isEmpty ? "" : " There are answers about: \(places)."))
        }
        try settle(left)
    }

    package mutating func add(_ answer: Answer) throws {
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

    /// Returns the answers that still match a question, and the questions that remain open.
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

    /// Whether an answer is about two versions in the range, in its direction.
    private func isOnTheWay(_ answer: Answer) -> Bool {
        // Include answers about versions that no longer exist, because nothing else could remove them.
        guard let (from, to) = versions.positions(of: answer) else { return true }
        return range.contains(from) && range.contains(to) && (from > to) == isWayBack
    }

    /// The answers that exclude each other, because they rename the same old name. Each has the form `PLACE=ANSWER`.
    var exclusive: [[String]] {
        let renames = open.flatMap(\.answers).filter { $0.is == .rename }
        let groups = Dictionary(grouping: renames) { answer in
            [answer.from, answer.to, answer.property == nil ? "" : answer.entity, answer.old ?? ""]
        }
        return groups.values.map { $0.map { "\($0.place)=\($0.choice)" } }.filter { $0.count > 1 }
            .sorted { $0[0].precedesInByteOrder($1[0]) }
    }

    /// All answers in the file.
    package var kept: Answers { answers.joined(with: others) }

    /// - Throws: `usage` if there is no file for the answers.
    package func save() throws {
        guard let path else {
            throw MigrationError(
                .usage, "There is no file for the answers. Nothing was recorded.",
                remedy: "Name one: \(option: .answers("FILE")).")
        }
        try StagedPath.replace([(path, kept.json)], .byUmask, POSIXSystem())
    }

    // MARK: - JSON and text

    package var document: JSONValue {
        [
            "format": 1, "recorded": JSONValue(recorded.count), "file": JSONValue(path),
            "questions": .array(open.map(\.document)), "answers": .array(kept.list.map(\.document)),
            "dropped": .array(dropped.map(\.document)), "exclusive": .array(exclusive.map { JSONValue($0) }),
        ]
    }

    package func lines(style: TextStyle) -> [String] {
        var lines = kept.list.map { "\($0.from) → \($0.to)  \($0.place)=\($0.choice)".printable }
        if !lines.isEmpty { lines.insert("Answered\(path.map { " in \($0)" } ?? ""):".printable, at: 0) }
        lines += dropped.map { "Removed, because its question is gone: \($0.place)=\($0.choice)".printable }
        if !lines.isEmpty { lines.append("") }
        let hidden = questions.count - open.count
        let others =
            hidden == 0
            ? []
            : [
                String(
                    advice: """
                        \(Quantity.count(hidden, "question is", plural: "questions are")) between released versions; \
                        \(option: .from(versions.versions[range.lowerBound].name)) lists \(hidden == 1 ? "it" : "them").
                        """)
            ]
        if open.isEmpty { return lines + ["No question is open."] + others }
        lines += open.flatMap { [style.yellow("question: ") + $0.text.printableLines, ""] }
        lines += exclusive.map { "Only one of these can be given: \($0.joined(separator: ", ")).".printable }
        return lines + [
            String(
                advice: """
                    \(Quantity.count(open.count, "question")) open. Answer with \(option: .set("PLACE=ANSWER")).
                    """)
        ] + others
    }
}

extension Answer {
    /// Returns the effect of the answer on the data, in a few words.
    package func consequence(_ question: Question) -> String {
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

extension ModelVersions {
    /// Returns the position of a store's version; nil if it matches none of the versions.
    package func position(ofStore store: String) throws -> Int? {
        let snapshot = try ReadOnlyStore.read(store) { try StoreSnapshot($0.connection) }
        return position(matching: snapshot.hashes, identifiers: snapshot.metadata.versionIdentifiers)
    }
}
