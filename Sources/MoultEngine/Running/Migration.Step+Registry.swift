import MoultModel
import MoultObjects
import MoultPlan
import MoultTransform

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
