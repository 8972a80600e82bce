import MoultModel
import MoultPlan
import MoultReport
import MoultSystem

extension Verb {
    static let answer = Verb(
        "answer", "Show what the models leave open, such as likely renames, and record answers.",
        discussion: """
            A rename that no renaming identifier declares is a question. Answers go into the file that --answers names,
            for plan and migrate. --set answers one, such as --set Person.fullName=rename:name, or =new, =keep, =drop.
            On a terminal, without --set, each question is asked. Exits with 3 while questions are open.
            """,
        operands: [.model], options: [.answers, set, from, to, .order],
        examples: ["moult answer Forum.xcdatamodeld --answers answers.json"]
    ) { invocation, console in
        let versions = try invocation.operandVersions(console)
        var session = try AnswerSession(versions, invocation, from: invocation[value: from], to: invocation[value: to])
        for text in invocation.all(set) { try session.record(text, invocation) }
        if invocation.all(set).isEmpty { try session.ask(console) }
        try session.save()
        let questions = session.questions
        console.print([
            "format": 1, "recorded": JSONValue(session.recorded.count),
            "questions": .array(questions.map(\.document)),
        ]) { style in
            if questions.isEmpty { return ["No question is open."] }
            return questions.flatMap { [style.yellow("question: ") + $0.text.printableLines, ""] } + [
                "\(Quantity.count(questions.count, "question")) open. Answer with --answers FILE --set PLACE=ANSWER."
            ]
        }
        return questions.isEmpty ? .done : .refused
    }

    private static let set = Option.value("set", "PLACE=ANSWER", "Answer a question: rename:OLD, new, keep or drop.")
    private static let from = Option.value("from", "VERSION", "The version to begin at; the oldest by default.")
    private static let to = Option.value("to", "VERSION", "The version to end at; the newest by default.")
}

/// The open questions of a stretch of versions, and the answers to them.
private struct AnswerSession {
    let versions: ModelVersions
    let path: String?
    let from: Int
    let to: Int
    private(set) var answers: Answers
    private(set) var recorded: [Answer] = []
    private(set) var questions: [Question] = []

    init(_ versions: ModelVersions, _ invocation: Invocation, from: String?, to: String?) throws {
        self.versions = versions
        path = invocation[value: .answers]
        self.from = try from.map { try versions.knownPosition(of: $0) } ?? 0
        self.to = try to.map { try versions.knownPosition(of: $0) } ?? max(0, versions.versions.count - 1)
        let exists = try path.map { try POSIXSystem().exists($0) } ?? false
        answers = exists ? try invocation.answers() : .none
        try refresh()
    }

    private mutating func refresh() throws {
        questions = try MigrationPath(versions, from: from, to: to, answers: answers).questions
    }

    /// Records what `--set` says.
    mutating func record(_ text: String, _ invocation: Invocation) throws {
        let parts = text.split(separator: "=", maxSplits: 1).map(String.init)
        let verdict = parts.dropFirst().first?.split(separator: ":", maxSplits: 1).map(String.init) ?? []
        let asked = questions.filter { $0.place == parts.first }
        guard let question = asked.first else {
            throw invocation.wrong("No question is open about \(parts.first ?? text).")
        }
        guard asked.count == 1 else {
            throw invocation.wrong("Several versions ask about \(question.place): say which with --from and --to.")
        }
        let fitting = question.answers.first { answer in
            answer.is.rawValue == verdict.first && (answer.is != .rename || answer.old == verdict.dropFirst().first)
        }
        guard let fitting else {
            let choices = question.answers.map(\.short).joined(separator: ", ")
            throw invocation.wrong("The answer to \(question.place) is one of: \(choices).")
        }
        try add(fitting)
    }

    private mutating func add(_ answer: Answer) throws {
        recorded.append(answer)
        answers = try Answers(answers.list + [answer])
        try refresh()
    }

    /// Asks a person, one question after the other, as answers may raise new ones or settle others.
    mutating func ask(_ console: Console) throws {
        guard console.errors.isTerminal, Console.isInputTerminal, !console.isJSON, path != nil else { return }
        while let question = questions.first {
            console.say("\(question.from) → \(question.to): \(question.sentence)".printable)
            for candidate in question.candidates {
                console.say("  \(candidate.name): \(candidate.evidence.joined(separator: "; "))".printable)
            }
            for (number, answer) in question.answers.enumerated() { console.say("  \(number + 1)  \(answer.short)") }
            console.sayRaw("Which one? ")
            guard let line = readLine() else { return }
            guard let number = Int(line.trimmed), question.answers.indices.contains(number - 1) else { continue }
            try add(question.answers[number - 1])
        }
    }

    func save() throws {
        guard let path, !recorded.isEmpty else { return }
        try POSIXSystem().writeAtomically(answers.json, to: path)
    }
}

extension Answer {
    /// As `--set` takes it, without the place.
    fileprivate var short: String { self.is.rawValue + (old.map { ":\($0)" } ?? "") }
}
