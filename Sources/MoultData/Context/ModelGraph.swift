import MoultModel
import MoultObjects
import MoultSystem

/// The objects of one context and the models that show them. A model keeps its graph, so that it can be read as long as
/// anybody has it; the graph keeps no model.
final class ModelGraph {
    let stack: ModelStack
    let objects: ObjectContext
    /// Nil once nobody has the context any more.
    var context: ModelContext? {
        get { contextReference?.object }
        set { contextReference = newValue.map { WeakReference($0) } }
    }
    private var contextReference: WeakReference<ModelContext>?
    /// Values that could not be kept, by object and property: the next save throws them.
    var refusals: [ObjectIdentifier: [String: MigrationError]] = [:]
    /// The errors that could not be thrown where they happened, such as that of inserting an object of another context.
    var faults: [any Error] = []
    /// The permanent identities of objects whose temporary ones somebody was told.
    var identities: [ObjectID: GivenIdentity] = [:]

    /// The number of times that the context has released the models that it held for their changes.
    var releases = 0

    /// The observers to notify of each change.
    var observers: [WeakContextObserver] = []

    private var lastBinding: ModelBinding?

    /// The state of an object whose temporary identity was asked for: unsaved, or saved with a permanent identity.
    enum GivenIdentity {
        case unsaved(WeakReference<Object>)
        case saved(ObjectID)
    }

    init(_ stack: ModelStack) {
        self.stack = stack
        objects = ObjectContext(coordinator: stack.coordinator)
        objects.noteChange = { object, position in Self.noteChange(of: object, position) }
        let graph = WeakReference(self)
        objects.upserting = { new, kept in graph.object?.upsert(new, kept) }
    }

    // MARK: - Models

    /// The model that shows an object: the one that somebody has, or a new one.
    func model(for object: Object) throws -> any PersistentModel {
        if let face = object.face as? any PersistentModel { return face }
        return newModel(for: object, try binding(object.entityName).type)
    }

    /// A model for an object that none shows.
    func newModel<Model: PersistentModel>(for object: Object, _ type: Model.Type) -> Model {
        let model = type.init(backingData: ObjectBacking(object, self))
        object.face = model
        return model
    }

    /// Returns the binding of an entity's class, which most often is the same as the last time.
    func binding(_ entityName: String) throws -> ModelBinding {
        if let lastBinding, lastBinding.entityName == entityName { return lastBinding }
        let found = try stack.binding(entityName)
        lastBinding = found
        return found
    }

    /// As ``model(for:)``, where the class is known; nil for an object of another.
    func model<Model: PersistentModel>(for object: Object, as type: Model.Type) throws -> Model? {
        if let face = object.face { return face as? Model }
        return try model(for: object) as? Model
    }

    // MARK: - Observation

    /// Tells those who observe a model of a change that nobody made through it.
    private static func noteChange(of object: Object, _ position: Int?) {
        guard let model = object.face as? any PersistentModel,
            let backing = model.persistentBackingData as? ObjectBacking,
            let binding = try? backing.graph.stack.binding(object.entityName)
        else { return }
        for model in backing.models {
            guard let position else {
                for property in binding.distinctProperties { property.noteChange(model) }
                continue
            }
            if binding.properties.indices.contains(position) { binding.properties[position]?.noteChange(model) }
        }
    }

    // MARK: - Upserts

    /// A new object's values go to the one that has its unique values; its model shows that one from now on, next to the
    /// model that does already.
    private func upsert(_ new: Object, _ kept: Object) {
        guard let model = new.face as? any PersistentModel, let backing = model.persistentBackingData as? ObjectBacking,
            let binding = try? binding(kept.entityName)
        else { return }
        let models = backing.models
        new.face = nil
        if kept.face == nil, type(of: model) == binding.type {
            model.persistentBackingData = ObjectBacking(kept, self)
            kept.face = model
        }
        guard let first = try? self.model(for: kept) else { return }
        for model in models { ObjectBacking.show(model, next: first) }
    }
}
