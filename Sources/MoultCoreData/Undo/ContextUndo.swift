import Foundation
import MoultObjects

/// A recorder that registers the changes in a context with an undo manager.
///
/// A group of changes ends when the context processes its pending changes, and whenever the manager announces that it
/// is about to open, close or run a group.
package final class ContextUndo {
    package let manager: UndoManager
    private weak var context: ObjectContext?
    private let note: (Result<[(Object, ChangeStep.Reversal)], any Error>) -> Void
    private var checkpoints: (any NSObjectProtocol)?

    /// - Parameter note: receives the objects that an undo or redo has changed, each with the kind of change, or the
    ///   error.
    package init(
        _ context: ObjectContext, _ manager: UndoManager,
        note: @escaping (Result<[(Object, ChangeStep.Reversal)], any Error>) -> Void
    ) {
        self.manager = manager
        self.context = context
        self.note = note
        checkpoints = NotificationCenter.default.addObserver(
            forName: .NSUndoManagerCheckpoint, object: manager, queue: nil
        ) { [weak context] _ in context?.takeChangeStep() }
        context.recordChanges(
            { [weak self] step in self?.register(step) }, removeSteps: { [weak self] in self?.forget() })
    }

    deinit {
        if let checkpoints { NotificationCenter.default.removeObserver(checkpoints) }
        context?.recordChanges(nil)
    }

    private func register(_ step: ChangeStep) {
        nonisolated(unsafe) let (undo, step) = (self, step)
        usingUndoManager {
            undo.manager.registerUndo(withTarget: undo) { undo in
                guard let context = undo.context else { return }
                undo.note(Result { try context.takeBack(step) })
            }
        }
    }

    /// Removes the context's actions from the manager, for example after a rollback, or once a store was replaced.
    package func forget() {
        nonisolated(unsafe) let undo = self
        usingUndoManager { undo.manager.removeAllActions(withTarget: undo) }
    }

    /// Ends the event's group.
    package func endEvent() {
        #if !canImport(Darwin)
            manager.endEvent()
        #endif
    }
}

#if canImport(Darwin)
    /// Calls an undo manager on the thread of its context, as Core Data does. Swift binds that class to the main actor.
    func usingUndoManager<Result>(_ body: @MainActor () -> Result) -> Result {
        // Like `MainActor.assumeIsolated`, without the check that ends the process on any other thread.
        withoutActuallyEscaping(body) { unsafeBitCast($0, to: (() -> Result).self)() }
    }
#else
    func usingUndoManager<Result>(_ body: () -> Result) -> Result { body() }
#endif
