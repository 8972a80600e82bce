import Foundation
import MoultBasics
internal import MoultCoreData
import MoultModel
import MoultObjects

/// A set of models that are read, changed and saved together.
///
/// A context has one model per row as long as the model is in use, and keeps changed models alive. A context and its
/// models belong to one thread or actor at a time; pass identities to other threads.
public final class ModelContext {
    let graph: ContextStorage
    private weak var given: ModelContainer?
    /// The changed models, kept alive until the next save.
    private var kept: [AnyObject] = []
    /// The objects with ``ObjectBacking/lastDestinations``, kept until the next save.
    private var remembering: [ObjectBacking] = []
    private var finishIsDue = false
    private var isMain = false
    private var undo: ContextUndo?

    /// Whether the context saves automatically. The main context does so by default, when the main actor is idle after
    /// a change. An error is not reported then, but ``save()`` throws it again. In any other context the property has
    /// no effect and is initially false.
    public var autosaveEnabled = false

    package var objects: ObjectContext { graph.objects }

    /// Creates an empty context over the stores of a container.
    public init(_ container: ModelContainer) {
        graph = ContextStorage(container.stack)
        given = container
        graph.context = self
        // Objects without unsaved changes show what other contexts save.
        objects.automaticallyMergesChangesFromParent = true
        objects.keepsConflicts = true
        forEachCustomStore { $0.begin($1) }
    }

    deinit { forEachCustomStore { $0.end($1) } }

    private func forEachCustomStore(_ body: (any CustomStore, EditingState) -> Void) {
        let stores = graph.stack.customStores
        if !stores.isEmpty { objects.perform { for store in stores { body(store, EditingState(objects)) } } }
    }

    /// The container, or a new one over the same stores if the original is gone.
    public var container: ModelContainer { given ?? ModelContainer(graph.stack) }

    /// The author that the history records for this context's saves.
    public var author: String? {
        get { objects.transactionAuthor }
        set { objects.transactionAuthor = newValue }
    }

    /// The editing state of this context: its identity and its author.
    public var editingState: EditingState {
        get { EditingState(objects) }
        set { author = newValue.author }
    }

    /// The manager that records this context's changes for undo and redo; nil, the default, for no undo.
    ///
    /// Changes are registered by ``processPendingChanges()``, before a save, and when the manager opens, closes or runs
    /// a group. The main context ends an event's group when the main actor is idle. Undoing a saved change is a new
    /// change for the next save. ``rollback()`` clears the undo and redo actions.
    public var undoManager: UndoManager? {
        get { undo?.manager }
        set {
            guard undo?.manager !== newValue else { return }
            undo?.forget()
            // End the old recording before a new one begins.
            undo = nil
            undo = newValue.map { manager in
                ContextUndo(objects, manager) { [weak self] result in
                    self?.noting { _ = try result.get() }
                    self?.noteChanges()
                }
            }
        }
    }

    // MARK: - Inserting and deleting

    /// Inserts a model and all models that it refers to. The next save makes rows for them, or updates the rows that
    /// already have their unique values.
    ///
    /// A model of another context, or of a class that is not in the schema, is not inserted: the next save throws the
    /// error.
    public func insert<Model: PersistentModel>(_ model: Model) {
        noting { _ = try graph.object(model) }
        graph.noteObservers()
    }

    /// Marks a model for deletion at the next save, and applies its delete rules. A model that was never inserted is
    /// ignored.
    public func delete<Model: PersistentModel>(_ model: Model) {
        guard let backing = model.persistentBackingData as? ObjectBacking, !backing.object.isDetached else { return }
        noting {
            let object = try graph.object(model)
            try objects.delete(object)
            graph.refusals[ObjectIdentifier(object)] = nil
            backing.keep()
        }
        graph.noteObservers()
    }

    // MARK: - Identities

    /// Returns the model with an identity, reading it from the store on first access.
    ///
    /// If there is no such object, the model's values are empty. An identity of another store returns a model without
    /// values and without a ``PersistentModel/modelContext``. An identity of an entity outside the schema returns a
    /// placeholder of an internal class, and the next save throws ``SwiftDataError/unknownSchema``.
    public func model(for id: PersistentIdentifier) -> any PersistentModel {
        let id = graph.identity(id)
        let backing = MissingBackingData(PersistentIdentifier(id))
        noting { try copy(id) }
        do {
            if let object = try? objects.object(with: id) {
                if let found = try graph.shown(object) { return found }
                throw MigrationError.unshowable(object)
            }
            return try graph.stack.binding(id.entityName).type.init(backingData: backing)
        } catch {
            graph.faults.append(error)
            return UnknownModel(backingData: backing)
        }
    }

