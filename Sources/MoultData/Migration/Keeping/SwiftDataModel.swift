import MoultTransform

/// What code over either face goes by.
public typealias DataModel = MoultTransform.DataModel

/// The objects of one model in a container's stores.
public struct SwiftDataModel<Record: PersistentModel>: DataModel {
    public let container: ModelContainer

    public init(_ container: ModelContainer, for type: Record.Type = Record.self) { self.container = container }

    public var all: FetchDescriptor<Record> { FetchDescriptor<Record>() }

    public func createContext() -> ModelContext { ModelContext(container) }

    public func fetch(_ fetch: FetchDescriptor<Record>, in context: ModelContext) throws -> [Record] {
        try context.fetch(fetch)
    }

    public func save(_ context: ModelContext) throws { if context.hasChanges { try context.save() } }
}
