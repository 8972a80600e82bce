import MoultObjects

/// An interface to stored objects, for code that works over either face: Core Data's or SwiftData's.
public typealias DataModel = MoultObjects.DataModel

/// The objects of one entity in a container's stores.
public struct CoreDataModel<Record: ManagedObject>: DataModel {
    /// The container whose stores hold the objects.
    public let container: PersistentContainer
    /// The entity whose objects are meant, those of its sub-entities included.
    public let entityName: String

    /// The objects of an entity in a container.
    public init(_ container: PersistentContainer, entityName: String) {
        self.container = container
        self.entityName = entityName
    }

    /// A fetch of every object of the entity, without order.
    public var all: FetchRequest<Record> { FetchRequest<Record>(entityName: entityName) }

    /// A background context of its own over the container's stores.
    public func createContext() -> ManagedObjectContext { container.newBackgroundContext() }

    /// Fetches in the context's turn.
    ///
    /// - Throws: what ``ManagedObjectContext/fetch(_:)`` throws.
    public func fetch(_ fetch: FetchRequest<Record>, in context: ManagedObjectContext) throws -> [Record] {
        try context.performAndWait { try context.fetch(fetch) }
    }

    /// Saves a context that has changes, in its turn; does nothing for one that has none.
    ///
    /// - Throws: what ``ManagedObjectContext/save()`` throws.
    public func save(_ context: ManagedObjectContext) throws {
        try context.performAndWait { if context.hasChanges { try context.save() } }
    }
}
