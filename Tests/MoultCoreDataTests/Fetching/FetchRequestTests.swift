import Foundation
import MoultCoreData
import TestSupport
import Testing

@Suite struct FetchRequestTests {
    /// Five books by two authors, saved.
    private func library() throws -> PersistentContainer {
        let container = try libraryInMemory()
        let context = container.viewContext
        let authors = try ["Austen", "Borges"].map { name in
            let author = try Author(context: context)
            author.name = name
            return author
        }
        let titles = ["Emma", "Persuasion", "Ficciones", "El Aleph", "El hacedor"]
        for (number, title) in titles.enumerated() {
            let book = try Book(context: context)
            book.title = title
            book.pages = 100 * (number + 1)
            book.author = number < 2 ? authors[0] : authors[1]
        }
        try context.save()
        return container
    }

    private func titles(_ container: PersistentContainer, _ format: String, _ arguments: Any?...) throws -> [String] {
        var request = FetchRequest<Book>()
        request.predicate = try FetchPredicate(format: format, argumentArray: arguments)
        request.sortDescriptors = [FetchSortDescriptor(key: "pages")]
        return try container.viewContext.fetch(request).map(\.title)
    }

    @Test func `predicates with arguments find what they say`() throws {
        let library = try library()
        #expect(try titles(library, "pages > %d", 300) == ["El Aleph", "El hacedor"])
        #expect(try titles(library, "title BEGINSWITH[cd] %@", "EL ") == ["El Aleph", "El hacedor"])
        #expect(try titles(library, "%K == %@", "author.name", "Austen") == ["Emma", "Persuasion"])
        #expect(try titles(library, "title IN %@", ["Emma", "Ficciones"]) == ["Emma", "Ficciones"])
        #expect(try titles(library, "isRead == %@ AND pages BETWEEN {200, 300}", false) == ["Persuasion", "Ficciones"])
        let borges = try #require(
            try library.viewContext.fetch(FetchRequest<Author>()).first { $0.name == "Borges" })
        #expect(try titles(library, "author == %@", borges) == ["Ficciones", "El Aleph", "El hacedor"])
        #expect(try titles(library, "price == %@", nil as String?).count == 5)
    }

    @Test func `a to-many key path needs a quantifier, or a count`() throws {
        let context = try library().viewContext
        var request = FetchRequest<Author>()
        request.predicate = try FetchPredicate(format: "ANY books.pages >= 500")
        #expect(try context.fetch(request).map(\.name) == ["Borges"])
        request.predicate = try FetchPredicate(format: "books.@count == 2")
        #expect(try context.fetch(request).map(\.name) == ["Austen"])
        request.predicate = try FetchPredicate(format: "SUBQUERY(books, $b, $b.pages > 300).@count > 1")
        #expect(try context.fetch(request).map(\.name) == ["Borges"])
    }

    @Test func `predicates join and turn round`() throws {
        let context = try library().viewContext
        let long = try FetchPredicate(format: "pages > 250")
        let el = try FetchPredicate(format: "title BEGINSWITH 'El'")
        var request = FetchRequest<Book>()
        request.sortDescriptors = [FetchSortDescriptor(key: "title")]
        request.predicate = long && !el
        #expect(try context.fetch(request).map(\.title) == ["Ficciones"])
        request.predicate = el || .not(long)
        #expect(try context.fetch(request).count == 4)
        #expect(try long.evaluate(with: try #require(context.fetch(request).first { $0.title == "El Aleph" })))
    }

    @Test func `a predicate that does not parse says where`() throws {
        let error = try #require(throws: MigrationError.self) { try FetchPredicate(format: "pages > > 3") }
        #expect("\(error)".contains("8") || error.place.contains("8"))
        #expect(throws: MigrationError.self) { try FetchPredicate(format: "title == %@") }
    }

    @Test func `an unknown key in a fetch is an error`() throws {
        let library = try library()
        #expect(throws: MigrationError.self) { try titles(library, "colour == 'red'") }
        #expect(throws: MigrationError.self) {
            try library.viewContext.fetch(FetchRequest<ManagedObject>(entityName: "Magazine"))
        }
    }

    @Test func `sorting, limit and offset`() throws {
        let context = try library().viewContext
        var request = FetchRequest<Book>()
        request.sortDescriptors = [
            FetchSortDescriptor(key: "author.name", ascending: false), FetchSortDescriptor(key: "title"),
        ]
        #expect(
            try context.fetch(request).map(\.title) == ["El Aleph", "El hacedor", "Ficciones", "Emma", "Persuasion"])
        request.fetchLimit = 2
        request.fetchOffset = 1
        #expect(try context.fetch(request).map(\.title) == ["El hacedor", "Ficciones"])
        #expect(try context.count(for: request) == 2)
        let lower = FetchSortDescriptor(key: "title", options: [.caseInsensitive])
        request.fetchLimit = 1
        request.fetchOffset = 0
        request.sortDescriptors = [lower]
        #expect(try context.fetch(request).map(\.title) == ["El Aleph"])
    }

    @Test func `the type of the results says what is fetched`() throws {
        let context = try library().viewContext
        let ids = try context.fetch(FetchRequest<ManagedObjectID>(entityName: "Book"))
        #expect(ids.count == 5)
        #expect(try (context.object(with: ids[0]) as? Book)?.title.isEmpty == false)
        #expect(try context.fetch(FetchRequest<Int>(entityName: "Book")) == [5])

        var request = FetchRequest<[String: Any]>(entityName: "Book")
        request.propertiesToFetch = ["title", "author.name"]
        request.sortDescriptors = [FetchSortDescriptor(key: "pages")]
        let rows = try context.fetch(request)
        #expect(rows.count == 5)
        #expect(rows[0]["title"] as? String == "Emma")
        #expect(rows[4]["author.name"] as? String == "Borges")
    }

    @Test func `groups have sums`() throws {
        let context = try library().viewContext
        var request = FetchRequest<[String: Any]>(entityName: "Book")
        request.propertiesToFetch = [
            "author.name", try ExpressionDescription(name: "all", expression: "sum:(pages)"),
        ]
        request.propertiesToGroupBy = ["author.name"]
        let sums = try context.fetch(request).reduce(into: [:]) { sums, row in
            sums[row["author.name"] as? String ?? ""] = row["all"] as? Int
        }
        #expect(sums == ["Austen": 300, "Borges": 1200])
    }

    @Test func `unsaved changes are found, and deleted objects are not`() throws {
        let library = try library()
        let context = library.viewContext
        let emma = try #require(try context.fetch(FetchRequest<Book>()).first { $0.title == "Emma" })
        emma.pages = 9_999
        #expect(try titles(library, "pages > 1000") == ["Emma"])
        try context.delete(emma)
        #expect(try titles(library, "pages > 1000").isEmpty)
        #expect(try context.count(for: FetchRequest<Book>()) == 4)
        context.rollback()
        #expect(try context.count(for: FetchRequest<Book>()) == 5)
    }

    @Test func `variables of a predicate are filled in`() throws {
        let context = try library().viewContext
        var request = FetchRequest<Book>()
        let template = try FetchPredicate(format: "pages >= $least AND author.name == $who")
        request.predicate = try template.withSubstitutionVariables(["least": 400, "who": "Borges"])
        #expect(try context.count(for: request) == 2)
        #expect(
            try FetchPredicate(format: template.predicateFormat)
                == FetchPredicate(format: "pages >= $least AND author.name == $who"))
    }

    @Test func `objects without a registered class are plain, and the wrong class is an error`() throws {
        let container = PersistentContainer(name: "Library", managedObjectModel: try Library.first())
        container.persistentStoreDescriptions = [PersistentStoreDescription()]
        container.loadPersistentStores { _, _ in }
        let context = container.viewContext
        let book = try context.insertNewObject(forEntityName: "Book")
        #expect(type(of: book) == ManagedObject.self)
        let error = try #require(throws: MigrationError.self) {
            try context.fetch(FetchRequest<Book>(entityName: "Book"))
        }
        #expect(error.code == .wrongType)
    }

    @Test func `enumerating holds a few objects at a time`() throws {
        let store = try TestStore()
        try store.populate(3_000)
        let context = try store.container(Library.first()).viewContext
        var request = FetchRequest<ManagedObject>(entityName: "Book")
        request.fetchBatchSize = 100
        request.sortDescriptors = [FetchSortDescriptor(key: "pages")]
        var (count, most) = (0, 0)
        try context.enumerate(request) { book in
            let pages = try book.value(forKey: "pages") as? Int
            #expect(pages == 100 + count)
            count += 1
            if count % 500 == 0 { most = max(most, context.registeredObjects.count) }
        }
        #expect(count == 3_000)
        #expect(most < 600)
    }
}
