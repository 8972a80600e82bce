import Foundation
import MoultModel
import MoultObjects

extension ManagedObjectContext {
    /// Saves every change: into the stores, or into the parent context.
    ///
    /// - Throws: ``ManagedObjectValidationError`` with every rule that is broken, ``ManagedObjectMergeError`` where the
    ///   merge policy is to say so, `MigrationError` for anything else, also for what went wrong in an assignment that
    ///   could not throw. After any error the changes are still there.
    public func save() throws {
        try inTurn { graph in
            try throwNoted()
            NotificationCenter.default.post(name: Self.willSaveObjectsNotification, object: face ?? self)
            let faces = try callWillSave(graph)
            try validate(faces, graph)
            state.withLock { $0.isSaving = true }
            defer { state.withLock { $0.isSaving = false } }
            try graph.save()
            let kept = keptFaces
            keptFaces = []
            for face in kept { face.isKept = false }
            for face in faces { face.didSave() }
        }
    }

    private func throwNoted() throws {
        let noted = state.withLock { state in
            defer { state.notedErrors = [] }
            return state.notedErrors
        }
        if let first = noted.first { throw first }
    }

    /// Calls `willSave` of every changed object of a registered class, and of those that it changes in turn.
    private func callWillSave(_ graph: ObjectContext) throws -> [ManagedObject] {
        let coordinator = try coordinator()
        guard coordinator.classes.isUsed else { return [] }
        var called: [ObjectIdentifier: ManagedObject] = [:]
        // A willSave that changes another object for ever would not end.
        for _ in 0..<100 {
            let changed = graph.insertedObjects + graph.updatedObjects + graph.deletedObjects
            let faces = changed.map { face($0, coordinator) }
                .filter { type(of: $0) != ManagedObject.self && called[ObjectIdentifier($0)] == nil }
            if faces.isEmpty { return Array(called.values) }
            for face in faces {
                called[ObjectIdentifier(face)] = face
                face.willSave()
            }
        }
        return Array(called.values)
    }

    /// Asks the application's classes, and where one objects, the model too, so that all failures are told together.
    private func validate(_ faces: [ManagedObject], _ graph: ObjectContext) throws {
        var failures: [ManagedObjectValidationError.Failure] = []
        state.withLock { $0.isSaving = true }
        graph.withoutNotingReads { for face in faces { failures += face.ownFailures() } }
        state.withLock { $0.isSaving = false }
        guard !failures.isEmpty else { return }
        for object in graph.insertedObjects + graph.updatedObjects {
            do {
                try object.validateForUpdate()
            } catch let error as ValidationErrors {
                failures += error.violations.map(ManagedObjectValidationError.Failure.init)
            }
        }
        throw ManagedObjectValidationError(failures: failures)
    }
}
