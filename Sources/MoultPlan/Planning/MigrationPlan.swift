import MoultModel

/// The plan of a migration: every edge, joined into passes. It is a value; the engine runs it.
package struct MigrationPlan: Sendable, Equatable {
    /// The versions it starts and ends with.
    package let from: ModelVersion
    package let to: ModelVersion
    package let edges: [MigrationEdge]
    package let passes: [MigrationPass]
    /// The part of the model that the store holds at the end; nil for a plan of no store.
    package let part: StorePart?
    /// The configurations that the store may be of just as well.
    package private(set) var alternatives: [String] = []

    /// - Throws: `question` with all questions on the way, or `cannotInfer` with all reasons.
    package init(_ path: MigrationPath, part: StorePart? = nil) throws(MigrationError) {
        guard path.questions.isEmpty else { throw .unanswered(path.questions) }
        if let first = path.refusals.first {
            guard path.refusals.count > 1 else {
                throw .cannotInfer(first.refusals, from: first.edge.from, to: first.edge.to)
            }
            throw .cannotInfer(path.refusals.map { ($0.edge.from, $0.edge.to, $0.refusals) })
        }
        self.from = path.versions.versions[path.from]
        self.to = path.versions.versions[path.to]
        edges = path.edges.map { $0.seen(by: part) }
        passes = path.passes
        self.part = part
    }

    /// From one version to another, by name.
    ///
    /// - Parameter to: nil for the current version, or the last where none is called current.
    /// - Throws: `noPath` for a name there is not, `storeAhead` for a way back, `question`, `cannotInfer`, `usage`.
    package init(
        _ versions: ModelVersions, from: String, to: String? = nil, answers: Answers = .none,
        registered: [RegisteredStage] = []
    ) throws(MigrationError) {
        let (start, end) = (try versions.knownPosition(of: from), try versions.target(named: to))
        try self.init(
            MigrationPath(versions.taking(to), from: start, to: end, answers: answers, registered: registered))
    }

    /// From a store's version to another.
    ///
    /// - Parameters:
    ///   - identifiers: what the store's metadata call its version, where several have its hashes.
    ///   - stops: whether each version is to be stopped at, so that no edges are joined.
    ///   - part: what the store is to hold; nil for what it holds now.
    /// - Throws: as above, and `storeUnknown` with the nearest version where the store is of none, `unsupported` where
    ///   the version lacks the store's configuration.
    package init(
        _ versions: ModelVersions, from store: VersionHashes, identifiers: [String] = [], to: String? = nil,
        answers: Answers = .none, registered: [RegisteredStage] = [], stops: Bool = false, as part: StorePart? = nil
    ) throws(MigrationError) {
        guard let way = try versions.way(of: store, identifiers: identifiers, to: to, as: part) else {
            throw .storeUnknown(nearest: versions.nearest(to: store))
        }
        try self.init(
            MigrationPath(
                way.versions, from: way.start, to: way.end, answers: answers, registered: registered, stops: stops),
            part: way.part)
        alternatives = way.alternatives
    }

    /// Whether there is nothing to do: the two versions are one.
    package var isEmpty: Bool { edges.isEmpty }
    /// Returns the part of the model that the store holds after a pass. A version in between that lacks the store's
    /// configuration is passed with all entities, as for a store without a configuration.
    package func part(after pass: MigrationPass) -> StorePart? {
        guard case .configuration(let name) = part, pass.newer != to,
            !pass.newer.model.configurations.contains(where: { $0.name == name })
        else { return part }
        return .whole
    }

    /// The changes that may lose rows or values, which must be acknowledged.
    package var losses: [ModelChange] { edges.filter(\.isInferable).flatMap(\.diff.losses) }
    package var findings: [Finding] { edges.flatMap(\.findings) }
    /// The names of the versions on the way, the first and the last included.
    package var versionNames: [String] { [from.name] + edges.map(\.to) }
}

extension MigrationError {
    package static func storeUnknown(nearest: VersionStatus.Nearest?) -> MigrationError {
        let status = VersionStatus.unknown(nearest: nearest)
        return MigrationError(
            .storeUnknown, status.sentence, place: nearest?.version ?? "",
            remedy: "Add the version that made the store to the model, or bridge it from the nearest one.")
    }

    fileprivate static func cannotInfer(_ edges: [(from: String, to: String, refusals: [Refusal])]) -> MigrationError {
        let texts = edges.flatMap { edge in
            edge.refusals.map { "\n  \(edge.from) to \(edge.to): \($0.message) \($0.remedy)" }
        }
        return MigrationError(
            .cannotInfer, "\(Quantity.count(edges.count, "edge")) cannot be inferred:\(texts.joined())\n",
            place: edges.first?.refusals.first?.place ?? "",
            remedy: "Make these changes inferable, or register a mapping or a custom stage for each edge.")
    }
}
