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
        /// The stage or version that the step belongs to; empty if it stands alone.
        package var stage: String
        /// A description of the step, in one sentence.
        package var sentence: String
        package var action: any StepAction
        /// The rules checked after the step, or whose fixes are applied then.
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

/// The code that an app has registered under the name of a step, for a store of the given model.
struct RegisteredCode: StepAction {
    let name: String
    let registry: MigrationRegistry
    let model: ManagedObjectModel
    /// The position of the pass whose losses the code's reads count for.
    let position: Int
    /// The ledger of the properties that the code reads and the objects that it deletes.
    let ledger: LossAccounting

    var canBeUndone: Bool { registry.steps[name]?.undo != nil }

    func execute(_ site: CodeContext) throws {
        guard let code = registry.steps[name] else { throw MigrationError.codeMissing([name]) }
        let deleted = try site.withObjects(of: model, noting: ledger.reads(forPass: position), code.execute)
        ledger.add(
            deleted.inByteOrder { $0.key }.map { entity, count in
                MigrationLoss(.rows, .byCode, entity: entity, count: count, detail: "the step \(name)")
            })
    }

    func undo(_ site: CodeContext) throws {
        guard let undo = registry.steps[name]?.undo else { return }
        try site.withObjects(of: model, undo)
    }
}

extension MigrationError {
    /// Returns the error for steps that have no registered code.
    static func codeMissing(_ names: [String]) -> MigrationError {
        MigrationError(
            .codeMissing,
            "The plan needs the code of the \(names.count == 1 ? "step" : "steps") "
                + "\(names.joined(separator: ", ")), which this program does not have.", place: names.first ?? "",
            remedy: "Run the migration in the program that registers it.")
    }
}

/// The environment of an app's code: a working copy on which the statements of its pass have run.
///
/// The code writes in transactions of its own. A process that dies leaves the store unchanged, and the code runs again
/// from the start.
package struct CodeContext {
    /// The connection; `main` is the new store, and the schema `source` is the old one, which never changes.
    package let connection: Connection
    /// The path of the old store of this pass, for reading.
    package let source: String
    /// The external data of both stores: new files stay in a separate folder until the commit puts them in place.
    package let external: ExternalStorage
    package let system: any System
    /// Reports the part of the work that is done, 0 to 1, with an optional sentence.
    package let report: (_ part: Double, _ message: String?) -> Void
    /// Whether to cancel. Call it often, and throw ``cancellation`` when it returns true.
    package let isCancelled: () -> Bool
    /// Whether more than a quarter of an entity's objects may be quarantined.
    package var allowsLargeQuarantine = false

    package var cancellation: MigrationError { Executor.cancelled(connection.path) }
}

extension CodeContext {
    /// Runs `body` on the objects of the working copy, and saves any unsaved changes.
    ///
    /// - Parameter reads: records the properties that `body` reads.
    /// - Returns: the number of deleted objects, by entity.
    @discardableResult
    package func withObjects(
        of model: ManagedObjectModel, noting reads: PropertyReads? = nil, _ body: (ObjectContext) throws -> Void
    ) throws -> [String: Int64] {
        let coordinator = ObjectCoordinator(model: model, noting: reads)
        let store = try ObjectStore(over: connection, model: model, external: external, on: system)
        try coordinator.add(store)
        // After this, any object that the code keeps finds its store gone.
        defer { try? coordinator.remove(store) }
        let context = ObjectContext(coordinator: coordinator)
        context.transactionAuthor = "Moult"
        try body(context)
        try context.save()
        return store.deletions
    }
}

extension Pass {
    /// Removes the statements, so that only the work of code remains.
    mutating func leavesSchema() {
        script.statements = []
        functions = []
        verification = .none
    }

    /// Creates a pass that keeps the version and changes objects in one step. The step verifies that it has made
    /// exactly the intended changes.
    package init(at version: KeptVersion, _ name: String, _ sentence: String, _ action: any StepAction) {
        self.init(from: version.version.name, to: version.version.name, verification: .none)
        reason = .repair
        steps = [Step(name: name, sentence: sentence, action: action)]
        stepVerification = .version(version)
    }
}

