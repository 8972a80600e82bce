import MoultBasics
import MoultModel
import Synchronization

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension ObjectContext {
    /// Saves every change: to the stores, each in one transaction, or to the parent context.
    ///
    /// All objects of all stores are validated before anything is written. If several stores are written and a later
    /// one fails, the earlier ones keep what they saved.
    /// - Throws: ``ValidationErrors`` with every broken rule, ``MergeConflictError`` if the policy is to report
    ///   conflicts; after any error the context still has its changes.
    /// - Returns: the changes written.
    @discardableResult package func save() throws -> SavedChanges {
        let saved = try lock.withLock { () throws -> (SavedChanges, [SaveObservers.Observer]) in
            try settle()
            forgetIdle()
            forgetUnchanged()
            try checkRows()
            guard !changed.isEmpty else { return (SavedChanges(), []) }
            let leftOut = try leaveOutDeleted()
            do {
                try validate()
                return try write()
            } catch {
                // Put the values back, in case the deletion is taken back.
                withoutRecording {
                    for (object, position, value) in leftOut where object.state.isDisjoint(with: [.fault, .detached]) {
                        object.put(value, at: position)
                    }
                }
                throw error
            }
        }
        if !saved.0.isEmpty { for observer in saved.1 { observer(saved.0) } }
        return saved.0
    }

    private func write() throws -> (SavedChanges, [SaveObservers.Observer]) {
        guard let parent else {
            let saved = try withoutRecording { try saveToStores() }
            mergeElsewhere(saved)
            return (saved, observers.bodies + coordinator.saveObservers)
        }
        let saved = try withoutRecording { try save(into: parent) }
        for other in parent.children.compactMap(\.object) where other !== self { other.mergeIfAutomatic(saved) }
        return (saved, observers.bodies)
    }

    /// - Throws: `objectGone` if an object was changed in a store whose contents were destroyed or replaced since; the
    ///   error of a read for which the app got an empty value.
    package func checkRows() throws {
        try lock.withLock {
            try throwFailedReads()
            let isLost = { (object: Object) in object.isOfReplacedRow || self.coordinator.hasLostStore(object) }
            guard let object = changed.first(where: { $0.isPending && isLost($0) }) else { return }
            throw MigrationError.replaced(object.identity)
        }
    }

    /// Calls `observer` after every save of this context, outside the lock.
    ///
    /// - Returns: the number to pass to `stopObserving(_:)`.
    package func observeSaves(_ observer: @escaping @Sendable (SavedChanges) -> Void) -> Int {
        lock.withLock { observers.add(observer) }
    }

    package func stopObserving(_ number: Int) { lock.withLock { observers.remove(number) } }

    /// Runs `body` after a save. Until it returns, those of the objects whose deletion was saved still count as deleted
    /// objects of the context, and can be read.
    package func showingDeleted(_ objects: [Object], _ body: () -> Void) {
        let gone = lock.withLock { objects.filter { $0.state.contains(.detached) && !$0.state.contains(.fault) } }
        lock.withLock { for object in gone { object.state.formSymmetricDifference([.detached, .deleted]) } }
        body()
        lock.withLock { for object in gone { object.detach() } }
    }

    /// Removes objects that no longer have changes from the list.
    func forgetUnchanged() {
        discarded = 0
        // The list is empty while the objects are removed, so that no other code finds it half done.
        var objects = changed
        changed = []
        objects.removeAll { object in
            if object.isPending { return false }
            object.state.remove(.listed)
            return true
        }
        changed = objects
    }

    private func validate() throws {
        var found: [ValidationErrors.Violation] = []
        for object in changed {
            if object.state.contains(.deleted) {
                found += try object.denials()
            } else {
                found += try object.violations()
            }
        }
        if !found.isEmpty { throw ValidationErrors(violations: found) }
    }

    // MARK: - Stores

    private func saveToStores() throws -> SavedChanges {
        var saved = SavedChanges()
        var attempts = 0
        while let part = try nextStore() {
            do {
                let handOver = part.store.owner.map { owner in
                    { try owner.save(part.objects, areWritten: part.isUpdated, of: self) }
                }
                let outcome = try part.store.save(part.changes, handingOver: handOver)
                part.store.owner?.didSave()
                saved.transactions[part.store.identifier] = part.store.history?.transaction
                try finish(part, outcome, &saved)
            } catch let conflicts as SaveConflicts {
                attempts += 1
                // Conflicts may recur endlessly in a store that others write all the time.
                guard resolves(conflicts.conflicts), attempts < 16 else { throw conflictError(conflicts.conflicts) }
                try resolve(conflicts.conflicts)
                try settle()
                forgetUnchanged()
                try validate()
            }
        }
        return saved
    }

    private struct StorePart {
        let store: ObjectStore
        let objects: [Object]
        let changes: ObjectChanges
        /// For each of the objects, whether it is among the updates.
        let isUpdated: [Bool]
    }

    /// Returns the changes for the next store to write; nil if everything is saved.
    private func nextStore() throws -> StorePart? {
        while let first = changed.first {
            let store = try store(for: first)
            let isOnly = coordinator.stores.count == 1
            let objects = isOnly ? changed : try changed.filter { try self.store(for: $0) === store }
            if !isOnly { try checkStores(of: objects, store) }
            let (changes, isUpdated) = changes(of: objects)
            if !changes.inserted.isEmpty || !changes.updated.isEmpty || !changes.deleted.isEmpty {
                return StorePart(store: store, objects: objects, changes: changes, isUpdated: isUpdated)
            }
            for object in objects { object.commit() }
            forgetUnchanged()
        }
        return nil
    }

    /// Returns the store in which an object is, or in which it will be saved.
    func store(for object: Object) throws -> ObjectStore {
        if let assigned = assignedStores[object.identity] {
            return try coordinator.openStore(assigned.identifier, of: object.identity)
        }
        if !object.identity.isTemporary { return try coordinator.store(of: object.identity) }
        if let store = coordinator.stores.first(where: { $0.shape(of: object.entityName) != nil }) { return store }
        throw coordinator.noStore(holding: object.entityName)
    }

    /// Checks that no relationship leads from one store to another.
    private func checkStores(of objects: [Object], _ store: ObjectStore) throws {
        for object in objects where !object.state.contains(.deleted) {
            for case let link? in object.kind.links {
                for id in object.destinationIDs(link) {
                    guard let other = registry[id]?.object, try self.store(for: other) !== store else { continue }
                    throw MigrationError(
                        .externalRelationship,
                        "\(object.entityName).\(link.name) leads from \(object.identity) to \(id) of another store.",
                        place: object.identity.description,
                        remedy: "Assign both to one store, or keep a URI where a reference must leave it.")
                }
            }
        }
    }

    private func changes(of objects: [Object]) -> (ObjectChanges, isUpdated: [Bool]) {
        var changes = ObjectChanges()
        var isUpdated = [Bool](repeating: false, count: objects.count)
        changes.author = transactionAuthor
        changes.contextName = name
        changes.inserted.reserveCapacity(objects.count)
        changes.updated.reserveCapacity(objects.count)
        for (place, object) in objects.enumerated() {
            if object.state.contains(.deleted) {
                changes.deleted.append(.init(id: object.identity, version: object.version))
            } else if object.state.contains(.inserted) {
                changes.inserted.append(.init(id: object.identity, values: object.insertedValues))
            } else {
                let values = object.updatedValues
                if values.isEmpty { continue }
                changes.updated.append(.init(id: object.identity, version: object.version, values: .positioned(values)))
                isUpdated[place] = true
            }
        }
        return (changes, isUpdated)
    }

    private func finish(_ part: StorePart, _ outcome: SaveOutcome, _ saved: inout SavedChanges) throws {
        let objects = part.objects
        let identities = NewIdentities(outcome.inserted)
        give(identities)
        var fresh: [Object] = []
        saved.inserted.reserveCapacity(saved.inserted.count + part.changes.inserted.count)
        saved.updated.reserveCapacity(saved.updated.count + part.changes.updated.count)
        var updates = outcome.updated.makeIterator()
        for (object, isUpdated) in zip(objects, part.isUpdated) {
            let update = isUpdated ? updates.next() : nil
            if object.state.contains(.deleted) { continue }
            if object.state.contains(.inserted) {
                saved.inserted.insert(object.identity)
                object.version = 1
            } else if isUpdated {
                saved.updated.insert(object.identity)
                object.version = update?.version ?? object.version
            } else {
                if object.differsFromStore { saved.updated.insert(object.identity) }
                object.version = outcome.touched[object.identity] ?? object.version
            }
            object.commit()
            if !object.kind.derived.isEmpty { fresh.append(object) }
        }
        replaceDestinations(identities)
        for object in objects where object.state.contains(.deleted) {
            saved.deleted.insert(object.identity)
            forgetLists(with: object)
            registry[object.identity] = nil
            object.detach()
        }
        forgetDerived(of: fresh)
        readAgain(outcome)
        if !assignedStores.isEmpty { for object in objects { assignedStores[object.identity] = nil } }
        forgetUnchanged()
    }

    /// Makes objects that the save changed indirectly read their values again on demand.
    private func readAgain(_ outcome: SaveOutcome) {
        for id in outcome.recomputed {
            guard let object = registry[id]?.object, object.state.isDisjoint(with: [.fault, .detached]) else {
                continue
            }
            if object.isPending {
                // Another store still has to save this object.
                if let version = outcome.touched[id] { object.version = version }
            } else if outcome.touched[id].map({ $0 != object.version }) == true {
                object.becomeFault()
            } else {
                forgetDerived(of: [object])
            }
        }
    }

    /// Forgets the values that the store computed. The next access reads them again, for all these objects together.
    private func forgetDerived(of objects: [Object]) {
        let objects = objects.filter { $0.state.isDisjoint(with: [.fault, .detached]) }
        guard !objects.isEmpty else { return }
        for start in stride(from: 0, to: objects.count, by: Self.batchSize) {
            let part = objects[start..<min(start + Self.batchSize, objects.count)]
            let batch = FaultBatch(part.map(\.identity))
            for object in part {
                let isShared = object.isShared
                if isShared { object.committed = [] }
                for position in object.kind.derived { object.values[position] = nil }
                if isShared { object.committed = object.values }
                object.batch = batch
            }
        }
    }

    /// Forgets lists that still contain a deleted object because its delete rule is No Action; the store no longer has
    /// it there.
    private func forgetLists(with object: Object) {
        for case let link? in object.kind.links where link.deleteRule == .noAction {
            guard let inverse = link.inverseName else { continue }
            for case let other? in object.destinationIDs(link).map({ registry[$0]?.object }) {
                guard let place = other.shape.position(of: inverse), other.kind.links[place]?.isToMany == true,
                    place < other.values.count, !other.isPending
                else { continue }
                other.forgetValues(at: [place])
            }
        }
    }
}