    /// Returns the model with an identity, if the context already has it.
    public func registeredModel<Model: PersistentModel>(for id: PersistentIdentifier) -> Model? {
        guard let object = objects.registeredObject(for: graph.identity(id)), !object.isDeleted else { return nil }
        return noting { try graph.shown(object) as? Model } ?? nil
    }

    /// Reads the model with an identity now; returns nil if there is none of this class.
    func existingModel<Model: PersistentModel>(for id: PersistentIdentifier) -> Model? {
        noting { try copy(graph.identity(id)) }
        do {
            let object = try objects.existingObject(with: graph.identity(id))
            return try graph.checkedModel(for: object, as: Model.self)
        } catch let error as MigrationError where [.objectGone, .unknownKey].contains(error.code) {
            return nil
        } catch is SwiftDataError {
            // The row is not of this class, or no model can represent it.
            return nil
        } catch {
            graph.faults.append(error)
            return nil
        }
    }

    /// Makes a custom data store provide an object that has not been copied yet.
    private func copy(_ id: ObjectID) throws {
        guard let store = graph.stack.customStore(id.entityName) else { return }
        try objects.perform { try store.copy([id], for: objects) }
    }

    // MARK: - Keeping models alive

    func keep(_ model: AnyObject) {
        kept.append(model)
        finishLater()
    }

    func noteRemembering(_ backing: ObjectBacking) { remembering.append(backing) }

    /// Records changes that were not made through a model.
    func noteChanges() {
        finishLater()
        graph.noteObservers()
    }

    func forgetUndo() { undo?.forget() }

    /// Releases the models that were kept alive for their changes.
    func forgetKept() {
        graph.releases += 1
        for backing in remembering where !backing.object.isDetached { backing.lastDestinations = [:] }
        remembering = []
        kept = []
    }

    /// Runs code that cannot throw where it is called; the next save throws its error.
    @discardableResult func noting<Result>(_ body: () throws -> Result) -> Result? {
        do {
            return try body()
        } catch {
            graph.faults.append(error)
            return nil
        }
    }

    // MARK: - The main context

    @MainActor func becomeMain() {
        isMain = true
        autosaveEnabled = true
        objects.keepsConflicts = false
    }

    /// Ends the event, and saves, when the main actor is idle.
    private func finishLater() {
        guard isMain, autosaveEnabled || undo != nil, !finishIsDue else { return }
        finishIsDue = true
        let later = MainReference(self)
        Task { @MainActor in later.context?.finish() }
    }

    @MainActor private func finish() {
        finishIsDue = false
        if let undo {
            processPendingChanges()
            undo.endEvent()
        }
        // Do not save if there are faults or failed reads: a save would throw them once and forget them.
        if autosaveEnabled, graph.faults.isEmpty, !objects.hasFailedReads, hasChanges { try? save() }
    }
}

/// The identity and the author of the changes in a context.
public struct EditingState: Sendable, Identifiable {
    /// The identifier, unique to each context.
    public let id: ObjectIdentifier
    /// The author that the history records for the context's saves.
    public var author: String?
}

/// A reference to a main context, passed to the main actor.
private final class MainReference: @unchecked Sendable {
    weak var context: ModelContext?
    init(_ context: ModelContext) { self.context = context }
}

extension ModelContext: Equatable {
    /// Returns whether both are the same context.
    public static func == (left: ModelContext, right: ModelContext) -> Bool { left === right }
}

extension ModelContext: CustomDebugStringConvertible {
    /// The numbers of models that the next save inserts, changes and deletes.
    public var debugDescription: String {
        let counts = [insertedModelsArray, changedModelsArray, deletedModelsArray].map(\.count)
        return "ModelContext(\(counts[0]) inserted, \(counts[1]) changed, \(counts[2]) deleted)"
    }
}

@available(*, unavailable, message: "a context belongs to one thread or actor; create one for each")
extension ModelContext: Sendable {}
