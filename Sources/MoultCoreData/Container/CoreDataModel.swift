import MoultTransform

/// What code over either face goes by.
public typealias DataModel = MoultTransform.DataModel

/// The objects of one entity in a container's stores.
public struct CoreDataModel<Record: ManagedObject>: DataModel {
    public let container: PersistentContainer
    public let entityName: String

    public init(_ container: PersistentContainer, entityName: String) {
        self.container = container
        self.entityName = entityName
    }

    public var all: FetchRequest<Record> { FetchRequest<Record>(entityName: entityName) }

    public func createContext() -> ManagedObjectContext { container.newBackgroundContext() }

    public func fetch(_ fetch: FetchRequest<Record>, in context: ManagedObjectContext) throws -> [Record] {
        try context.performAndWait { try context.fetch(fetch) }
    }

    public func save(_ context: ManagedObjectContext) throws {
        try context.performAndWait { if context.hasChanges { try context.save() } }
    }
}
