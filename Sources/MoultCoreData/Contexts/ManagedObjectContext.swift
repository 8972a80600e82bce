import Dispatch
import Foundation
import MoultBasics
import MoultModel
import MoultObjects
import Synchronization

/// Objects that are read, changed and saved together: `NSManagedObjectContext`.
///
/// A context is `Sendable`, its objects are not: use them inside `perform(_:)` or ``performAndWait(_:)``, and hand
/// ``ManagedObjectID``s to others. What is done outside them is safe too, one call at a time.
public final class ManagedObjectContext: @unchecked Sendable {
    /// Both work alike: Linux has no main run loop that every program runs.
    public enum ConcurrencyType: Sendable {
        case mainQueue
        case privateQueue
    }

    /// The type that the context was made with; it changes nothing here.
    public let concurrencyType: ConcurrencyType
    /// The lock that gives each caller its turn with this context; taken before the tree's own lock, never after it.
    let turn = RecursiveLock()
    let queue = DispatchQueue(label: "ManagedObjectContext")
    let state = Mutex(State())

    struct State {
        var coordinator: PersistentStoreCoordinator?
        var parent: ManagedObjectContext?
        var graph: ObjectContext?
        var settings = Settings()
        /// The errors met where nothing could be thrown; the next save throws the first of them.
        var notedErrors: [any Error] = []
        var isSaving = false
    }

    /// The settings that the graph has too, once there is one.
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

    /// The context of Core Data's own names that stands over this one, and whose objects this one's are. Notifications
    /// are posted for it.
    weak var publicContext: (any PublicContext)?

    /// The undo manager, with the object that registers changes once the context stands on something; used under
    /// ``turn``.
    var registration: (manager: UndoManager, registrar: ContextUndo?)?
    /// The objects with changes, which may carry values of their own; used under ``turn``.
    var kept: [any PublicObject] = []

    /// A context that is to be given a coordinator or a parent before it is used.
    public init(_ type: ConcurrencyType = .privateQueue) { concurrencyType = type }

    /// A context that is to be given a coordinator or a parent before it is used, in Core Data's spelling.
    public convenience init(concurrencyType: ConcurrencyType) { self.init(concurrencyType) }

    /// A context over the stores of a coordinator.
    public convenience init(persistentStoreCoordinator: PersistentStoreCoordinator) {
        self.init()
        self.persistentStoreCoordinator = persistentStoreCoordinator
    }

    // MARK: - What it stands on

    /// The coordinator whose stores the context reads and writes, its own or its parent's. Setting it forgets all
    /// objects and the parent.
    public var persistentStoreCoordinator: PersistentStoreCoordinator? {
        get { state.withLock { $0.coordinator } }
        set {
            let graph = newValue.map { ObjectContext(coordinator: $0.objects) }
            stand(on: newValue, parent: nil, graph)
        }
    }

    /// The context whose objects this one reads, saved or not, and into which it saves.
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

    var graphIfAny: ObjectContext? { state.withLock { $0.graph } }

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

    /// The policy for conflicts between a save and the present contents of the store.
    public var mergePolicy: MergePolicy {
        get { state.withLock { $0.settings.mergePolicy } }
        set { change({ $0.mergePolicy = newValue }, { $0.mergePolicy = newValue.policy }) }
    }

    /// The name of the context in persistent history; nil for no name.
    public var name: String? {
        get { state.withLock { $0.settings.name } }
        set { change({ $0.name = newValue }, { $0.name = newValue }) }
    }

    /// The transaction author that a save records in persistent history.
    public var transactionAuthor: String? {
        get { state.withLock { $0.settings.transactionAuthor } }
        set { change({ $0.transactionAuthor = newValue }, { $0.transactionAuthor = newValue }) }
    }

    /// Whether saves of other contexts are merged as they happen.
    public var automaticallyMergesChangesFromParent: Bool {
        get { state.withLock { $0.settings.mergesAutomatically } }
        set {
            change({ $0.mergesAutomatically = newValue }, { $0.automaticallyMergesChangesFromParent = newValue })
        }
    }
}

extension ManagedObjectContext {
    /// Runs `body` in the context's turn, off the caller's thread. Objects cannot leave it; identities can.
    public func perform<Result: Sendable>(_ body: @escaping @Sendable () throws -> Result) async throws -> Result {
        try await withCheckedThrowingContinuation { continuation in
            queue.async { continuation.resume(with: Swift.Result { try self.performAndWait(body) }) }
        }
    }

    /// Runs `body` in the context's turn, later and on another thread.
    public func perform(_ body: @escaping @Sendable () -> Void) {
        queue.async { self.performAndWait(body) }
    }

    /// Runs `body` in the context's turn, on this thread, and returns when it is done. It may be called inside another.
    public func performAndWait<Result, Failure: Error>(_ body: () throws(Failure) -> Result) throws(Failure) -> Result {
        try turn.withLock(body)
    }

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
            guard let publicContext else { return }
            notingErrors(()) { _ in
                let live = changed.filter { $0.0.context != nil }
                publicContext.takeIn(try live.map { (try publicObject($0.0), $0.1) })
            }
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

/// A context with the name and the signatures of Core Data over one without.
protocol PublicContext: AnyObject {
    /// Takes down what an undo or redo has changed.
    func takeIn(_ changed: [(AnyObject, ChangeStep.Reversal)])
}
