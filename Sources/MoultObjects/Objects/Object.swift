import MoultBasics
import MoultModel

/// An object of a store in one context, with its values under the names of the model: `NSManagedObject`.
///
/// A context has one object for each identity, as long as it is referenced or has changes. A fault has only its
/// identity, and is filled when a value is first read. Every operation holds the lock of the context tree.
package final class Object {
    let kind: ObjectKind
    // The lock protects every access, so exclusivity is not checked at each of them.
    @exclusivity(unchecked) var identity: ObjectID
    /// The values of the properties, by position in the shape. A value not read yet is nil: a to-many relationship, or
    /// a derived attribute after a save. The list is empty in a fault, unless a fetch has read some of its properties.
    @exclusivity(unchecked) var values: PositionedValues = []
    /// The values in the store or the parent context. Shares the buffer of ``values`` while nothing is changed; empty
    /// in a fault and in a new object.
    @exclusivity(unchecked) var committed: PositionedValues = []
    /// The version of the row: `Z_OPT`.
    @exclusivity(unchecked) var version: Int64 = 0
    @exclusivity(unchecked) var state: State
    /// The additions to and removals from each to-many relationship that has not been read, by position.
    @exclusivity(unchecked) var deltas: [Int: ListDelta] = [:]
    /// The faults that are filled together with this one.
    @exclusivity(unchecked) var batch: FaultBatch?
    /// The public API's object for this one, while it is in memory.
    package var publicObject: AnyObject? {
        get { kind.lock.withLock { publicReference?.object } }
        set { kind.lock.withLock { publicReference = newValue.map { WeakReference($0) } } }
    }
    @exclusivity(unchecked) private var publicReference: WeakReference<AnyObject>?

    struct State: OptionSet {
        let rawValue: UInt16

        static let fault = State(rawValue: 1)
        static let inserted = State(rawValue: 2)
        static let updated = State(rawValue: 4)
        static let deleted = State(rawValue: 8)
        /// The object is in the context's list of changed objects.
        static let listed = State(rawValue: 16)
        /// The object no longer belongs to the context: it was deleted and saved, rolled back before its first save, or
        /// reset. After a reset it is a fault as well.
        static let detached = State(rawValue: 32)
        /// The app has not read the object since it was filled.
        static let unread = State(rawValue: 64)
        /// ``Object/withoutChanging(_:)`` is running: values that are set are no changes.
        static let isFilling = State(rawValue: 128)
        /// Values were set that are no changes: ``values`` and ``committed`` differ, and share no buffer.
        static let ahead = State(rawValue: 256)
        /// The object left the context by a reset.
        static let reset = State(rawValue: 512)
        /// The context has a ``FailedRead`` of the object.
        static let hasFailedReads = State(rawValue: 1024)
    }

    /// Creates a fault.
    init(_ id: ObjectID, _ kind: ObjectKind) {
        self.kind = kind
        identity = id
        state = .fault
    }

    init(_ snapshot: ObjectSnapshot, _ kind: ObjectKind) {
        self.kind = kind
        identity = snapshot.id
        state = []
        fill(snapshot)
    }

    /// Creates a new object with default values.
    init(new id: ObjectID, _ kind: ObjectKind) {
        self.kind = kind
        identity = id
        values = kind.newValues
        state = .inserted
    }

    deinit {
        guard !state.contains(.detached) else { return }
        kind.lock.withLock { kind.deadObjects += 1 }
    }

    /// Returns the object of the public API, calling `make` if there is none in memory.
    package func publicObject(making make: () -> AnyObject) -> AnyObject {
        kind.lock.withLock {
            if let known = publicReference?.object { return known }
            let made = make()
            publicReference = WeakReference(made)
            return made
        }
    }

    /// The identity; it changes once, when the first save replaces a temporary identity with a permanent one.
    package var id: ObjectID { kind.lock.withLock { identity } }
    package var shape: EntityShape { kind.shape }
    package var entityName: String { kind.entityName }
    /// Returns the last value of a property, for an object that has left its context; nil if it was never read.
    package func lastValue(_ name: String) -> ObjectValue? {
        kind.lock.withLock { kind.shape.position(of: name).flatMap { values.indices.contains($0) ? values[$0] : nil } }
    }

    /// Calls `body` with the values by position in the shape. A fault has only the values that a fetch has read for it,
    /// or none at all.
    package func withValues<Result>(_ body: (_ values: PositionedValues, _ isFault: Bool) -> Result) -> Result {
        kind.lock.withLock { body(values, state.contains(.fault)) }
    }

    /// The context; nil if the object has left it, or if the context itself is gone.
    package var context: ObjectContext? { kind.lock.withLock { state.contains(.detached) ? nil : kind.context } }

    /// Whether the object has left its context.
    package var isDetached: Bool { kind.lock.withLock { state.contains(.detached) } }
    /// Whether the object belongs to its context and is not deleted.
    package var isChangeable: Bool { flag { !state.contains(.deleted) } }

    /// Runs `body`, which changes the object, unless the object has left its context or is deleted.
    ///
    /// - Returns: whether `body` was run.
    package func changing(_ body: () throws -> Void) throws -> Bool {
        try kind.lock.withLock {
            guard isChangeable else { return false }
            try body()
            return true
        }
    }

    package var isFault: Bool { kind.lock.withLock { state.contains(.fault) } }
    /// Whether the app has neither read nor changed the object since it was filled, or the object is a fault.
    package var isUnread: Bool {
        kind.lock.withLock {
            state.contains(.fault) || state.contains(.unread) && state.isDisjoint(with: [.inserted, .updated])
        }
    }
    package var isInserted: Bool { flag { state.contains(.inserted) && !state.contains(.deleted) } }
    package var isUpdated: Bool { flag { state.contains(.updated) && !state.contains(.deleted) } }
    package var isDeleted: Bool { flag { state.contains(.deleted) } }
    /// Whether the object was inserted, updated or deleted since the last save.
    package var hasChanges: Bool { flag { !state.isDisjoint(with: [.inserted, .updated, .deleted]) } }

    /// Reads a flag after following pending delete rules, which may still change it; false for a detached object.
    private func flag(_ read: () -> Bool) -> Bool {
        kind.lock.withLock {
            _ = try? kind.context?.settle()
            return !state.contains(.detached) && read()
        }
    }

    /// Fills the object with the values in the store.
    func fill(_ snapshot: ObjectSnapshot) {
        values = snapshot.values
        for position in kind.transient {
            values[position] = kind.links[position] == nil ? .attribute(nil) : kind.newValues[position]
        }
        committed = values
        takeVersion(of: snapshot)
        state.subtract([.fault, .ahead])
        state.insert(.unread)
        batch = nil
    }

    /// Forgets all values; the next access reads them again.
    func becomeFault() {
        values = []
        committed = []
        deltas = [:]
        batch = nil
        state.insert(.fault)
        state.subtract([.updated, .unread, .ahead])
        if isOfReplacedRow { isOfReplacedRow = false }
        kind.noteChange?(self, nil)
    }

    /// Whether the object was changed over a row of a store whose contents were replaced since. Such an object has the
    /// version of no row.
    var isOfReplacedRow: Bool {
        get { version == .min }
        set { version = newValue ? .min : 0 }
    }

    /// Takes the version of the row, unless the object was changed over a row of other contents: only what discards the
    /// change may let it be saved again.
    func takeVersion(of stored: ObjectSnapshot) { if !isOfReplacedRow { version = stored.version } }

    /// Sets some values of a fault, which stays a fault.
    func setPartialValues(_ snapshot: ObjectSnapshot) {
        guard state.contains(.fault) else { return }
        values = snapshot.values
    }

    /// Returns a value that a fetch has read for a fault; nil if it did not read it, or if the object is not a fault.
    func partialValue(_ position: Int) -> ObjectValue? {
        guard state.contains(.fault), !values.isEmpty, !state.contains(.detached) else { return nil }
        return values[position]
    }

    /// Forgets the values that a fetch has read for a fault.
    func discardPartialValues() { if state.contains(.fault) { values = [] } }

    /// Leaves the context for good.
    func detach() {
        state.subtract([.inserted, .updated, .deleted, .listed, .unread])
        state.insert(.detached)
        batch = nil
        deltas = [:]
    }

    /// Begins an access of the app: fills a fault.
    ///
    /// - Returns: whether the object was filled since the last access.
    package func beginAccess() throws -> Bool {
        try kind.lock.withLock {
            if state.isDisjoint(with: [.fault, .unread]) || state.contains(.detached) { return false }
            try fire()
            return state.remove(.unread) != nil
        }
    }

    /// Runs `body`. The attributes of this object that it sets do not count as changes.
    package func withoutChanging(_ body: () -> Void) {
        kind.lock.withLock { _ = state.insert(.isFilling) }
        body()
        kind.lock.withLock { _ = state.remove(.isFilling) }
    }

    /// Whether a relationship has not been read: a list; or the destination of a to-one relationship, if it is not in
    /// memory. Reads nothing.
    package func isUnread(_ relationship: String) -> Bool {
        kind.lock.withLock {
            guard let position = kind.shape.position(of: relationship), let link = kind.links[position] else {
                return false
            }
            if !state.isDisjoint(with: [.detached, .fault]) { return true }
            guard case .toOne(let id)? = values[position] else { return link.isToMany && values[position] == nil }
            return id.map { kind.context?.registry[$0]?.object == nil } ?? false
        }
    }

    /// Fills a fault, together with the others of its batch.
    func fire() throws {
        if state.isDisjoint(with: [.fault, .detached]) { return }
        guard !state.contains(.detached) else { throw gone("It was deleted, or its context was reset or rolled back.") }
        try kind.liveContext().fire(self)
    }

    func gone(_ reason: String) -> MigrationError {
        MigrationError(
            .objectGone, "Core Data could not fulfill a fault for \(identity). \(reason)", place: identity.description,
            remedy: "Use existingObject(with:) to find out whether an object still exists.")
    }
}

