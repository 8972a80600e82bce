import Foundation
import MoultBasics
import MoultModel
import MoultObjects
import Synchronization

/// A set of objects that are read, changed and saved together: `NSManagedObjectContext`.
///
/// A context is `Sendable`; its objects are not. Use them inside `perform(_:)` or ``performAndWait(_:)``, and pass
/// ``ManagedObjectID``s elsewhere. Outside these blocks, each single call is still safe.
public final class ManagedObjectContext: @unchecked Sendable {
    /// The queue type. Both types behave alike, because Linux has no main run loop that every program runs.
    public enum ConcurrencyType: Sendable {
        case mainQueue
        case privateQueue
    }

    /// The queue type that the context was created with. It has no effect here.
    public let concurrencyType: ConcurrencyType
    package let turn = ContextTurn()
    let state = Mutex(State())

    struct State {
        var coordinator: PersistentStoreCoordinator?
        var parent: ManagedObjectContext?
        var graph: ObjectContext?
        var settings = Settings()
        /// Errors from calls that could not throw. The next save throws the first of them.
        var notedErrors: [any Error] = []
        var isSaving = false
        /// The objects whose `willSave` this save has called, as they were then.
        var moments: [ObjectIdentifier: ObjectMoment] = [:]
    }

    /// The settings that are copied to the graph once there is one.
    struct Settings {
        var mergePolicy = MergePolicy.error
        var name: String?
        var transactionAuthor: String?
        var mergesAutomatically = false

        func apply(to graph: ObjectContext) {
            graph.mergePolicy = mergePolicy.policy
            graph.name = name
            graph.transactionAuthor = transactionAuthor
            graph.automaticallyMergesChangesFromParent = mergesAutomatically
        }
    }

    /// The Core Data named context that wraps this one and is the context of its public objects. It is the sender of
    /// notifications.
    package weak var publicContext: (any PublicContext)?

    /// The undo manager and, once the context has a coordinator or a parent, the object that registers its changes;
    /// guarded by ``turn``.
    var registration: (manager: UndoManager, registrar: ContextUndo?)?
    /// The objects with changes, which may have values of their own; guarded by ``turn``.
    var kept: [any PublicObject] = []

    /// Creates a context that needs a coordinator or a parent before use.
    public init(_ type: ConcurrencyType = .privateQueue) { concurrencyType = type }

    /// Creates a context that needs a coordinator or a parent before use, with Core Data's spelling.
    public convenience init(concurrencyType: ConcurrencyType) { self.init(concurrencyType) }

    /// Creates a context for the stores of a coordinator.
    public convenience init(persistentStoreCoordinator: PersistentStoreCoordinator) {
        self.init()
        self.persistentStoreCoordinator = persistentStoreCoordinator
    }

    // MARK: - Coordinator and parent

    /// The coordinator whose stores the context reads and writes, its own or its parent's. Setting it discards all
    /// objects and the parent.
    public var persistentStoreCoordinator: PersistentStoreCoordinator? {
        get { state.withLock { $0.coordinator } }
        set {
            let graph = newValue.map { ObjectContext(coordinator: $0.objects) }
            stand(on: newValue, parent: nil, graph)
        }
    }

    /// The context from which this one reads, including unsaved changes, and to which it saves.
    public var parent: ManagedObjectContext? {
        get { state.withLock { $0.parent } }
        set {
            let graph = newValue?.graphIfAny.map { ObjectContext(parent: $0) }
            stand(on: newValue?.persistentStoreCoordinator, parent: newValue, graph)
        }
    }

    private func stand(
        on coordinator: PersistentStoreCoordinator?, parent: ManagedObjectContext?, _ graph: ObjectContext?
    ) {
        let settings = state.withLock { state in
            state.coordinator = coordinator
            state.parent = parent
            state.graph = graph
            return state.settings
        }
        recordUndo(undoManager)
        guard let graph else { return }
        settings.apply(to: graph)
        graph.tracksEvents = publicContext != nil
        _ = graph.observeSaves { [weak self] saved in self?.postDidSave(saved) }
    }

