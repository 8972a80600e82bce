import MoultBasics
import MoultModel
import MoultObjects

/// The objects of one context and their models. A model keeps its graph alive, so that it can be read as long as it is
/// in use; the graph keeps no model alive.
final class ContextStorage {
    let stack: ContainerStorage
    let objects: ObjectContext
    /// The context; nil once it has been released.
    var context: ModelContext? {
        get { contextReference?.object }
        set { contextReference = newValue.map { WeakReference($0) } }
    }
    private var contextReference: WeakReference<ModelContext>?
    /// The errors of values that could not be stored, by object and property. The next save throws them.
    var refusals: [ObjectIdentifier: [String: MigrationError]] = [:]
    /// The errors that could not be thrown where they occurred, such as inserting an object of another context.
    var faults: [any Error] = []
    /// The permanent identities of objects whose temporary identities have been handed out.
    var identities: [ObjectID: GivenIdentity] = [:]

    /// The number of times that the context has released its changed models.
    var releases = 0

    /// The observers to notify of each change.
    var observers: [WeakContextObserver] = []

    private var lastBinding: ModelClassInfo?

    /// The state of an object whose temporary identity has been handed out: unsaved, or saved with a permanent
    /// identity.
    enum GivenIdentity {
        case unsaved(WeakReference<Object>)
        case saved(ObjectID)
    }

    init(_ stack: ContainerStorage) {
        self.stack = stack
        objects = ObjectContext(coordinator: stack.coordinator)
        objects.noteChange = { object, position in Self.noteChange(of: object, position) }
        let graph = WeakReference(self)
        objects.upserting = { new, kept in graph.object?.upsert(new, kept) }
    }

    // MARK: - Models

    /// Returns the model of an object: the existing one, or a new one.
    func model(for object: Object) throws -> any PersistentModel {
        if let face = object.publicObject as? any PersistentModel { return face }
        return newModel(for: object, try binding(object.entityName).type)
    }

    /// Creates a model for an object that has none.
    func newModel<Model: PersistentModel>(for object: Object, _ type: Model.Type) -> Model {
        let model = type.init(backingData: ObjectBacking(object, self))
        object.publicObject = model
        return model
    }

    /// Returns the binding of an entity's class. Most calls repeat the last entity, which is cached.
    func binding(_ entityName: String) throws -> ModelClassInfo {
        if let lastBinding, lastBinding.entityName == entityName { return lastBinding }
        let found = try stack.binding(entityName)
        lastBinding = found
        return found
    }

    /// Returns the model of an object if it is of this class; otherwise nil.
    func model<Model: PersistentModel>(for object: Object, as type: Model.Type) throws -> Model? {
        if let face = object.publicObject { return face as? Model }
        return try model(for: object) as? Model
    }

    // MARK: - Observation

    /// Notifies the observers of a model of a change that was not made through the model.
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

    /// Moves a new object's values to the object with the same unique values. The new object's model shows that object
    /// from then on, as does the existing model.
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

    /// Returns the object behind a model, first inserting a model that belongs to no context.
    ///
    /// - Throws: `usage` for a model of another context; ``SwiftDataError/unknownSchema``.
    func object(_ model: any PersistentModel) throws -> Object {
        guard let backing = model.persistentBackingData as? ObjectBacking else {
            if model.persistentBackingData is MissingBackingData { throw MigrationError.absent(model) }
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

    /// Whether the model belongs to no context.
    private func isFree(_ model: any PersistentModel) -> Bool {
        guard let backing = model.persistentBackingData as? ObjectBacking else { return true }
        return backing.object.isDetached
    }

    /// The columns or the relationships of a model, each with its value.
    private typealias NamedValues = [(name: String, value: OwnValues.Value)]
    private typealias NamedAttributes = [(name: String, value: AttributeValue?)]

    /// Makes the object of a model and sets its attributes. Returns the relationships, which are still to be set.
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
        of model: any PersistentModel, _ binding: ModelClassInfo
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

    /// Sets the relationships, to-many first: a to-one that was set takes precedence over the list at the other end,
    /// which may be outdated.
    private func link(_ object: Object, _ values: NamedValues) throws {
        guard !values.isEmpty else { return }
        let sorted = values.inByteOrder { $0.name }
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

    /// Pushes the destinations in reverse order, so that the first is on top.
    fileprivate func addDestinations(to stack: inout [any PersistentModel]) {
        switch self {
        case .attribute, .toOne(nil), .toMany(nil): break
        case .toOne(let model?): stack.append(model)
        case .toMany(let models?): stack += models.reversed()
        }
    }
}

extension ObjectBacking {
    /// Returns the value of a property's column when the model left its context.
    fileprivate func lastValue(_ property: Schema.PropertyMetadata, _ path: String) -> OwnValues.Value {
        switch property.shape {
        case .attribute: .attribute(attribute(path))
        case .toOne: .toOne(toOne(property.name))
        case .toMany: .toMany(toMany(property.name))
        }
    }
}
