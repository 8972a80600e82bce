internal import MoultCoreData
import MoultModel
import MoultObjects

/// A container's schema and its open stores: what the container and all its contexts stand on.
final class ModelStack: @unchecked Sendable {
    let schema: Schema
    let coordinator: ObjectCoordinator
    /// Kept open as long as any context is used. In the order of the configurations.
    let stores: [PersistentStore]
    /// The plan and the configurations of the container, for the container of a context that outlives it; set once.
    var origin: (plan: (any SchemaMigrationPlan.Type)?, configurations: Set<ModelConfiguration>) = (nil, [])
    /// The configurations' names, each with the identifier of the store that it opened. A store that a newer container
    /// has migrated keeps its entry.
    let opened: [(configuration: String, store: String)]
    /// The data stores of the program's own, in the order of the configurations.
    let customStores: [any CustomStore]
    private let customStoresByEntity: [String: any CustomStore]
    private let bindings: [String: ModelBinding]
    /// Whether every model has something to show whatever its row holds.
    let hasStandIns: Bool
    private let namesByType: [ObjectIdentifier: String]

    init(
        _ schema: Schema, _ coordinator: ObjectCoordinator, _ stores: [PersistentStore],
        configurationNames: [String] = []
    ) {
        let owned = coordinator.stores.compactMap { rows in (rows.owner as? any CustomStore).map { (rows, $0) } }
        customStores = owned.map { $1 }
        customStoresByEntity = owned.reduce(into: [:]) { found, owned in
            for name in owned.0.layout.entityNumbers.keys { found[name] = owned.1 }
        }
        self.schema = schema
        self.coordinator = coordinator
        self.stores = stores
        opened = zip(configurationNames, coordinator.stores).map { name, store in
            (name, CustomIdentities.shared.name(of: store.identifier) ?? store.identifier.uuidString)
        }
        bindings = schema.types.reduce(into: [:]) { bindings, entry in
            bindings[entry.key] = coordinator.shape(of: entry.key).map { ModelBinding(entry.value, $0) }
        }
        hasStandIns = bindings.values.allSatisfy(\.hasStandIns)
        namesByType = Dictionary(schema.types.map { (ObjectIdentifier($1), $0) }) { first, _ in first }
    }

    deinit { for store in stores { store.close() } }

    /// The data store of the program's own that holds an entity; nil for one of a SQLite store.
    func customStore(_ entityName: String) -> (any CustomStore)? {
        customStores.isEmpty ? nil : customStoresByEntity[entityName]
    }

    func customStore(_ type: any PersistentModel.Type) -> (any CustomStore)? {
        customStores.isEmpty ? nil : namesByType[ObjectIdentifier(type)].flatMap { customStoresByEntity[$0] }
    }

    /// Returns the binding of an entity's class.
    func binding(_ entityName: String) throws -> ModelBinding {
        if let binding = bindings[entityName] { return binding }
        throw unknown(entityName)
    }

    /// Returns the binding of a class of the schema.
    ///
    /// - Throws: ``SwiftDataError/unknownSchema`` for one that the schema has not.
    func binding(_ type: any PersistentModel.Type) throws -> ModelBinding {
        if let name = namesByType[ObjectIdentifier(type)], let binding = bindings[name] { return binding }
        throw unknown(String(reflecting: type))
    }

    /// Whether a class is one of the schema whose objects lie in another store than these: the code of a stage has one of
    /// several stores at a time.
    func isElsewhere(_ type: any PersistentModel.Type) -> Bool {
        namesByType[ObjectIdentifier(type)].map { bindings[$0] == nil } ?? false
    }

    private func unknown(_ name: String) -> SwiftDataError {
        SwiftDataError(
            .unknownSchema,
            MigrationError(
                .unknownKey, "\(name) is not a model of this container's schema.", place: name,
                remedy: "Make the container for it too; its models are "
                    + "\(schema.entities.map(\.name).joined(separator: ", "))."))
    }
}
