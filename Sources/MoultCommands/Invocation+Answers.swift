import MoultEngine
import MoultModel
import MoultModelFiles
import MoultPlan
import MoultStore
import MoultSystem

extension Invocation {
    /// The file of answers: the one that `--answers` names, else the one beside the model, or in the folder where an
    /// app's own tool runs. Nil where there is no model.
    var answersPath: String? {
        if let path = self[value: .answers] { return path }
        if let model = self[value: .model] ?? self[Operand.model] { return AnswersFile.path(besideModelAt: model) }
        return registry.models == nil ? nil : AnswersFile.nameInFolder
    }

    /// The recorded answers: of the file that `--answers` names, else of the one beside the model, where there is one.
    ///
    /// - Throws: `fileNotFound` where `--answers` names nothing; `usage` for a file that holds no answers.
    func answers() throws -> Answers {
        guard let path = answersPath else { return .none }
        if self[value: .answers] == nil, try !POSIXSystem().exists(path) { return .none }
        return try Answers(json: try POSIXSystem().read(path), place: path)
    }

    /// Prepares a migration. A question that is open is asked where a person can answer, and the answer is kept.
    ///
    /// - Throws: `question`, which says how to answer, where nobody can be asked.
    func preparing(
        _ versions: ModelVersions, _ options: PreparedMigration.Options, _ console: Console
    ) throws -> PreparedMigration {
        let store = try required(Operand.store)
        let target = self[value: .target]
        do {
            return try PreparedMigration(store, versions: versions, to: target, options: options)
        } catch let error as MigrationError where error.code == .question {
            guard AnswerSession.canAsk(console), let answers = try ask(versions, options, console) else {
                throw naming(error)
            }
            var options = options
            options.answers = answers
            do {
                return try PreparedMigration(store, versions: versions, to: target, options: options)
            } catch let error as MigrationError where error.code == .question {
                throw naming(error)
            }
        }
    }

    /// What a person answers to the questions on the store's way; nil where nothing is asked there.
    private func ask(
        _ versions: ModelVersions, _ options: PreparedMigration.Options, _ console: Console
    ) throws -> Answers? {
        let snapshot = try StoreProbe.read(try required(Operand.store)) { try StoreSnapshot($0.connection) }
        guard
            let start = versions.position(
                matching: snapshot.hashes, identifiers: snapshot.metadata.versionIdentifiers)
        else { return nil }
        var session = try AnswerSession(
            versions, from: start, to: try versions.target(named: self[value: .target]), answers: options.answers,
            path: answersPath, registered: options.registered + (try options.registry.stages(in: versions)))
        guard !session.questions.isEmpty else { return nil }
        try session.ask(console)
        guard !session.recorded.isEmpty else { return nil }
        try session.save()
        if let path = session.path { console.say("Recorded in \(path.printable).") }
        return session.answers
    }

    /// The error with the command that answers, as it is typed.
    func naming(_ error: MigrationError) -> MigrationError {
        var error = error
        let model = self[value: .model].map { " " + $0.shellQuoted } ?? ""
        let file = self[value: .answers].map { " --answers " + $0.shellQuoted } ?? ""
        error.remedy.replace("moult answer MODEL", with: "moult answer\(model)\(file)")
        return error
    }
}
