import MoultBasics
import MoultModel

/// The edges from one version of a model to another, whether or not each can be done.
package struct MigrationPath: Sendable, Equatable {
    package let versions: ModelVersions
    /// The positions of the first and the last version.
    package let from: Int
    package let to: Int
    /// In order; empty if both versions are the same.
    package let edges: [MigrationEdge]
    /// The passes that will run: consecutive inferred edges combined, registered stages as they are. Open edges are in
    /// none.
    package let passes: [MigrationPass]
    /// Every question on the way, with those of the edges first.
    package let questions: [Question]

    /// - Parameters:
    ///   - from: the position of the version to start at.
    ///   - to: the position of the version to end at.
    ///   - stops: whether to stop at each version, so that no edges are combined.
    /// - Throws: `storeAhead` if `to` comes before `from`, `usage` if an answer does not fit any question.
    package init(
        _ versions: ModelVersions, from: Int, to: Int, answers: Answers = .none, registered: [RegisteredStage] = [],
        stops: Bool = false
    ) throws(MigrationError) {
        let answers = answers.joined(with: try Answers(registered.flatMap(\.answers)))
        for answer in answers.list { try versions.check(answer) }
        try versions.checkDirection(from: from, to: to)
        var walker = PathWalker(versions: versions, answers: answers)
        edges = try walker.edges(from: from, to: to, registered: registered)
        passes = try walker.passes(over: edges, from: from, stops: stops)
        (self.versions, self.from, self.to) = (versions, from, to)
        questions = (edges.flatMap(\.questions) + walker.questions).map { $0.bound(to: versions) }
    }

    /// Every reason why an edge cannot be inferred, by edge.
    package var refusals: [(edge: MigrationEdge, refusals: [Refusal])] {
        edges.filter { !$0.refusals.isEmpty }.map { ($0, $0.refusals) }
    }

    package var findings: [Finding] { edges.flatMap(\.findings) }
}

extension MigrationEdge {
    package var questions: [Question] { if case .open(let questions, _) = means { questions } else { [] } }
    package var refusals: [Refusal] { if case .open(_, let refusals) = means { refusals } else { [] } }
}

extension ModelVersions {
    /// Checks the versions that an answer names.
    ///
    /// - Throws: `usage` for an answer about versions that do not exist, or in the wrong order.
    package func check(_ answer: Answer) throws(MigrationError) {
        guard let (from, to) = positions(of: answer) else {
            let names = [answer.from, answer.to]
            let unknown = names.first { position(named: $0) == nil }
            throw answer.refused(
                unknown.map { "there is no version \($0)" }
                    ?? "the versions \(names.joined(separator: " and ")) have other hashes")
        }
        // Such an answer is meant for a downgrade.
        if from > to, answer.isForWayBack { return }
        guard from < to else { throw answer.refused("\(answer.from) is not before \(answer.to)") }
        let isUnclear = versions[from].isInsideStore || versions[to].isInsideStore
        guard answer.isBound || !isUnclear else { throw answer.unbound }
    }

    /// Throws the error of each of the four cases in which there is no edge.
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

    /// The versions on a store's way, the positions where it starts and ends, and the part that the store holds at the
    /// end.
    struct StoreWay {
        var versions: ModelVersions
        let start: Int
        var end: Int
        let part: StorePart
        /// Other configurations that the store may belong to, and with which it would end with other entities. The
        /// caller has chosen none of them.
        var alternatives: [String] = []
    }

