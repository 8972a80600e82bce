import MoultBasics
import MoultModel
import MoultObjects

extension ContextStorage {
    /// Returns the models that a fetch finds, each with all its required values.
    ///
    /// - Throws: ``SwiftDataError/modelValidationFailure`` for a row that no model can represent.
    func models<Model: PersistentModel>(_ fetch: ObjectFetch, as type: Model.Type) throws -> [Model] {
        try SwiftDataError.translating {
            try objects.perform { () throws -> [Model] in
                var models: [Model] = []
                try objects.fetch(fetch) { object in
                    if let model = try checkedModel(for: object, as: type) { models.append(model) }
                }
                return models
            }
        }
    }

    func checkedModel<Model: PersistentModel>(for object: Object, as type: Model.Type) throws -> Model? {
        let binding = try binding(object.entityName)
        try check(object, binding)
        if let face = object.publicObject { return face as? Model }
        return binding.type == type ? newModel(for: object, type) : newModel(for: object, binding.type) as? Model
    }

    /// - Throws: `SwiftDataError.modelValidationFailure` for a row with a required value that is NULL or that its
    ///   property cannot represent. A fault has not been read yet and is not checked.
    func check(_ object: Object) throws { try check(object, binding(object.entityName)) }

    private func check(_ object: Object, _ binding: ModelClassInfo) throws {
        if let name = unfit(object, binding) {
            throw SwiftDataError(.modelValidationFailure, .unreadable(name, of: object, self, isShown: false))
        }
        guard try isShowable(object) else { throw SwiftDataError(.modelValidationFailure, .unshowable(object)) }
    }

    /// Returns the first property with a stored value that no object can have.
    private func unfit(_ object: Object, _ binding: ModelClassInfo) -> String? {
        object.withValues(binding.firstUnmet).flatMap { binding.properties[$0.position]?.name }
    }

    // MARK: - Deferred errors

    /// Returns the models with these identities, read together. The next save throws errors in rows or in reading them.
    func batch<Model: PersistentModel>(_ ids: [ObjectID], as type: Model.Type) -> [Model] {
        do {
            return try objects.perform {
                try objects.batch(ids).map { object in
                    let model = try model(for: object, as: type) ?? absent(object.id, type)
                    if let name = unfit(object, try binding(object.entityName)) {
                        (model.persistentBackingData as? ObjectBacking)?.noteUnreadable(name)
                    }
                    return model
                }
            }
        } catch {
            faults.append(error)
            return ids.map { id in
                let object = try? objects.object(with: id)
                return object.flatMap { try? model(for: $0, as: type) } ?? absent(id, type)
            }
        }
    }

    private func absent<Model: PersistentModel>(_ id: ObjectID, _ type: Model.Type) -> Model {
        Model(backingData: MissingBackingData(PersistentIdentifier(id)))
    }
}

extension MigrationError {
    static func unshowable(_ object: Object) -> MigrationError {
        MigrationError(
            .dataConflict,
            "\(object.id) cannot be shown: a required value of its row, or of one that it leads to, cannot be read.",
            place: object.id.description,
            remedy:
                "Fetch it, and the models that it leads to: the error names the property. Correct that row, and call rollback()."
        )
    }

    /// - Parameter isShown: whether a model already shows the object, without the value.
    static func unreadable(
        _ property: String, of object: Object, _ graph: ContextStorage, isShown: Bool = true
    ) -> MigrationError {
        let place = "\(object.entityName).\(property)"
        let held = graph.storedKind(property, of: object) ?? "no value"
        if let (type, reason) = graph.undecoded(property, of: object) {
            return MigrationError(
                .dataConflict, "The row of \(object.id) holds JSON for \(place) that \(type) cannot decode: \(reason).",
                place: place,
                remedy: "Let \(type) decode what its earlier versions wrote, by optional properties or an init(from:) "
                    + "with decodeIfPresent. Or convert the values in a .transform from the version that wrote them.")
        }
        return MigrationError(
            .dataConflict, "The row of \(object.id) holds \(held), which \(place) cannot have.", place: place,
            remedy: held == "NULL" || held == "no value"
                ? "Make the property optional in a new version of the model, or give the row a value."
                : isShown
                    ? "Set another value, delete the object, or correct the row in the store."
                    : "Correct the row in the store. Or make the property optional in a new version of the model: it reads "
                        + "as nil then, and can be set.")
    }
}

