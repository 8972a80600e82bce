import MoultObjects

extension ManagedObjectContext {
    /// Registers what changes in this context, so that it can be undone and redone; nil, as at first, for no undo.
    ///
    /// A group of changes ends with each ``processPendingChanges()``, with each group that the manager opens or closes,
    /// and before a save. An undo after a save is a change that the next save writes: an object that was deleted is
    /// inserted again under its identity. ``rollback()`` and ``reset()`` forget what could be undone.
    public var undoManager: UndoManager? {
        get { turn.withLock { registration?.manager } }
        set { turn.withLock { if registration?.manager !== newValue { recordUndo(newValue) } } }
    }

    func recordUndo(_ manager: UndoManager?) {
        turn.withLock {
            registration?.registrar?.forget()
            registration = nil
            guard let manager else { return }
            let registrar = graphIfAny.map { graph in
                ContextUndo(graph, manager) { [weak self] result in self?.noteUndo(result) }
            }
            registration = (manager, registrar)
        }
    }

    private func noteUndo(_ result: Result<[(Object, ChangeStep.Reversal)], any Error>) {
        switch result {
        case .success(let changed):
            guard let coordinator = persistentStoreCoordinator else { return }
            didUndo(changed.filter { $0.0.context != nil }.map { (face($0.0, coordinator), $0.1) })
        case .failure(let error): note(error)
        }
    }

    /// Undoes the last group of changes.
    public func undo() { turn.withLock { undoManager?.undo() } }

    /// Does again what was undone last.
    public func redo() { turn.withLock { undoManager?.redo() } }

    /// Ends the group that the undo manager opened by itself.
    package func endUndoEvent() { turn.withLock { registration?.registrar?.endEvent() } }
}
