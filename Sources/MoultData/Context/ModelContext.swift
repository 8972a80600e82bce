import Foundation
import MoultModel
import MoultObjects

/// Models that are read, changed and saved together.
///
/// A context has one model for a row as long as anybody holds it; models with changes are held by the context. It
/// belongs to one thread or actor at a time, and so do its models: hand identities to others.
///
/// There is no undo.
public final class ModelContext {
    let graph: ModelGraph
    private weak var given: ModelContainer?
    /// Models with changes.
    private var kept: [any PersistentModel] = []
    private var saveIsDue = false
    private var isMain = false

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
    }

    /// The container; another one over the same stores where the first is gone.
    public var container: ModelContainer { given ?? ModelContainer(graph.stack) }

    /// Who is named in the history as the author of what this context saves.
    public var author: String? {
        get { objects.transactionAuthor }
        set { objects.transactionAuthor = newValue }
    }

    /// Always nil: there is no undo, and Linux has no `UndoManager`. Setting nil is allowed, as apps do to save time.
    public var undoManager: Never? {
        get { nil }
        set {}
    }

    // MARK: - Inserting and deleting

    /// Takes in a model and every model that it leads to. The next save makes rows of them, or, where their unique
    /// values are taken, changes the rows that have them.
    ///
    /// A model of another context, or of no model of the schema, is not taken in: the next save throws the error.
    public func insert<Model: PersistentModel>(_ model: Model) {
        noting { _ = try graph.object(model) }
    }

    /// Deletes a model at the next save, with all that its delete rules lead to. One that was never inserted is let be.
    public func delete<Model: PersistentModel>(_ model: Model) {
        guard let backing = model.persistentBackingData as? ObjectBacking, backing.object.context != nil else { return }
        noting {
            let object = try graph.object(model)
            try objects.delete(object)
            graph.refusals[ObjectIdentifier(object)] = nil
            backing.keep()
        }
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
        guard let object = try? objects.existingObject(with: graph.identity(id)) else { return nil }
        return try? graph.checkedModel(for: object, as: Model.self)
    }

    // MARK: - Keeping

    func keep(_ model: any PersistentModel) {
        kept.append(model)
        noteChanges()
    }

    /// Has the context save by itself, where it does.
    func noteChanges() { autosave() }

    /// Lets go of the models that were held for their changes.
    func forgetKept() {
        for case let backing as ObjectBacking in kept.map(\.persistentBackingData) {
            backing.isKept = false
            if backing.object.context != nil { backing.lastDestinations = [:] }
        }
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

    /// Saves when the main actor is free.
    private func autosave() {
        guard isMain, autosaveEnabled, !saveIsDue else { return }
        saveIsDue = true
        let later = MainReference(self)
        Task { @MainActor in later.context?.runAutosave() }
    }

    @MainActor private func runAutosave() {
        saveIsDue = false
        // A save that throws such an error forgets it.
        if autosaveEnabled, graph.faults.isEmpty, hasChanges { try? save() }
    }
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
    /// How many models the next save inserts, changes and deletes.
    public var debugDescription: String {
        let counts = [insertedModelsArray, changedModelsArray, deletedModelsArray].map(\.count)
        return "ModelContext(\(counts[0]) inserted, \(counts[1]) changed, \(counts[2]) deleted)"
    }
}

@available(*, unavailable, message: "a context belongs to one thread or actor; create one for each")
extension ModelContext: Sendable {}