/// The faults from one section of a fetch, filled by one query.
final class FaultBatch {
    let ids: [ObjectID]
    init(_ ids: [ObjectID]) { self.ids = ids }
}

/// The changes to a list that has not been read.
struct ListDelta: Equatable {
    var added: [ObjectID] = []
    var removed: Set<ObjectID> = []

    mutating func include(_ id: ObjectID) {
        if removed.isEmpty || removed.remove(id) == nil { added.append(id) }
    }

    mutating func exclude(_ gone: Set<ObjectID>) {
        removed.formUnion(gone.subtracting(added))
        added.removeAll { gone.contains($0) }
    }

    func applied(to list: [ObjectID]) -> [ObjectID] {
        let kept = removed.isEmpty ? list : list.filter { !removed.contains($0) }
        guard !added.isEmpty else { return kept }
        let present = Set(kept)
        return kept + added.filter { !present.contains($0) }
    }
}

/// The changes of an object at one moment, to find out later whether there are more.
package struct ObjectMoment {
    fileprivate let values: PositionedValues
    fileprivate let deltas: [Int: ListDelta]
    fileprivate let isDeleted: Bool
    /// The positions of the properties that may differ.
    fileprivate var ignored: Set<Int> = []
}

extension Object {
    /// The changes so far.
    package var moment: ObjectMoment {
        kind.lock.withLock { ObjectMoment(values: values, deltas: deltas, isDeleted: state.contains(.deleted)) }
    }

