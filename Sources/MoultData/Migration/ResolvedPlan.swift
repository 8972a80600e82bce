import MoultBasics
import MoultModel
import MoultPlan

/// A plan with its versions, the edges between them, and all its faults.
struct ResolvedPlan {
    let name: String
    /// The schemas, oldest first, like the types and the versions.
    let schemas: [Schema]
    let types: [any VersionedSchema.Type]
    let answers: [MigrationAnswer]
    let acceptedLosses: AcceptedLosses
    /// The versions; empty if the models of one are invalid.
    var versions: [ModelVersion] = []
    var edges: [PlanEdge]
    /// The mappings by edge, where code or answers affect them; the engine infers the others.
    var mappings: [Int: ResolvedMapping] = [:]
    /// The answers, by edge, about parts that an earlier edge removed and this one adds again.
    var returnedAnswers: [Int: [Answer]] = [:]
    var faults: [Finding] = []
    /// The faults of a plan without stages. Such a plan can make a new store and open one of its newest version; any
    /// other store is refused with them.
    private(set) var missingStages: [Finding] = []

    /// - Parameter configurations: the entities of each of several stores, by name.
    init(_ plan: any SchemaMigrationPlan.Type, holding configurations: [String: Set<String>] = [:]) {
        name = "\(plan)"
        types = plan.schemas
        answers = plan.answers
        acceptedLosses = plan.acceptedLosses
        schemas = types.map { Schema(versionedSchema: $0) }
        edges = (0..<max(types.count - 1, 0)).map { PlanEdge(older: $0) }
        resolveVersions(configurations)
        for (place, stage) in plan.stages.enumerated() { put(stage, number: place + 1) }
        let found = faults
        checkEdges()
        if plan.stages.isEmpty, faults.count > found.count {
            missingStages = Array(faults.dropFirst(found.count))
            faults = found
        }
        if missingStages.isEmpty, versions.count == schemas.count { inferEdges() }
    }

    func name(of position: Int) -> String { schemas[position].version.description }

    /// The name of an edge, such as `1.0.0 to 2.0.0`.
    func name(of edge: PlanEdge) -> String { "\(name(of: edge.older)) to \(name(of: edge.older + 1))" }

    mutating func report(_ code: String, _ place: String, _ message: String, _ remedy: String) {
        let finding = Finding(code: code, severity: .error, place: place, message: message, remedy: remedy)
        if !faults.contains(finding) { faults.append(finding) }
    }

    /// The faults, and the stages that a plan without any lacks.
    var allFaults: [Finding] { faults + missingStages }

    /// The error `stagesInvalid` with all faults of the plan; nil if there are none.
    var error: MigrationError? { allFaults.isEmpty ? nil : .planInvalid(name, allFaults) }
}

extension MigrationError {
    /// - Parameter faults: all faults, each with its remedy. Several are numbered, in the message and in the remedy.
    static func planInvalid(_ plan: String, _ faults: [Finding]) -> MigrationError {
        func list(_ texts: [String]) -> String {
            guard faults.count > 1 else { return texts.joined() }
            return texts.enumerated().filter { !$1.isEmpty }.map { "\n  \($0 + 1). \($1)" }.joined()
        }
        let count = faults.count == 1 ? "a fault: " : "\(faults.count) faults:"
        return MigrationError(
            .stagesInvalid, "\(plan) has \(count)\(list(faults.map(\.message)))", place: faults.first?.place ?? "",
            remedy: list(faults.map(\.remedy)))
    }
}

/// The part of a plan between two neighbouring versions.
struct PlanEdge {
    /// The position of the older version.
    let older: Int
    /// The stages, each with its number in the plan, from 1, for messages.
    var stages: [(number: Int, stage: MigrationStage)] = []

    var isLightweight: Bool { stages.allSatisfy { if case .lightweight = $0.stage { true } else { false } } }

    var transforms: [ModelTransform] {
        stages.compactMap { if case .transform(let transform) = $0.stage { transform } else { nil } }
    }

    /// The code before and after the change.
    var code: (will: ((ModelContext) throws -> Void)?, did: ((ModelContext) throws -> Void)?) {
        for case (_, .custom(_, _, let will, let did)) in stages { return (will, did) }
        return (nil, nil)
    }

    var isCustom: Bool { stages.contains { if case .custom = $0.stage { true } else { false } } }
}

extension ResolvedPlan {
    /// Makes the model of every version, and checks that the versions differ.
    mutating func resolveVersions(_ configurations: [String: Set<String>]) {
        if schemas.isEmpty {
            report("no-versions", name, "It has no versions.", "Return at least the current schema from schemas.")
        }
        for schema in schemas {
            do {
                versions.append(try schema.modelVersion(holding: configurations))
            } catch {
                let faults = schema.faults.isEmpty ? [error as? MigrationError].compactMap(\.self) : schema.faults
                for fault in faults {
                    report("model-invalid", fault.place, "\(schema.version): \(fault.message)", fault.remedy)
                }
            }
        }
        checkIdentifiers()
        if versions.count == schemas.count { checkChecksums() }
    }

    private mutating func checkIdentifiers() {
        for later in schemas.indices {
            guard let earlier = schemas[..<later].firstIndex(where: { $0.version == schemas[later].version }) else {
                continue
            }
            report(
                "identifier-twice", name(of: later),
                "\(types[earlier]) and \(types[later]) are both called \(name(of: later)).",
                "Give each version a versionIdentifier of its own.")
        }
    }

