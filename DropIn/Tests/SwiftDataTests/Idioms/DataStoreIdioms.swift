import Foundation
import SwiftData
import Testing

/// A store of one's own, in the shape that Apple's documentation gives it.
@Suite struct DataStoreIdioms {
    private final class MemoryConfiguration: DataStoreConfiguration {
        typealias Store = MemoryStore

        var name: String
        var schema: Schema?
        var rows: [PersistentIdentifier: DefaultSnapshot] = [:]

        init(name: String, schema: Schema? = nil) {
            self.name = name
            self.schema = schema
        }

        static func == (lhs: MemoryConfiguration, rhs: MemoryConfiguration) -> Bool { lhs.name == rhs.name }
        func hash(into hasher: inout Hasher) { hasher.combine(name) }
    }

    private final class MemoryStore: DataStore {
        typealias Configuration = MemoryConfiguration
        typealias Snapshot = DefaultSnapshot

        var configuration: MemoryConfiguration
        var name: String
        var schema: Schema
        var identifier: String

        init(_ configuration: MemoryConfiguration, migrationPlan: (any SchemaMigrationPlan.Type)?) throws {
            self.configuration = configuration
            name = configuration.name
            schema = configuration.schema!
            identifier = configuration.name
        }

        func fetch<T>(
            _ request: DataStoreFetchRequest<T>
        ) throws -> DataStoreFetchResult<T, DefaultSnapshot> where T: PersistentModel {
            if request.descriptor.predicate != nil { throw DataStoreError.preferInMemoryFilter }
            if request.descriptor.sortBy.count > 0 { throw DataStoreError.preferInMemorySort }
            let entityName = Schema.entityName(for: T.self)
            let found = configuration.rows.values.filter { $0.persistentIdentifier.entityName == entityName }
            return DataStoreFetchResult(
                descriptor: request.descriptor, fetchedSnapshots: found, relatedSnapshots: configuration.rows)
        }

        func save(
            _ request: DataStoreSaveChangesRequest<DefaultSnapshot>
        ) throws -> DataStoreSaveChangesResult<DefaultSnapshot> {
            var remappedIdentifiers = [PersistentIdentifier: PersistentIdentifier]()
            for snapshot in request.inserted {
                remappedIdentifiers[snapshot.persistentIdentifier] = try PersistentIdentifier.identifier(
                    for: identifier, entityName: snapshot.persistentIdentifier.entityName, primaryKey: UUID())
            }
            for snapshot in request.inserted + request.updated {
                let identifier = remappedIdentifiers[snapshot.persistentIdentifier] ?? snapshot.persistentIdentifier
                configuration.rows[identifier] = snapshot.copy(
                    persistentIdentifier: identifier, remappedIdentifiers: remappedIdentifiers)
            }
            for snapshot in request.deleted { configuration.rows[snapshot.persistentIdentifier] = nil }
            return DataStoreSaveChangesResult(for: identifier, remappedIdentifiers: remappedIdentifiers)
        }
    }

    private let configuration = MemoryConfiguration(name: "memory")

    private func filledContext() throws -> ModelContext {
        let context = ModelContext(try ModelContainer(for: Author.self, configurations: configuration))
        let author = Author(name: "Jane Austen")
        context.insert(author)
        author.books = [Book(title: "Emma", pages: 400), Book(title: "Persuasion", pages: 250)]
        try context.save()
        return context
    }

    @Test func insertedModelsAreKept() throws {
        _ = try filledContext()
        #expect(configuration.rows.count == 3)
        let names = Set(configuration.rows.keys.map(\.entityName))
        #expect(names == ["Author", "Book"])
    }
    @Test func fetchedInMemory() throws {
        let context = try filledContext()
        let long = FetchDescriptor<Book>(predicate: #Predicate { $0.pages > 300 }, sortBy: [SortDescriptor(\.title)])
        #expect(try context.fetch(long).map(\.title) == ["Emma"])
        #expect(try context.fetch(FetchDescriptor<Author>()).first?.books.count == 2)
    }
    @Test func updatedAndDeleted() throws {
        let context = try filledContext()
        let books = try context.fetch(FetchDescriptor<Book>(sortBy: [SortDescriptor(\.title)]))
        books[0].pages = 1
        context.delete(books[1])
        try context.save()
        let other = ModelContext(try ModelContainer(for: Author.self, configurations: configuration))
        #expect(try other.fetch(FetchDescriptor<Book>()).map(\.pages) == [1])
    }
    @Test func snapshotsAreCodable() throws {
        _ = try filledContext()
        let snapshots = Array(configuration.rows.values)
        let decoded = try JSONDecoder().decode([DefaultSnapshot].self, from: JSONEncoder().encode(snapshots))
        #expect(decoded.map(\.persistentIdentifier) == snapshots.map(\.persistentIdentifier))
    }
}