    /// Leaves a property out of the comparison with a moment.
    package func ignore(_ name: String, in moment: inout ObjectMoment) {
        if let position = try? kind.position(of: name) { moment.ignored.insert(position) }
    }

    /// Whether the object has changed since a moment. A list that was only read has not changed.
    package func hasChanged(since moment: ObjectMoment) -> Bool {
        kind.lock.withLock {
            if state.contains(.deleted) != moment.isDeleted { return true }
            let positions = moment.values.count == values.count ? kind.persistent + kind.transient : []
            return positions.contains { position in
                if moment.ignored.contains(position) { return false }
                if hasDifference(moment.values, values, at: position) { return true }
                return values[position] == nil && deltas[position] != moment.deltas[position]
            }
        }
    }
}

extension Object {
    /// Returns the values that differ from the last save, by property; a to-many relationship is returned whole.
    package func changedValues() throws -> [String: ObjectValue] {
        try kind.lock.withLock {
            try kind.context?.settle()
            for link in kind.links.compactMap({ $0 }) where deltas[link.position] != nil { _ = try list(link) }
            return changes(over: kind.persistent + kind.transient)
        }
    }

    /// Returns the values of these properties, by default all, in the store or the parent context, by name; of a
    /// composite attribute those of its elements. Empty for a new object.
    package func committedValues(_ names: [String]? = nil) throws -> [String: ObjectValue] {
        try kind.lock.withLock {
            try fire()
            guard !state.contains(.inserted) else { return [:] }
            let shape = kind.shape
            let elements = names?.flatMap { name in
                shape.isComposite(name) ? shape.properties.map(\.name).filter { $0.hasPrefix(name + ".") } : [name]
            }
            let positions = try elements?.map { try kind.position(of: $0) } ?? Array(shape.properties.indices)
            var result: [String: ObjectValue] = [:]
            for position in positions {
                kind.noteReading(position)
                if let link = kind.links[position], link.isToMany, committed[position] == nil { _ = try list(link) }
                result[kind.shape.properties[position].name] = committed[position]
            }
            return result
        }
    }

