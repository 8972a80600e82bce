import MoultObjects

/// The code of one side of a custom stage, with the models that it knows.
struct StageCode: @unchecked Sendable {
    let schema: Schema
    // A plan's closures are called on the thread that opens the store, one after the other.
    let body: (ModelContext) throws -> Void

    /// Runs the code with a context over the working copy, and saves what it has not.
    func run(on coordinator: ObjectCoordinator) throws {
        let container = ModelContainer(ModelStack(schema, coordinator, []))
        try withExtendedLifetime(container) {
            let context = ModelContext(container)
            try body(context)
            try context.save()
        }
    }
}
