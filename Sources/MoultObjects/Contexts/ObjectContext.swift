import MoultBasics
import MoultModel
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
    /// Called with the position of a value that changed without having been set through the public object, by the other end of a
    /// relationship or by what the store holds now; without one where any value may have changed.
    package var noteChange: ((Object, Int?) -> Void)? {
        didSet { for kind in kinds.values { kind.noteChange = noteChange } }
    }
    /// Set, a new object whose unique values are taken gives what it holds to the one that has them, whatever the merge
    /// policy; it is called with both before the new one goes.
    package var upserting: ((_ new: Object, _ kept: Object) -> Void)?
    /// Set while changes can be taken back.
    var recorder: ChangeRecorder? { didSet { for kind in kinds.values { kind.recorder = recorder } } }
    /// Whether the context keeps what each object held before its first change of an event: of the time between two
    /// calls of ``endEvent()``.
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

/// The objects that walks over to-one relationships have read last.
///
/// Until the next fetch, save or merge: what a context reads anew then is what the store holds then.
struct WalkedObjects {
    private static let limit = 4096

    private var objects: [Object] = []
    /// The oldest one, once there are ``limit``.
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
    /// Without what had not been read.
    fileprivate let values: PositionedValues
    fileprivate let deltas: [Int: ListDelta]
}

extension ObjectContext {
    /// Keeps what an object holds, before its first change of an event.
    func noteInEvent(_ object: Object) {
        guard origins[ObjectIdentifier(object)] == nil else { return }
        origins[ObjectIdentifier(object)] = EventOrigin(object: object, values: object.values, deltas: object.deltas)
    }

    /// The objects that were changed in the event, by assignments or by the other end of a relationship, in no order.
    package var changedInEvent: [Object] { lock.withLock { origins.values.map(\.object) } }

    /// Ends an event: what changes from now on belongs to the next.
    package func endEvent() { lock.withLock { origins = [:] } }
}

extension Object {
    /// Returns the earlier values of the stored properties that have changed in the event, by name; a to-many
    /// relationship whole. A list that did not change is not read.
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
    /// A list of which only the changes were known.
    fileprivate func list(at position: Int) -> ObjectValue? {
        guard let delta = deltas[position], case .toMany(let ids)? = object.committed[position] else { return nil }
        return .toMany(delta.applied(to: ids))
    }
}

extension ObjectContext {
    /// Makes the changes of this context unsaved changes of its parent.
    ///
    /// What was changed here goes over what the parent changed, property by property; a list has what either added and
    /// lacks what either took away. An object that the parent has deleted stays deleted.
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

    private func take(new object: Object, _ kind: ObjectKind) {
        let own = Object(new: object.identity, kind)
        register(own)
        own.noteUpdate()
    }
}

extension Object {
    /// Sets values that a child context has saved, both ends of every relationship kept.
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