    /// Returns the values at these positions that differ from the committed ones; for a new object, from its defaults.
    func changes(over positions: [Int]) -> [String: ObjectValue] {
        let changes = changedPositions(positions).map { (kind.shape.properties[$0.position].name, $0.value) }
        return Dictionary(changes) { first, _ in first }
    }

    /// Returns the same values by position, in the order of the positions.
    func changedPositions(_ positions: [Int]) -> [(position: Int, value: ObjectValue)] {
        guard !state.contains(.fault), !state.isDisjoint(with: [.inserted, .updated]) else { return [] }
        let base = state.contains(.inserted) ? kind.newValues : committed
        var result: [(position: Int, value: ObjectValue)] = []
        // In a stored row, only values that were set can differ.
        let set = values.positionsSet(over: base)?.filter(positions.contains)
        if let set { result.reserveCapacity(set.count) }
        for position in set ?? positions {
            guard let value = values[position], differs(value, base[position], at: position)
            else { continue }
            result.append((position, value))
        }
        return result
    }

    /// Whether two values differ. Order is ignored in an unordered relationship, and not a number equals itself.
    func differs(_ value: ObjectValue, _ other: ObjectValue?, at position: Int) -> Bool {
        if value == other || value.isNaN && other?.isNaN == true { return false }
        guard let link = kind.links[position], link.isToMany, !link.isOrdered,
            case .toMany(let one) = value, case .toMany(let two)? = other
        else { return true }
        return one.count != two.count || Set(one) != Set(two)
    }

    /// Restores the committed values of this object only; the other ends of its relationships are restored separately.
    func revert() {
        deltas = [:]
        state.subtract([.updated, .deleted, .listed, .ahead])
        values = committed
        kind.noteChange?(self, nil)
    }

    /// Marks the current values as saved.
    func commit() {
        deltas = [:]
        state.subtract([.inserted, .updated, .listed, .ahead])
        committed = values
    }
}
