import MoultModel
import MoultPlan
import MoultStore

extension Answers {
    /// The answers for the versions of the models at a path. Where a store stands for the models, the versions are those
    /// of the two stores at this moment: an answer about one that is no longer among them is left out. Models that lack
    /// the version of an answer are refused where the answers are used.
    ///
    /// - Parameters:
    ///   - path: nil for versions that a program has made.
    ///   - say: is given a sentence for each answer that is left out.
    package func known(
        in versions: ModelVersions, ofModelsAt path: String?, _ say: (String) -> Void
    ) throws -> Answers {
        guard !list.isEmpty, let path, try StoreProbe.isDatabase(path) else { return self }
        func isKnown(_ answer: Answer) -> Bool { versions.positions(of: answer) != nil }
        for answer in list where !isKnown(answer) {
            say("Ignored, because neither store is of such a version: the answer \(answer.json).")
        }
        return removing { !isKnown($0) }
    }
}
