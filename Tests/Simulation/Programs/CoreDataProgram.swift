import Foundation
import MoultBasics
import MoultCoreData
import MoultModel
import MoultObjects
import MoultPlan

/// A program that is written to Core Data's API. The files beside the store are the machine's own to it; SQLite's, the
/// clock and the names are those of the simulated disk.
final class CoreDataProgram: Program {
    private let coordinator: PersistentStoreCoordinator
    private var context: ManagedObjectContext

    init(_ stores: [ProgramStore], _ model: ManagedObjectModel, on system: any System) throws {
        coordinator = PersistentStoreCoordinator(managedObjectModel: model)
        context = ManagedObjectContext(persistentStoreCoordinator: coordinator)
        do {
            for store in stores {
                let description = Self.description(of: store)
                description.shouldMigrateStoreAutomatically = false
                try coordinator.add(description, on: ClockedSystem(simulated: system))
            }
        } catch {
            close()
            throw error
        }
    }

    /// Opens stores, one after another, as a container does that has a later version of their model.
    ///
    /// - Parameter stores: the stores, each with the answers to the questions on its way.
    init(
        migrating stores: [(store: ProgramStore, answers: Answers)], to version: ModelVersion,
        of versions: ModelVersions, _ registry: MigrationRegistry, on system: any System
    ) throws {
        coordinator = PersistentStoreCoordinator(managedObjectModel: version.model, versions: versions)
        context = ManagedObjectContext(persistentStoreCoordinator: coordinator)
        do {
            for (store, answers) in stores {
                let description = Self.description(of: store)
                description.migrationRegistry = registry
                if !answers.list.isEmpty { description.migrationAnswers = Data(answers.json) }
                var loader = try StoreLoader(description, model: version.model, versions: versions)
                (loader.system, loader.isSequential) = (system, true)
                try coordinator.objects.add(loader.open().store)
            }
        } catch {
            close()
            throw error
        }
    }

    private static func description(of store: ProgramStore) -> PersistentStoreDescription {
        let description = PersistentStoreDescription(url: URL(fileURLWithPath: store.path))
        description.timeout = 0
        description.configuration = store.configuration
        description.maximumMigrationAttempts = .max
        return description
    }

    func begin() { context = ManagedObjectContext(persistentStoreCoordinator: coordinator) }

    func insert(_ entity: String) throws -> ManagedObject { try context.insertNewObject(forEntityName: entity) }

    func object(_ entity: String, key: Int) throws -> ManagedObject {
        try context.existingObject(with: coordinator.objects.id(entity, key: key))
    }

    func set(_ handle: ManagedObject, _ attribute: AttributeDescription, _ text: String) throws {
        let value: Any? =
            switch HistoryValues.value(text, as: attribute.type) {
            case nil: nil
            case .integer(let number)?: number
            case .boolean(let flag)?: flag
            case .double(let number)?: number
            case .decimal(let digits)?: Decimal(string: digits)
            case .string(let text)?: text
            case .uri(let text)?: text
            case .date(let seconds)?: Date(timeIntervalSinceReferenceDate: seconds)
            case .uuid(let bytes)?: UUID(simulated: bytes)
            case .binary(let bytes)?, .transformable(let bytes)?: Data(bytes)
            }
        try handle.setValue(value, forKey: attribute.name)
    }

    func setToOne(_ handle: ManagedObject, _ name: String, _ other: ManagedObject?) throws {
        try handle.setValue(other, forKey: name)
    }

    func add(_ other: ManagedObject, to handle: ManagedObject, _ name: String, at place: Int?) throws {
        if let place {
            var list = try handle.value(forKey: name) as? [ManagedObject] ?? []
            list.insert(other, at: min(place, list.count))
            try handle.setValue(list, forKey: name)
        } else {
            let set = try handle.value(forKey: name) as? Set<ManagedObject> ?? []
            try handle.setValue(set.union([other]), forKey: name)
        }
    }

    func remove(_ other: ManagedObject, from handle: ManagedObject, _ name: String) throws {
        if let list = try handle.value(forKey: name) as? [ManagedObject] {
            try handle.setValue(list.filter { $0 !== other }, forKey: name)
        } else {
            let set = try handle.value(forKey: name) as? Set<ManagedObject> ?? []
            try handle.setValue(set.subtracting([other]), forKey: name)
        }
    }

    func delete(_ handle: ManagedObject) throws {
        try context.delete(handle)
        try context.processPendingChanges()
    }

    func save() throws { if context.hasChanges { try context.save() } }
    func key(of handle: ManagedObject) throws -> Int { Int(handle.object.id.key) }

    func all(_ entity: String) throws -> [ManagedObject] {
        var request = FetchRequest<ManagedObject>(entityName: entity)
        request.includesSubentities = false
        return try context.fetch(request)
    }

    func text(_ handle: ManagedObject, _ attribute: AttributeDescription) throws -> String {
        let value: AttributeValue? =
            switch (attribute.type, try self.value(handle, attribute)) {
            case (.boolean, let number as NSNumber): .boolean(number.boolValue)
            case (.integer16, let number as NSNumber), (.integer32, let number as NSNumber),
                (.integer64, let number as NSNumber):
                .integer(number.int64Value)
            case (.double, let number as NSNumber), (.float, let number as NSNumber): .double(number.doubleValue)
            case (.decimal, let number as Decimal): .decimal(StoreWitness.plain("\(number)"))
            case (.date, let date as Date): .date(date.timeIntervalSinceReferenceDate)
            case (.uuid, let uuid as UUID): .uuid(withUnsafeBytes(of: uuid.uuid) { Array($0) })
            case (.uri, let url as URL): .uri(url.absoluteString)
            case (.uri, let text as String): .uri(text)
            case (.string, let text as String): .string(text)
            case (.transformable, let data as Data): .transformable([UInt8](data))
            case (.binary, let data as Data): .binary([UInt8](data))
            default: nil
            }
        return HistoryValues.text(value)
    }

    /// An element is read from the composite attribute's dictionary.
    private func value(_ handle: ManagedObject, _ attribute: AttributeDescription) throws -> Any? {
        guard let composite = attribute.compositePath else { return try handle.value(forKey: attribute.name) }
        return (try handle.value(forKey: composite) as? [String: Any])?[attribute.lastName]
    }

    func toOne(_ handle: ManagedObject, _ name: String) throws -> String? {
        (try handle.value(forKey: name) as? ManagedObject).map(Self.text)
    }

    func toMany(_ handle: ManagedObject, _ name: String, isOrdered: Bool) throws -> [String] {
        let value = try handle.value(forKey: name)
        if let list = value as? [ManagedObject] { return list.map(Self.text) }
        let members = value as? Set<ManagedObject> ?? []
        return members.sorted { $0.object.id.key < $1.object.id.key }.map(Self.text)
    }

    private static func text(_ object: ManagedObject) -> String {
        "\(object.object.entityName)/\(object.object.id.key)"
    }

    func close() {
        for store in coordinator.persistentStores { try? coordinator.remove(store) }
        coordinator.objects.closeAll()
    }
}

extension UUID {
    fileprivate init(simulated bytes: [UInt8]) {
        var value = UUID().uuid
        withUnsafeMutableBytes(of: &value) { $0.copyBytes(from: bytes.prefix(16)) }
        self.init(uuid: value)
    }
}
