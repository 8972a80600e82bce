import MoultBasics
import MoultModel

/// Computes the edges between neighbouring versions, then composes those that can be composed.
struct PathWalker {
    let versions: ModelVersions
    let answers: Answers
    private(set) var questions: [Question] = []
    /// The models, resolved on first use.
    private var resolved: [Int: ResolvedModel] = [:]
    /// The history of renames up to each version visited so far.
    private var histories: [Int: RenamingHistory] = [:]

    init(versions: ModelVersions, answers: Answers) {
        self.versions = versions
        self.answers = answers
    }

    private mutating func model(_ position: Int) -> ResolvedModel {
        if let model = resolved[position] { return model }
        let model = ResolvedModel(versions.versions[position].model, after: resolved[position - 1])
        resolved[position] = model
        return model
    }

    private mutating func correspondence(_ older: Int, _ newer: Int, history: RenamingHistory)
        throws(MigrationError) -> EntityMatching
    {
        let (from, to) = (versions.versions[older], versions.versions[newer])
        return try EntityMatching(
            from: model(older), named: from.name, to: model(newer), named: to.name,
            answers: EdgeAnswers(answers.about(from, to)), history: history)
    }

    /// Returns the history of renames up to a version, through all earlier versions, wherever the store starts.
    private mutating func history(upTo position: Int) throws(MigrationError) -> RenamingHistory {
        if let known = histories[position] { return known }
        var history = RenamingHistory()
        // Without renaming identifiers, only answers record renames.
        guard position > 0,
            !answers.list.isEmpty || versions.versions.contains(where: { $0.model.hasRenamingIdentifiers })
        else { return history }
        for older in 0..<position {
            history = history.advanced(along: try correspondence(older, older + 1, history: history))
        }
        return history
    }

    // MARK: - Edges

    /// Returns the correspondence of each neighbouring pair of versions between two positions.
    mutating func correspondences(from: Int, to: Int) throws(MigrationError) -> [EntityMatching] {
        var history = try history(upTo: from)
        var steps: [EntityMatching] = []
        for older in from..<to {
            let step = try correspondence(older, older + 1, history: history)
            history = history.advanced(along: step)
            steps.append(step)
        }
        return steps
    }

    mutating func edges(from: Int, to: Int, registered: [RegisteredStage]) throws(MigrationError) -> [MigrationEdge] {
        var history = try history(upTo: from)
        var edges: [MigrationEdge] = []
        var reached = from
        for hop in try hops(from: from, to: to, registered: registered) {
            if hop.older == reached {
                histories[reached] = history
                reached += 1
            }
            let correspondence = try correspondence(hop.older, hop.newer, history: history)
            edges.append(try edge(hop, correspondence))
            history = history.advanced(along: correspondence)
        }
        return edges
    }

    private struct Hop {
        var older: Int
        var newer: Int
        var stage: RegisteredStage?
    }

    /// Returns the shortest route from one version to another, over neighbours and registered shortcuts.
    private func hops(from: Int, to: Int, registered: [RegisteredStage]) throws(MigrationError) -> [Hop] {
        var arrivals: [Int: [Hop]] = [:]
        for stage in RegisteredStage.joined(registered) {
            let older = try versions.knownPosition(of: stage.from)
            let newer = try versions.knownPosition(of: stage.to)
            guard older < newer else {
                throw MigrationError(
                    .noPath, "The stage \(stage.name) leads from \(stage.from) to \(stage.to), which is not later.",
                    place: stage.name, remedy: "Register it from an earlier version to a later one.")
            }
            arrivals[newer, default: []].append(Hop(older: older, newer: newer, stage: stage))
        }
        var best: [Int: [Hop]] = [from: []]
        guard from < to else { return [] }
        for position in (from + 1)...to {
            let walk = Hop(older: position - 1, newer: position, stage: nil)
            let ways = (arrivals[position, default: []] + [walk]).compactMap { hop in
                best[hop.older].map { $0 + [hop] }
            }
            best[position] = ways.min { $0.count < $1.count }
        }
        return best[to] ?? []
    }

