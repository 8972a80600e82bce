import MoultModel

/// Consecutive inferred edges, composed into one mapping from the first version to the last.
///
/// A part that one edge removes and a later one adds again is a question: edge by edge its values would be lost, and
/// with the composed mapping they would be kept.
struct ComposedEdges {
    /// The position of the first version.
    let start: Int
    private let startModel: ResolvedModel
    private(set) var end: Int
    private(set) var mapping: ResolvedMapping
    private(set) var questions: [Question] = []
    private(set) var usedAnswers: Set<Answer> = []
    private var removedParts = RemovedParts()

    init(at start: Int, model: ResolvedModel) {
        self.start = start
        startModel = model
        end = start
        mapping = ResolvedMapping(identityOf: model)
    }

    /// An edge between two neighbouring nodes of the path.
    struct Edge {
        var mapping: ResolvedMapping
        var older: ResolvedModel
        var newer: ResolvedModel
        /// The position of the newer version.
        var end: Int
    }

    /// Composes the mapping with one more edge.
    ///
    /// - Returns: the reason why the edge cannot be composed; nil if it was.
    /// - Throws: `usage` if an answer asks for what cannot be kept.
    mutating func append(_ edge: Edge, versions: [ModelVersion], answers: Answers) throws(MigrationError) -> String? {
        if let reason = reasonForKeys(edge) { return reason }
        let composer = Composer(mapping, edge.mapping, from: startModel, through: edge.older, to: edge.newer)
        var joined: ResolvedMapping
        switch composer.compose() {
        case .joined(let mapping): joined = mapping
        case .apart(let reason): return reason
        }
        var restored = RestoredParts(
            start: startModel, older: edge.older, newer: edge.newer, end: versions[edge.end], versions: versions,
            answers: answers)
        try restored.restore(from: removedParts, along: edge.mapping, into: &joined)
        questions += restored.questions
        usedAnswers.formUnion(restored.usedAnswers)
        removedParts.pass(version: end, model: edge.older, before: composer.first, edge: edge.mapping)
        mapping = joined
        end = edge.end
        return nil
    }

    /// Objects that move into another hierarchy get new keys, which must be those that the edge alone would give.
    private func reasonForKeys(_ edge: Edge) -> String? {
        guard end != start else { return nil }
        let merged =
            mapping.mergedHierarchies(from: startModel.model, to: edge.older.model)
            + edge.mapping.mergedHierarchies(from: edge.older.model, to: edge.newer.model)
        return merged.first.map { "Objects move into the hierarchy of \($0.root) and get new keys." }
    }
}