    package var graphIfAny: ObjectContext? { state.withLock { $0.graph } }

    package func graph() throws -> ObjectContext {
        if let graph = graphIfAny { return graph }
        throw MigrationError(
            .usage, "The context has neither a coordinator nor a parent.",
            remedy: "Set persistentStoreCoordinator or parent before the context is used.")
    }

    func coordinator() throws -> PersistentStoreCoordinator {
        _ = try graph()
        if let coordinator = persistentStoreCoordinator { return coordinator }
        throw MigrationError(.usage, "The context has no coordinator.", remedy: "Set persistentStoreCoordinator.")
    }

    // MARK: - Settings

    private func change(_ body: (inout Settings) -> Void, _ apply: (ObjectContext) -> Void) {
        state.withLock { body(&$0.settings) }
        if let graph = graphIfAny { apply(graph) }
    }

    /// The policy for conflicts between a save and the current contents of the store.
    public var mergePolicy: MergePolicy {
        get { state.withLock { $0.settings.mergePolicy } }
        set { change({ $0.mergePolicy = newValue }, { $0.mergePolicy = newValue.policy }) }
    }

    /// The name of the context in persistent history; nil if it has none.
    public var name: String? {
        get { state.withLock { $0.settings.name } }
        set { change({ $0.name = newValue }, { $0.name = newValue }) }
    }

    /// The transaction author that a save records in persistent history.
    public var transactionAuthor: String? {
        get { state.withLock { $0.settings.transactionAuthor } }
        set { change({ $0.transactionAuthor = newValue }, { $0.transactionAuthor = newValue }) }
    }

    /// Whether the context merges saves of other contexts as they happen.
    public var automaticallyMergesChangesFromParent: Bool {
        get { state.withLock { $0.settings.mergesAutomatically } }
        set {
            change({ $0.mergesAutomatically = newValue }, { $0.automaticallyMergesChangesFromParent = newValue })
        }
    }
}

extension ManagedObjectContext {
    /// Runs `body` with exclusive access to the context, off the caller's thread. Objects must not leave it; identities
    /// may.
    public func perform<Result: Sendable>(_ body: @escaping @Sendable () throws -> Result) async throws -> Result {
        try await withCheckedThrowingContinuation { continuation in
            turn.add { continuation.resume(with: Swift.Result(catching: body)) }
        }
    }

    /// Runs `body` asynchronously on another thread, with exclusive access to the context.
    public func perform(_ body: @escaping @Sendable () -> Void) {
        turn.add(body)
    }

    /// Runs `body` on this thread, with exclusive access to the context and after the blocks that `perform(_:)` was
    /// called with before, and returns when it is done. A nested call runs at once.
    public func performAndWait<Result, Failure: Error>(_ body: () throws(Failure) -> Result) throws(Failure) -> Result {
        try turn.inOrder(body)
    }

    /// The undo manager that registers the changes in this context; nil, the default, for no undo.
    ///
    /// Each ``processPendingChanges()``, each group that the manager opens or closes, and each save ends a group of
    /// changes. An undo after a save is a change that the next save writes: a deleted object is inserted again with its
    /// identity. ``rollback()`` and ``reset()`` clear the undo history.
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
            guard let publicContext else { return }
            notingErrors(()) { _ in
                let live = changed.filter { $0.0.context != nil }
                publicContext.takeIn(try live.map { (try publicObject($0.0), $0.1) })
            }
        case .failure(let error): note(error)
        }
    }

    /// Undoes the last group of changes.
    public func undo() { turn.withLock { usingUndoManager { undoManager?.undo() } } }

    /// Redoes the last undone group of changes.
    public func redo() { turn.withLock { usingUndoManager { undoManager?.redo() } } }

    /// Ends the group that the undo manager opened automatically.
    package func endUndoEvent() { turn.withLock { registration?.registrar?.endEvent() } }
}

/// A context with Core Data's names and signatures that wraps a `ManagedObjectContext`.
package protocol PublicContext: AnyObject {
    /// Notes the objects that an undo or redo has changed.
    func takeIn(_ changed: [(AnyObject, ChangeStep.Reversal)])
}
