import Foundation
import MoultCoreData
import TestSupport
import Testing

// The code blocks of Documentation/CoreData.md, compiled and run. A test compares the page with this file.

private enum Classes {
    final class Author: ManagedObject {
        @Managed("name") var name: String
        @Managed("books") var books: Set<Book>
    }

    final class Book: ManagedObject {
        @Managed("title") var title: String
        @Managed("pages") var pages: Int
        @Managed("author") var author: Author?

        override func validateValue(_ value: Any?, forKey key: String) throws {
            if key == "title", (value as? String)?.isEmpty == true { throw ValidationFailure("A book needs a title.") }
            try super.validateValue(value, forKey: key)
        }
    }
}

@Suite struct CoreDataPageTests {
    private typealias Author = Classes.Author
    private typealias Book = Classes.Book

    private func makeModel() throws -> ManagedObjectModel {
        let model = try ManagedObjectModel(entities: [
            EntityDescription(
                name: "Author",
                properties: [
                    AttributeDescription(name: "name", type: .string, isOptional: false, defaultValue: ""),
                    RelationshipDescription(
                        name: "books", destinationEntityName: "Book", inverseName: "author", maxCount: 0,
                        deleteRule: .cascade),
                ]),
            EntityDescription(
                name: "Book",
                properties: [
                    AttributeDescription(name: "title", type: .string, isOptional: false),
                    AttributeDescription(name: "pages", type: .integer32, defaultValue: 0),
                    RelationshipDescription(name: "author", destinationEntityName: "Author", inverseName: "books"),
                ]),
        ])
        return model
    }

    private func makeSecond(_ model: ManagedObjectModel) throws -> ManagedObjectModel {
        var second = model
        try second.updateEntity("Book") { $0.properties.append(AttributeDescription(name: "isbn", type: .string)) }
        return second
    }

