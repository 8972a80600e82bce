import MoultBasics
import MoultModel
import Synchronization

/// Objects that are read, changed and saved together: `NSManagedObjectContext`.
///
/// Any thread may use it: every operation holds the lock of its context tree. Its objects are not `Sendable`; use them
/// inside ``perform(_:)``, and pass identities to other threads.
///
/// Unchanged objects are held weakly, so enumerating a million of them keeps none in memory.
package final class ObjectContext: @unchecked Sendable {
    package let coordinator: ObjectCoordinator
    package let parent: ObjectContext?
    let lock: RecursiveLock
    /// Every object of the context that is still in memory.
    var registry: [ObjectID: WeakReference<Object>] = [:]
    /// The number of objects registered so far.
    var registrations = 0
    /// The objects with changes, in the order of their first change; some may no longer have any.
    var changed: [Object] = []
    /// At most as many of them have left the context.
    var discarded = 0
    /// Whether a new object has left since the last save, to which a relationship without inverse may lead.
    var hasDiscardedNew = false
    /// Deleted objects whose delete rules have not been followed yet.
    var pendingDeletions: [Object] = []
    /// The stores in which new objects are to be saved, for objects assigned to a store.
    var assignedStores: [ObjectID: ObjectStore] = [:]
    /// The temporary identities that the app has seen, each with the identity that its object has now.
    var seenIDs: [ObjectID: ObjectID] = [:]
    /// The number of them above which those of objects that are gone are forgotten.
    var seenLimit = ObjectContext.leastSeen
    /// The objects that the last fetch prefetched.
    var prefetched: [Object] = []
    var walked = WalkedObjects()
    /// The values that could not be read, in the order of the reads.
    var failedReads: [FailedRead] = []
    var observers = SaveObservers()
    var children: [WeakReference<ObjectContext>] = []
    /// Called when a value changes other than through the public object: from the other end of a relationship, or from
    /// the store. The argument is the value's position; nil if any value may have changed.
    package var noteChange: ((Object, Int?) -> Void)? {
        didSet { for kind in kinds.values { kind.noteChange = noteChange } }
    }
    /// If set, a new object whose unique values already exist is merged into the existing object, whatever the merge
    /// policy. The closure is called with both before the new one is deleted.
    package var upserting: ((_ new: Object, _ kept: Object) -> Void)?
    /// The recorder of undo steps; nil unless undo is enabled.
    var recorder: ChangeRecorder? { didSet { for kind in kinds.values { kind.recorder = recorder } } }
    /// Whether the context keeps the values of each object from before its first change in an event: the time between
    /// two calls of ``endEvent()``.
    package var tracksEvents = false { didSet { for kind in kinds.values { kind.tracksEvents = tracksEvents } } }
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

    /// Creates a context over the stores of a coordinator.
    package init(coordinator: ObjectCoordinator) {
        self.coordinator = coordinator
        parent = nil
        lock = coordinator.lock
        coordinator.register(self)
    }

    /// Creates a context that reads from `parent`, unsaved changes included, and saves into it.
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

    /// Runs `body` with exclusive access to the context's tree.
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

    /// Whether changes saved elsewhere to the parent, or to the stores, are merged automatically.
    package var automaticallyMergesChangesFromParent: Bool {
        get { lock.withLock { settings.automaticallyMergesChangesFromParent } }
        set { lock.withLock { settings.automaticallyMergesChangesFromParent = newValue } }
    }

    /// Whether a merge leaves changed objects as they are, so that saving them detects the conflict.
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

    /// Returns a temporary identity for an object that is in no context yet.
    package static func newTemporaryID(_ entityName: String) -> ObjectID {
        ObjectID(temporary: lastTemporary.add(1, ordering: .relaxed).newValue, entityName: entityName)
    }

    static func newTemporaryID(_ kind: ObjectKind) -> ObjectID {
        ObjectID(kind.newOrigin, key: lastTemporary.add(1, ordering: .relaxed).newValue)
    }
}

/// The objects most recently read by following to-one relationships.
///
/// The next fetch, save or merge clears the list, so that objects read after it have the store's contents of that time.
struct WalkedObjects {
    private static let limit = 4096

    private var objects: [Object] = []
    /// The index of the oldest object, once there are ``limit`` objects.
    private var oldest = 0

    mutating func add(_ object: Object) {
        guard objects.count == Self.limit else { return objects.append(object) }
        objects[oldest] = object
        oldest = (oldest + 1) % Self.limit
    }

    mutating func forget() {
        guard !objects.isEmpty else { return }
        objects = []
        oldest = 0
    }
}

