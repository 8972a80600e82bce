import MoultModel
import MoultObjects

extension ModelGraph {
    /// The models that a fetch finds, none of them with a value missing that it has to have.
    ///
    /// - Throws: ``SwiftDataError/modelValidationFailure`` for a row that no model can be made of.
    func models<Model: PersistentModel>(_ fetch: ObjectFetch, as type: Model.Type) throws -> [Model] {
        try SwiftDataError.translating {
            try objects.perform { () throws -> [Model] in
                try objects.fetch(fetch).compactMap { try checkedModel(for: $0, as: type) }
            }
        }
    }

    func checkedModel<Model: PersistentModel>(for object: Object, as type: Model.Type) throws -> Model? {
        try check(object)
        return try model(for: object, as: type)
    }

    /// - Throws: `dataConflict` for a row that holds NULL, or what its property cannot be, where there has to be a
    ///   value. A fault was not read yet and is let be.
    func check(_ object: Object) throws {
        let binding = try binding(object.entityName)
        if binding.demands.isEmpty { return }
        let isUnfit = binding.choosy.first { !object.holds(at: $0.position, where: $0.canRead) }?.position
        guard let position = object.firstEmpty(binding.demandedPositions) ?? isUnfit else { return }
        let name = binding.properties[position]?.name ?? ""
        throw SwiftDataError(unreadable: name, of: object)
    }
}

extension SwiftDataError {
    init(unreadable property: String, of object: Object) {
        let place = "\(object.entityName).\(property)"
        self.init(
            .modelValidationFailure,
            MigrationError(
                .dataConflict,
                "The row of \(object.id) holds no value that \(place) could have, and it is not optional.",
                place: place,
                remedy: "Make the property optional in a new version of the model, or give the row a value."))
    }
}
