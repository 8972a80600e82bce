import MoultTransform

/// The common interface to objects, for code that works over either face.
public typealias DataModel = MoultTransform.DataModel

/// The objects of one model in a container's stores.
public struct SwiftDataModel<Record: PersistentModel>: DataModel {
    /// The container whose stores hold the objects.
    public let container: ModelContainer

    /// The objects of a model in a container.
    public init(_ container: ModelContainer, for type: Record.Type = Record.self) { self.container = container }

    /// A fetch of every object of the model, without order.
    public var all: FetchDescriptor<Record> { FetchDescriptor<Record>() }

    /// A context of its own over the container's stores.
    public func createContext() -> ModelContext { ModelContext(container) }

    /// The objects that a descriptor asks for.
    ///
    /// - Throws: what ``ModelContext/fetch(_:)`` throws.
    public func fetch(_ fetch: FetchDescriptor<Record>, in context: ModelContext) throws -> [Record] {
        try context.fetch(fetch)
    }

    /// Saves a context that has changes; does nothing for one that has none.
    ///
    /// - Throws: what saving a ``ModelContext`` throws.
    public func save(_ context: ModelContext) throws { if context.hasChanges { try context.save() } }
}
