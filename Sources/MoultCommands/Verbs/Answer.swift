import MoultModel
import MoultReport
import MoultSystem
import MoultTools

extension Verb {
    static let answer = Verb(
        "answer", "List open questions about a model, such as likely renames, and record answers.",
        discussion: """
            A rename that no renaming identifier declares is a question. Answers are kept in a file next to the model,
            Forum.answers.json for Forum.xcdatamodeld, where plan and migrate find them; --answers names another file.
            --set PLACE=ANSWER answers a question, or changes its answer: --set Person.fullName=rename:name. PLACE is an
            entity or a property, by its name in the newer version. The question lists its answers:
            rename:OLD   It was renamed from OLD, and gets the values of OLD.
            new          It is new, and gets no old values.
            keep         Its values are kept: converted, or carried over versions that do not have it.
            drop         Its values are lost. It starts with its default value or nil.
            A migration that makes an attribute required or adds a required one, without a default value, needs a value
            for the objects that have none: --set Person.rating=value:0. So does a downgrade to a version that requires
            an attribute that the newer one does not have: --from is then the newer version, and --to the older one.
            --forget removes an answer. Without --set and --forget, on a terminal, Moult asks each open question. Exits
            with 3 while questions are open.

            --for names a store to migrate, and shows only the questions between its version and the newest. If MODEL is
            a store too, --for is required: the migration then goes from the model inside the store of --for to the
            model inside MODEL.
            """,
        operands: [.model], options: [.answers, set, forget, forStore, from, to, .order],
        examples: [
            "moult answer Forum.xcdatamodeld", "moult answer Forum.xcdatamodeld --answers answers.json",
            "moult answer Forum.xcdatamodeld --for forum.sqlite",
        ]
    ) { invocation, console in
        var versions = try invocation.operandVersions(console)
        let store = invocation[value: forStore]
        if let store, let model = invocation[Operand.model] {
            versions = try versions.onTheWay(of: store, to: model)
        }
        if store == nil, !invocation.all(set).isEmpty, let model = invocation[Operand.model],
            try StoreProbe.isDatabase(model)
        {
            throw invocation.wrong(
                "The model inside a store is a single version, so there are no questions. Name the store that you want to "
                    + "migrate to it: --for STORE.")
        }
        let path = invocation.answersPath
        let exists = try path.map { try POSIXSystem().exists($0) } ?? false
        let first =
            try invocation[value: from].map { try versions.knownPosition(of: $0) }
            ?? store.flatMap { try versions.position(ofStore: $0) } ?? 0
        let last = try invocation[value: to].map { try versions.knownPosition(of: $0) }
        var session = try AnswerSession(
            versions, from: first, to: last ?? max(0, versions.versions.count - 1),
            answers: exists ? invocation.answers() : .none, path: path)
        let before = session.kept
        for place in invocation.all(forget) { try session.forget(place) }
        for text in invocation.all(set) { try session.record(text) }
        if invocation.all(set).isEmpty, invocation.all(forget).isEmpty, AnswerSession.canAsk(console) {
            try session.ask(console)
        }
        if session.kept != before { try session.save() }
        console.print(session.document) { session.lines(style: $0) }
        return session.questions.isEmpty ? .done : .refused
    }

    private static let set = Option.value(
        "set", "PLACE=ANSWER", "Answer a question, or change the answer: rename:OLD, new, keep, drop or value:VALUE.")
    private static let forget = Option.value(
        "forget", "PLACE", "Remove the answer about an entity or property.")
    private static let forStore = Option.value(
        "for", "STORE", "The store to migrate: show only its questions.", completes: .files)
    private static let from = Option.value("from", "VERSION", "The version to start at; by default the oldest.")
    private static let to = Option.value("to", "VERSION", "The version to end at; by default the newest.")
}
