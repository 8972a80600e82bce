import MoultBasics
import MoultModel
import MoultObjects
import MoultPlan
import MoultSQLite
import MoultStore

extension Pass {
    /// One step of a stage.
    package struct Step: Sendable {
        package var name: String
        /// The stage or version that it belongs to; empty where it stands alone.
        package var stage: String
        /// A description of the step, in one sentence.
        package var sentence: String
        package var action: any StepAction
        /// The rules after it: checked, or their fixes applied.
        var rules: RuleRun?

        package init(name: String, stage: String = "", sentence: String, action: any StepAction) {
            self.name = name
            self.stage = stage
            self.sentence = sentence
            self.action = action
        }

        var title: String { stage.isEmpty ? "step \(name)" : "step \(name) of \(stage)" }

        func execute(_ site: CodeContext) throws {
            try action.execute(site)
            try rules?.run(site)
        }
    }
}

/// The work of a step on the objects of a working copy.
package protocol StepAction: Sendable {
    func execute(_ site: CodeContext) throws
    /// Whether there is anything outside the store to undo.
    var canBeUndone: Bool { get }
    /// Undoes the work, on the copy that the step has changed, when it or anything after it fails.
    func undo(_ site: CodeContext) throws
}

extension StepAction {
    package var canBeUndone: Bool { false }
    package func undo(_ site: CodeContext) throws {}
}

/// The code that an app has registered under the name of a step, on a store of the model given.
struct RegisteredCode: StepAction {
    let name: String
    let registry: MigrationRegistry
    let model: ManagedObjectModel
    /// The position of the pass that what the code reads counts for.
    let position: Int
    /// The record of what the code reads and how many objects it deletes.
    let ledger: LossAccounting

    var canBeUndone: Bool { registry.steps[name]?.undo != nil }

    func execute(_ site: CodeContext) throws {
        guard let code = registry.steps[name] else { throw MigrationError.codeMissing([name]) }
        let deleted = try site.withObjects(of: model, noting: ledger.reads(forPass: position), code.execute)
        ledger.add(
            deleted.sorted { $0.key.precedesInByteOrder($1.key) }.map { entity, count in
                MigrationLoss(.rows, .byCode, entity: entity, count: count, detail: "the step \(name)")
            })
    }

    func undo(_ site: CodeContext) throws {
        guard let undo = registry.steps[name]?.undo else { return }
        try site.withObjects(of: model, undo)
    }
}

extension MigrationError {
    /// The error for steps that this program has no code for.
    static func codeMissing(_ names: [String]) -> MigrationError {
        MigrationError(
            .codeMissing,
            "The plan needs the code of the \(names.count == 1 ? "step" : "steps") "
                + "\(names.joined(separator: ", ")), which this program does not have.", place: names.first ?? "",
            remedy: "Run the migration in the program that registers it.")
    }
}

/// The site that the code of an app works on: a working copy over which the statements of its pass have run.
///
/// What it writes are transactions of its own; a process that dies leaves the store as it was, and the code runs again
/// from the start.
package struct CodeContext {
    /// `main` is the new store; the schema `source` is the old one, which is never changed.
    package let connection: Connection
    /// The path of the old store of this pass, for reading.
    package let source: String
    /// The external data of both: a new file lies in a folder of its own until the commit puts it in place.
    package let external: ExternalStorage
    package let system: any System
    /// Reports how much of the work is done, 0 to 1, with a sentence where there is one to say.
    package let report: (_ part: Double, _ message: String?) -> Void
    /// To be asked often; where it is true, throw ``cancellation``.
    package let isCancelled: () -> Bool
    /// Whether more than a quarter of an entity's objects may go to the quarantine.
    var allowsLargeQuarantine = false

    package var cancellation: MigrationError { Executor.cancelled(connection.path) }
}

