import Foundation
import MoultBasics
import MoultModel
import MoultObjects

extension ModelContext {
    /// Whether a save has something to write.
    public var hasChanges: Bool { objects.hasChanges || !graph.faults.isEmpty || graph.hasRefusals }

    /// Writes every change, in one transaction for each store.
    ///
    /// A new object whose unique values a row has already changes that row, which keeps its identity. What somebody
    /// else has changed since it was read is not overwritten; the main context writes its own changes over those that
    /// other contexts of its container have saved.
    ///
    /// - Throws: ``SwiftDataError/modelValidationFailure`` with everything that is not valid,
    ///   ``SwiftDataError/saveConflict``; after any error nothing is saved and the changes are still there.
    public func save() throws {
        guard hasChanges else { return }
        NotificationCenter.default.post(name: Self.willSave, object: self)
        let saved = try SwiftDataError.translating {
            try graph.throwRefusals()
            return try saveChanges()
        }
        forgetKept()
        NotificationCenter.default.post(name: Self.didSave, object: self, userInfo: saved.userInfo)
    }

    /// Gives up every change since the last save; the models show what the store holds now. Models that were never saved,
    /// and those whose rows are gone, leave the context with their values.
    public func rollback() {
        forgetUndo()
        graph.rollback()
        forgetKept()
        graph.noteObservers()
    }

    /// Runs `block` and saves. Where either throws, every change that is not saved is given up.
    public func transaction(block: () throws -> Void) throws {
        do {
            try block()
            try save()
        } catch {
            rollback()
            throw error
        }
    }

    /// Follows the delete rules of what was deleted, and registers what changed with the ``undoManager``.
    public func processPendingChanges() { noting { try objects.processPendingChanges() } }

    // MARK: - What changed

    /// The models that the next save makes rows of.
    public var insertedModelsArray: [any PersistentModel] { models(objects.insertedObjects) }
    /// The models that the next save changes the rows of.
    public var changedModelsArray: [any PersistentModel] { models(objects.updatedObjects) }
    /// The models that the next save deletes, those that delete rules lead to included.
    public var deletedModelsArray: [any PersistentModel] { models(objects.deletedObjects) }

    private func models(_ objects: [Object]) -> [any PersistentModel] {
        objects.compactMap { try? graph.model(for: $0) }
    }
}

extension ModelGraph {
    var hasRefusals: Bool { refusals.values.contains { !$0.isEmpty } }

    /// Throws what could not be thrown where it happened.
    func throwRefusals() throws {
        if let fault = faults.first {
            faults = []
            throw fault
        }
        let found = refusals.values.flatMap { $0.sorted { $0.key.precedesInByteOrder($1.key) }.map(\.value) }
        guard let first = found.first else { return }
        guard found.count > 1 else { throw SwiftDataError(.modelValidationFailure, first) }
        throw SwiftDataError(
            .modelValidationFailure,
            MigrationError(
                first.code, found.map(\.message).joined(separator: " "),
                place: found.map(\.place).joined(separator: ", "), remedy: first.remedy))
    }

    func save() throws -> SavedChanges {
        let saved = try objects.save()
        refusals = [:]
        for case (let id, .unsaved(let reference)) in identities {
            guard let object = reference.object else {
                identities[id] = nil
                continue
            }
            if !object.id.isTemporary { identities[id] = .saved(object.id) }
        }
        return saved
    }

    /// The identity that an object has now, by one that it was given before its first save.
    func identity(_ id: PersistentIdentifier) -> ObjectID {
        if id.objectID.isTemporary, case .saved(let permanent)? = identities[id.objectID] { return permanent }
        return id.objectID
    }

    func rollback() {
        for object in objects.insertedObjects {
            guard let model = object.publicObject as? any PersistentModel,
                let backing = model.persistentBackingData as? ObjectBacking,
                let binding = try? stack.binding(object.entityName)
            else { continue }
            for case let property? in binding.properties {
                if case .toOne = property.shape {
                    backing.lastDestinations[property.name] = backing.toOne(property.name)
                }
            }
        }
        objects.rollback()
        refusals = [:]
        faults = []
        // A value that cannot be read now is read when it is asked for, or stays as it was.
        try? objects.readUnchangedAgain()
    }
}

extension ModelContext {
    /// Posted before a save that has something to write; the object is the context.
    public static let willSave = Notification.Name("NSModelContextWillSave")
    /// Posted after a save; the object is the context, and the user info has what was written (``NotificationKey``).
    public static let didSave = Notification.Name("NSModelContextDidSave")

    /// The keys of a notification's user info, which has its values under the keys and under their raw values. Each of
    /// the first three has a `[PersistentIdentifier]`, of permanent identities.
    public enum NotificationKey: String, Sendable, CaseIterable {
        case insertedIdentifiers = "inserted"
        case updatedIdentifiers = "updated"
        case deletedIdentifiers = "deleted"
        /// Never there: no save invalidates what it did not write.
        case invalidatedAllIdentifiers = "invalidatedAll"
        /// Never there: stores are read as they are.
        case queryGeneration = "queryGeneration"
        /// In ``ModelContext/didSave``, a ``DefaultHistoryToken`` of the save's transactions; not there where no store
        /// keeps a history.
        case historyTokens = "historyTokens"
    }
}

extension SavedChanges {
    var userInfo: [AnyHashable: Any] {
        let parts: [(ModelContext.NotificationKey, Set<ObjectID>)] = [
            (.insertedIdentifiers, inserted), (.updatedIdentifiers, updated), (.deletedIdentifiers, deleted),
        ]
        var info: [AnyHashable: Any] = [:]
        func add(_ key: ModelContext.NotificationKey, _ value: Any) {
            info[key] = value
            info[key.rawValue] = value
        }
        for (key, ids) in parts { add(key, ids.map(PersistentIdentifier.init).sorted()) }
        if !transactions.isEmpty {
            let numbers = transactions.map { ($0.uuidString, $1) }
            add(.historyTokens, DefaultHistoryToken(Dictionary(uniqueKeysWithValues: numbers)))
        }
        return info
    }
}
