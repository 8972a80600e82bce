import MoultObjects
import MoultPlan

/// One step of a migration between two versions: code that changes the objects of the new version.
///
/// It runs on a copy of the store, which is put in place when every step has gone well; the store itself needs no
/// rollback. What the code does elsewhere does: files, servers, preferences.
public struct MigrationStep: Sendable {
    /// Changes objects; what it has not saved when it returns is saved for it.
    public typealias Code = @Sendable (ManagedObjectContext) async throws -> Void

    /// The name of the step in plans and errors; unique within its migration.
    public let name: String
    /// A sentence that says what the step does.
    public let description: String
    let execute: Code
    let rollback: Code?

    /// - Parameters:
    ///   - execute: may run again from the start, after the process died, on a copy that it has never changed.
    ///   - rollback: takes back what the step did outside of the store, also where it did a part of it only. Called
    ///     when the step or anything after it fails, the last step first, and at the end of a rehearsal.
    public init(name: String, description: String, execute: @escaping Code, rollback: Code? = nil) {
        self.name = name
        self.description = description
        self.execute = execute
        self.rollback = rollback
    }

    /// The step as a plan names it.
    func planned(in migration: String) -> CodeStep {
        CodeStep(
            name: "\(migration) \(name)", sentence: description,
            undo: rollback == nil ? nil : "The step has a rollback.")
    }

    var code: StepCode {
        let execute = execute
        var code = StepCode { try Self.run(execute, on: $0.coordinator) }
        if let rollback { code.undo = { try Self.run(rollback, on: $0.coordinator) } }
        return code
    }

    private static func run(_ code: @escaping Code, on objects: ObjectCoordinator) throws {
        let context = ManagedObjectContext(persistentStoreCoordinator: try PersistentStoreCoordinator(over: objects))
        try BlockingTask.run { try await code(context) }
        try context.performAndWait { if context.hasChanges { try context.save() } }
    }
}
