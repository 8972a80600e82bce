import MoultModel
import MoultSystem
import Synchronization

/// Objects that are read, changed and saved together: `NSManagedObjectContext`.
///
/// It may be used from any thread: everything happens under the lock of its tree. Its objects are not `Sendable`; use
/// them inside ``perform(_:)``, and hand identities to others.
///
/// An object without changes is held weakly: enumerating a million of them keeps none.
package final class ObjectContext: @unchecked Sendable {
    package let coordinator: ObjectCoordinator
    package let parent: ObjectContext?
    let lock: RecursiveLock
    /// Every object of the context that somebody holds.
    var registry: [ObjectID: WeakReference<Object>] = [:]
    /// The number of objects that it ever had.
    var registrations = 0
    /// Everything with changes, in the order of the first change; some may have none any more.
    var changed: [Object] = []
    /// Deleted objects whose delete rules have not been followed yet.
    var pendingDeletions: [Object] = []
    /// The stores in which new objects are to be saved, for those that were assigned to one.
    var assignedStores: [ObjectID: ObjectStore] = [:]
    /// The objects that the last fetch read ahead.
    var prefetched: [Object] = []
    var walked = WalkedObjects()
    var observers = SaveObservers()
    var children: [WeakReference<ObjectContext>] = []
    /// Called with the position of a value that changed without having been set through a face, by the other end of a
    /// relationship or by what the store holds now; without one where any value may have changed.
    package var noteChange: ((Object, Int?) -> Void)? {
        didSet { for kind in kinds.values { kind.noteChange = noteChange } }
    }
    /// Set, a new object whose unique values are taken gives what it holds to the one that has them, whatever the merge
    /// policy; it is called with both before the new one goes.
    package var upserting: ((_ new: Object, _ kept: Object) -> Void)?
    /// Set while changes can be taken back.
    var recorder: ChangeRecorder? {
        didSet { for kind in kinds.values { kind.recorder = recorder } }
    }
    /// Whether the context keeps what each object held before its first change of an event: of the time between two
    /// calls of ``endEvent()``.
    package var tracksEvents = false {
        didSet { for kind in kinds.values { kind.tracksEvents = tracksEvents } }
    }
    var origins: [ObjectIdentifier: EventOrigin] = [:]
    private(set) var kinds: [String: ObjectKind] = [:]
    private var lastKind: ObjectKind?
    var settings = Settings()

    struct Settings {
        var mergePolicy = MergePolicy.error
        var name: String?
        var transactionAuthor: String?
        var automaticallyMergesChangesFromParent = false
        var keepsConflicts = false
    }

    /// A context over the stores of a coordinator.
    package init(coordinator: ObjectCoordinator) {
        self.coordinator = coordinator
        parent = nil
        lock = coordinator.lock
        coordinator.register(self)
    }

    /// A context that reads what `parent` holds, saved or not, and saves into it.
    package init(parent: ObjectContext) {
        self.parent = parent
        coordinator = parent.coordinator
        lock = parent.lock
        lock.withLock {
            parent.children.removeAll { $0.object == nil }
            parent.children.append(WeakReference(self))
        }
    }

    var source: any ObjectSource { parent ?? coordinator }

    /// Runs `body` with nobody else at work in the tree of this context.
    package func perform<Result, Failure: Error>(_ body: () throws(Failure) -> Result) throws(Failure) -> Result {
        try lock.withLock(body)
    }

    // MARK: - Settings

    package var mergePolicy: MergePolicy {
        get { lock.withLock { settings.mergePolicy } }
        set { lock.withLock { settings.mergePolicy = newValue } }
    }

    package var name: String? {
        get { lock.withLock { settings.name } }
        set { lock.withLock { settings.name = newValue } }
    }

    /// The transaction author that a save records in persistent history.
    package var transactionAuthor: String? {
        get { lock.withLock { settings.transactionAuthor } }
        set { lock.withLock { settings.transactionAuthor = newValue } }
    }

    /// Whether saves of others to the parent, or to the stores, are merged as they happen.
    package var automaticallyMergesChangesFromParent: Bool {
        get { lock.withLock { settings.automaticallyMergesChangesFromParent } }
        set { lock.withLock { settings.automaticallyMergesChangesFromParent = newValue } }
    }

    /// Whether a merge leaves objects with changes as they are, so that their save meets what others saved.
    package var keepsConflicts: Bool {
        get { lock.withLock { settings.keepsConflicts } }
        set { lock.withLock { settings.keepsConflicts = newValue } }
    }

    // MARK: - Kinds and identities

    func kind(_ entityName: String) throws -> ObjectKind {
        if let lastKind, lastKind.entityName == entityName { return lastKind }
        if let known = kinds[entityName] {
            lastKind = known
            return known
        }
        guard let shape = coordinator.shape(of: entityName) else { throw coordinator.noEntity(entityName) }
        let kind = try ObjectKind(shape, context: self, model: coordinator.model)
        kinds[entityName] = kind
        return kind
    }

    private static let lastTemporary = Atomic<Int64>(0)

    static func newTemporaryID(_ kind: ObjectKind) -> ObjectID {
        ObjectID(kind.newOrigin, key: lastTemporary.add(1, ordering: .relaxed).newValue)
    }
}
