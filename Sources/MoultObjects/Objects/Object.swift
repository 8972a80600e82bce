import MoultBasics
import MoultModel

/// One object of a store in one context, its values under the names of the model: `NSManagedObject`.
///
/// A context has one for each identity as long as anybody holds it or it has changes. A fault knows its identity only
/// and is filled when the first value is asked for. Everything happens under the lock of the context's tree.
package final class Object {
    let kind: ObjectKind
    // Every access is under the lock, so exclusivity is not checked for each of them.
    @exclusivity(unchecked) var identity: ObjectID
    /// One for each property of the shape; nil for what has not been read yet: a to-many relationship, a derived
    /// attribute after a save. Empty in a fault, unless a fetch has read some properties of it.
    @exclusivity(unchecked) var values: PositionedValues = []
    /// The values in the store, or in the parent context; the same buffer as ``values`` while nothing is changed. Empty
    /// in a fault and in a new object.
    @exclusivity(unchecked) var committed: PositionedValues = []
    /// `Z_OPT`
    @exclusivity(unchecked) var version: Int64 = 0
    @exclusivity(unchecked) var state: State
    /// The additions to and removals from each to-many relationship that has not been read, by position.
    @exclusivity(unchecked) var deltas: [Int: ListDelta] = [:]
    /// The faults that are filled together with this one.
    @exclusivity(unchecked) var batch: FaultBatch?
    /// The object of the public API that stands for this one, as long as somebody holds it.
    package var publicObject: AnyObject? {
        get { kind.lock.withLock { publicReference?.object } }
        set { kind.lock.withLock { publicReference = newValue.map { WeakReference($0) } } }
    }
    @exclusivity(unchecked) private var publicReference: WeakReference<AnyObject>?

    struct State: OptionSet {
        let rawValue: UInt8

        static let fault = State(rawValue: 1)
        static let inserted = State(rawValue: 2)
        static let updated = State(rawValue: 4)
        static let deleted = State(rawValue: 8)
        /// Among the context's changed objects.
        static let listed = State(rawValue: 16)
        /// The context has nothing to do with it any more: deleted and saved, rolled back before its first save, reset.
        static let detached = State(rawValue: 32)
    }

    /// A fault.
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

    /// A new object with its defaults.
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

    /// Returns the object of the public API, which `make` makes where nobody holds one.
    package func publicObject(making make: () -> AnyObject) -> AnyObject {
        kind.lock.withLock {
            if let known = publicReference?.object { return known }
            let made = make()
            publicReference = WeakReference(made)
            return made
        }
    }

    /// Changes once in an object's life: when its first save makes a temporary one permanent.
    package var id: ObjectID { kind.lock.withLock { identity } }
    package var shape: EntityShape { kind.shape }
    package var entityName: String { kind.entityName }
    /// Returns the last value of a property, for an object that has left its context; nil if that was never read.
    package func lastValue(_ name: String) -> ObjectValue? {
        kind.lock.withLock { kind.shape.position(of: name).flatMap { values.indices.contains($0) ? values[$0] : nil } }
    }

    /// Calls `body` with the values by the positions of the shape; for a fault with those that a fetch has read of it,
    /// or with none at all.
    package func withValues<Result>(_ body: (_ values: PositionedValues, _ isFault: Bool) -> Result) -> Result {
        kind.lock.withLock { body(values, state.contains(.fault)) }
    }

    /// Nil if the object has left its context, or the context is gone.
    package var context: ObjectContext? { kind.lock.withLock { state.contains(.detached) ? nil : kind.context } }

    /// Whether the object has left its context.
    package var isDetached: Bool { kind.lock.withLock { state.contains(.detached) } }
    /// Whether the object is one of its context, and is not deleted.
    package var isChangeable: Bool { flag { !state.contains(.deleted) } }

    /// Runs what changes the object, unless it is not one of its context any more or is deleted.
    ///
    /// - Returns: whether it was run.
    package func changing(_ body: () throws -> Void) throws -> Bool {
        try kind.lock.withLock {
            guard isChangeable else { return false }
            try body()
            return true
        }
    }

    package var isFault: Bool { kind.lock.withLock { state.contains(.fault) } }
    package var isInserted: Bool { flag { state.contains(.inserted) && !state.contains(.deleted) } }
    package var isUpdated: Bool { flag { state.contains(.updated) && !state.contains(.deleted) } }
    package var isDeleted: Bool { flag { state.contains(.deleted) } }
    /// Inserted, updated or deleted since the last save.
    package var hasChanges: Bool { flag { !state.isDisjoint(with: [.inserted, .updated, .deleted]) } }

    /// A state that a delete rule may still change.
    private func flag(_ read: () -> Bool) -> Bool {
        kind.lock.withLock {
            _ = try? kind.context?.settle()
            return !state.contains(.detached) && read()
        }
    }

    /// Takes what the store holds; nothing of what was changed here is left.
    func fill(_ snapshot: ObjectSnapshot) {
        values = snapshot.values
        for position in kind.transient {
            values[position] = kind.links[position] == nil ? .attribute(nil) : kind.newValues[position]
        }
        committed = values
        version = snapshot.version
        state.remove(.fault)
        batch = nil
    }

    /// Forgets all values; they are read again when one is asked for.
    func becomeFault() {
        values = []
        committed = []
        deltas = [:]
        batch = nil
        state.insert(.fault)
        state.remove(.updated)
        kind.noteChange?(self, nil)
    }

    /// Sets some values of a fault, which stays a fault.
    func setPartialValues(_ snapshot: ObjectSnapshot) {
        guard state.contains(.fault) else { return }
        values = snapshot.values
    }

    /// A value that a fetch has read for a fault. Nil if it did not, or if the object is not a fault.
    func partialValue(_ position: Int) -> ObjectValue? {
        guard state.contains(.fault), !values.isEmpty, !state.contains(.detached) else { return nil }
        return values[position]
    }

    /// Forgets what a fetch has read of a fault.
    func discardPartialValues() { if state.contains(.fault) { values = [] } }

    /// Leaves the context for good.
    func detach() {
        state.subtract([.inserted, .updated, .deleted, .listed])
        state.insert(.detached)
        batch = nil
        deltas = [:]
    }

    /// Fills a fault, with the others of its batch.
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

/// The faults of one stretch of a fetch, which are filled by one query.
final class FaultBatch {
    let ids: [ObjectID]
    init(_ ids: [ObjectID]) { self.ids = ids }
}

/// Changes of a list that has not been read.
struct ListDelta {
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

extension Object {
    /// Returns the values that were set since the last save and differ from it, by property; a to-many relationship
    /// whole.
    package func changedValues() throws -> [String: ObjectValue] {
        try kind.lock.withLock {
            try kind.context?.settle()
            for link in kind.links.compactMap({ $0 }) where deltas[link.position] != nil { _ = try list(link) }
            return changes(over: kind.persistent + kind.transient)
        }
    }

    /// Returns the values that the store, or the parent context, holds of these properties, by name; of all by default.
    /// Empty for a new object.
    package func committedValues(_ names: [String]? = nil) throws -> [String: ObjectValue] {
        try kind.lock.withLock {
            try fire()
            guard !state.contains(.inserted) else { return [:] }
            let positions = try names?.map { try kind.position(of: $0) } ?? Array(kind.shape.properties.indices)
            var result: [String: ObjectValue] = [:]
            for position in positions {
                kind.noteReading(position)
                if let link = kind.links[position], link.isToMany, committed[position] == nil { _ = try list(link) }
                result[kind.shape.properties[position].name] = committed[position]
            }
            return result
        }
    }

    /// The values at positions that differ from what is committed; of a new object, from its defaults.
    func changes(over positions: [Int]) -> [String: ObjectValue] {
        let changes = changedPositions(positions).map { (kind.shape.properties[$0.position].name, $0.value) }
        return Dictionary(changes) { first, _ in first }
    }

    /// The same by position, in the order of the positions.
    func changedPositions(_ positions: [Int]) -> [(position: Int, value: ObjectValue)] {
        guard !state.contains(.fault), !state.isDisjoint(with: [.inserted, .updated]) else { return [] }
        let base = state.contains(.inserted) ? kind.newValues : committed
        var result: [(position: Int, value: ObjectValue)] = []
        // Of a row, only what was set can differ.
        let set = values.positionsSet(over: base)?.filter(positions.contains)
        if let set { result.reserveCapacity(set.count) }
        for position in set ?? positions {
            guard let value = values[position], differs(value, base[position], at: position)
            else { continue }
            result.append((position, value))
        }
        return result
    }

    /// The order of a relationship without order is no difference.
    func differs(_ value: ObjectValue, _ other: ObjectValue?, at position: Int) -> Bool {
        if value == other { return false }
        guard let link = kind.links[position], link.isToMany, !link.isOrdered,
            case .toMany(let one) = value, case .toMany(let two)? = other
        else { return true }
        return one.count != two.count || Set(one) != Set(two)
    }

    /// Puts the committed values back; both ends of a relationship are put back one by one.
    func revert() {
        deltas = [:]
        state.subtract([.updated, .deleted, .listed])
        values = committed
        kind.noteChange?(self, nil)
    }

    /// Makes the present values those that the store holds.
    func commit() {
        deltas = [:]
        state.subtract([.inserted, .updated, .listed])
        committed = values
    }
}