extension CodeContext {
    /// Runs `body` on the objects of the working copy, and saves what it has not.
    ///
    /// - Parameter reads: takes down what `body` reads.
    /// - Returns: how many objects were deleted, by entity.
    @discardableResult
    package func withObjects(
        of model: ManagedObjectModel, noting reads: PropertyReads? = nil, _ body: (ObjectContext) throws -> Void
    ) throws -> [String: Int64] {
        let coordinator = ObjectCoordinator(model: model, noting: reads)
        let store = try ObjectStore(over: connection, model: model, external: external, on: system)
        try coordinator.add(store)
        // Whoever keeps an object finds that its store is gone.
        defer { try? coordinator.remove(store) }
        let context = ObjectContext(coordinator: coordinator)
        context.transactionAuthor = "Moult"
        try body(context)
        try context.save()
        return store.deletions
    }
}

extension Pass {
    /// Takes the statements away: what is left is what code does to the store as it is.
    mutating func leavesSchema() {
        script.statements = []
        functions = []
        verification = .none
    }

    /// A pass that leaves the version as it is and changes objects by one step, which verifies by itself that it has
    /// changed what it was to change and nothing else.
    init(at version: KeptVersion, _ name: String, _ sentence: String, _ action: any StepAction) {
        self.init(from: version.version.name, to: version.version.name, verification: .none)
        reason = .repair
        steps = [Step(name: name, sentence: sentence, action: action)]
        stepVerification = .version(version)
    }
}

/// The migration policies of a pass, which the registry makes by the names that the mapping gives.
struct PassPolicies: Sendable {
    let mapping: ResolvedMapping
    let from: ManagedObjectModel
    let to: ManagedObjectModel
    let registry: MigrationRegistry
    let batchSize: Int
    /// The position of the pass that what they read counts for.
    let position: Int
    let ledger: LossAccounting
    /// About how many objects they go through, one by one; at least one.
    let objects: Int64

    /// Nil if the plan's mapping names none.
    init?(of plan: BoundPlan, _ registry: MigrationRegistry, batchSize: Int, pass: Int, _ ledger: LossAccounting) {
        guard PolicyRun.isNeeded(for: plan.mapping) else { return nil }
        (mapping, from, to) = (plan.mapping, plan.source.model, plan.destination.model)
        (self.registry, self.batchSize, position, self.ledger) = (registry, batchSize, pass, ledger)
        let entities = Set(mapping.entityMappings.filter { $0.policy != nil }.compactMap(\.sourceEntityName))
        objects = max(entities.reduce(0) { $0 + plan.rowCounts[$1, default: 0] }, 1)
    }

    var names: [String] { mapping.entityMappings.compactMap(\.policy) }

    func run(_ site: CodeContext) throws {
        var run = PolicyRun(
            mapping, from: from, to: to, registry: registry, external: site.external, batchSize: batchSize,
            on: site.system
        ) { done, _ in
            if done > 0 { site.report(min(Double(done) / Double(objects), 1), nil) }
            return !site.isCancelled()
        }
        run.reads = ledger.reads(forPass: position)
        let counts = try run.run(on: site.connection, source: site.source)
        ledger.add(counts)
        ledger.add(counts.flatMap(\.losses))
    }
}

extension InstanceCounts {
    /// The objects that a policy has dropped, and the links that what it has made cannot take.
    fileprivate var losses: [MigrationLoss] {
        guard let entityName else { return [] }
        let links = lostLinks.sorted { $0.key.precedesInByteOrder($1.key) }.map { name, count in
            MigrationLoss(
                .links, .byCode, entity: entityName, property: name, count: count,
                detail: "what the policy \(policy) has made has no place for \(count == 1 ? "it" : "them")")
        }
        return [droppedObjects(entityName)].compactMap { $0 } + links
    }

    private func droppedObjects(_ entityName: String) -> MigrationLoss? {
        guard dropped > 0 else { return nil }
        let known = quarantined > 0 ? [] : reasons.sorted { $0.key.precedesInByteOrder($1.key) }
        let reasons = known.map { "\($0.value) × \($0.key)" }.joined(separator: ", ")
        return MigrationLoss(
            .rows, .byCode, entity: entityName, count: dropped,
            detail: "the policy \(policy)" + (reasons.isEmpty ? "" : " (\(reasons))"))
    }
}
