import Foundation
import MoultBasics
internal import MoultCoreData
import MoultObjects
import MoultSession

/// A container's schema and open stores, which the container shares with all its contexts.
final class ContainerStorage: @unchecked Sendable {
    let schema: Schema
    let coordinator: ObjectCoordinator
    /// The stores, in the order of the configurations. They stay open as long as any context is used.
    let stores: [PersistentStore]
    /// The plan and the configurations of the container, for re-creating it when a context outlives it; set once.
    var origin: (plan: (any SchemaMigrationPlan.Type)?, configurations: Set<ModelConfiguration>) = (nil, [])
    /// The names of the configurations, each with the identifier of the store that it opened. An entry remains after a
    /// newer container migrates the store.
    let opened: [(configuration: String, store: String)]
    /// The custom data stores, in the order of the configurations.
    let customStores: [any CustomStore]
    private let customStoresByEntity: [String: any CustomStore]
    private let bindings: [String: ModelClassInfo]
    /// Whether every model can show something for every row, whatever the row holds.
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
        (self.schema, self.coordinator, self.stores) = (schema, coordinator, stores)
        opened = zip(configurationNames, coordinator.stores).map { name, store in
            (name, CustomIdentities.shared.name(of: store.identifier) ?? store.identifier.uuidString)
        }
        bindings = schema.types.reduce(into: [:]) { bindings, entry in
            bindings[entry.key] = coordinator.shape(of: entry.key).map { ModelClassInfo(entry.value, $0) }
        }
        hasStandIns = bindings.values.allSatisfy(\.hasStandIns)
        namesByType = Dictionary(schema.types.map { (ObjectIdentifier($1), $0) }) { first, _ in first }
    }

    deinit { for store in stores { store.close() } }

    /// Returns the custom data store that holds an entity; nil for an entity of a SQLite store.
    func customStore(_ entityName: String) -> (any CustomStore)? {
        customStores.isEmpty ? nil : customStoresByEntity[entityName]
    }

    func customStore(_ type: any PersistentModel.Type) -> (any CustomStore)? {
        customStores.isEmpty ? nil : namesByType[ObjectIdentifier(type)].flatMap { customStoresByEntity[$0] }
    }

    /// Returns the binding of an entity's class.
    func binding(_ entityName: String) throws -> ModelClassInfo {
        if let binding = bindings[entityName] { return binding }
        throw unknown(entityName)
    }

    /// Returns the binding of a class of the schema.
    ///
    /// - Throws: ``SwiftDataError/unknownSchema`` for a class that is not in the schema.
    func binding(_ type: any PersistentModel.Type) throws -> ModelClassInfo {
        if let name = namesByType[ObjectIdentifier(type)], let binding = bindings[name] { return binding }
        throw unknown(String(reflecting: type))
    }

    /// Whether a class belongs to the schema but its objects are in another store: the code of a stage sees one of
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

/// Opens every store of a container.
struct ContainerStores {
    let schema: Schema
    let plan: (any SchemaMigrationPlan.Type)?
    let configurations: [any DataStoreConfiguration]
    /// Changes the way that the stores are opened, before they are.
    var adjusting: (inout StoreOpener) -> Void = { _ in }

    private func opener(_ parts: [String: Set<String>]) throws -> StoreOpener {
        try check()
        let only = configurations.count == 1 ? configurations.first as? ModelConfiguration : nil
        var opener = try StoreOpener(
            schema: schema, plan: plan, configurations: parts,
            store: only.flatMap { $0.isStoredInMemoryOnly ? nil : $0.url })
        adjusting(&opener)
        return opener
    }

    /// Returns the launch of the stores.
    func launch() throws -> StoreLaunch {
        do {
            let parts = parts
            let opener = try opener(parts)
            let openings = try configurations.enumerated().compactMap { number, given -> StoreLoader? in
                guard let one = given as? ModelConfiguration, !one.isStoredInMemoryOnly else { return nil }
                return try opener.opening(
                    at: one.url, configuration: parts.isEmpty ? nil : partName(number), isReadOnly: !one.allowsSave,
                    one.run)
            }
            return StoreLaunch(openings)
        } catch let error as MigrationError {
            throw SwiftDataError(opening: error)
        }
    }

