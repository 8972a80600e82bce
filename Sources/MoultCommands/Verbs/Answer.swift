import MoultModel
import MoultPlan
import MoultReport
import MoultSystem

extension Verb {
    static let answer = Verb(
        "answer", "Show what the models leave open, such as likely renames, and record answers.",
        discussion: """
            A rename that no renaming identifier declares is a question. Answers are kept beside the model, in
            Forum.answers.json for Forum.xcdatamodeld, where plan and migrate find them; --answers names another file.
            --set answers one, such as --set Person.fullName=rename:name, or =new, =keep, =drop; given again, it changes
            the answer. --forget takes one back. On a terminal, without either, each open question is asked. Exits with
            3 while questions are open.
            """,
        operands: [.model], options: [.answers, set, forget, from, to, .order],
        examples: ["moult answer Forum.xcdatamodeld", "moult answer Forum.xcdatamodeld --answers answers.json"]
    ) { invocation, console in
        let versions = try invocation.operandVersions(console)
        let path = invocation.answersPath
        let exists = try path.map { try POSIXSystem().exists($0) } ?? false
        var session = try AnswerSession(
            versions, from: invocation[value: from].map { try versions.knownPosition(of: $0) } ?? 0,
            to: invocation[value: to].map { try versions.knownPosition(of: $0) } ?? max(0, versions.versions.count - 1),
            answers: exists ? invocation.answers() : .none, path: path)
        let before = session.answers
        for place in invocation.all(forget) { try session.forget(place, invocation) }
        for text in invocation.all(set) { try session.record(text, invocation) }
        if invocation.all(set).isEmpty, invocation.all(forget).isEmpty, AnswerSession.canAsk(console) {
            try session.ask(console)
        }
        if session.answers != before { try session.save() }
        console.print(session.document) { session.lines(style: $0) }
        return session.questions.isEmpty ? .done : .refused
    }

    private static let set = Option.value(
        "set", "PLACE=ANSWER", "Answer a question, or change the answer: rename:OLD, new, keep or drop.")
    private static let forget = Option.value(
        "forget", "PLACE", "Take back what was answered about an entity or property.")
    private static let from = Option.value("from", "VERSION", "The version to begin at; the oldest by default.")
    private static let to = Option.value("to", "VERSION", "The version to end at; the newest by default.")
}

extension AnswerSession {
    fileprivate var document: JSONValue {
        [
            "format": 1, "recorded": JSONValue(recorded.count), "file": JSONValue(path),
            "questions": .array(questions.map(\.document)), "answers": .array(answers.list.map(\.document)),
            "dropped": .array(dropped.map(\.document)),
        ]
    }

    fileprivate func lines(style: TextStyle) -> [String] {
        var lines = answers.list.map { "\($0.from) → \($0.to)  \($0.place)=\($0.choice)".printable }
        if !lines.isEmpty { lines.insert("Answered\(path.map { " in \($0)" } ?? ""):".printable, at: 0) }
        lines += dropped.map { "Taken back, as it answers nothing any more: \($0.place)=\($0.choice)".printable }
        if !lines.isEmpty { lines.append("") }
        if questions.isEmpty { return lines + ["No question is open."] }
        return lines + questions.flatMap { [style.yellow("question: ") + $0.text.printableLines, ""] } + [
            "\(Quantity.count(questions.count, "question")) open. Answer with --set PLACE=ANSWER."
        ]
    }
}
