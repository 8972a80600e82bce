import Foundation
import MoultModel
import MoultObjects

extension ModelContext {
    /// The models that a descriptor asks for, as the next save would leave them unless it says otherwise.
    ///
    /// - Throws: ``SwiftDataError/unknownSchema`` for a model that the container has not,
    ///   ``SwiftDataError/unsupportedPredicate`` and ``SwiftDataError/unsupportedSortDescriptor`` with the part that
    ///   SQL cannot say, ``SwiftDataError/modelValidationFailure`` for a row that no model can be made of.
    public func fetch<Model: PersistentModel>(_ descriptor: FetchDescriptor<Model>) throws -> [Model] {
        if let memory = try memoryFetch(descriptor) {
            return try memory.result(of: try graph.models(memory.fetch, as: Model.self))
        }
        return try graph.models(try objectFetch(descriptor), as: Model.self)
    }

    /// As ``fetch(_:)``, a batch of models at a time, as they are asked for.
    ///
    /// What is found is decided now; a row that is gone when its turn comes shows empty values.
    public func fetch<Model: PersistentModel>(
        _ descriptor: FetchDescriptor<Model>, batchSize: Int
    ) throws -> FetchResultsCollection<Model> {
        let ids = try identities(descriptor)
        return FetchResultsCollection(count: ids.count, batchSize: batchSize) { [graph] range in
            try graph.objects.perform {
                try graph.objects.batch(Array(ids[range])).map { try graph.model(for: $0) as? Model }
            }
        }
    }

    /// How many models ``fetch(_:)`` finds.
    public func fetchCount<Model: PersistentModel>(_ descriptor: FetchDescriptor<Model>) throws -> Int {
        if try memoryFetch(descriptor) != nil { return try fetch(descriptor).count }
        let fetch = try objectFetch(descriptor)
        return try SwiftDataError.translating { try objects.count(fetch) }
    }

    /// The identities of the models that ``fetch(_:)`` finds.
    public func fetchIdentifiers<Model: PersistentModel>(
        _ descriptor: FetchDescriptor<Model>
    ) throws -> [PersistentIdentifier] {
        try identities(descriptor).map(PersistentIdentifier.init)
    }

    public func fetchIdentifiers<Model: PersistentModel>(
        _ descriptor: FetchDescriptor<Model>, batchSize: Int
    ) throws -> FetchResultsCollection<PersistentIdentifier> {
        let ids = try identities(descriptor)
        return FetchResultsCollection(count: ids.count, batchSize: batchSize) { range in
            ids[range].map(PersistentIdentifier.init)
        }
    }

    /// Calls `block` with every model that a descriptor asks for, keeping a batch of them at a time.
    ///
    /// - Parameter allowEscapingMutations: whether `block` may change models, which then stay in memory until they are
    ///   saved. Otherwise a batch that leaves unsaved changes ends the enumeration with an error.
    public func enumerate<Model: PersistentModel>(
        _ descriptor: FetchDescriptor<Model>, batchSize: Int = 5000, allowEscapingMutations: Bool = false,
        block: (Model) throws -> Void
    ) throws {
        var fetch = try objectFetch(descriptor)
        fetch.batchSize = max(batchSize, 1)
        var count = 0
        try SwiftDataError.translating {
            try objects.forEachObject(fetch) { object in
                count += 1
                if let model = try graph.checkedModel(for: object, as: Model.self) { try block(model) }
                if !allowEscapingMutations, count.isMultiple(of: fetch.batchSize) { try refuseChanges() }
            }
        }
        if !allowEscapingMutations { try refuseChanges() }
    }

    /// Deletes at the next save every model that a predicate holds for, with all that delete rules lead to.
    ///
    /// - Parameter includeSubclasses: whether models of subclasses are deleted too.
    public func delete<Model: PersistentModel>(
        model: Model.Type, where predicate: Foundation.Predicate<Model>? = nil, includeSubclasses: Bool = true
    ) throws {
        var fetch = try objectFetch(FetchDescriptor(predicate: predicate))
        fetch.includesSubentities = includeSubclasses
        try SwiftDataError.translating {
            try objects.perform {
                for object in try objects.fetch(fetch) {
                    try objects.delete(object)
                    graph.refusals[ObjectIdentifier(object)] = nil
                }
            }
        }
        noteChanges()
    }

    // MARK: - Parts

    private func identities<Model: PersistentModel>(_ descriptor: FetchDescriptor<Model>) throws -> [ObjectID] {
        if try memoryFetch(descriptor) != nil { return try fetch(descriptor).map(\.persistentModelID.objectID) }
        let fetch = try objectFetch(descriptor)
        return try SwiftDataError.translating { try objects.fetchIDs(fetch) }
    }

    /// How memory answers a fetch that a store cannot, where the descriptor allows it.
    private func memoryFetch<Model: PersistentModel>(
        _ descriptor: FetchDescriptor<Model>
    ) throws -> MemoryFetch<Model>? {
        _ = try graph.stack.binding(Model.self)
        return try descriptor.memoryFetch(in: graph.stack.schema)
    }

    private func objectFetch<Model: PersistentModel>(_ descriptor: FetchDescriptor<Model>) throws -> ObjectFetch {
        _ = try graph.stack.binding(Model.self)
        do {
            var fetch = try descriptor.objectFetch(in: graph.stack.schema)
            fetch.includesPendingChanges = descriptor.includePendingChanges
            return fetch
        } catch let error as MigrationError where error.code == .fetchUnsupported {
            var unsorted = descriptor
            unsorted.sortBy = []
            let isOfSort = (try? unsorted.objectFetch(in: graph.stack.schema)) != nil
            throw SwiftDataError(isOfSort ? .unsupportedSortDescriptor : .unsupportedPredicate, error)
        }
    }

    private func refuseChanges() throws {
        guard hasChanges else { return }
        throw MigrationError(
            .usage, "The context has unsaved changes, which keep what was enumerated in memory.",
            remedy: "Save in the block, or pass allowEscapingMutations: true.")
    }
}
