import MoultBasics
import MoultModel
import MoultObjects

extension ManagedObjectContext {
    /// Inserts objects from dictionaries, in one transaction. Where another object has the unique values of one, the merge
    /// policy decides: what the dictionary names is set of the other, or the dictionary is left out.
    ///
    /// - Throws: `unknownKey` for an entity or key that the model has not; `wrongType`; `fetchUnsupported`; `readOnly`.
    @discardableResult
    public func execute(_ request: BatchInsertRequest) throws -> BatchResult {
        try inTurn { graph in
            let ids = try stores(holding: request.entityName).first?.insertAll(
                request.entityName, request.objects, policy: graph.mergePolicy, author: transactionAuthor,
                contextName: name)
            return BatchResult(request.resultType, ids ?? [])
        }
    }

    /// Sets properties of all objects that the request finds, in one transaction of each store that holds the entity.
    ///
    /// - Throws: as for a ``BatchInsertRequest``.
    @discardableResult
    public func execute(_ request: BatchUpdateRequest) throws -> BatchResult {
        try inTurn { graph in
            var fetch = ObjectFetch(entityName: request.entityName, predicate: request.predicate?.predicate)
            fetch.variables = request.predicate?.variables ?? [:]
            fetch.includesSubentities = request.includesSubentities
            var read = fetch
            read.columns = request.changes.map { ObjectFetch.Column($0.key, $0.value) }
            graph.noteReads(of: read)
            let ids = try stores(holding: request.entityName).flatMap {
                try $0.updateAll(fetch, set: request.changes, author: transactionAuthor, contextName: name)
            }
            return BatchResult(request.resultType, ids)
        }
    }

    /// Deletes all objects that the request finds, in one transaction of each store that holds the entity.
    ///
    /// - Throws: as for a ``BatchInsertRequest``.
    @discardableResult
    public func execute(_ request: BatchDeleteRequest) throws -> BatchResult {
        try inTurn { graph in
            graph.noteReads(of: request.fetch)
            let ids = try stores(holding: request.entityName).flatMap {
                try $0.deleteAll(request.fetch, author: transactionAuthor, contextName: name)
            }
            return BatchResult(request.resultType, ids)
        }
    }

    /// - Throws: `unknownKey` for an entity that the model has not.
    private func stores(holding entityName: String) throws -> [ObjectStore] {
        let coordinator = try coordinator()
        guard coordinator.managedObjectModel.entity(entityName) != nil else {
            throw MigrationError(
                .unknownKey, "The model has no entity \(entityName).", place: entityName,
                remedy: "It has: \(coordinator.managedObjectModel.entities.map(\.name).joined(separator: ", ")).")
        }
        let stores = coordinator.objects.stores(holding: entityName)
        guard !stores.isEmpty else { throw coordinator.objects.noStore(holding: entityName) }
        return stores
    }
}

extension BatchDeleteRequest {
    fileprivate var fetch: ObjectFetch {
        var predicate = predicate?.predicate
        if let objectIDs {
            let values = objectIDs.map(ExpressionValue.object)
            predicate = .comparison(.init(.evaluatedObject, .in, .constant(.collection(values))))
        }
        var fetch = ObjectFetch(
            entityName: entityName, predicate: predicate,
            sort: sortDescriptors.map { .init($0.key, isAscending: $0.ascending, options: $0.options.predicateOptions) }
        )
        fetch.variables = self.predicate?.variables ?? [:]
        fetch.includesSubentities = includesSubentities
        fetch.limit = fetchLimit
        fetch.offset = fetchOffset
        return fetch
    }
}