extension Object {
    /// Whether the next save must consider the object.
    var isPending: Bool { !state.contains(.detached) && !state.isDisjoint(with: [.inserted, .updated, .deleted]) }

    /// The values that a save writes for a new object. A list stored at the other end is written there.
    fileprivate var insertedValues: [ObjectValue?] {
        guard !kind.keptByInverse.isEmpty else { return values.list }
        var result = values.list
        for position in kind.keptByInverse { result[position] = nil }
        return result
    }

    /// The values that a save writes for a changed object. A list stored at the other end is written there.
    fileprivate var updatedValues: [(position: Int, value: ObjectValue)] { changedPositions(kind.ownPersistent) }

    /// Whether the object differs from the store.
    fileprivate var differsFromStore: Bool { !deltas.isEmpty || !changedPositions(kind.persistent).isEmpty }
}

/// The changes that one save wrote, by permanent identity: the contents of `NSManagedObjectContextDidSave`.
package struct SavedChanges: Sendable, Hashable {
    package var inserted: Set<ObjectID> = []
    package var updated: Set<ObjectID> = []
    package var deleted: Set<ObjectID> = []
    /// The transaction numbers in the stores' persistent history, by store identifier.
    package var transactions: [UUID: Int64] = [:]

    package init(inserted: Set<ObjectID> = [], updated: Set<ObjectID> = [], deleted: Set<ObjectID> = []) {
        (self.inserted, self.updated, self.deleted) = (inserted, updated, deleted)
    }

    package var isEmpty: Bool { inserted.isEmpty && updated.isEmpty && deleted.isEmpty }
}