    private func edge(_ hop: Hop, _ correspondence: EntityMatching) throws(MigrationError) -> MigrationEdge {
        MigrationEdge(
            older: hop.older, newer: hop.newer, diff: ModelDiff(correspondence),
            means: try means(of: hop.stage, correspondence), stage: hop.stage, correspondence: correspondence)
    }

    private func means(
        of stage: RegisteredStage?, _ correspondence: EntityMatching
    ) throws(MigrationError) -> MigrationEdge.Means {
        if let stage, let mapping = stage.mapping { return .registered(stage, try mapping.get()) }
        let inferred = try InferredMapping(correspondence)
        return inferred.mapping.map { .inferred($0) }
            ?? .open(questions: inferred.questions, refusals: inferred.refusals)
    }

    // MARK: - Passes

    mutating func passes(
        over edges: [MigrationEdge], from: Int, stops: Bool = false
    ) throws(MigrationError) -> [MigrationPass] {
        var passes: [MigrationPass] = []
        var composed: ComposedEdges?
        var apart: String?
        for edge in edges {
            guard case .inferred(let mapping) = edge.means, edge.steps.isEmpty, !stops else {
                close(&composed, apart: &apart, into: &passes)
                passes += stagePasses(edge)
                continue
            }
            let link = ComposedEdges.Edge(
                mapping: mapping, older: model(edge.older), newer: model(edge.newer), end: edge.newer)
            if let reason = try composed?.append(link, versions: versions.versions, answers: answers) {
                close(&composed, apart: &apart, into: &passes)
                apart = reason
            }
            if composed?.end != edge.newer {
                var new = ComposedEdges(at: edge.older, model: model(edge.older))
                _ = try new.append(link, versions: versions.versions, answers: answers)
                composed = new
            }
        }
        close(&composed, apart: &apart, into: &passes)
        try nameFormerNames(of: &passes)
        return passes
    }

    private mutating func nameFormerNames(of passes: inout [MigrationPass]) throws(MigrationError) {
        guard var reached = passes.first?.olderPosition else { return }
        var history = try history(upTo: reached)
        for position in passes.indices {
            let older = passes[position].olderPosition
            if let known = histories[older] { (history, reached) = (known, older) }
            while reached < older {
                history = history.advanced(along: try correspondence(reached, reached + 1, history: history))
                reached += 1
            }
            passes[position].formerNames = history
        }
    }

    private mutating func close(
        _ composed: inout ComposedEdges?, apart: inout String?, into passes: inout [MigrationPass]
    ) {
        guard let finished = composed else { return }
        questions += finished.questions
        passes.append(
            MigrationPass(
                older: versions.versions[finished.start], newer: versions.versions[finished.end],
                olderPosition: finished.start, newerPosition: finished.end, work: .mapping(finished.mapping),
                apart: apart))
        composed = nil
        apart = nil
    }

    /// Returns the passes of an edge that is combined with no other; none while it is open.
    private func stagePasses(_ edge: MigrationEdge) -> [MigrationPass] {
        var pass = MigrationPass(
            older: versions.versions[edge.older], newer: versions.versions[edge.newer], olderPosition: edge.older,
            newerPosition: edge.newer, work: .none, steps: edge.stage?.after ?? [], stage: edge.stage?.name)
        pass.acceptedLosses = edge.stage?.acceptedLosses ?? .none
        pass.style = edge.stage?.style ?? .mapping
        switch edge.means {
        case .registered(_, let mapping), .inferred(let mapping): pass.work = .mapping(mapping)
        case .open: return []
        }
        guard let before = edge.stage?.before, !before.isEmpty else { return [pass] }
        var first = pass
        (first.newer, first.newerPosition) = (pass.older, pass.olderPosition)
        (first.work, first.steps) = (.none, before)
        return [first, pass]
    }
}
