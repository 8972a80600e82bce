import MoultBasics
import MoultModel
import MoultObjects

extension ManagedObjectContext {
    /// Returns the results of a request, unsaved changes included; dictionaries are of what is saved only.
    ///
    /// - Throws: `unknownKey` for an entity or key that the model has not; `invalidPredicate`; `fetchUnsupported` for a
    ///   predicate that a store cannot answer, with that part of it; `wrongType` if an object is of another class.
    public func fetch<Result: FetchRequestResult>(_ request: FetchRequest<Result>) throws -> [Result] {
        try inTurn { graph in
            let fetch = try objectFetch(request)
            switch request.resultType {
            case .managedObject: return try typed(try graph.fetch(fetch))
            case .managedObjectID: return try graph.fetchIDs(fetch).compactMap { $0 as? Result }
            case .count: return [try graph.count(fetch)].compactMap { $0 as? Result }
            case .dictionary:
                return try graph.fetchRows(fetch).compactMap { row in
                    try row.compactMapValues { value -> Any? in
                        if case .object(let id) = value { return id }
                        return try value.foundation(in: nil)
                    } as? Result
                }
            }
        }
    }

    /// Returns the number of objects that a request finds, unsaved changes included.
    public func count<Result: FetchRequestResult>(for request: FetchRequest<Result>) throws -> Int {
        try inTurn { try $0.count(try objectFetch(request)) }
    }

    /// Calls `body` for each object that a request finds. What is not changed is released batch by batch, so that only
    /// identities, 16 bytes each, stay in memory for long.
    public func enumerate<Result: ManagedObject>(
        _ request: FetchRequest<Result>, _ body: (Result) throws -> Void
    ) throws {
        try inTurn { graph in
            try graph.forEachObject(try objectFetch(request)) { object in
                try body(try typed(object, try coordinator()))
            }
        }
    }

    /// The request that the model keeps under a name, with values for its predicate's variables.
    ///
    /// - Throws: `unknownKey` if the model has none of that name.
    public func fetchRequestFromTemplate<Result: FetchRequestResult>(
        withName name: String, substitutionVariables variables: [String: Any?] = [:],
        resultType: Result.Type = ManagedObject.self
    ) throws -> FetchRequest<Result> {
        let templates = try coordinator().managedObjectModel.fetchRequestTemplates
        guard let template = templates.first(where: { $0.name == name }) else {
            throw MigrationError(
                .unknownKey, "The model has no fetch request named \(name).", place: name,
                remedy: "It has: \(templates.map(\.name).joined(separator: ", ")).")
        }
        var request = FetchRequest<Result>(entityName: template.entityName)
        request.predicate = try template.predicate.map {
            try FetchPredicate(format: $0).withSubstitutionVariables(variables)
        }
        request.fetchLimit = template.options["fetchLimit"].flatMap { Int($0) } ?? 0
        return request
    }

    // MARK: - Parts

    func objectFetch<Result: FetchRequestResult>(_ request: FetchRequest<Result>) throws -> ObjectFetch {
        let coordinator = try coordinator()
        let model = coordinator.managedObjectModel
        let type = Result.self as? ManagedObject.Type
        if let name = request.entityName {
            if let type { coordinator.classes.registerIfNone(type, entity: name) }
            return request.fetch(of: name, model: model)
        }
        let name = try coordinator.classes.entityName(for: type ?? ManagedObject.self, in: model)
        if let type { coordinator.classes.registerIfNone(type, entity: name) }
        return request.fetch(of: name, model: model)
    }

    private func typed<Result>(_ objects: [Object]) throws -> [Result] {
        let coordinator = try coordinator()
        return try coordinator.objects.lock.withLock {
            try objects.map { object throws in try typed(object, coordinator) }
        }
    }

    private func typed<Result>(_ object: Object, _ coordinator: PersistentStoreCoordinator) throws -> Result {
        let face = face(object, coordinator)
        if let result = face as? Result { return result }
        throw MigrationError.wrongClass(face, Result.self, place: object.entityName)
    }
}
