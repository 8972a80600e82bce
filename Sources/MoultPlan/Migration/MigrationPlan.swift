import MoultBasics
import MoultModel

/// The plan of a migration: every edge, combined into passes. It is a value; the engine runs it.
package struct MigrationPlan: Sendable, Equatable {
    /// The first and the last version.
    package let from: ModelVersion
    package let to: ModelVersion
    package let edges: [MigrationEdge]
    package let passes: [MigrationPass]
    /// The part of the model that the store holds at the end; nil for a plan without a store.
    package let part: StorePart?
    /// Other configurations that the store may belong to.
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

    /// Plans a migration from one version to another, by name.
    ///
    /// - Parameter to: nil for the current version, or the last if none is marked as current.
    /// - Throws: `noPath` for an unknown name, `storeAhead` if `to` comes before `from`, `question`, `cannotInfer`,
    ///   `usage`.
    package init(
        _ versions: ModelVersions, from: String, to: String? = nil, answers: Answers = .none,
        registered: [RegisteredStage] = []
    ) throws(MigrationError) {
        let (start, end) = (try versions.knownPosition(of: from), try versions.target(named: to))
        try self.init(
            MigrationPath(versions.taking(to), from: start, to: end, answers: answers, registered: registered))
    }

    /// Plans a migration from a store's version to another.
    ///
    /// - Parameters:
    ///   - identifiers: the version identifiers in the store's metadata, which tell versions with its hashes apart.
    ///   - stops: whether to stop at each version, so that no edges are combined.
    ///   - part: the part of the model to hold; nil for the part that the store holds now.
    /// - Throws: the same errors, and `storeUnknown` with the nearest version if the store is of none, `unsupported` if
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

    /// Whether there is nothing to do, because both versions are the same.
    package var isEmpty: Bool { edges.isEmpty }
    /// Returns the part of the model that the store holds after a pass. At an intermediate version that lacks the
    /// store's configuration, it holds all entities, like a store without a configuration.
    package func part(after pass: MigrationPass) -> StorePart? {
        guard case .configuration(let name) = part, pass.newer != to,
            !pass.newer.model.configurations.contains(where: { $0.name == name })
        else { return part }
        return .whole
    }

    /// The changes that may lose rows or values, which must be acknowledged.
    package var losses: [ModelChange] { edges.filter(\.isInferable).flatMap(\.diff.losses) }
    package var findings: [Finding] { edges.flatMap(\.findings) }
    /// The names of the versions on the way, including the first and the last.
    package var versionNames: [String] { [from.name] + edges.map(\.to) }
}

extension MigrationError {
    package static func storeUnknown(nearest: VersionStatus.Nearest?) -> MigrationError {
        let status = VersionStatus.unknown(nearest: nearest)
        return MigrationError(
            .storeUnknown, status.sentence, place: nearest?.version ?? "",
            remedy: nearest?.isOfAnotherApp == true
                ? "Name the model of the app that made the store. \(.inspect, .anyStore) shows the model inside it."
                : "Add the version that made the store to the model, or bridge it from the nearest one.")
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

extension MigrationPlan {
    /// SHA-256 over the effect of the plan: versions, passes and mappings. A saved plan is still valid if the digests
    /// are equal; sentences may change from one release to the next without changing the digest.
    package var digest: [UInt8] {
        var text = ["Moult plan 1"]
        for pass in passes {
            text.append(pass.older.hashes.checksum.hexadecimal + " " + pass.newer.hashes.checksum.hexadecimal)
            switch pass.work {
            case .mapping(let mapping): text += mapping.digestLines
            case .none: break
            }
            text += pass.steps.map { "step \($0.name)" }
        }
        return Digest.sha256(Array(text.joined(separator: "\n").utf8))
    }
}

extension ResolvedMapping {
    /// The readable lines with every value in full, so that two blobs of equal length differ.
    package var digestLines: [String] {
        let values = entityMappings.flatMap { mapping in
            mapping.attributes.inByteOrder { $0.key }.compactMap { name, source in
                source.value.map { "\(mapping.destinationEntityName ?? "").\(name) \($0.bytes.hexadecimal)" }
            }
        }
        return lines + values
    }
}

extension AttributeSource {
    fileprivate var value: AttributeValue? {
        switch self {
        case .attribute(_, let value), .constant(let value): value
        // The line of an expression is already complete.
        case .expression: nil
        }
    }
}

extension AttributeValue {
    fileprivate var bytes: [UInt8] {
        switch self {
        case .binary(let bytes), .transformable(let bytes), .uuid(let bytes): bytes
        case .integer, .boolean, .double, .decimal, .string, .date, .uri: Array("\(self)".utf8)
        }
    }
}

extension Finding {
    /// The rule of `moult lint` that reports the same from the models alone, such as `INFER005`; nil for findings that
    /// need a store or code. The rule has the documentation; its findings use the sentences and remedies of this one.
    package var rule: String? { Self.rules[code] }

    /// Returns the codes of the plan findings that a rule covers.
    package static func codes(ofRule rule: String) -> [String] {
        rules.filter { $0.value == rule }.keys.inByteOrder()
    }

    private static let rules: [String: String] = {
        var rules = [
            // Questions and refusals.
            "question-rename": "INFER001", "question-returned": "INFER001",
            "question-ambiguous-identifier": "INFER002",
            "question-conversion": "INFER003", "type-not-convertible": "INFER003",
            "question-destination": "INFER004", "destination-not-convertible": "INFER004",
            "required-without-default": "INFER005",
            "required-relationship": "INFER006", "hierarchies-merged": "INFER007", "inverses-disagree": "INFER008",
            // Findings about the rows of a store.
            "rows-dropped": "DATA001", "values-dropped": "DATA002", "links-dropped": "DATA002",
            "order-dropped": "DATA005", "required-missing": "DATA006", "not-unique": "DATA007",
            "join-name-uncertain": "DATA009", "keys-shifted": "DATA011", "cloudkit-rename": "SYNC011",
            "cloudkit-deploy": "SYNC012", "cloudkit-retype": "SYNC014", "encryption-unknown": "SYNC016",
            // Findings that only a SwiftData plan has.
            "stage-missing": "OPEN009", "type-shared": "OPEN010", "values-unread": "DATA010",
            "lost-in-stage": "DATA010", "checksum-twice": "OPEN007", "class-renamed": "INFER001",
        ]
        let changes: [ModelChange.Kind: String] = [
            .entityRemoved: "DATA001", .entityLeft: "DATA012", .attributeRemoved: "DATA002",
            .relationshipRemoved: "DATA002", .transient: "DATA003", .derivation: "DATA003", .type: "DATA003",
            .attributeMoved: "DATA003", .relationshipMoved: "DATA003", .destination: "DATA003", .cardinality: "DATA004",
            .maximumCount: "DATA004", .order: "DATA005", .optional: "DATA006", .minimumCount: "DATA006",
            .constraintAdded: "DATA007", .valueTransformer: "DATA008", .valueClass: "DATA008", .abstract: "DATA008",
        ]
        for (kind, rule) in changes { rules[kind.rawValue] = rule }
        return rules
    }()
}
