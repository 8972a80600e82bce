import MoultBasics
import MoultModel
import MoultObjects
import MoultPlan

extension MigrationRegistry {
    /// Creates a registry with the versions and the code of a plan, for an app's own command line tool.
    ///
    ///     try MoultCommand.main(registry: MigrationRegistry(plan: AppPlan.self))
    ///
    /// The first command that needs the versions reports the plan's faults.
    public init<Plan: SchemaMigrationPlan>(plan: Plan.Type) {
        let resolved = ResolvedPlan(plan)
        let (versions, error) = (resolved.versions, resolved.error)
        self.init(models: {
            if let error { throw error }
            return ModelVersions(versions: versions)
        })
        self.plan = resolved.outline
        acceptedLosses = resolved.acceptedLosses
        if error == nil { add(resolved) }
    }

    /// Adds the stages of a plan without faults, and their code.
    mutating func add(_ plan: ResolvedPlan) {
        for edge in plan.edges {
            let (mapping, returned) = (mapping(edge, plan), plan.returnedAnswers[edge.older] ?? [])
            guard mapping != nil || edge.isCustom || !returned.isEmpty else { continue }
            let name = plan.name(of: edge)
            var stage = RegisteredStage(
                from: plan.name(of: edge.older), to: plan.name(of: edge.older + 1), name: name,
                sentence: edge.sentence(name), mapping: mapping.map { .success($0) })
            stage.acceptedLosses = plan.acceptedLosses(of: edge, mapping)
            stage.answers = returned
            stage.style = .plan(from: "\(plan.types[edge.older])", to: "\(plan.types[edge.older + 1])")
            let code = edge.code
            if let will = code.will { stage.before = [register(will, "willMigrate", name, plan.schemas[edge.older])] }
            if let did = code.did { stage.after = [register(did, "didMigrate", name, plan.schemas[edge.older + 1])] }
            stages.append(stage)
        }
    }

    private mutating func register(
        _ body: @escaping (ModelContext) throws -> Void, _ what: String, _ edge: String, _ schema: Schema
    ) -> CodeStep {
        let code = StageCode(schema: schema, body: body)
        let step = CodeStep(
            name: "\(edge), \(what)", sentence: "The plan's \(what) has run at version \(schema.version).")
        steps[step.name] = StepCode { try code.run(on: $0.coordinator) }
        return step
    }

    /// Returns the mapping of an edge, with a policy for the models that have a transform.
    private mutating func mapping(_ edge: PlanEdge, _ plan: ResolvedPlan) -> ResolvedMapping? {
        guard var mapping = plan.mappings[edge.older] else { return nil }
        guard !edge.transforms.isEmpty else { return mapping }
        let (from, to) = (plan.schemas[edge.older], plan.schemas[edge.older + 1])
        let (older, newer) = (plan.versions[edge.older].model, plan.versions[edge.older + 1].model)
        // As it stands in sentences, after "the policy".
        let name = "of the transforms from \(plan.name(of: edge))"
        for position in mapping.entityMappings.indices {
            guard let old = mapping.entityMappings[position].sourceEntityName,
                let new = mapping.entityMappings[position].destinationEntityName,
                edge.transforms.contains(where: {
                    older.isKind(old, of: $0.oldName) && newer.isKind(new, of: $0.newName)
                })
            else { continue }
            mapping.entityMappings[position].name = "\(old)_to_\(new)"
            mapping.entityMappings[position].policy = name
        }
        let transforms = edge.transforms
        register(policy: { TransformPolicy(transforms, from: from, to: to) }, named: name)
        return mapping
    }
}

extension PlanEdge {
    fileprivate func sentence(_ name: String) -> String {
        let models = transforms.map(\.oldName)
        let parts = [
            isCustom ? "the plan's own code runs" : nil,
            models.isEmpty ? nil : "\(models.joined(separator: ", ")) is transformed object by object",
        ].compactMap(\.self)
        return "From \(name) \(parts.isEmpty ? "the plan's answers are used" : parts.joined(separator: ", and "))."
    }
}

/// The code of one side of a custom stage, with the schema that it works with.
struct StageCode: @unchecked Sendable {
    let schema: Schema
    // A plan's closures are called on the thread that opens the store, one at a time.
    let body: (ModelContext) throws -> Void

    /// Runs the code with a context over the working copy, then saves the changes that the code has not saved.
    func run(on coordinator: ObjectCoordinator) throws {
        let container = ModelContainer(ContainerStorage(schema, coordinator, []))
        try withExtendedLifetime(container) {
            let context = ModelContext(container)
            try BackupManager.$migrating.withValue(coordinator.migratedStore) { try body(context) }
            try context.save()
        }
    }
}

extension ObjectCoordinator {
    /// The URL of the original store, if the coordinator has its working copy open.
    fileprivate var migratedStore: URL? {
        let path = stores.first?.path ?? ""
        guard let sidecar = path.range(of: "\(Path.sidecarEnding)/", options: .backwards) else { return nil }
        return URL(fileURLWithPath: String(path[..<sidecar.lowerBound]))
    }
}
