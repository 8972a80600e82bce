import MoultBasics
import MoultModel
import MoultObjects
import MoultPlan
import MoultSQLite
import MoultStore

extension Migration {
    /// One step of a stage, with the code that does it.
    package struct Step: Sendable {
        package var name: String
        /// The stage or version that it belongs to; empty where it stands alone.
        package var stage: String
        /// A description of the step, in one sentence.
        package var sentence: String
        package var execute: @Sendable (MigrationSite) throws -> Void
        /// Called on the copy that the step has changed, when it or anything after it fails; nil if nothing outside the
        /// store is to be undone.
        package var undo: (@Sendable (MigrationSite) throws -> Void)?

        package init(
            name: String, stage: String = "", sentence: String,
            execute: @escaping @Sendable (MigrationSite) throws -> Void,
            undo: (@Sendable (MigrationSite) throws -> Void)? = nil
        ) {
            self.name = name
            self.stage = stage
            self.sentence = sentence
            self.execute = execute
            self.undo = undo
        }

        var title: String { stage.isEmpty ? "step \(name)" : "step \(name) of \(stage)" }
    }
}

/// The site that the code of an app works on: a working copy over which the statements of its pass have run.
///
/// What it writes are transactions of its own; a process that dies leaves the store as it was, and the code runs again
/// from the start.
package struct MigrationSite {
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

    package var cancellation: MigrationError { MigrationRun.cancelled(connection.path) }
}

extension Migration.Step {
    /// A step of a plan with its code, on a store of the model given.
    ///
    /// - Parameters:
    ///   - pass: the position of the pass that what the code reads counts for.
    ///   - ledger: records what the code reads and how many objects it deletes.
    init(
        _ step: CodeStep, _ code: StepCode, stage: String?, model: ManagedObjectModel, before pass: Int,
        _ ledger: RunLedger
    ) {
        self.init(
            name: step.name, stage: stage ?? "", sentence: step.sentence,
            execute: { site in
                let deleted = try site.withObjects(of: model, noting: ledger.reads(forPass: pass), code.execute)
                ledger.add(
                    deleted.sorted { $0.key.precedesInByteOrder($1.key) }.map { entity, count in
                        MigrationLoss(
                            .rows, .byCode, entity: entity, count: count, detail: "the step \(step.name)")
                    })
            })
        if let takeBack = code.undo { undo = { try $0.withObjects(of: model, takeBack) } }
    }
}

