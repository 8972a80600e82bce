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

    /// The recorded answers, for these versions; those that are left out are named on standard error.
    func answers(for versions: ModelVersions, _ console: Console) throws -> Answers {
        try answers().known(
            in: versions, ofModelsAt: self[value: .model] ?? self[Operand.model], console.say as (String) -> Void)
    }
}