/// The values of an object before its first change in an event.
struct EventOrigin {
    let object: Object
    /// The values, without those that had not been read.
    fileprivate let values: PositionedValues
    fileprivate let deltas: [Int: ListDelta]
}

extension ObjectContext {
    /// Keeps the values of an object before its first change in an event.
    func noteInEvent(_ object: Object) {
        guard origins[ObjectIdentifier(object)] == nil else { return }
        origins[ObjectIdentifier(object)] = EventOrigin(object: object, values: object.values, deltas: object.deltas)
    }

    /// The objects changed in the event, by assignment or from the other end of a relationship, in no particular order.
    package var changedInEvent: [Object] { lock.withLock { origins.values.map(\.object) } }

    /// Ends an event. Later changes belong to the next one.
    package func endEvent() { lock.withLock { origins = [:] } }
}

extension Object {
    /// Returns the earlier values of the stored properties that changed in the event, by name. A to-many relationship
    /// is returned whole; a list that did not change is not read.
    package func valuesBeforeEvent() throws -> [String: ObjectValue] {
        try kind.lock.withLock {
            guard let origin = kind.context?.origins[ObjectIdentifier(self)] else { return [:] }
            var result: [String: ObjectValue] = [:]
            for position in kind.persistent {
                if let link = kind.links[position], link.isToMany, deltas[position] != nil { _ = try list(link) }
                guard !origin.values.shares(position, with: values), let now = values[position] else { continue }
                let before = origin.values[position] ?? origin.list(at: position) ?? committed[position]
                guard differs(now, before, at: position) else { continue }
                result[kind.shape.properties[position].name] = before ?? .attribute(nil)
            }
            return result
        }
    }
}

extension EventOrigin {
    /// Returns the earlier list where only the changes to it were known.
    fileprivate func list(at position: Int) -> ObjectValue? {
        guard let delta = deltas[position], case .toMany(let ids)? = object.committed[position] else { return nil }
        return .toMany(delta.applied(to: ids))
    }
}

extension ObjectContext {
    /// Passes the changes of this context to its parent, as unsaved changes there.
    ///
    /// Changes here replace the parent's, property by property. A list contains what either side added and lacks what
    /// either side removed. An object that the parent has deleted stays deleted.
    func save(into parent: ObjectContext) throws -> SavedChanges {
        var saved = SavedChanges()
        for object in changed where object.state.contains(.inserted) && !object.state.contains(.deleted) {
            parent.take(new: object, try parent.kind(object.entityName))
            saved.inserted.insert(object.identity)
        }
        for object in changed where !object.state.contains(.deleted) {
            let values = object.changes(over: object.kind.persistent + object.kind.transient)
            if values.isEmpty, object.deltas.isEmpty { continue }
            guard let own = try parent.loaded(object.identity), !own.state.contains(.deleted) else { continue }
            try own.take(values, of: object)
            if !object.state.contains(.inserted) { saved.updated.insert(object.identity) }
        }
        for object in changed where object.state.contains(.deleted) {
            saved.deleted.insert(object.identity)
            if let own = try parent.loaded(object.identity) { try parent.delete(own) }
        }
        try parent.settle()
        for object in changed {
            if object.state.contains(.deleted) {
                registry[object.identity] = nil
                object.detach()
            } else {
                object.commit()
            }
        }
        changed = []
        return saved
    }

    /// Inserts an object that a child context has inserted, unless an earlier save that failed has done so.
    private func take(new object: Object, _ kind: ObjectKind) {
        if let known = registry[object.identity]?.object, known.isInserted { return }
        let own = Object(new: object.identity, kind)
        register(own)
        own.noteUpdate()
    }
}

extension Object {
    /// Sets values that a child context has saved, and updates both ends of every relationship.
    fileprivate func take(_ values: [String: ObjectValue], of object: Object) throws {
        let context = try kind.liveContext()
        for (name, value) in values {
            let position = try kind.position(of: name)
            guard let link = kind.links[position] else {
                if self.values[position] != value { put(value, at: position) }
                continue
            }
            switch value {
            case .toOne(let id): try setDestination(link, id, in: context)
            case .toMany(let ids) where !link.isKeptByInverse:
                var base: [ObjectID] = []
                if !object.committed.isEmpty, case .toMany(let ids)? = object.committed[position] { base = ids }
                let merge = ListMerge(base: base, ours: ids, theirs: try list(link))
                let merged = merge.isUnchangedThere ? ids : merge.result(oursLeads: merge.isReordered(ids))
                try setList(link, merged, in: context)
            default: break
            }
        }
    }
}
