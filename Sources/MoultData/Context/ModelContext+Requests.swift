import Foundation
import MoultBasics
import MoultModel
import MoultObjects

extension ModelContext {
    /// Returns the models that a descriptor matches, including unsaved changes unless the descriptor excludes them.
    ///
    /// - Throws: ``SwiftDataError/unknownSchema`` for a model that the container does not have;
    ///   ``SwiftDataError/unsupportedPredicate`` or ``SwiftDataError/unsupportedSortDescriptor``, with the part that
    ///   SQL cannot express; ``SwiftDataError/modelValidationFailure`` for a row that no model can represent.
    public func fetch<Model: PersistentModel>(_ descriptor: FetchDescriptor<Model>) throws -> [Model] {
        if graph.stack.isElsewhere(Model.self) { return [] }
        if let store = graph.stack.customStore(Model.self) { return try fetch(descriptor, from: store) }
        return try fetchFromRows(descriptor)
    }

    func fetchFromRows<Model: PersistentModel>(_ descriptor: FetchDescriptor<Model>) throws -> [Model] {
        if let memory = try memoryFetch(descriptor) {
            return try memory.result(of: try graph.models(memory.fetch, as: Model.self))
        }
        return try graph.models(try objectFetch(descriptor), as: Model.self)
    }

    /// Fetches like ``fetch(_:)``, but reads the models in batches as they are accessed.
    ///
    /// The fetch decides now which models it returns; a row deleted before its batch is read shows empty values.
    /// Reading a batch cannot throw, so the next save throws its errors.
    public func fetch<Model: PersistentModel>(
        _ descriptor: FetchDescriptor<Model>, batchSize: Int
    ) throws -> FetchResultsCollection<Model> {
        let ids = try identities(descriptor)
        if !graph.stack.hasStandIns { try refuseUnshowable(ids) }
        if !ids.isEmpty { try refuseEmptyRow(descriptor) }
        return FetchResultsCollection(count: ids.count, batchSize: batchSize) { [graph] range in
            graph.batch(Array(ids[range]), as: Model.self)
        }
    }

    /// Returns the number of models that ``fetch(_:)`` finds.
    public func fetchCount<Model: PersistentModel>(_ descriptor: FetchDescriptor<Model>) throws -> Int {
        if graph.stack.isElsewhere(Model.self) { return 0 }
        if let store = graph.stack.customStore(Model.self), let count = try count(descriptor, in: store) {
            return count
        }
        if try isReadWhole(descriptor) { return try fetch(descriptor).count }
        let fetch = try objectFetch(descriptor)
        return try SwiftDataError.translating { try objects.count(fetch) }
    }

    /// Returns the identities of the models that ``fetch(_:)`` finds.
    public func fetchIdentifiers<Model: PersistentModel>(
        _ descriptor: FetchDescriptor<Model>
    ) throws -> [PersistentIdentifier] {
        if let store = graph.stack.customStore(Model.self), let found = try identifiers(descriptor, in: store) {
            return found
        }
        return try identities(descriptor).map(PersistentIdentifier.init)
    }

    /// Returns the identities that ``fetchIdentifiers(_:)`` finds, as a collection read in batches.
    public func fetchIdentifiers<Model: PersistentModel>(
        _ descriptor: FetchDescriptor<Model>, batchSize: Int
    ) throws -> FetchResultsCollection<PersistentIdentifier> {
        let ids = try identities(descriptor)
        return FetchResultsCollection(count: ids.count, batchSize: batchSize) { range in
            ids[range].map(PersistentIdentifier.init)
        }
    }

