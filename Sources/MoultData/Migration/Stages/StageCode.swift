import MoultObjects
import MoultSystem

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
            try BackupManager.$migrating.withValue(coordinator.migratedStore) { try body(context) }
            try context.save()
        }
    }
}

extension ObjectCoordinator {
    /// The store of whose working copy the coordinator has the objects.
    fileprivate var migratedStore: URL? {
        let path = stores.first?.path ?? ""
        guard let sidecar = path.range(of: "\(Path.sidecarEnding)/", options: .backwards) else { return nil }
        return URL(fileURLWithPath: String(path[..<sidecar.lowerBound]))
    }
}
