import MoultEngine
import MoultModel
import MoultModelFiles
import MoultPlan
import MoultStore
import MoultSystem

extension Invocation {
    /// The file of answers: the one that `--answers` names, otherwise the one next to the model, or in the folder where
    /// an app's own tool runs. Nil if there is no model.
    var answersPath: String? {
        if let path = self[value: .answers] { return path }
        if let model = self[value: .model] ?? self[Operand.model] { return AnswersFile.path(besideModelAt: model) }
        return registry.models == nil ? nil : AnswersFile.nameInFolder
    }

    /// The recorded answers: of the file that `--answers` names, otherwise of the one that is configured or next to the
    /// model, where there is one.
    ///
    /// - Throws: `fileNotFound` where `--answers` names nothing; `usage` for a file that holds no answers.
    func answers() throws -> Answers {
        guard let path = answersPath else { return .none }
        let isNamed = self[value: .answers] != nil && !isConfigured(.answers)
        // A link to nothing is not the same as no file.
        if !isNamed, try !POSIXSystem().exists(path), try !POSIXSystem().isLink(path) { return .none }
        return try Answers(json: try POSIXSystem().read(path), place: path)
    }

    /// The recorded answers, for these versions. Where a store stands for the model, the versions are those of the two
    /// stores at this moment: an answer about one that is no longer among them is ignored, with a message. A model that
    /// lacks the version of an answer is refused where the answers are used.
    func answers(for versions: ModelVersions, _ console: Console) throws -> Answers {
        let answers = try answers()
        guard let model = self[value: .model] ?? self[Operand.model], try StoreProbe.isDatabase(model) else {
            return answers
        }
        func isKnown(_ answer: Answer) -> Bool { versions.positions(of: answer) != nil }
        for answer in answers.list where !isKnown(answer) {
            console.say("Ignored, because neither store is of such a version: the answer \(answer.json).")
        }
        return answers.removing { !isKnown($0) }
    }

    /// The position of a store's version; nil if it is of none of them.
    func position(of store: String, in versions: ModelVersions) throws -> Int? {
        let snapshot = try StoreProbe.read(store) { try StoreSnapshot($0.connection) }
        return versions.position(matching: snapshot.hashes, identifiers: snapshot.metadata.versionIdentifiers)
    }

    /// Looks at the store and plans; findings about the model are said on standard error.
    ///
    /// - Throws: `lockFileMismatch` if a released version has changed, and what planning throws; `question` if there is
    ///   no terminal.
    func preparedMigration(_ console: Console) throws -> PreparedMigration {
        let (versions, options) = try migrationInput(console)
        return try preparing(versions, options, console)
    }

    /// Prepares a migration. A question that is open is asked where a person can answer, and the answer is kept.
    ///
    /// - Throws: `question`, which says how to answer, where there is no terminal.
    func preparing(
        _ versions: ModelVersions, _ options: PreparedMigration.Options, _ console: Console
    ) throws -> PreparedMigration {
        let store = try required(Operand.store)
        do {
            return try prepared(store, versions, options)
        } catch let error as MigrationError where error.code == .question {
            guard AnswerSession.canAsk(console), let answers = try ask(versions, options, console) else { throw error }
            var options = options
            options.answers = answers
            return try prepared(store, versions, options)
        }
    }

    /// Looks at a store and plans its way to the version that `--to` names, without asking anything.
    func prepared(
        _ store: String, _ versions: ModelVersions, _ options: PreparedMigration.Options
    ) throws -> PreparedMigration {
        try PreparedMigration(store, versions: versions, to: self[value: .target], options: options)
    }

    /// Asks a person the questions on the store's way, saves the answers and returns them; nil if nothing is asked
    /// there or no answer is recorded.
    private func ask(
        _ versions: ModelVersions, _ options: PreparedMigration.Options, _ console: Console
    ) throws -> Answers? {
        guard let start = try position(of: try required(Operand.store), in: versions) else { return nil }
        var session = try AnswerSession(
            versions.taking(self[value: .target]), from: start, to: try versions.target(named: self[value: .target]),
            answers: try answers(),
            path: answersPath, registered: options.registered + (try options.registry.stages(in: versions)))
        guard !session.questions.isEmpty else { return nil }
        try session.ask(console)
        guard !session.recorded.isEmpty else { return nil }
        try session.save()
        if let path = session.path { console.say("Recorded in \(path.printable).") }
        return session.answers
    }
}