    func open() throws -> ContainerStorage {
        do {
            let parts = parts
            let opener = try opener(parts)
            let coordinator = ObjectCoordinator(model: opener.model)
            var stores: [PersistentStore] = []
            do {
                for (number, given) in configurations.enumerated() {
                    let part = parts.isEmpty ? nil : partName(number)
                    guard let configuration = given as? ModelConfiguration else {
                        let owner = try makeCustomStore(given)
                        let rows = try ObjectStore(
                            inMemory: opener.model, configuration: part, identifier: owner.identifier)
                        rows.owner = owner
                        try coordinator.add(rows)
                        continue
                    }
                    try makeFolder(of: configuration)
                    let store = try opener.open(
                        at: configuration.isStoredInMemoryOnly ? nil : configuration.url, configuration: part,
                        isReadOnly: !configuration.allowsSave, configuration.run)
                    stores.append(store)
                    try coordinator.add(store.store)
                }
            } catch {
                for store in stores { store.close() }
                throw error
            }
            return ContainerStorage(schema, coordinator, stores, configurationNames: configurations.map(\.name))
        } catch let error as MigrationError {
            throw SwiftDataError(opening: error)
        }
    }

    /// Opens a custom data store.
    private func makeCustomStore<Configuration: DataStoreConfiguration>(
        _ given: Configuration
    ) throws -> any CustomStore {
        var configuration = given
        let held = configuration.schema ?? schema
        if configuration.schema == nil { configuration.schema = schema }
        try configuration.validate()
        SnapshotClasses.note(held)
        let store = try SnapshotClasses.$schema.withValue(held) {
            try Configuration.Store(configuration, migrationPlan: plan)
        }
        return DataStoreCopy(store, schema: held)
    }

    /// The entities of each store, by the name of its configuration; empty if one store holds all entities.
    private var parts: [String: Set<String>] {
        let all = Set(schema.entities.map(\.name))
        guard configurations.count > 1 || configurations.contains(where: { names(of: $0) != all }) else { return [:] }
        return Dictionary(configurations.enumerated().map { (partName($0), names(of: $1)) }) { first, _ in first }
    }

    /// Returns a distinct name for a configuration. Unnamed configurations are all called `default`.
    private func partName(_ number: Int) -> String {
        let name = configurations[number].name
        return configurations.prefix(number).contains { $0.name == name } ? "\(name) \(number + 1)" : name
    }

    private func names(of configuration: any DataStoreConfiguration) -> Set<String> {
        Set((configuration.schema ?? schema).entities.map(\.name))
    }

    private func check() throws {
        var places: Set<String> = []
        for configuration in configurations {
            if let own = configuration as? ModelConfiguration {
                try own.checkName()
                try own.checkCloudKit(schema)
                if own.isSharedWithSwiftData { try (own.schema ?? schema).checkMappings() }
                let path = own.url.standardizedFileURL.path
                guard own.isStoredInMemoryOnly || places.insert(path).inserted else {
                    throw SwiftDataError(
                        .duplicateConfiguration, "Two configurations are of one store.", place: path,
                        remedy: "Give each configuration a name, or a URL, of its own.")
                }
            }
            let foreign = (configuration.schema?.entities ?? []).filter { schema.entitiesByName[$0.name] == nil }
            guard foreign.isEmpty else {
                throw SwiftDataError(
                    .configurationSchemaNotFoundInContainerSchema,
                    "The configuration \(configuration.name) holds \(foreign.map(\.name).joined(separator: ", ")), "
                        + "which the container's schema does not have.",
                    place: configuration.name, remedy: "Make the container for these models too.")
            }
        }
        try checkEveryModelHasAStore()
        try checkCustomStoresShareNothing()
    }

    /// Throws if a custom data store shares a model with another store. Only SQLite stores can share a model.
    private func checkCustomStoresShareNothing() throws {
        guard configurations.contains(where: { !($0 is ModelConfiguration) }) else { return }
        var held: Set<String> = []
        for configuration in configurations {
            let names = names(of: configuration)
            guard let shared = held.intersection(names).min() else {
                held.formUnion(names)
                continue
            }
            throw SwiftDataError(
                .duplicateConfiguration, "Two configurations contain \(shared), and one is of a DataStore.",
                place: configuration.name, remedy: "Give each configuration a schema of its own models.")
        }
    }

    private func checkEveryModelHasAStore() throws {
        let held = configurations.reduce(into: Set<String>()) { $0.formUnion(names(of: $1)) }
        let homeless = schema.entities.map(\.name).filter { !held.contains($0) }
        guard !homeless.isEmpty else { return }
        throw SwiftDataError(
            .configurationSchemaNotFoundInContainerSchema,
            "No configuration contains \(homeless.joined(separator: ", ")).", place: homeless.joined(separator: ", "),
            remedy: "Add the models to the schema of a configuration, or a configuration without a schema.")
    }

    /// Creates the folder of a store without a URL of its own. Any other folder must exist.
    private func makeFolder(of configuration: ModelConfiguration) throws {
        guard !configuration.isStoredInMemoryOnly else { return }
        let folder = configuration.url.deletingLastPathComponent()
        guard folder == ModelConfiguration.folder(configuration.groupContainer) else { return }
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }
}
