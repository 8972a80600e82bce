import Foundation
import Moult
import MoultBasics
import MoultData
import MoultModel
import MoultObjects
import MoultPlan

/// A program that is written to SwiftData's API. The files beside the store are the machine's own to it, the clock and
/// the names are not.
final class SwiftDataProgram: Program {
    private let version: Int
    private let container: ModelContainer
    private var context: ModelContext

    /// A container with the entities of the stores.
    init(_ stores: [ProgramStore], version: Int, on system: any System) throws {
        self.version = version
        container = try Self.unnamed {
            let all = Self.schema(stores.reduce(into: []) { $0.formUnion($1.entities) }, version)
            return try ModelContainer(all, nil, Self.configurations(of: stores, version)) {
                $0.system = ClockedSystem(simulated: system)
            }
        }
        context = ModelContext(container)
    }

    /// A container over all stores of a life, with a plan that migrates them as they are opened.
    init(
        migrating stores: [ProgramStore], to target: Int, _ answers: [MigrationAnswer], on system: any System
    ) throws {
        version = target
        (DynamicModels.newest, DynamicModels.answers) = (target, answers)
        container = try Self.unnamed {
            try ModelContainer(
                Schema(versionedSchema: DynamicModels.schema(target)), DynamicPlan.self,
                Self.configurations(of: stores, target)
            ) { ($0.system, $0.isSequential) = (system, true) }
        }
        context = ModelContext(container)
    }

    /// Opens one of the stores of a life as a container does that has a plan with later versions, and closes it.
    ///
    /// - Parameter stores: all of them, the one to open first.
    static func migrate(
        _ stores: [ProgramStore], to target: Int, _ answers: [MigrationAnswer], on system: any System
    ) throws {
        (DynamicModels.newest, DynamicModels.answers) = (target, answers)
        guard let store = stores.first else { return }
        let parts = stores.compactMap { store in store.configuration.map { ($0, store.entities) } }
        try unnamed {
            var opener = try StoreOpener(
                schema: Schema(versionedSchema: DynamicModels.schema(target)), plan: DynamicPlan.self,
                configurations: Dictionary(parts) { first, _ in first })
            (opener.system, opener.isSequential) = (system, true)
            var run = RunOptions()
            run.patience = .zero
            run.maximumAttempts = .max
            try opener.open(at: URL(fileURLWithPath: store.path), configuration: store.configuration, run).close()
        }
    }

    private static func schema(_ entities: Set<String>, _ version: Int) -> Schema {
        Schema(DynamicModels.types(version).filter { entities.contains($0.schemaMetadata.name) })
    }

    /// One store has all models of its container, and needs no schema of its own.
    private static func configurations(of stores: [ProgramStore], _ version: Int) -> [ModelConfiguration] {
        stores.map { store in
            ModelConfiguration(
                stores.count > 1 ? store.configuration : nil,
                schema: stores.count > 1 ? schema(store.entities, version) : nil, url: URL(fileURLWithPath: store.path))
        }
    }

    /// Throws Moult's own error in place of SwiftData's.
    private static func unnamed<Result>(_ body: () throws -> Result) throws -> Result {
        do { return try body() } catch let error as SwiftDataError { throw error.underlyingError }
    }

    func begin() { context = ModelContext(container) }

    private func type(_ entity: String) throws -> any DynamicModel.Type {
        guard let found = DynamicModels.types(version).first(where: { $0.schemaMetadata.name == entity }) else {
            throw WitnessFailure("no class \(entity)")
        }
        return found
    }

    func insert(_ entity: String) throws -> any DynamicModel {
        func insert<Model: DynamicModel>(_ type: Model.Type) -> any DynamicModel {
            let model = Model()
            context.insert(model)
            return model
        }
        return insert(try type(entity))
    }

    func object(_ entity: String, key: Int) throws -> any DynamicModel {
        let id = PersistentIdentifier(try container.coordinator.id(entity, key: key))
        guard let found = context.model(for: id) as? any DynamicModel else {
            throw WitnessFailure("no model \(entity) \(key)")
        }
        return found
    }

    func set(_ handle: any DynamicModel, _ attribute: AttributeDescription, _ text: String) throws {
        attribute.swiftType.set(HistoryValues.value(text, as: attribute.type), attribute.name, of: handle)
    }

    private func write<Property: _ModelProperty>(
        _ property: Property, _ name: String, of handle: any DynamicModel, _ change: (inout Property.Value) -> Void
    ) {
        func write<Model: DynamicModel>(_ model: Model) {
            let key = DynamicKey(name, property)
            var value = model[key]
            change(&value)
            model[key] = value
        }
        write(handle)
    }

    private func read<Property: _ModelProperty>(
        _ property: Property, _ name: String, of handle: any DynamicModel
    ) -> Property.Value {
        func read<Model: DynamicModel>(_ model: Model) -> Property.Value { model[DynamicKey(name, property)] }
        return read(handle)
    }

    // Only its name tells one property from another; the class that it leads to is in the schema.
    private var one: DynamicToOne { DynamicToOne(destination: DynamicModels.types(version)[0]) }
    private var many: DynamicToMany { DynamicToMany(destination: DynamicModels.types(version)[0]) }

    func setToOne(_ handle: any DynamicModel, _ name: String, _ other: (any DynamicModel)?) throws {
        write(one, name, of: handle) { $0 = other }
    }

    func add(_ other: any DynamicModel, to handle: any DynamicModel, _ name: String, at place: Int?) throws {
        write(many, name, of: handle) { $0.append(other) }
    }

    func remove(_ other: any DynamicModel, from handle: any DynamicModel, _ name: String) throws {
        write(many, name, of: handle) { list in list.removeAll { $0 as AnyObject === other as AnyObject } }
    }

    func delete(_ handle: any DynamicModel) throws {
        func delete<Model: DynamicModel>(_ model: Model) { context.delete(model) }
        delete(handle)
        context.processPendingChanges()
    }

    func save() throws { try Self.unnamed { try context.save() } }
    func key(of handle: any DynamicModel) throws -> Int { Int(handle.persistentModelID.objectID.key) }

    func all(_ entity: String) throws -> [any DynamicModel] {
        func fetch<Model: DynamicModel>(_ type: Model.Type) throws -> [any DynamicModel] {
            try context.fetch(FetchDescriptor<Model>())
        }
        return try Self.unnamed { try fetch(try type(entity)) }
    }

    func text(_ handle: any DynamicModel, _ attribute: AttributeDescription) throws -> String {
        var value = attribute.swiftType.value(attribute.name, of: handle)
        if case .decimal(let digits)? = value { value = .decimal(StoreWitness.plain(digits)) }
        return HistoryValues.text(value)
    }

    func toOne(_ handle: any DynamicModel, _ name: String) throws -> String? {
        read(one, name, of: handle).map(Self.text)
    }

    func toMany(_ handle: any DynamicModel, _ name: String, isOrdered: Bool) throws -> [String] {
        read(many, name, of: handle).sorted { $0.persistentModelID.objectID.key < $1.persistentModelID.objectID.key }
            .map(Self.text)
    }

    private static func text(_ model: any PersistentModel) -> String {
        "\(model.persistentModelID.entityName)/\(model.persistentModelID.objectID.key)"
    }

    func close() { container.coordinator.closeAll() }
}
