import MoultModel

/// The edges from one version of a model to another, whether or not each can be done.
package struct MigrationPath: Sendable, Equatable {
    package let versions: ModelVersions
    /// The positions of the versions it starts and ends with.
    package let from: Int
    package let to: Int
    /// In order; empty if both versions are the same.
    package let edges: [MigrationEdge]
    /// The passes that will run: consecutive inferred edges joined, registered stages as they are. An edge that is
    /// still open is in none.
    package let passes: [MigrationPass]
    /// Every question on the way, those of the edges first.
    package let questions: [Question]

    /// - Parameters:
    ///   - from: the position of the version to start at.
    ///   - to: the position of the version to end at.
    ///   - stops: whether each version is to be stopped at, so that no edges are joined.
    /// - Throws: `storeAhead` if the way would lead back, `usage` if an answer fits no question.
    package init(
        _ versions: ModelVersions, from: Int, to: Int, answers: Answers = .none, registered: [RegisteredStage] = [],
        stops: Bool = false
    ) throws(MigrationError) {
        try versions.checkNames(in: answers)
        try versions.checkDirection(from: from, to: to)
        var walker = PathWalker(versions: versions, answers: answers)
        edges = try walker.edges(from: from, to: to, registered: registered)
        passes = try walker.passes(over: edges, from: from, stops: stops)
        self.versions = versions
        self.from = from
        self.to = to
        questions = (edges.flatMap(\.questions) + walker.questions).map { $0.bound(to: versions) }
    }

    /// Every reason why an edge cannot be inferred, edge by edge.
    package var refusals: [(edge: MigrationEdge, refusals: [Refusal])] {
        edges.filter { !$0.refusals.isEmpty }.map { ($0, $0.refusals) }
    }

    package var findings: [Finding] { edges.flatMap(\.findings) }
}

extension MigrationEdge {
    var questions: [Question] { if case .open(let questions, _) = means { questions } else { [] } }
    var refusals: [Refusal] { if case .open(_, let refusals) = means { refusals } else { [] } }
}

extension ModelVersions {
    fileprivate func checkNames(in answers: Answers) throws(MigrationError) {
        for answer in answers.list {
            guard let (from, to) = positions(of: answer) else {
                let names = [answer.from, answer.to]
                let unknown = names.first { position(named: $0) == nil }
                throw answer.refused(
                    unknown.map { "there is no version \($0)" }
                        ?? "the versions \(names.joined(separator: " and ")) have other hashes")
            }
            // A downgrade asks for it.
            if from > to, answer.isForWayBack { continue }
            guard from < to else { throw answer.refused("\(answer.from) is not before \(answer.to)") }
            let isUnclear = versions[from].isInsideStore || versions[to].isInsideStore
            guard answer.isBound || !isUnclear else { throw answer.unbound }
        }
    }

    /// The four cases in which there is no edge have four different errors.
    fileprivate func checkDirection(from: Int, to: Int) throws(MigrationError) {
        guard versions.indices.contains(from), versions.indices.contains(to) else {
            throw MigrationError(
                .noPath, "There is no such version.",
                remedy: "Name one of the \(Quantity.count(versions.count, "version")) of the model.")
        }
        guard from > to else { return }
        throw MigrationError(
            .storeAhead, "\(versions[from].name) is a later version than \(versions[to].name).",
            place: versions[from].name,
            remedy: "Use the program that knows \(versions[from].name), or restore a backup of \(versions[to].name).")
    }
}
