import MoultBasics
import MoultObjects

/// The SQLite data store of a ``ModelConfiguration``. A container opens such a store itself; a ``DataStore`` of your
/// own can use one to keep its models.
public final class DefaultStore: DataStore {
    /// The form in which models are exchanged with the container.
    public typealias Snapshot = DefaultSnapshot

    /// The configuration that the store was created with.
    public let configuration: ModelConfiguration
    /// The name of the configuration.
    public var name: String { configuration.name }
    /// The UUID of the store.
    public let identifier: String
    /// The models that the store holds.
    public let schema: Schema
    private let container: ModelContainer

    /// Opens the store of a configuration, which must have a schema.
    ///
    /// - Throws: ``SwiftDataError/configurationSchemaNotFoundInContainerSchema`` for a configuration without a schema;
    ///   what making a ``ModelContainer`` throws.
    public init(_ configuration: ModelConfiguration, migrationPlan: (any SchemaMigrationPlan.Type)?) throws {
        guard let schema = configuration.schema else {
            throw SwiftDataError(
                .configurationSchemaNotFoundInContainerSchema,
                "The configuration \(configuration.name) names no models.", place: configuration.name,
                remedy: "Set its schema before the store is made.")
        }
        container = try ModelContainer(for: schema, migrationPlan: migrationPlan, configurations: configuration)
        self.configuration = configuration
        self.schema = schema
        identifier = container.coordinator.stores.first?.identifier.uuidString ?? ""
        SnapshotClasses.note(schema)
    }

    /// Returns the models that a request matches.
    public func fetch<T: PersistentModel>(
        _ request: DataStoreFetchRequest<T>
    ) throws -> DataStoreFetchResult<T, DefaultSnapshot> {
        let context = context(request.editingState)
        return DataStoreFetchResult(
            descriptor: request.descriptor,
            fetchedSnapshots: try context.fetch(request.descriptor).map(\.persistentModelID).map { id in
                try snapshot(try context.objects.object(with: id.objectID))
            })
    }

    /// Returns the number of models that a request matches.
    public func fetchCount<T: PersistentModel>(_ request: DataStoreFetchRequest<T>) throws -> Int {
        try context(request.editingState).fetchCount(request.descriptor)
    }

    /// Returns the identities of the models that a request matches.
    public func fetchIdentifiers<T: PersistentModel>(
        _ request: DataStoreFetchRequest<T>
    ) throws -> [PersistentIdentifier] {
        try context(request.editingState).fetchIdentifiers(request.descriptor)
    }

    /// Writes all changes in one transaction, overwriting the rows. If a row already has the unique values of a new
    /// model, the model gets the identity of that row.
    public func save(
        _ request: DataStoreSaveChangesRequest<DefaultSnapshot>
    ) throws -> DataStoreSaveChangesResult<DefaultSnapshot> {
        let objects = context(request.editingState).objects
        return try SwiftDataError.translating {
            try objects.perform {
                var made: [PersistentIdentifier: Object] = [:]
                // A row that already has the unique values of a new object replaces it.
                objects.upserting = { new, kept in
                    for (id, object) in made where object === new { made[id] = kept }
                }
                for snapshot in request.inserted {
                    made[snapshot.persistentIdentifier] = try objects.insert(snapshot.persistentIdentifier.entityName)
                }
                func object(_ id: PersistentIdentifier) throws -> Object {
                    try made[id] ?? objects.existingObject(with: id.objectID)
                }
                for snapshot in request.inserted + request.updated {
                    try set(snapshot, of: try object(snapshot.persistentIdentifier), object)
                }
                // Look up all objects first: one that a delete rule has deleted can no longer be looked up.
                let deleted = try request.deleted.map { try object($0.persistentIdentifier) }
                for object in deleted where !object.isDeleted { try objects.delete(object) }
                try objects.save()
                return DataStoreSaveChangesResult(
                    for: identifier, remappedIdentifiers: made.mapValues { PersistentIdentifier($0.id) })
            }
        }
    }

    private func set(
        _ snapshot: DefaultSnapshot, of object: Object, _ other: (PersistentIdentifier) throws -> Object
    ) throws {
        for property in try container.stack.binding(object.entityName).type.schemaMetadata.keptProperties {
            switch property.shape {
            case .attribute:
                for path in property.paths { try object.setAttribute(path, snapshot.attributes[path]) }
            case .toOne: try object.setToOne(property.name, try snapshot.destinations[property.name]?.first.map(other))
            case .toMany:
                try object.setToMany(property.name, try (snapshot.destinations[property.name] ?? []).map(other))
            }
        }
    }

    /// Deletes everything.
    public func erase() throws { try container.erase() }

    /// Returns the models with these identities that the store has.
    public func cachedSnapshots(
        for persistentIdentifiers: [PersistentIdentifier], editingState: EditingState
    ) throws -> [PersistentIdentifier: DefaultSnapshot] {
        let objects = context(editingState).objects
        return try SwiftDataError.translating {
            try objects.perform {
                var found: [PersistentIdentifier: DefaultSnapshot] = [:]
                for id in persistentIdentifiers {
                    do {
                        found[id] = try snapshot(try objects.existingObject(with: id.objectID))
                    } catch let error as MigrationError where error.code == .objectGone {
                        continue
                    }
                }
                return found
            }
        }
    }

    private func snapshot(_ object: Object) throws -> DefaultSnapshot {
        try DefaultSnapshot(object, try container.stack.binding(object.entityName).type)
    }

    private func context(_ state: EditingState) -> ModelContext {
        let context = ModelContext(container)
        context.author = state.author
        return context
    }
}

extension DefaultStore: HistoryProviding {
    /// Returns the saves of the store that a descriptor matches.
    public func fetchHistory(
        _ descriptor: HistoryDescriptor<DefaultHistoryTransaction>
    ) throws -> [DefaultHistoryTransaction] { try ModelContext(container).fetchHistory(descriptor) }

    /// Deletes the saves that a descriptor matches from the history; the saved data stays.
    public func deleteHistory(_ descriptor: HistoryDescriptor<DefaultHistoryTransaction>) throws {
        try ModelContext(container).deleteHistory(descriptor)
    }
}
