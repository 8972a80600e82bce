import Moult
import MoultBasics
import MoultModel
import MoultTools

extension Verb {
    static let plan = Verb(
        "plan", "Print what a migration of a store will do, without changing it.",
        discussion: """
            Prints every edge with one sentence per change, what would be lost, and how to go back. You can keep a plan
            printed with --json and give it to moult migrate --plan, which refuses a store that has changed since. On a
            terminal, an open question is asked and the answer is kept next to the model; otherwise moult answer records
            it.

            --model may name another store. The plan then goes from the model inside STORE to the model inside that
            store. Without --model, the one model next to the store or in this folder is used. If there is none, there is
            only the model inside STORE, and nothing to do.

            The lines about tables say how each of them changes: altered in place, its rows updated, or rebuilt and why.
            The store itself is changed in one transaction, after it has been backed up, if three things are true: no
            table is rebuilt, no code or rule of an app runs, and there is only one pass. Options such as --in-place,
            --deferred and --accept-losses only say which migration to plan.

            If moult migrate would be refused, plan exits with the code that moult migrate would exit with: 3 for an
            undeclared loss, for rows that do not fit the new version, or for --in-place if rows have to be written.
            With --check, it exits with 1 instead of 3 for an undeclared loss. Too little free space is only said.
            """,
        operands: [.store],
        options: [
            .model, .target, .answers, .mapping, .stops, showsSQL, .inPlace, .normalise, .deferred, .cloudKit,
            .experimental, .acceptLosses, .storeConfiguration, .checking("a loss is not declared, instead of 3"),
            values, .order,
        ],
        examples: [
            "moult plan forum.sqlite --model Forum.xcdatamodeld",
            "moult plan forum.sqlite --model Forum.xcdatamodeld --to \"Forum 2\" --sql",
        ]
    ) { invocation, console in
        let plan = try invocation.session(.plan, console)
            .plan(withSQL: invocation[showsSQL], withValues: invocation[values])
        console.print(plan.document) { plan.lines(style: $0) }
        if !console.isJSON {
            // The lines already include losses.
            if let obstacle = plan.obstacle {
                if obstacle.code != .lossNotAccepted { throw obstacle }
            } else if let undeclared = plan.undeclaredLoss {
                guard invocation[.check] else { throw undeclared }
                console.say(undeclared)
            }
        }
        if invocation[.check], plan.refusal?.code == .lossNotAccepted { return .findings }
        return plan.refusal.map { ExitCode(number: $0.exitCode) } ?? .done
    }

    private static let showsSQL = Option.flag("sql", "Show the SQL statements.")
    private static let values = Option.flag(
        "values", "With --sql: include the store's metadata and the literals of the app's own indexes and triggers.")
}

extension Option {
    static let target = value(
        "to", "VERSION",
        "The version to migrate to; by default the model's current version, or the newest if none is marked as "
            + "current.")
    static let storeConfiguration = value(
        "store-configuration", "NAME",
        "The configuration that the app opens the store with; by default the one whose entities the store has.")
    static let mapping = value(
        "mapping", "PATH", "A mapping model (.xcmappingmodel, .cdm) to use, or a folder of them.", completes: .files)
    static let inPlace = flag(
        "in-place", "Change the store itself in one transaction, after backing it up; only for schema changes.")
    static let normalise = flag(
        "normalise", "Rebuild every table that changes, with its columns in the order of a new store.")
    static let cloudKit = flag("cloudkit", "Allow the migration of a store that is mirrored to CloudKit.")
}

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
            with 0 if the answers of --set and --forget are recorded; without them, with 3 while questions are open.
            Questions between versions that are both in moult.lock are listed only with --from, --to or --for.

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
        if let store, let model = invocation[Operand.model] { versions = try versions.onTheWay(of: store, to: model) }
        if store == nil, !invocation.all(set).isEmpty, let model = invocation[Operand.model],
            try ReadOnlyStore.isDatabase(model)
        {
            throw invocation.wrong(
                "The model inside a store is a single version, so there are no questions. Name the store that you want to "
                    + "migrate to it: --for STORE.")
        }
        let path = invocation.answersPath
        let exists = try path.map { try invocation.system.exists($0) } ?? false
        let first =
            try invocation[value: from].map { try versions.knownPosition(of: $0) }
            ?? store.flatMap { try versions.position(ofStore: $0) } ?? 0
        let last = try invocation[value: to].map { try versions.knownPosition(of: $0) }
        var session = try AnswerSession(
            versions, from: first, to: last ?? max(0, versions.versions.count - 1),
            answers: exists ? invocation.answers() : .none, path: path)
        if store == nil, invocation[value: from] == nil, last == nil {
            session.released = try invocation.lockedVersions()
        }
        let before = session.kept
        for place in invocation.all(forget) { try session.forget(place) }
        for text in invocation.all(set) { try session.record(text) }
        if invocation.all(set).isEmpty, invocation.all(forget).isEmpty, AnswerSession.canAsk(console) {
            try session.ask(console)
        }
        if session.kept != before { try session.save() }
        console.print(session.document) { session.lines(style: $0) }
        let isListing = invocation.all(set).isEmpty && invocation.all(forget).isEmpty
        return isListing && !session.open.isEmpty ? .refused : .done
    }

    private static let set = Option.value(
        "set", "PLACE=ANSWER", "Answer a question, or change the answer: rename:OLD, new, keep, drop or value:VALUE.")
    private static let forget = Option.value("forget", "PLACE", "Remove the answer about an entity or property.")
    private static let forStore = Option.value(
        "for", "STORE", "The store to migrate: show only its questions.", completes: .files)
    private static let from = Option.value("from", "VERSION", "The version to start at; by default the oldest.")
    private static let to = Option.value("to", "VERSION", "The version to end at; by default the newest.")
}

extension Invocation {
    /// Returns the names of the versions of MODEL that its lock file has; none for a model without one.
    fileprivate func lockedVersions() throws -> Set<String> {
        let bundle = try operandBundle(Console(isJSON: false))
        return Set(bundle.lock?.versions(of: bundle.path)?.map(\.name) ?? [])
    }
}

extension AnswerSession {
    /// Whether a person can be asked: both input and standard error must be terminals.
    static func canAsk(_ console: Console) -> Bool {
        console.errors.isTerminal && Console.isInputTerminal && !console.isJSON && !console.tellsEvents
    }

    /// Asks a person one question at a time, because an answer may raise or settle other questions. An empty line
    /// leaves the rest open.
    mutating func ask(_ console: Console) throws {
        while let question = open.first {
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