/// The migration policies of a pass, created by the registry from the names in the mapping.
struct PassPolicies: Sendable {
    let mapping: ResolvedMapping
    let from: ManagedObjectModel
    let to: ManagedObjectModel
    let registry: MigrationRegistry
    let batchSize: Int
    private let derivations: [(place: String, statement: StoreScript.Statement)]
    /// The position of the pass whose losses the policies' reads count for.
    let position: Int
    let ledger: LossAccounting
    /// The approximate number of objects that they process one by one; at least one.
    let objects: Int64

    /// Returns nil if the plan's mapping names no policy.
    init?(of plan: BoundPlan, _ registry: MigrationRegistry, batchSize: Int, pass: Int, _ ledger: LossAccounting) {
        guard PolicyRun.isNeeded(for: plan.mapping) else { return nil }
        (mapping, from, to) = (plan.mapping, plan.source.model, plan.destination.model)
        derivations = plan.derivations
        (self.registry, self.batchSize, position, self.ledger) = (registry, batchSize, pass, ledger)
        let entities = Set(mapping.entityMappings.filter { $0.policy != nil }.compactMap(\.sourceEntityName))
        objects = max(entities.reduce(0) { $0 + plan.rowCounts[$1, default: 0] }, 1)
    }

    var names: [String] { mapping.entityMappings.compactMap(\.policy) }

    /// The name of the first policy that keeps state between its calls; nil if none does.
    var nameOfStateful: String? { names.first { registry.policies[$0]?().keepsState == true } }

    /// The most bytes by which the tables that a run in pieces keeps enlarge the working copy (``PolicyNotes``): about a
    /// hundred for each object, and the pages of empty tables.
    func bytesOfNotes(pageSize: Int64) -> Int64 { objects &* 100 &+ 16 &* pageSize }

    func run(_ site: CodeContext) throws { report(try policyRun(site).run(on: site.connection, source: site.source)) }

    /// Runs the policies piece by piece, from where an earlier call has ended.
    func run(_ site: CodeContext, within pace: CallBudget) throws -> PolicyRecord {
        try policyRun(site).run(on: site.connection, source: site.source, within: pace)
    }

    private func policyRun(_ site: CodeContext) -> PolicyRun {
        var run = PolicyRun(
            mapping, from: from, to: to, registry: registry, external: site.external, batchSize: batchSize,
            on: site.system
        ) { done, _ in
            if done > 0 { site.report(min(Double(done) / Double(objects), 1), nil) }
            return !site.isCancelled()
        }
        run.reads = ledger.reads(forPass: position)
        run.derivations = derivations
        return run
    }

    /// Reports the results of a run that has ended in this call or in an earlier one.
    func report(_ record: PolicyRecord) {
        record.note(in: ledger.reads(forPass: position))
        report(record.counts)
    }

    private func report(_ counts: [InstanceCounts]) {
        ledger.add(counts)
        ledger.add(counts.flatMap(\.losses))
    }
}

extension InstanceCounts {
    /// The objects that a policy has dropped, and the links that cannot be kept for the objects that it made.
    fileprivate var losses: [MigrationLoss] {
        guard let entityName else { return [] }
        let links = lostLinks.inByteOrder { $0.key }.map { name, count in
            MigrationLoss(
                .links, .byCode, entity: entityName, property: name, count: count,
                detail: "what the policy \(policy) has made has no place for \(count == 1 ? "it" : "them")")
        }
        return [droppedObjects(entityName)].compactMap { $0 } + links
    }

    private func droppedObjects(_ entityName: String) -> MigrationLoss? {
        guard dropped > 0 else { return nil }
        let known = quarantined > 0 ? [] : reasons.inByteOrder { $0.key }
        let reasons = known.map { "\($0.value) × \($0.key)" }.joined(separator: ", ")
        return MigrationLoss(
            .rows, .byCode, entity: entityName, count: dropped,
            detail: "the policy \(policy)" + (reasons.isEmpty ? "" : " (\(reasons))"))
    }
}
