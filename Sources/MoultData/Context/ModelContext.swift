import Foundation
import MoultBasics
internal import MoultCoreData
import MoultModel
import MoultObjects

/// Models that are read, changed and saved together.
///
/// A context has one model for a row as long as anybody holds it; models with changes are held by the context. It
/// belongs to one thread or actor at a time, and so do its models: hand identities to others.
public final class ModelContext {
    let graph: ModelGraph
    private weak var given: ModelContainer?
    /// Models with changes.
    private var kept: [AnyObject] = []
    /// The ones with ``ObjectBacking/lastDestinations``, until the next save.
    private var remembering: [ObjectBacking] = []
    private var finishIsDue = false
    private var isMain = false
    private var undo: ContextUndo?

    /// Whether the context saves by itself. The main context does, and does it when the main actor is free after a
    /// change: an error is not told, and comes again when ``save()`` is called. No other context has a moment of its
    /// own at which it could: there it means nothing, and is false at first.
    public var autosaveEnabled = false

    package var objects: ObjectContext { graph.objects }

    /// A context with no models yet, over the stores of a container.
    public init(_ container: ModelContainer) {
        graph = ModelGraph(container.stack)
        given = container
        graph.context = self
        // What has no changes of its own shows what others save.
        objects.automaticallyMergesChangesFromParent = true
        objects.keepsConflicts = true
        forEachCustomStore { $0.begin($1) }
    }

    deinit { forEachCustomStore { $0.end($1) } }

    private func forEachCustomStore(_ body: (any CustomStore, EditingState) -> Void) {
        let stores = graph.stack.customStores
        if !stores.isEmpty { objects.perform { for store in stores { body(store, EditingState(objects)) } } }
    }

    /// The container; another one over the same stores where the first is gone.
    public var container: ModelContainer { given ?? ModelContainer(graph.stack) }

    /// The author recorded in the history for what this context saves.
    public var author: String? {
        get { objects.transactionAuthor }
        set { objects.transactionAuthor = newValue }
    }

    /// The editing state of this context: an identity of its own, and its author.
    public var editingState: EditingState {
        get { EditingState(objects) }
        set { author = newValue.author }
    }

    /// Registers what changes in this context, so that it can be undone and redone; nil, as at first, for no undo.
    ///
    /// Changes are registered by ``processPendingChanges()``, before a save, and whenever the manager opens, closes or runs
    /// a group. The main context ends the group of an event when the main actor is free. An undo after a save is a change
    /// that the next save writes. ``rollback()`` forgets what could be undone.
    public var undoManager: UndoManager? {
        get { undo?.manager }
        set {
            guard undo?.manager !== newValue else { return }
            undo?.forget()
            // The old one ends its recording before the new one begins.
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

    /// Takes in a model and every model that it leads to. The next save makes rows of them, or, where their unique
    /// values are taken, changes the rows that have them.
    ///
    /// A model of another context, or of no model of the schema, is not taken in: the next save throws the error.
    public func insert<Model: PersistentModel>(_ model: Model) {
        noting { _ = try graph.object(model) }
        graph.noteObservers()
    }

    /// Deletes a model at the next save, with all that its delete rules lead to. One that was never inserted is let be.
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

    /// The model of an identity, read from the store when it is first asked for something.
    ///
    /// There may be none: then its values are empty ones. An identity of another store gives a model with no values and
    /// no ``PersistentModel/modelContext``. One of an entity that the schema has not gives a model of no class of
    /// yours, and the next save throws ``SwiftDataError/unknownSchema``.
    public func model(for id: PersistentIdentifier) -> any PersistentModel {
        let id = graph.identity(id)
        let backing = AbsentBacking(PersistentIdentifier(id))
        noting { try copy(id) }
        if let object = try? objects.object(with: id) {
            if let found = try? graph.shown(object) { return found }
            graph.faults.append(MigrationError.unshowable(object))
            return UnknownModel(backingData: backing)
        }
        do {
            return try graph.stack.binding(id.entityName).type.init(backingData: backing)
        } catch {
            graph.faults.append(error)
            return UnknownModel(backingData: backing)
        }
    }

    /// The model of an identity, where the context has it already.
    public func registeredModel<Model: PersistentModel>(for id: PersistentIdentifier) -> Model? {
        guard let object = objects.registeredObject(for: graph.identity(id)), !object.isDeleted else { return nil }
        return try? graph.shown(object) as? Model
    }

    /// The model of an identity, read now; nil if there is none of this class.
    func existingModel<Model: PersistentModel>(for id: PersistentIdentifier) -> Model? {
        noting { try copy(graph.identity(id)) }
        guard let object = try? objects.existingObject(with: graph.identity(id)) else { return nil }
        return try? graph.checkedModel(for: object, as: Model.self)
    }

    /// Has a data store of the program's own give an object that it was not asked for yet.
    private func copy(_ id: ObjectID) throws {
        guard let store = graph.stack.customStore(id.entityName) else { return }
        try objects.perform { try store.copy([id], for: objects) }
    }

    // MARK: - Keeping

    func keep(_ model: AnyObject) {
        kept.append(model)
        finishLater()
    }

    func noteRemembering(_ backing: ObjectBacking) { remembering.append(backing) }

    /// Notes changes that were not made through a model.
    func noteChanges() {
        finishLater()
        graph.noteObservers()
    }

    func forgetUndo() { undo?.forget() }

    /// Lets go of the models that were held for their changes.
    func forgetKept() {
        graph.releases += 1
        for backing in remembering where !backing.object.isDetached { backing.lastDestinations = [:] }
        remembering = []
        kept = []
    }

    /// Runs what cannot throw where it is called; the next save throws the error.
    func noting(_ body: () throws -> Void) {
        do {
            try body()
        } catch {
            graph.faults.append(error)
        }
    }

    // MARK: - The main context

    @MainActor func becomeMain() {
        isMain = true
        autosaveEnabled = true
        objects.keepsConflicts = false
    }

    /// Ends the event, and saves, when the main actor is free.
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
        // A save that throws such an error forgets it.
        if autosaveEnabled, graph.faults.isEmpty, hasChanges { try? save() }
    }
}

/// The identity and the author of the changes in a context.
public struct EditingState: Sendable, Identifiable {
    /// One for each context.
    public let id: ObjectIdentifier
    /// The author recorded in the history for what the context saves.
    public var author: String?
}

/// A main context on its way to the main actor, where it belongs.
private final class MainReference: @unchecked Sendable {
    weak var context: ModelContext?
    init(_ context: ModelContext) { self.context = context }
}

extension ModelContext: Equatable {
    /// Whether both are the same context.
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