/// The observers of saves, each with a number to remove it by.
struct SaveObservers {
    typealias Observer = @Sendable (SavedChanges) -> Void

    private var observers: [(number: Int, body: Observer)] = []
    private var next = 0

    mutating func add(_ body: @escaping Observer) -> Int {
        next += 1
        observers.append((next, body))
        return next
    }

    mutating func remove(_ number: Int) { observers.removeAll { $0.number == number } }

    var bodies: [Observer] { observers.map(\.body) }
}

/// An observation of what any coordinator of the process saves or changes by a batch request. It ends when it is
/// released.
package final class WritesObservation: Sendable {
    package typealias Observer = @Sendable (SavedChanges, ObjectCoordinator) -> Void

    private static let observers = Mutex<[ObjectIdentifier: Observer]>([:])

    /// - Parameter observer: called outside the lock of the coordinator, on the thread that has written.
    package init(_ observer: @escaping Observer) {
        let id = ObjectIdentifier(self)
        Self.observers.withLock { $0[id] = observer }
    }

    deinit {
        let id = ObjectIdentifier(self)
        Self.observers.withLock { $0[id] = nil }
    }

    static func observers(of coordinator: ObjectCoordinator) -> [SaveObservers.Observer] {
        observers.withLock { Array($0.values) }.map { observer in { observer($0, coordinator) } }
    }
}

extension ObjectCoordinator {
    /// Notifies the observers of changes by a batch request, which contexts do not notice.
    package func noteBatch(_ changes: SavedChanges) {
        guard !changes.isEmpty else { return }
        for observer in WritesObservation.observers(of: self) { observer(changes) }
    }
}
