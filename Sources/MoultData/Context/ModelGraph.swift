import MoultBasics
import MoultModel
import MoultObjects

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
        if let face = object.publicObject as? any PersistentModel { return face }
        return newModel(for: object, try binding(object.entityName).type)
    }

    /// A model for an object that none shows.
    func newModel<Model: PersistentModel>(for object: Object, _ type: Model.Type) -> Model {
        let model = type.init(backingData: ObjectBacking(object, self))
        object.publicObject = model
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
        if let face = object.publicObject { return face as? Model }
        return try model(for: object) as? Model
    }

    // MARK: - Observation

    /// Tells those who observe a model of a change that nobody made through it.
    private static func noteChange(of object: Object, _ position: Int?) {
        guard let model = object.publicObject as? any PersistentModel,
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
        guard let model = new.publicObject as? any PersistentModel,
            let backing = model.persistentBackingData as? ObjectBacking,
            let binding = try? binding(kept.entityName)
        else { return }
        let models = backing.models
        new.publicObject = nil
        if kept.publicObject == nil, type(of: model) == binding.type {
            model.persistentBackingData = ObjectBacking(kept, self)
            kept.publicObject = model
        }
        guard let first = try? self.model(for: kept) else { return }
        for model in models { ObjectBacking.show(model, next: first) }
    }

    /// The object that a model shows here; a model that no context has is taken in.
    ///
    /// - Throws: `usage` for a model of another context; ``SwiftDataError/unknownSchema``.
    func object(_ model: any PersistentModel) throws -> Object {
        guard let backing = model.persistentBackingData as? ObjectBacking else {
            if model.persistentBackingData is AbsentBacking { throw MigrationError.absent(model) }
            return try insert(model)
        }
        if backing.object.isDetached { return try insert(model) }
        guard backing.graph === self else {
            throw MigrationError(
                .usage, "\(backing.object.id) belongs to another context.", place: backing.object.id.description,
                remedy: "Use model(for:) of this context with the object's persistentModelID.")
        }
        return backing.object
    }

    /// Inserts a model and every model that it refers to, with all their values.
    func insert(_ root: any PersistentModel) throws -> Object {
        var taken: [(object: Object, values: NamedValues)] = []
        var waiting = [root]
        var first: Object?
        while let model = waiting.popLast() {
            guard isFree(model) else { continue }
            let (object, values) = try makeObject(model)
            if first == nil { first = object }
            taken.append((object, values))
            for (_, value) in values { value.addDestinations(to: &waiting) }
        }
        for (object, values) in taken { try link(object, values) }
        guard let first else { return try object(root) }
        return first
    }

    /// Inserts a new model that refers to a model of this context which refers back to it: if the parent in this
    /// context lists a child, the child belongs to this context too. The next save throws what prevents this.
    func insertIfChild(_ model: any PersistentModel) {
        guard isFree(model), let binding = try? stack.binding(type(of: model)) else { return }
        let isChild = model._$ownValues.contains { part in
            part.values.contains { name, value in
                value.hasDestination(where: isHere) && binding.namesWithInverse.contains(name)
            }
        }
        guard isChild else { return }
        do { _ = try insert(model) } catch { faults.append(error) }
        noteObservers()
    }

    private func isHere(_ model: any PersistentModel) -> Bool {
        guard let backing = model.persistentBackingData as? ObjectBacking else { return false }
        return backing.graph === self && !backing.object.isDetached
    }

    /// Whether no context has the model.
    private func isFree(_ model: any PersistentModel) -> Bool {
        guard let backing = model.persistentBackingData as? ObjectBacking else { return true }
        return backing.object.isDetached
    }

    /// The columns of a model, or its relationships, each with its value.
    private typealias NamedValues = [(name: String, value: OwnValues.Value)]
    private typealias NamedAttributes = [(name: String, value: AttributeValue?)]

    /// Makes the object of a model, with the values of its attributes; the relationships are to be set.
    private func makeObject(_ model: any PersistentModel) throws -> (Object, NamedValues) {
        let binding = try stack.binding(type(of: model))
        let object = try objects.insert(binding.entityName)
        let (values, refusals) = values(of: model, binding)
        let backing = ObjectBacking(object, self)
        model.persistentBackingData = backing
        object.publicObject = model
        if !refusals.isEmpty { self.refusals[ObjectIdentifier(object)] = refusals }
        var attributes: NamedAttributes = []
        var relationships: NamedValues = []
        attributes.reserveCapacity(values.count)
        for (name, value) in values {
            if case .attribute(let value) = value {
                attributes.append((name, value))
            } else {
                relationships.append((name, value))
            }
        }
        object.setNew(attributes) { name, error in backing.refuse(String(name.prefix { $0 != "." }), error) }
        backing.keep()
        return (object, relationships)
    }

    private func values(
        of model: any PersistentModel, _ binding: ModelBinding
    ) -> (NamedValues, [String: MigrationError]) {
        guard let backing = model.persistentBackingData as? ObjectBacking else {
            let parts = model._$ownValues
            if parts.count == 1, let only = parts.first { return (only.values, only.refusals) }
            return parts.reduce(into: ([], [:])) { all, part in
                all.0 += part.values
                all.1.merge(part.refusals) { $1 }
            }
        }
        let values = binding.distinctProperties.flatMap { property in
            property.paths.map { (name: $0, value: backing.lastValue(property, $0)) }
        }
        return (values, [:])
    }

    /// Lists first: a to-one that was set says more than the list of the other end, which may never have been told.
    private func link(_ object: Object, _ values: NamedValues) throws {
        guard !values.isEmpty else { return }
        let sorted = values.sorted { $0.name.precedesInByteOrder($1.name) }
        for case (let name, .toMany(let models?)) in sorted where !models.isEmpty {
            for model in models { try object.add(try self.object(model), to: name) }
        }
        let binding = try binding(object.entityName)
        for case (let name, .toOne(let model?)) in sorted {
            try object.setToOne(name, try self.object(model))
            if binding.requiredNames.contains(name), let backing = backing(object) {
                backing.lastDestinations[name] = model
                context?.noteRemembering(backing)
            }
        }
    }

    private func backing(_ object: Object) -> ObjectBacking? {
        (object.publicObject as? any PersistentModel)?.persistentBackingData as? ObjectBacking
    }
}

extension MigrationError {
    fileprivate static func absent(_ model: any PersistentModel) -> MigrationError {
        MigrationError(
            .usage, "\(model.persistentModelID) refers to an object that is not in the store, and has no values.",
            place: model.persistentModelID.description, remedy: "Create a new object, or fetch an existing one.")
    }
}

extension OwnValues.Value {
    fileprivate func hasDestination(where isWanted: (any PersistentModel) -> Bool) -> Bool {
        switch self {
        case .attribute: false
        case .toOne(let model): model.map(isWanted) ?? false
        case .toMany(let models): models?.contains(where: isWanted) ?? false
        }
    }

    /// Adds the destinations, the first of them last.
    fileprivate func addDestinations(to stack: inout [any PersistentModel]) {
        switch self {
        case .attribute, .toOne(nil), .toMany(nil): break
        case .toOne(let model?): stack.append(model)
        case .toMany(let models?): stack += models.reversed()
        }
    }
}

extension ObjectBacking {
    /// The value that a column of a model's property had when the model left its context.
    fileprivate func lastValue(_ property: Schema.PropertyMetadata, _ path: String) -> OwnValues.Value {
        switch property.shape {
        case .attribute: .attribute(attribute(path))
        case .toOne: .toOne(toOne(property.name))
        case .toMany: .toMany(toMany(property.name))
        }
    }
}
