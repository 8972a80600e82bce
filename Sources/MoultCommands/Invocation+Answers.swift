import MoultModel
import MoultSystem
import MoultTools

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
}
