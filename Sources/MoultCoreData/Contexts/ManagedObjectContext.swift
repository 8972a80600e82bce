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
        var mergePolicy = MergePolicy.error
        var name: String?
        var transactionAuthor: String?
        var mergesAutomatically = false
        /// The errors met where nothing could be thrown; the next save throws the first of them.
        var notedErrors: [any Error] = []
        var isSaving = false
    }

    /// Another face of this context, which notifications are posted for in its place.
    package weak var face: AnyObject?

    /// Whether ``changedInEvent`` is kept; set before the context is used.
    package var tracksEvents = false {
        didSet { graphIfAny?.tracksEvents = tracksEvents }
    }

    /// The undo manager, with the object that registers changes once the context stands on something; used under
    /// ``turn``.
    var registration: (manager: UndoManager, registrar: ContextUndo?)?
    /// Told of the objects that an undo or redo has changed, each with how.
    package var didUndo: ([(ManagedObject, ChangeStep.Reversal)]) -> Void = { _ in }

    /// The typed faces of objects with changes, which may carry values of their own; used under ``turn``.
    var keptFaces: [ManagedObject] = []

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
            return (state.mergePolicy, state.name, state.transactionAuthor, state.mergesAutomatically)
        }
        recordUndo(undoManager)
        graph?.mergePolicy = settings.0.policy
        graph?.name = settings.1
        graph?.transactionAuthor = settings.2
        graph?.automaticallyMergesChangesFromParent = settings.3
        graph?.tracksEvents = tracksEvents
        _ = graph?.observeSaves { [weak self] saved in self?.postDidSave(saved) }
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

    /// The policy for conflicts between a save and the present contents of the store.
    public var mergePolicy: MergePolicy {
        get { state.withLock { $0.mergePolicy } }
        set {
            state.withLock { $0.mergePolicy = newValue }
            graphIfAny?.mergePolicy = newValue.policy
        }
    }

    /// The name of the context in persistent history; nil for no name.
    public var name: String? {
        get { state.withLock { $0.name } }
        set {
            state.withLock { $0.name = newValue }
            graphIfAny?.name = newValue
        }
    }

    /// The transaction author that a save records in persistent history.
    public var transactionAuthor: String? {
        get { state.withLock { $0.transactionAuthor } }
        set {
            state.withLock { $0.transactionAuthor = newValue }
            graphIfAny?.transactionAuthor = newValue
        }
    }

    /// Whether saves of other contexts are merged as they happen.
    public var automaticallyMergesChangesFromParent: Bool {
        get { state.withLock { $0.mergesAutomatically } }
        set {
            state.withLock { $0.mergesAutomatically = newValue }
            graphIfAny?.automaticallyMergesChangesFromParent = newValue
        }
    }
}
