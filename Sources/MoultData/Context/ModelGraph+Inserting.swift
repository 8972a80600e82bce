import MoultModel
import MoultObjects

extension ModelGraph {
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
        object.face = model
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
        (object.face as? any PersistentModel)?.persistentBackingData as? ObjectBacking
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