extension ContextStorage {
    /// Returns the type that cannot decode the row's JSON, of a property or of its elements, and the reason; nil if the
    /// value is unreadable for another reason.
    fileprivate func undecoded(_ property: String, of object: Object) -> (Any.Type, String)? {
        guard let found = (try? binding(object.entityName))?.type.schemaMetadata.propertiesByName[property],
            let type = withoutOptionals(found.valueType) as? any Decodable.Type
        else { return nil }
        switch try? object.attribute(property) {
        case .binary(let bytes)?, .transformable(let bytes)?:
            guard let reason = StoredJSON.reason(type, bytes) else { return nil }
            return (ValueForm.elements(of: type, type)?.0 ?? type, reason)
        default: return nil
        }
    }

    /// Returns the kind of value stored for a property in an object's row, listing each column if there are several.
    fileprivate func storedKind(_ property: String, of object: Object) -> String? {
        let paths = (try? binding(object.entityName))?.type.schemaMetadata.propertiesByName[property]?.paths
        guard let paths, paths != [property] else { return stack.coordinator.storedKind(property, of: object.id) }
        let kinds = paths.compactMap { path in
            stack.coordinator.storedKind(path, of: object.id).map { (path.dropFirst(property.count + 1), $0) }
        }
        if kinds.count < 2 || kinds.allSatisfy({ $0.1 == "NULL" }) { return kinds.first?.1 }
        return kinds.prefix(8).map { "\($0): \($1)" }.joined(separator: ", ")
    }
}

// Most models can show something for any row (Placeholder). A model with a required property of a type without a
// stand-in cannot. Such an object is returned only if its row is complete, and the objects that it requires are too.

extension ContextStorage {
    /// Whether an object and the objects that it requires can show a value for each property.
    ///
    /// - Throws: an error of reading them.
    func isShowable(_ object: Object) throws -> Bool {
        if stack.hasStandIns { return true }
        var seen: Set<ObjectID> = []
        return try isShowable(object, &seen)
    }

    private func isShowable(_ object: Object, _ seen: inout Set<ObjectID>) throws -> Bool {
        let id = object.id
        guard !id.isTemporary, seen.insert(id).inserted else { return true }
        guard let binding = try? binding(object.entityName) else { return false }
        do {
            _ = try objects.existingObject(with: id)
        } catch let error as MigrationError where [.objectGone, .storeCorrupted].contains(error.code) {
            return isShowableWithoutRow(binding.type)
        }
        guard let destinations = object.withValues({ values, _ in requiredDestinations(values, binding) }) else {
            return false
        }
        return try destinations.allSatisfy { id in
            guard let next = try? objects.object(with: id) else { return false }
            return try isShowable(next, &seen)
        }
    }

    /// Returns the required destinations of an object; nil if one of its own values cannot be shown.
    private func requiredDestinations(_ values: PositionedValues, _ binding: ModelClassInfo) -> [ObjectID]? {
        var destinations: [ObjectID] = []
        for demand in binding.demands where demand.isRequired {
            guard let property = binding.properties[demand.position] else { continue }
            if case .toOne(let type, _) = property.shape {
                if case .toOne(let id?)? = values[demand.position] {
                    destinations.append(id)
                } else if !isShowableWithoutRow(type) {
                    return nil
                }
            } else if !binding.isMet(demand, by: values), !property.hasStandIn() {
                return nil
            }
        }
        return destinations
    }

    /// Whether a model that stands for a missing object can show its values.
    private func isShowableWithoutRow(_ type: any PersistentModel.Type) -> Bool {
        var seen: Set<ObjectIdentifier> = []
        return isShowableWithoutRow(type, &seen)
    }

    private func isShowableWithoutRow(_ type: any PersistentModel.Type, _ seen: inout Set<ObjectIdentifier>) -> Bool {
        guard seen.insert(ObjectIdentifier(type)).inserted else { return true }
        guard let binding = try? stack.binding(type), binding.hasStandIns else { return false }
        return binding.demands.allSatisfy { demand in
            guard demand.isRequired, case .toOne(let next, _)? = binding.properties[demand.position]?.shape else {
                return true
            }
            return isShowableWithoutRow(next, &seen)
        }
    }

    /// Returns the model for a destination; nil if it cannot be shown.
    func shown(_ object: Object) throws -> (any PersistentModel)? {
        try isShowable(object) ? try model(for: object) : nil
    }
}
