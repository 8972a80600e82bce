import MoultModel

extension Correspondence {
    /// Creates the correspondence between the entities and properties of any two versions, through every version
    /// between them, so that a chain of renames is one rename. The direction may be from a later version to an earlier
    /// one.
    ///
    /// What is removed on the way and added again counts as removed and added.
    ///
    /// - Parameter answers: by neighbouring versions, as for a plan.
    /// - Throws: `usage` if an answer fits no question, `noPath` if there is no such version.
    package init(_ versions: ModelVersions, from: Int, to: Int, answers: Answers = .none) throws(MigrationError) {
        guard from <= to else {
            self.init(reversing: try Correspondence(versions, from: to, to: from, answers: answers))
            return
        }
        var walker = PathWalker(versions: versions, answers: answers)
        let steps = try walker.correspondences(from: from, to: to)
        guard let first = steps.first, let last = steps.last else {
            let version = versions.versions[from]
            try self.init(from: version, to: version)
            return
        }
        self.init(joining: steps, from: first, to: last)
    }

    /// - Parameter steps: neighbours in their order, the first and the last included.
    private init(joining steps: [Correspondence], from first: Correspondence, to last: Correspondence) {
        var entities = first.entitySources
        var properties = first.propertySources
        for step in steps.dropFirst() {
            properties = step.propertySources.reduce(into: [:]) { joined, entity in
                guard let middle = step.entitySources[entity.key], let before = properties[middle] else { return }
                joined[entity.key] = entity.value.compactMapValues { before[$0] }
            }
            entities = step.entitySources.compactMapValues { entities[$0] }
        }
        self.init(
            source: first.source, destination: last.destination, from: first.from, to: last.to,
            entitySources: entities, propertySources: properties, questions: steps.flatMap(\.questions))
    }
}

extension ModelDiff {
    /// Compares any two versions of one model, with renames followed through the versions between them.
    ///
    /// - Throws: `noPath` for a name there is not, `usage` if an answer fits no question.
    package init(_ versions: ModelVersions, from: String, to: String, answers: Answers = .none) throws(MigrationError) {
        let (start, end) = (try versions.knownPosition(of: from), try versions.knownPosition(of: to))
        self.init(try Correspondence(versions, from: start, to: end, answers: answers))
    }
}