    /// Returns the way of a store to a version.
    ///
    /// Versions with equal hashes are one place on the way. A store of a configuration can be an exception: if it
    /// should hold other entities at the target than it holds now, its version and the target are two places.
    ///
    /// - Parameters:
    ///   - target: the name of the target version; nil for the current one.
    ///   - part: the part of the model to hold; nil for the part that the store holds now.
    /// - Returns: nil if the store is of none of the versions.
    /// - Throws: `noPath` if there is no version of that name; `unsupported` if it lacks the configuration.
    func way(
        of hashes: VersionHashes, identifiers: [String], to target: String?, as part: StorePart?
    ) throws(MigrationError) -> StoreWay? {
        let end = try self.target(named: target)
        guard let place = place(of: hashes, identifiers: identifiers, as: part, toward: end) else { return nil }
        let isSaid = part != nil
        let part = part ?? place.configuration.map(StorePart.configuration) ?? .whole
        var way = StoreWay(versions: taking(target ?? currentName), start: place.position, end: end, part: part)
        if !isSaid {
            let model = way.versions.versions[end].model
            func held(_ name: String?) -> [String]? { model.entities(forConfigurationName: name)?.map(\.name).sorted() }
            way.alternatives = place.version.configurations(matching: hashes).map(\.name).filter {
                held($0) != nil && held($0) != held(place.configuration)
            }
        }
        guard place.position == end else {
            way.versions.versions[place.position] = place.version
            return way
        }
        var goal = way.versions.versions[end]
        guard try Set(goal.restricted(to: part).model.entities.map(\.name)) != Set(hashes.entities.keys) else {
            return way
        }
        var own = try place.version.held(by: hashes)
        own = own.name == goal.name ? own.calledTheStoresOwn : own.alone
        goal.names.removeAll(where: own.names.contains)
        way.versions.versions.replaceSubrange(end...end, with: [own, goal])
        way.end += 1
        return way
    }
}

extension ModelVersion {
    /// The version with its first name only.
    fileprivate var alone: ModelVersion {
        var alone = self
        alone.names = [name]
        return alone
    }
}

extension ModelVersions {
    /// Returns every reason why there is no migration from one version to another; empty if there is one.
    ///
    /// Version names are free text. Versions are ordered by position, never by name.
    package func pathIssues(
        from: String, to: String, answers: Answers = .none, registered: [RegisteredStage] = []
    ) -> [Finding] {
        let (start, end) = (position(named: from), position(named: to))
        let names = versions.map(\.name).joined(separator: ", ")
        var issues: [Finding] = []
        if start == nil {
            issues.append(
                issue("source-not-supported", from, "There is no version \(from).", "The versions are: \(names)."))
        }
        if end == nil {
            issues.append(
                issue("target-not-supported", to, "There is no version \(to).", "The versions are: \(names)."))
        }
        guard let start, let end else { return issues }
        if start == end {
            return [issue("same-version", from, "\(from) and \(to) are the same version.", "There is nothing to do.")]
        }
        if start > end {
            return [
                issue(
                    "backwards", from, "\(from) is later than \(to).",
                    "Restore a backup of \(to), or choose a later version.")
            ]
        }
        do {
            let path = try MigrationPath(self, from: start, to: end, answers: answers, registered: registered)
            let returned = path.questions.filter { $0.kind == .returned }.map(\.finding)
            return path.findings.filter { $0.severity == .error } + returned
        } catch {
            return [issue(error.code.description, error.place, error.message, error.advice)]
        }
    }

    private func issue(_ code: String, _ place: String, _ message: String, _ remedy: Remedy) -> Finding {
        Finding(code: code, severity: .error, place: place, message: message, remedy: remedy)
    }
}

/// The difference between a version and the next one, and the mapping that is inferred from it.
package struct VersionStep: Sendable {
    package let diff: ModelDiff
    package let inferred: InferredMapping
}

extension ModelVersions {
    /// Returns the steps from each version to the next, as a plan over all of them would use them.
    ///
    /// - Throws: `usage` if an answer does not fit any question.
    package func steps(answers: Answers = .none) throws(MigrationError) -> [VersionStep] {
        guard versions.count > 1 else { return [] }
        var walker = PathWalker(versions: self, answers: answers)
        var steps: [VersionStep] = []
        for correspondence in try walker.correspondences(from: 0, to: versions.count - 1) {
            steps.append(VersionStep(diff: ModelDiff(correspondence), inferred: try InferredMapping(correspondence)))
        }
        return steps
    }
}
