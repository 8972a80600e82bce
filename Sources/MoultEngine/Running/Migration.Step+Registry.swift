import MoultModel
import MoultObjects
import MoultPlan
import MoultTransform

extension Migration.Step {
    /// A step of a plan with its code, on a store of the model given.
    init(_ step: CodeStep, _ code: StepCode, stage: String?, model: ManagedObjectModel) {
        self.init(
            name: step.name, stage: stage ?? "", sentence: step.sentence,
            execute: { try $0.withObjects(of: model, code.execute) })
        if let takeBack = code.undo { undo = { try $0.withObjects(of: model, takeBack) } }
    }
}

extension MigrationSite {
    /// Runs `body` on the objects of the working copy, and saves what it has not.
    package func withObjects(of model: ManagedObjectModel, _ body: (ObjectContext) throws -> Void) throws {
        let coordinator = ObjectCoordinator(model: model)
        let store = try ObjectStore(over: connection, model: model, external: external, on: system)
        try coordinator.add(store)
        // Whoever keeps an object finds that its store is gone.
        defer { try? coordinator.remove(store) }
        let context = ObjectContext(coordinator: coordinator)
        context.transactionAuthor = "Moult"
        try body(context)
        try context.save()
    }
}

extension Migration {
    /// Takes the statements away: what is left is what code does to the store as it is.
    mutating func leavesSchema() {
        script.statements = []
        functions = []
        verify = { _ in }
    }
}
