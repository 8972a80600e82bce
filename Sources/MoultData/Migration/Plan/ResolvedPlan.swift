import MoultModel
import MoultPlan

/// A plan with everything worked out: its versions, what leads from each to the next, and all that is wrong with it.
struct ResolvedPlan {
    let name: String
    /// Oldest first, as are the versions and what is known of each.
    let schemas: [Schema]
    let types: [any VersionedSchema.Type]
    let answers: [MigrationAnswer]
    let acceptedLosses: AcceptedLosses
    /// Empty where the models of a version are wrong.
    var versions: [ModelVersion] = []
    var edges: [PlanEdge]
    /// By edge, where code or answers have a part in it; the engine infers the others.
    var mappings: [Int: ResolvedMapping] = [:]
    var faults: [Finding] = []
    /// Of a plan without any stage, which opens a new store and one of its newest version: thrown for every other.
    private(set) var missingStages: MigrationError?

    /// - Parameter configurations: which entities each of several stores holds, by name.
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
            missingStages = .planInvalid(name, Array(faults.dropFirst(found.count)))
            faults = found
        }
        if missingStages == nil, versions.count == schemas.count { inferEdges() }
    }

    func name(of position: Int) -> String { schemas[position].version.description }

    /// `1.0.0 to 2.0.0`
    func name(of edge: PlanEdge) -> String { "\(name(of: edge.older)) to \(name(of: edge.older + 1))" }

    mutating func report(_ code: String, _ place: String, _ message: String, _ remedy: String) {
        let finding = Finding(code: code, severity: .error, place: place, message: message, remedy: remedy)
        if !faults.contains(finding) { faults.append(finding) }
    }

    /// `stagesInvalid` with everything that is wrong with the plan; nil if nothing is.
    var error: MigrationError? { faults.isEmpty ? nil : .planInvalid(name, faults) }
}

extension MigrationError {
    /// - Parameter faults: all that is wrong, each with its remedy.
    static func planInvalid(_ plan: String, _ faults: [Finding]) -> MigrationError {
        let list = faults.map { "\n  \($0.message) \($0.remedy)" }.joined()
        return MigrationError(
            .stagesInvalid, "\(plan) has \(faults.count == 1 ? "a fault" : "\(faults.count) faults"):\(list)\n",
            place: faults.first?.place ?? "", remedy: "Nothing was done to any store.")
    }
}