    /// Checks that the hashes of any two versions differ, because they identify a store's version.
    private mutating func checkChecksums() {
        for later in versions.indices {
            let same = { versions[$0].hashes.isCompatible(with: versions[later].hashes) }
            guard let earlier = versions[..<later].indices.first(where: same) else { continue }
            let unseen = differences(versions[earlier], versions[later])
            report(
                "checksum-twice", name(of: later),
                "\(label(earlier)) and \(label(later)) have models with the same checksum, "
                    + "\(versions[later].model.versionChecksum.prefix(12))…, so no store can distinguish them.\(unseen)",
                "Remove one of them, or give a property of the later one a hashModifier. A stage converts no value in JSON: where "
                    + "the type of one has changed, that takes a .transform.")
        }
    }

    /// Returns the version's type and number; the number alone may be ambiguous.
    private func label(_ position: Int) -> String { "\(types[position]) (\(name(of: position)))" }

    private func differences(_ older: ModelVersion, _ newer: ModelVersion) -> String {
        guard let correspondence = try? EntityMatching(from: older, to: newer) else { return "" }
        let sentences = ModelDiff(correspondence).changes.map(\.sentence)
        return sentences.isEmpty ? "" : " What differs is not in it: \(sentences.joined(separator: " "))"
    }

    /// Assigns a stage to the edge between its two neighbouring versions.
    mutating func put(_ stage: MigrationStage, number: Int) {
        switch stage {
        case .lightweight(let from, let to), .custom(let from, let to, _, _):
            put(stage, number: number, from: from, to: to)
        case .transform(let transform):
            if let versions = transform.versions {
                put(stage, number: number, from: versions.from, to: versions.to)
            } else {
                put(transform, stage, number: number)
            }
        }
    }

    private mutating func put(
        _ stage: MigrationStage, number: Int, from: any VersionedSchema.Type, to: any VersionedSchema.Type
    ) {
        let label = "Stage \(number) (\(from) to \(to))"
        let (older, newer) = (position(of: from), position(of: to))
        for (type, position) in [(from, older), (to, newer)] where position == nil {
            report(
                "version-unknown", label, "\(label) names \(type), which is not among the plan's schemas.",
                "Add it to schemas, in its place.")
        }
        guard let older, let newer else { return }
        guard newer == older + 1 else {
            let what =
                newer <= older
                ? "does not lead to a later version" : "skips \(Quantity.count(newer - older - 1, "version"))"
            report(
                "stage-not-neighbours", label, "\(label) \(what).",
                "Each stage must lead from a version to the next one in schemas.")
            return
        }
        edges[older].stages.append((number, stage))
    }

    private func position(of type: any VersionedSchema.Type) -> Int? {
        types.firstIndex { ObjectIdentifier($0) == ObjectIdentifier(type) }
    }

    /// Assigns a transform to the edge between its old class and its new one.
    private mutating func put(_ transform: ModelTransform, _ stage: MigrationStage, number: Int) {
        let fitting = edges.indices.filter {
            schemas[$0].has(transform.old) && schemas[$0 + 1].has(transform.new)
        }
        guard let edge = fitting.first, fitting.count == 1 else {
            let label = "Stage \(number) (transform of \(transform.oldName))"
            report(
                "transform-unclear", label,
                fitting.isEmpty
                    ? "\(label) fits between no two versions: none has \(String(reflecting: transform.old)) where the "
                        + "next has \(String(reflecting: transform.new))."
                    : "\(label) could be between \(fitting.map { name(of: edges[$0]) }.joined(separator: ", or ")).",
                "Name the models of two neighbouring versions, or the versions with fromVersion and toVersion.")
            return
        }
        edges[edge].stages.append((number, stage))
    }

    /// Checks that each edge has one stage, or several transforms of different models and at most one custom stage.
    mutating func checkEdges() {
        for edge in edges {
            guard !edge.stages.isEmpty else {
                report(
                    "stage-missing", name(of: edge), "No stage leads from \(name(of: edge)).",
                    "Add one, such as .lightweight(fromVersion: \(types[edge.older]).self, "
                        + "toVersion: \(types[edge.older + 1]).self).")
                continue
            }
            let plain = edge.stages.filter { if case .transform = $0.stage { false } else { true } }
            if plain.count > 1 {
                report(
                    "stage-twice", name(of: edge),
                    "Stages \(plain.map { "\($0.number)" }.joined(separator: " and ")) both lead from \(name(of: edge)).",
                    "Combine them into one custom stage.")
            }
            let models = edge.transforms.map(\.oldName)
            for model in Set(models).sorted() where models.count(where: { $0 == model }) > 1 {
                report(
                    "transform-twice", model, "\(model) has two transforms from \(name(of: edge)).",
                    "Combine them into one.")
            }
        }
    }
}

extension Schema {
    fileprivate func has(_ type: any PersistentModel.Type) -> Bool {
        types[Schema.entityName(for: type)].map { $0 == type } ?? false
    }
}

extension ResolvedPlan {
    /// Checks that the models of the app are those of a version. Otherwise its stores would match no version.
    mutating func checkDrift(of schema: Schema) {
        guard versions.count == schemas.count, let newest = versions.last,
            let current = try? schema.modelVersion(),
            !versions.contains(where: { $0.hashes.isCompatible(with: current.hashes) })
        else { return }
        var differences: [String] = []
        if let correspondence = try? EntityMatching(from: newest, to: current) {
            differences = ModelDiff(correspondence).changes.map(\.sentence)
        }
        report(
            "models-drifted", newest.name,
            "The container's models match no version. Changed since \(newest.name), the newest: "
                + "\(differences.joined(separator: " "))",
            "Leave released versions as they are, and add one of these models to the plan.")
    }
}
