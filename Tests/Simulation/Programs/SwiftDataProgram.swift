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

    init(_ path: String, version: Int, on system: any System) throws {
        self.version = version
        container = try Self.unnamed {
            try ModelContainer(
                Schema(DynamicModels.types(version)), nil, [ModelConfiguration(url: URL(fileURLWithPath: path))]
            ) { $0.system = ClockedSystem(simulated: system) }
        }
        context = ModelContext(container)
    }

    /// Opens a store as a container does that has a plan with later versions, and closes it.
    static func migrate(_ path: String, to target: Int, _ answers: [MigrationAnswer], on system: any System) throws {
        (DynamicModels.newest, DynamicModels.answers) = (target, answers)
        try unnamed {
            var opener = try StoreOpener(
                schema: Schema(versionedSchema: DynamicModels.schema(target)), plan: DynamicPlan.self)
            (opener.system, opener.isSequential) = (system, true)
            var run = RunOptions()
            run.patience = .zero
            run.maximumAttempts = .max
            try opener.open(at: URL(fileURLWithPath: path), run).close()
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
        guard let store = container.coordinator.stores.first else { throw WitnessFailure("the container has no store") }
        let id = PersistentIdentifier(store.id(entity, key: Int64(key)))
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

    func close() {
        for store in container.coordinator.stores {
            try? container.coordinator.remove(store)
            store.close()
        }
    }
}
