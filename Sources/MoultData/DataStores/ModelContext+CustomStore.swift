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

    /// Nil where the models have to be read for it.
    func identifiers<Model: PersistentModel>(
        _ descriptor: FetchDescriptor<Model>, in store: any CustomStore
    ) throws -> [PersistentIdentifier]? {
        try objects.perform { try mayChange(descriptor) ? nil : store.identifiers(descriptor, for: objects) }
    }

    /// Nil where the models have to be read to be counted.
    func count<Model: PersistentModel>(
        _ descriptor: FetchDescriptor<Model>, in store: any CustomStore
    ) throws -> Int? {
        try objects.perform { try mayChange(descriptor) ? nil : store.count(descriptor, for: objects) }
    }

    /// Whether unsaved changes, of this class or of another that a predicate leads to, may decide what is found.
    private func mayChange<Model: PersistentModel>(_ descriptor: FetchDescriptor<Model>) -> Bool {
        descriptor.includePendingChanges && objects.hasChanges
    }

    /// Writes the changes. Stores of the program's own say first what may not be repeated, and afterwards what they made
    /// of the changes.
    func saveChanges() throws -> SavedChanges {
        let stores = graph.stack.customStores
        guard !stores.isEmpty else { return try graph.save() }
        return try objects.perform {
            try objects.processPendingChanges()
            let names = Set((objects.insertedObjects + objects.updatedObjects).map(\.entityName))
            for store in stores { try store.copyUnique(names, for: objects) }
            let saved = try graph.save()
            // Everything is saved by now. What is wrong with this, the next fetch throws.
            for store in stores { try? store.copyReregistered(for: objects) }
            return saved
        }
    }
}
