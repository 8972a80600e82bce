import Foundation
import SwiftData
import Testing

/// One way to a container, a migration, an actor or a history for each test.
@Suite struct ContainerIdioms {
    private let url = Store.temporaryURL()

    @Test func forTypes() throws {
        _ = try ModelContainer(for: Author.self, Book.self, configurations: .init(isStoredInMemoryOnly: true))
    }
    @Test func forSchema() throws {
        let schema = Schema([Author.self, Book.self, Shelf.self])
        let configuration = ModelConfiguration(schema: schema, isStoredInMemoryOnly: true)
        let container = try ModelContainer(for: schema, configurations: [configuration])
        #expect(container.schema == schema && container.configurations.count == 1)
    }
    @Test func relatedModelsAreFound() throws {
        let container = try ModelContainer(for: Author.self, configurations: .init(isStoredInMemoryOnly: true))
        #expect(container.schema.entities.count == 3)
    }
    @Test func schemaWithVersion() {
        let schema = Schema([Shelf.self], version: Schema.Version(1, 2, 3))
        #expect(schema.version == Schema.Version(1, 2, 3))
    }
    @Test func atAURL() throws {
        let container = try ModelContainer(for: Shelf.self, configurations: ModelConfiguration(url: url))
        let context = ModelContext(container)
        context.insert(Shelf(label: "A"))
        try context.save()
        #expect(FileManager.default.fileExists(atPath: url.path()))
        #expect(container.configurations.first?.url == url)
    }
    @Test func openedAgain() throws {
        do {
            let context = ModelContext(
                try ModelContainer(for: Shelf.self, configurations: ModelConfiguration(url: url)))
            context.insert(Shelf(label: "A"))
            try context.save()
        }
        let context = ModelContext(try ModelContainer(for: Shelf.self, configurations: ModelConfiguration(url: url)))
        #expect(try context.fetch(FetchDescriptor<Shelf>()).map(\.label) == ["A"])
    }
    @Test func readOnly() throws {
        _ = try ModelContainer(for: Shelf.self, configurations: ModelConfiguration(url: url))
        let container = try ModelContainer(
            for: Shelf.self, configurations: ModelConfiguration(url: url, allowsSave: false))
        let context = ModelContext(container)
        context.insert(Shelf(label: "A"))
        #expect(throws: (any Error).self) { try context.save() }
    }
    @Test func everyParameter() {
        let schema = Schema([Shelf.self])
        let configuration = ModelConfiguration(
            "Shelves", schema: schema, isStoredInMemoryOnly: false, allowsSave: true, groupContainer: .none,
            cloudKitDatabase: .none)
        #expect(configuration.name == "Shelves" && configuration.allowsSave && !configuration.isStoredInMemoryOnly)
        #expect(configuration.schema == schema && configuration.cloudKitContainerIdentifier == nil)
    }
    @Test func nameSchemaURL() {
        let configuration = ModelConfiguration("Shelves", schema: Schema([Shelf.self]), url: url, allowsSave: true)
        #expect(configuration.url == url && configuration.name == "Shelves")
    }
    @Test func cloudKitDatabase() {
        _ = ModelConfiguration(cloudKitDatabase: .automatic)
        _ = ModelConfiguration(cloudKitDatabase: .private("iCloud.com.example"))
    }
    @Test func groupContainer() {
        _ = ModelConfiguration(groupContainer: .identifier("group.com.example"))
        _ = ModelConfiguration(groupContainer: .automatic)
    }
    @Test func severalConfigurations() throws {
        let shelves = ModelConfiguration("a", schema: Schema([Single.self]), isStoredInMemoryOnly: true)
        let others = ModelConfiguration("b", schema: Schema([Other.self]), isStoredInMemoryOnly: true)
        let container = try ModelContainer(for: Single.self, Other.self, configurations: shelves, others)
        let context = ModelContext(container)
        context.insert(Single())
        context.insert(Other())
        try context.save()
        #expect(try context.fetchCount(FetchDescriptor<Other>()) == 1)
    }
    @Model final class Single {
        var name = ""
        init() {}
    }
    @Model final class Other {
        var name = ""
        init() {}
    }
    @Test func errorsAreSwiftDataErrors() throws {
        let configuration = ModelConfiguration("x", schema: Schema([Single.self]), isStoredInMemoryOnly: true)
        #expect(throws: SwiftDataError.self) {
            try ModelContainer(for: Other.self, configurations: configuration)
        }
    }
    @Test func matchingAnError() throws {
        let context = try Store().context
        let predicate = #Predicate<Book> { $0.tags.contains("x") }
        do {
            _ = try context.fetch(FetchDescriptor(predicate: predicate))
        } catch SwiftDataError.unsupportedPredicate {
        }
    }

    // MARK: - Migrations

    enum V1: VersionedSchema {
        static let versionIdentifier = Schema.Version(1, 0, 0)
        static var models: [any PersistentModel.Type] { [Item.self] }
        @Model final class Item {
            var name: String
            init(name: String) { self.name = name }
        }
    }
    enum V2: VersionedSchema {
        static var versionIdentifier: Schema.Version { .init(2, 0, 0) }
        static var models: [any PersistentModel.Type] { [Item.self] }
        @Model final class Item {
            @Attribute(originalName: "name") var title: String
            var count = 1
            init(title: String) { self.title = title }
        }
    }
    enum V3: VersionedSchema {
        static let versionIdentifier = Schema.Version(3, 0, 0)
        static var models: [any PersistentModel.Type] { [Item.self] }
        @Model final class Item {
            @Attribute(.unique) var title: String
            var count = 1
            init(title: String) { self.title = title }
        }
    }
    enum Plan: SchemaMigrationPlan {
        static var schemas: [any VersionedSchema.Type] { [V1.self, V2.self, V3.self] }
        static var stages: [MigrationStage] { [first, second] }
        static let first = MigrationStage.lightweight(fromVersion: V1.self, toVersion: V2.self)
        static let second = MigrationStage.custom(
            fromVersion: V2.self, toVersion: V3.self,
            willMigrate: { context in
                var seen: Set<String> = []
                for item in try context.fetch(FetchDescriptor<V2.Item>()) where !seen.insert(item.title).inserted {
                    context.delete(item)
                }
                try context.save()
            }, didMigrate: nil)
    }
    private func open(_ version: any VersionedSchema.Type) throws -> ModelContext {
        let schema = Schema(versionedSchema: version)
        return ModelContext(
            try ModelContainer(
                for: schema, migrationPlan: Plan.self, configurations: [ModelConfiguration(schema: schema, url: url)]))
    }
    @Test func lightweight() throws {
        let context = try open(V1.self)
        context.insert(V1.Item(name: "a"))
        try context.save()
        let items = try open(V2.self).fetch(FetchDescriptor<V2.Item>())
        #expect(items.map(\.title) == ["a"] && items.map(\.count) == [1])
    }
    @Test func custom() throws {
        let context = try open(V1.self)
        for name in ["a", "b", "a"] { context.insert(V1.Item(name: name)) }
        try context.save()
        let items = try open(V3.self).fetch(FetchDescriptor<V3.Item>(sortBy: [SortDescriptor(\.title)]))
        #expect(items.map(\.title) == ["a", "b"])
    }
    @Test func versionsAreComparable() { #expect(V1.versionIdentifier < V2.versionIdentifier) }
    @Test func planOfAContainer() throws {
        #expect(try open(V3.self).container.migrationPlan != nil)
    }

    // MARK: - Actors

    @ModelActor actor Worker {
        func add(_ label: String) throws -> PersistentIdentifier {
            let shelf = Shelf(label: label)
            modelContext.insert(shelf)
            try modelContext.save()
            return shelf.persistentModelID
        }
        func label(_ id: PersistentIdentifier) -> String? { self[id, as: Shelf.self]?.label }
        func count() throws -> Int { try modelContext.fetchCount(FetchDescriptor<Shelf>()) }
    }
    @Test func modelActor() async throws {
        let worker = Worker(modelContainer: try Store().container)
        let id = try await worker.add("A")
        #expect(await worker.label(id) == "A")
        #expect(try await worker.count() == 1)
    }
    @Test func modelActorInATask() async throws {
        let container = try Store().container
        let count = try await Task.detached { try await Worker(modelContainer: container).count() }.value
        #expect(count == 0)
    }
    @Test func containerIsSendable() async throws {
        let container = try Store().container
        let count = try await Task.detached { try ModelContext(container).fetchCount(FetchDescriptor<Book>()) }.value
        #expect(count == 3)
    }
    @Test func identifierIsSendable() async throws {
        let store = try Store()
        let id = try store.book("Emma").persistentModelID
        let container = store.container
        let title = await Task.detached { (ModelContext(container).model(for: id) as? Book)?.title }.value
        #expect(title == "Emma")
    }
    @Test func executorHasTheContext() async throws {
        let worker = Worker(modelContainer: try Store().container)
        #expect(worker.modelContainer.schema.entities.count == 3)
    }

    // MARK: - History

    private func history(_ body: (ModelContext) throws -> Void) throws -> [DefaultHistoryTransaction] {
        let context = try Store(isFilled: false).context
        try body(context)
        return try context.fetchHistory(HistoryDescriptor<DefaultHistoryTransaction>())
    }
    @Test func historyOfAnInsertion() throws {
        let transactions = try history {
            $0.author = "test"
            $0.insert(Shelf(label: "A"))
            try $0.save()
        }
        #expect(transactions.map(\.author) == ["test"])
        guard case .insert(let change)? = transactions.first?.changes.first else {
            throw CocoaError(.coderInvalidValue)
        }
        #expect(change.changedPersistentIdentifier.entityName == "Shelf")
        #expect(change is DefaultHistoryInsert<Shelf>)
    }
    @Test func historyOfAnUpdate() throws {
        let transactions = try history {
            let shelf = Shelf(label: "A")
            $0.insert(shelf)
            try $0.save()
            shelf.label = "B"
            try $0.save()
        }
        guard case .update(let change as DefaultHistoryUpdate<Shelf>)? = transactions.last?.changes.first
        else { throw CocoaError(.coderInvalidValue) }
        #expect(change.updatedAttributes.contains(\.label))
    }
    @Test func historyOfADeletion() throws {
        let transactions = try history {
            let shelf = Shelf(label: "A")
            $0.insert(shelf)
            try $0.save()
            $0.delete(shelf)
            try $0.save()
        }
        guard case .delete? = transactions.last?.changes.first else { throw CocoaError(.coderInvalidValue) }
    }
    @Test func historyAfterAToken() throws {
        let context = try Store().context
        let token = try #require(
            try context.fetchHistory(HistoryDescriptor<DefaultHistoryTransaction>()).last?.token)
        context.insert(Shelf(label: "A"))
        try context.save()
        var descriptor = HistoryDescriptor<DefaultHistoryTransaction>()
        descriptor.predicate = #Predicate { $0.token > token }
        #expect(try context.fetchHistory(descriptor).count == 1)
    }
    @Test func historyIsDeleted() throws {
        let context = try Store().context
        try context.deleteHistory(HistoryDescriptor<DefaultHistoryTransaction>())
        #expect(try context.fetchHistory(HistoryDescriptor<DefaultHistoryTransaction>()).isEmpty)
    }
    @Test func historyOfAnAuthor() throws {
        let context = try Store().context
        let author = "widget"
        let descriptor = HistoryDescriptor<DefaultHistoryTransaction>(predicate: #Predicate { $0.author == author })
        #expect(try context.fetchHistory(descriptor).isEmpty)
    }
    @Test func tokensAreCodable() throws {
        let context = try Store().context
        let token = try #require(
            try context.fetchHistory(HistoryDescriptor<DefaultHistoryTransaction>()).last?.token)
        let data = try JSONEncoder().encode(token)
        #expect(try JSONDecoder().decode(DefaultHistoryToken.self, from: data) == token)
    }
}