extension MigrationSite {
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

extension Migration {
    /// Takes the statements away: what is left is what code does to the store as it is.
    mutating func leavesSchema() {
        script.statements = []
        functions = []
        verification = .none
    }
}

extension Migration {
    /// A pass that leaves the version as it is and changes objects by one step of code.
    ///
    /// - Parameters:
    ///   - store: the resolved path of the store.
    ///   - name: what errors call the step.
    ///   - sentence: what it does.
    ///   - code: verifies by itself that it has changed what it was to change and nothing else.
    init(
        at version: ModelVersion, of store: String, _ name: String, _ sentence: String, _ system: any System,
        code: @escaping @Sendable (MigrationSite, ManagedObjectModel) throws -> Void
    ) {
        @Sendable func bound(_ connection: Connection) throws -> BoundPlan {
            let snapshot = try StoreSnapshot(connection)
            let version = try version.held(by: snapshot.hashes)
            return try BoundPlan(
                ResolvedMapping(identityOf: version.model), from: version, to: version, over: snapshot,
                connection: connection, experimental: true, makesHistory: false, as: .whole)
        }
        self.init(from: version.name, to: version.name, verification: .none)
        reason = .repair
        steps = [
            Step(name: name, sentence: sentence) { try code($0, bound($0.connection).target.model) }
        ]
        verifySteps = { connection, digest in
            let verification = StoreVerification(try bound(connection), store: store, system: system)
            try verification.verifySteps(connection, catalogueDigest: digest)
        }
    }
}

extension Migration {
    /// Adds the run of the migration policies that the plan's mapping names.
    mutating func addPolicies(
        of plan: BoundPlan, _ registry: MigrationRegistry, batchSize: Int, pass: Int, ledger: RunLedger
    ) {
        guard PolicyRun.isNeeded(for: plan.mapping) else { return }
        let (mapping, from, to) = (plan.mapping, plan.source.model, plan.destination.model)
        let names = Set(mapping.entityMappings.filter { $0.policy != nil }.compactMap(\.sourceEntityName))
        let all = Double(max(names.reduce(0) { $0 + plan.rowCounts[$1, default: 0] }, 1))
        objectsByCode += Int64(all)
        code.append { site in
            var run = PolicyRun(
                mapping, from: from, to: to, registry: registry, external: site.external, batchSize: batchSize,
                on: site.system
            ) { done, sentence in
                if done > 0 { site.report(min(Double(done) / all, 1), nil) }
                return !site.isCancelled()
            }
            run.reads = ledger.reads(forPass: pass)
            let counts = try run.run(on: site.connection, source: site.source)
            ledger.add(counts)
            ledger.add(counts.flatMap(\.losses))
        }
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

/// The steps that have run, so that they can be undone in reverse when anything after them fails.
///
/// The store itself needs no undo: nothing of it has been changed. What steps did elsewhere does.
final class StepTrail {
    private struct Entry {
        let step: Migration.Step
        let path: String
        let external: ExternalStorage
    }

    private var entries: [Entry] = []
    private let store: String
    private let system: any System

    init(store: String, system: any System) {
        self.store = store
        self.system = system
    }

    func begin(_ step: Migration.Step, on copy: WorkingCopy) {
        entries.append(
            Entry(
                step: step, path: copy.path,
                external: ExternalStorage(ofWorkingCopy: copy.path, of: store)))
    }

    /// Whether a copy must stay because a step on it may have to be undone.
    func needs(_ path: String) -> Bool { entries.contains { $0.path == path && $0.step.undo != nil } }

    /// Returns the error for a failed step, with the step's name. A cancellation is no failure and is returned as it
    /// is; a lack of space keeps its code.
    func failure(of step: Migration.Step, _ error: any Error) -> any Error {
        let known = error as? MigrationError
        if let known, [.cancelled, .rulesBroken, .quarantineTooLarge, .verificationFailed].contains(known.code) {
            return error
        }
        return MigrationError(
            known?.code == .insufficientStorage ? .insufficientStorage : .stageFailed,
            "The \(step.title) failed: \(known?.message ?? "It threw \(type(of: error)).")",
            place: known.flatMap { $0.place.isEmpty ? nil : $0.place } ?? step.name,
            remedy: known?.advice ?? "Correct this and run the migration again. The store is unchanged.",
            cause: known.map { "\($0.code)\($0.cause.map { ": \($0)" } ?? "")" } ?? "\(error)")
    }

    /// Undoes every step that has begun, the last one first, once all working copies are closed.
    ///
    /// - Returns: what became of each, in one sentence each; empty where no step has an undo.
    func undo(log: (String) -> Void = { _ in }) -> [Outcome] {
        let begun = entries.reversed()
        entries = []
        return begun.compactMap { entry in
            guard let undo = entry.step.undo else { return nil }
            let outcome = Outcome(step: entry.step.name, error: Result { try run(undo, entry) }.failure)
            log(outcome.sentence)
            return outcome
        }
    }

    struct Outcome {
        let step: String
        let error: (any Error)?

        var sentence: String {
            guard let error else { return "The step \(step) was undone." }
            return
                "The undo of \(step) failed: \((error as? MigrationError)?.message ?? "It threw \(type(of: error)).")"
        }
    }

    private func run(_ undo: (MigrationSite) throws -> Void, _ entry: Entry) throws {
        let connection = try Connection(entry.path, mode: .readWrite)
        defer { connection.close() }
        // The old store of a pass may be gone by now.
        try undo(
            MigrationSite(
                connection: connection, source: entry.path, external: entry.external, system: system,
                report: { _, _ in }, isCancelled: { false }))
    }
}

extension StepTrail {
    /// The error that a run ends with: what went wrong, and what became of every undo.
    func undoing(after error: any Error, log: (String) -> Void = { _ in }) -> any Error {
        let outcomes = undo(log: log)
        guard !outcomes.isEmpty else { return error }
        var told =
            error as? MigrationError
            ?? MigrationError(
                .stageFailed, "The run failed: it threw \(type(of: error)).", place: store,
                remedy: "The store is unchanged.", cause: "\(error)")
        told.message += outcomes.map { " \($0.sentence)" }.joined()
        // What the app's code says of it may be a row's value: it is in the error, and is not kept.
        let causes = outcomes.compactMap { outcome in
            outcome.error.flatMap { $0 is MigrationError ? nil : "The undo of \(outcome.step): \($0)" }
        }
        if !causes.isEmpty { told.cause = ([told.cause].compactMap(\.self) + causes).joined(separator: " ") }
        let failed = outcomes.filter { $0.error != nil }.map(\.step)
        if !failed.isEmpty {
            told.advice += " Undo by hand what \(failed.joined(separator: " and ")) did outside the store."
        }
        return told
    }
}

extension Result {
    var failure: Failure? { if case .failure(let error) = self { error } else { nil } }
}