    @Test func `the page's first program runs, and what follows it`() async throws {
        let store = try TestStore()
        let url = store.url
        let model = try makeModel()
        do {
            let container = PersistentContainer(name: "Library", managedObjectModel: model)
            container.persistentStoreDescriptions = [PersistentStoreDescription(url: url)]
            try await container.loadPersistentStores()
            let context = container.viewContext

            let author = try context.insertNewObject(forEntityName: "Author")
            try author.setValue("Jane Austen", forKey: "name")
            let emma = try context.insertNewObject(forEntityName: "Book")
            try emma.setValue("Emma", forKey: "title")
            try emma.setValue(474, forKey: "pages")
            try emma.setValue(author, forKey: "author")
            try context.save()

            var request = FetchRequest<ManagedObject>(entityName: "Book")
            request.predicate = try FetchPredicate(format: "title BEGINSWITH[cd] %@ AND pages > %d", "em", 100)
            request.sortDescriptors = [FetchSortDescriptor(key: "title")]
            for book in try context.fetch(request) {
                let title = try book.value(forKey: "title") as? String
                let name = try book.value(forKeyPath: "author.name") as? String
                print(title ?? "", "by", name ?? "nobody")
            }
            #expect(try context.fetch(request).count == 1)
            try container.close()
        }
        do {
            let container = try store.container(model)
            let context = container.viewContext
            try container.register(Author.self, Book.self)
            let book = try Book(context: context)
            book.title = "Persuasion"
            book.author = try context.fetch(FetchRequest<Author>()).first
            let titles = book.author?.books.map(\.title).sorted()
            try context.save()
            #expect(titles == ["Emma", "Persuasion"])

            let id = try await container.performBackgroundTask { background in
                let book = try background.insertNewObject(forEntityName: "Book")
                try book.setValue("Mansfield Park", forKey: "title")
                try background.save()
                return book.objectID
            }
            let found = try context.existingObject(with: id)
            #expect(try found.value(forKey: "title") as? String == "Mansfield Park")

            var sums = FetchRequest<[String: Any]>(entityName: "Book")
            sums.propertiesToFetch = ["author.name", try ExpressionDescription(name: "all", expression: "sum:(pages)")]
            sums.propertiesToGroupBy = ["author.name"]
            let rows = try context.fetch(sums)

            let ids = try context.fetch(FetchRequest<ManagedObjectID>(entityName: "Book"))

            var pages = 0
            try context.enumerate(FetchRequest<ManagedObject>(entityName: "Book")) { book in
                pages += try book.value(forKey: "pages") as? Int ?? 0
            }
            #expect(rows.count == 2)
            #expect(ids.count == 3)
            #expect(pages == 474)

            var update = BatchUpdateRequest(entityName: "Book")
            update.predicate = try FetchPredicate(format: "pages == 0")
            try update.setValue(1, forKey: "pages")
            update.resultType = .objectIDs
            let changed = try context.execute(update).objectIDs
            try ManagedObjectContext.mergeChanges(
                fromRemoteContextSave: ["updated_objectIDs": changed], into: [context])
            #expect(changed.count == 2)
            #expect(try found.value(forKey: "pages") as? Int == 1)
            book.title = ""
            #expect(throws: ManagedObjectValidationError.self) { try context.save() }
            try container.close()
        }
        let secondModel = try makeSecond(model)
        do {
            let mapping = try MappingModel.inferredMappingModel(forSourceModel: model, destinationModel: secondModel)
            print(mapping.entityMappings.map(\.name))
        } catch let error as MigrationError {
            print("\(error.coreData?.number ?? 0): \(error.message)")
        }

        let description = PersistentStoreDescription(url: url)
        description.migrationProgress = { progress in
            let left = progress.estimatedTimeRemaining.map { ", \(Int($0.rounded(.up))) s left" } ?? ""
            print("\(progress.phase): \(Int(progress.fractionCompleted * 100)) %\(left)")
        }
        description.afterMigration = { context in
            for book in try context.fetch(FetchRequest<ManagedObject>(entityName: "Book")) {
                try book.setValue("unknown", forKey: "isbn")
            }
        }
        let newer = PersistentContainer(name: "Library", managedObjectModel: secondModel)
        newer.persistentStoreDescriptions = [description]
        try await newer.loadPersistentStores()
        #expect(try store.sql("SELECT count(*) FROM ZBOOK WHERE ZISBN = 'unknown'") == "3")
    }

    @Test func `a composite attribute is a dictionary, and a predicate uses the path of an element`() throws {
        let accent = AttributeDescription(
            name: "accent", type: .composite, elements: [AttributeDescription(name: "level", type: .integer16)])
        let model = try ManagedObjectModel(entities: [
            EntityDescription(
                name: "Aircraft",
                attributes: [
                    AttributeDescription(
                        name: "colorScheme", type: .composite,
                        elements: [accent, AttributeDescription(name: "primary", type: .string)])
                ])
        ])
        let store = try TestStore()
        let container = try store.container(model)
        let context = container.viewContext
        try context.performAndWait {
            let aircraft = try context.insertNewObject(forEntityName: "Aircraft")
            var request = FetchRequest<ManagedObject>(entityName: "Aircraft")
            try aircraft.setValue(["primary": "Red", "accent": ["level": 2]], forKey: "colorScheme")
            request.predicate = try FetchPredicate(
                format: "colorScheme.primary == \"Red\" AND colorScheme.accent.level > 1")
            try context.save()
            #expect(try context.fetch(request) == [aircraft])
            try aircraft.setValue(["primary": "Red", "accent": ["level": 1]] as [String: Any], forKey: "colorScheme")
            try context.save()
            #expect(try context.fetch(request).isEmpty)
        }
        try container.close()
    }

    @Test func `every code block of the page is in this file`() throws {
        let page = try DocumentationPage("CoreData.md")
        #expect(page.blocks.count == 12 && page.missingBlocks.isEmpty, "\(page.missingBlocks)")
    }
}
