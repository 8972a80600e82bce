import Foundation
import MoultBasics
import MoultModel
import MoultObjects

extension ModelContext {
    /// Whether the context has unsaved changes, or an error that the next save throws.
    public var hasChanges: Bool {
        objects.hasChanges || !graph.faults.isEmpty || graph.hasRefusals || objects.hasFailedReads
    }

    /// Writes every change, in one transaction for each store.
    ///
    /// If a row already has the unique values of a new object, the save updates that row, which keeps its identity. The
    /// save does not overwrite a row that has been changed elsewhere since it was read; the main context alone
    /// overwrites changes saved by other contexts of its container.
    ///
    /// - Throws: ``SwiftDataError/modelValidationFailure`` with all invalid values; ``SwiftDataError/saveConflict``.
    ///   After an error nothing is saved, and the changes remain.
    public func save() throws {
        guard hasChanges else { return }
        NotificationCenter.default.post(name: Self.willSave, object: self)
        let saved = try SwiftDataError.translating {
            try graph.throwRefusals()
            try objects.checkRows()
            return try saveChanges()
        }
        forgetKept()
        NotificationCenter.default.post(name: Self.didSave, object: self, userInfo: saved.userInfo)
    }

    /// Discards all changes since the last save, so that models show the store's current values. Models that were never
    /// saved, and models whose rows are gone, leave the context with their values.
    public func rollback() {
        forgetUndo()
        graph.rollback()
        forgetKept()
        graph.noteObservers()
    }

    /// Runs `block` and saves. If either throws, all unsaved changes are discarded.
    public func transaction(block: () throws -> Void) throws {
        do {
            try block()
            try save()
        } catch {
            rollback()
            throw error
        }
    }

    /// Applies the delete rules for deleted objects, and registers the changes with the ``undoManager``.
    public func processPendingChanges() { noting { try objects.processPendingChanges() } }

    // MARK: - Changes

    /// The models that the next save inserts.
    public var insertedModelsArray: [any PersistentModel] { models(objects.insertedObjects) }
    /// The models that the next save updates.
    public var changedModelsArray: [any PersistentModel] { models(objects.updatedObjects) }
    /// The models that the next save deletes, including those that delete rules add.
    public var deletedModelsArray: [any PersistentModel] { models(objects.deletedObjects) }

    private func models(_ objects: [Object]) -> [any PersistentModel] {
        objects.compactMap { try? graph.model(for: $0) }
    }
}

extension ContextStorage {
    var hasRefusals: Bool { refusals.values.contains { !$0.isEmpty } }

    /// Throws the errors that could not be thrown where they occurred.
    func throwRefusals() throws {
        if let fault = faults.first {
            faults = []
            throw fault
        }
        let found = refusals.values.flatMap { $0.inByteOrder { $0.key }.map(\.value) }
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

    /// Returns the current identity of an object, given the temporary one that it had before its first save.
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
        // A value that cannot be read now is read on the next access, or stays as it was.
        try? objects.readUnchangedAgain()
    }
}

extension ModelContext {
    /// Posted before a save that has something to write; the object is the context.
    public static let willSave = Notification.Name("NSModelContextWillSave")
    /// Posted after a save; the object is the context, and the user info lists the saved objects (``NotificationKey``).
    public static let didSave = Notification.Name("NSModelContextDidSave")

    /// The keys of a notification's user info, which holds each value under the key and under its raw value. The values
    /// of the first three are a `[PersistentIdentifier]` of permanent identities.
    public enum NotificationKey: String, Sendable, CaseIterable {
        case insertedIdentifiers = "inserted"
        case updatedIdentifiers = "updated"
        case deletedIdentifiers = "deleted"
        /// Never present: a save invalidates only what it wrote.
        case invalidatedAllIdentifiers = "invalidatedAll"
        /// Never present: stores are read without query generations.
        case queryGeneration = "queryGeneration"
        /// In ``ModelContext/didSave``, a ``DefaultHistoryToken`` of the save's transactions; absent if no store keeps
        /// a history.
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
