import MoultModel
import MoultObjects

// What is asked of a data store of the program's own. The store answers; what this context has changed since is
// answered by the copy of the store's rows, as in any other store.

extension ModelContext {
    func fetch<Model: PersistentModel>(
        _ descriptor: FetchDescriptor<Model>, from store: any CustomStore
    ) throws -> [Model] {
        try SwiftDataError.translating {
            try objects.perform {
                let isChanged = descriptor.includePendingChanges && objects.hasChanges
                var asked = descriptor
                if isChanged { (asked.fetchLimit, asked.fetchOffset) = (nil, nil) }
                var copied = descriptor
                copied.allowsInMemoryEvaluation = true
                guard let found = try store.fetch(asked, for: objects) else { return try fetchFromRows(copied) }
                guard isChanged else {
                    return try objects.batch(found).compactMap { try graph.checkedModel(for: $0, as: Model.self) }
                }
                (copied.fetchLimit, copied.fetchOffset) = (nil, nil)
                let ids = Set(found)
                let models = try fetchFromRows(copied).filter { model in
                    model.hasChanges || ids.contains(model.persistentModelID.objectID)
                }
                let rest = models.dropFirst(max(descriptor.fetchOffset ?? 0, 0))
                return Array(descriptor.fetchLimit.map { $0 > 0 ? rest.prefix($0) : rest } ?? rest)
            }
        }
    }

    /// Nil where the models have to be read to be counted.
    func count<Model: PersistentModel>(
        _ descriptor: FetchDescriptor<Model>, in store: any CustomStore
    ) throws -> Int? {
        try objects.perform {
            if descriptor.includePendingChanges, objects.hasChanges { return nil }
            return try store.count(descriptor, for: objects)
        }
    }
}