    /// Calls `block` with every model that a descriptor matches, keeping one batch in memory at a time.
    ///
    /// - Parameter allowEscapingMutations: whether `block` may change models, which then stay in memory until they are
    ///   saved. If false, a batch that leaves unsaved changes ends the enumeration with an error.
    public func enumerate<Model: PersistentModel>(
        _ descriptor: FetchDescriptor<Model>, batchSize: Int = 5000, allowEscapingMutations: Bool = false,
        block: (Model) throws -> Void
    ) throws {
        if graph.stack.isElsewhere(Model.self) { return }
        guard try !isReadWhole(descriptor) else {
            for model in try fetch(descriptor) { try block(model) }
            if !allowEscapingMutations { try refuseChanges() }
            return
        }
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

    /// Marks all models that a predicate matches for deletion at the next save, and applies the delete rules.
    ///
    /// - Parameters:
    ///   - includeSubclasses: whether to delete models of subclasses too.
    ///   - allowsInMemoryEvaluation: the same as ``FetchDescriptor/allowsInMemoryEvaluation``, for a predicate that no
    ///     store can evaluate.
    public func delete<Model: PersistentModel>(
        model: Model.Type, where predicate: Foundation.Predicate<Model>? = nil, includeSubclasses: Bool = true,
        allowsInMemoryEvaluation: Bool = false
    ) throws {
        if graph.stack.isElsewhere(Model.self) { return }
        var descriptor = FetchDescriptor(predicate: predicate)
        descriptor.allowsInMemoryEvaluation = allowsInMemoryEvaluation
        if graph.stack.customStore(Model.self) != nil {
            for found in try fetch(descriptor) where includeSubclasses || type(of: found) == Model.self {
                delete(found)
            }
            return
        }
        if let memory = try memoryFetch(descriptor) {
            var fetch = memory.fetch
            fetch.includesSubentities = includeSubclasses
            for model in try memory.result(of: try graph.models(fetch, as: Model.self)) { delete(model) }
            return
        }
        var fetch = try objectFetch(descriptor)
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
        if graph.stack.isElsewhere(Model.self) { return [] }
        if try isReadWhole(descriptor) { return try fetch(descriptor).map(\.persistentModelID.objectID) }
        let fetch = try objectFetch(descriptor)
        return try SwiftDataError.translating { try objects.fetchIDs(fetch) }
    }

    /// Whether a fetch has to read the models to be answered.
    private func isReadWhole<Model: PersistentModel>(_ descriptor: FetchDescriptor<Model>) throws -> Bool {
        try graph.stack.customStore(Model.self) != nil || memoryFetch(descriptor) != nil
    }

    /// Returns the fetch to evaluate in memory, if the store cannot answer it and the descriptor allows it; otherwise
    /// nil.
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

    /// Throws for a row that has NULL for a required value, without reading the other rows.
    private func refuseEmptyRow<Model: PersistentModel>(_ descriptor: FetchDescriptor<Model>) throws {
        let empty = try graph.stack.binding(Model.self).emptiness
        guard !empty.isEmpty, try !isReadWhole(descriptor) else { return }
        var fetch = try objectFetch(descriptor)
        // With a limit or an offset, the rows are known only after they are read.
        guard fetch.limit == 0, fetch.offset == 0 else { return }
        fetch.predicate = .both(fetch.predicate ?? .constant(true), .or(empty))
        fetch.limit = 1
        _ = try objects.withoutNotingReads { try graph.models(fetch, as: Model.self) }
    }

    /// Throws for a row that no model can show, including a row that cannot be read.
    private func refuseUnshowable(_ ids: [ObjectID]) throws {
        let size = 256
        for start in stride(from: 0, to: ids.count, by: size) {
            let part = Array(ids[start..<min(start + size, ids.count)])
            try SwiftDataError.translating {
                for object in try objects.batch(part) where try !graph.isShowable(object) { try graph.check(object) }
            }
        }
    }

    private func refuseChanges() throws {
        guard hasChanges else { return }
        throw MigrationError(
            .usage, "The context has unsaved changes, which keep what was enumerated in memory.",
            remedy: "Save in the block, or pass allowEscapingMutations: true.")
    }
}

// Requests to custom data stores. The store answers; the copy of its rows then applies this context's unsaved changes,
// as for any other store.

extension ModelContext {
    func fetch<Model: PersistentModel>(
        _ descriptor: FetchDescriptor<Model>, from store: any CustomStore
    ) throws -> [Model] {
        try SwiftDataError.translating {
            try objects.perform {
                let isChanged = mayChange(descriptor)
                let asked = isChanged ? FetchDescriptor<Model>() : descriptor
                if let found = try store.fetch(asked, for: objects), !isChanged {
                    return try objects.batch(found).compactMap { try graph.checkedModel(for: $0, as: Model.self) }
                }
                var copied = descriptor
                copied.allowsInMemoryEvaluation = true
                return try fetchFromRows(copied)
            }
        }
    }

    /// Returns the identities; nil if the models must be read to find them.
    func identifiers<Model: PersistentModel>(
        _ descriptor: FetchDescriptor<Model>, in store: any CustomStore
    ) throws -> [PersistentIdentifier]? {
        try objects.perform { try mayChange(descriptor) ? nil : store.identifiers(descriptor, for: objects) }
    }

    /// Returns the count; nil if the models must be read to count them.
    func count<Model: PersistentModel>(_ descriptor: FetchDescriptor<Model>, in store: any CustomStore) throws -> Int? {
        try objects.perform { try mayChange(descriptor) ? nil : store.count(descriptor, for: objects) }
    }

    /// Whether unsaved changes may affect the result; those of other classes can, through the predicate.
    private func mayChange<Model: PersistentModel>(_ descriptor: FetchDescriptor<Model>) -> Bool {
        descriptor.includePendingChanges && objects.hasChanges
    }

    /// Writes the changes. Before the save, custom stores provide the objects to check for uniqueness; after it, they
    /// provide the objects that they changed.
    func saveChanges() throws -> SavedChanges {
        let stores = graph.stack.customStores
        guard !stores.isEmpty else { return try graph.save() }
        return try objects.perform {
            try objects.processPendingChanges()
            let names = Set((objects.insertedObjects + objects.updatedObjects).map(\.entityName))
            for store in stores { try store.copyUnique(names, for: objects) }
            let saved = try graph.save()
            // Everything is saved by now, so the next fetch throws any error of this.
            for store in stores { try? store.copyReregistered(for: objects) }
            return saved
        }
    }
}
