import Foundation
import MoultCoreData
import TestSupport
import Testing

@Suite struct ManagedObjectTests {
    @Test func `an object of a class has typed properties`() throws {
        let context = try libraryInMemory().viewContext
        let author = try Author(context: context)
        author.name = "Austen"
        let book = try Book(context: context)
        book.title = "Emma"
        book.pages = 474
        book.price = Decimal(string: "9.99")
        book.published = Date(timeIntervalSinceReferenceDate: 42)
        book.author = author
        try context.save()
        context.reset()

        let found = try #require(try context.fetch(FetchRequest<Book>()).first)
        #expect(found !== book)
        #expect(found.title == "Emma")
        #expect(found.pages == 474)
        #expect(found.price == Decimal(string: "9.99"))
        #expect(found.published == Date(timeIntervalSinceReferenceDate: 42))
        #expect(found.isRead == false)
        #expect(found.author?.name == "Austen")
        #expect(found.author?.books == [found])
    }

    @Test func `values by key are what Core Data gives`() throws {
        let context = try libraryInMemory().viewContext
        let book = try context.insertNewObject(forEntityName: "Book")
        #expect(book is Book)
        book["title"] = "Emma"
        book["pages"] = 474
        book["isRead"] = true
        book["price"] = 9.5
        #expect(book["title"] as? String == "Emma")
        #expect(book["pages"] as? Int == 474)
        #expect(book["pages"] as? Int32 == 474)
        #expect(book["pages"] as? Double == 474)
        #expect(book["isRead"] as? Bool == true)
        #expect(book["price"] as? Decimal == Decimal(string: "9.5"))
        #expect(book["author"] == nil)
        #expect((book["shelves"] as? Set<ManagedObject>)?.isEmpty == true)
        #expect(book["title", as: String?.self] == "Emma")
        try book.setValue(nil, forKey: "pages")
        #expect(try book.value(forKey: "pages") == nil)
    }

    @Test func `an unknown key and a wrong type are errors with the place`() throws {
        let context = try libraryInMemory().viewContext
        let book = try Book(context: context)
        let unknown = try #require(throws: MigrationError.self) { try book.value(forKey: "colour") }
        #expect(unknown.code == .unknownKey)
        #expect(unknown.place == "Book.colour")
        #expect(unknown.remedy.contains("title"))
        let wrong = try #require(throws: MigrationError.self) { try book.setValue("many", forKey: "pages") }
        #expect(wrong.code == .wrongType)
        #expect(wrong.place == "Book.pages")
        #expect(throws: MigrationError.self) { try book.setValue(1 << 40, forKey: "pages") }
        #expect(throws: MigrationError.self) { try book.setValue("Austen", forKey: "author") }
        #expect(throws: MigrationError.self) { try context.insertNewObject(forEntityName: "Magazine") }
    }

    @Test func `what an assignment could not throw is thrown by the next save`() throws {
        let context = try libraryInMemory().viewContext
        let book = try Book(context: context)
        book["colour"] = "red"
        let error = try #require(throws: MigrationError.self) { try context.save() }
        #expect(error.place == "Book.colour")
        try context.save()
        #expect(!context.hasChanges)
    }

    @Test func `both ends of a relationship are kept`() throws {
        let context = try libraryInMemory().viewContext
        let (austen, borges) = (try Author(context: context), try Author(context: context))
        let books = try (0..<3).map { _ in try Book(context: context) }
        austen.books = Set(books)
        #expect(books.allSatisfy { $0.author === austen })
        books[0].author = borges
        #expect(austen.books == [books[1], books[2]])
        #expect(borges.books == [books[0]])
        let set = borges.mutableSetValue(forKey: "books")
        try set.add(books[1])
        #expect(set.count == 2)
        #expect(set.contains(books[1]))
        #expect(books[1].author === borges)
        try set.remove(books[0])
        #expect(books[0].author == nil)
    }

    @Test func `an ordered relationship keeps its order through a save`() throws {
        let context = try libraryInMemory().viewContext
        let shelf = try Shelf(context: context)
        let books = try (0..<4).map { number in
            let book = try Book(context: context)
            book.title = "\(number)"
            return book
        }
        shelf.books = [books[2], books[0], books[1]]
        try shelf.mutableOrderedSetValue(forKey: "books").insert(books[3], at: 1)
        try context.save()
        try context.refresh(shelf, mergeChanges: false)
        #expect(shelf.books.map(\.title) == ["2", "3", "0", "1"])
        try shelf.mutableOrderedSetValue(forKey: "books").move(from: 3, to: 0)
        try context.save()
        try context.refresh(shelf, mergeChanges: false)
        #expect(shelf.books.map(\.title) == ["1", "2", "3", "0"])
        #expect(throws: MigrationError.self) {
            try shelf.mutableOrderedSetValue(forKey: "books").insert(books[0], at: 9)
        }
    }

    @Test func `a class is told of the moments of its objects' lives`() throws {
        let context = try libraryInMemory().viewContext
        let book = try Book(context: context)
        #expect(book.title == "untitled")
        book.title = " Emma"
        try context.save()
        #expect(book.title == "Emma")
        // The second call is for the change that the first one made.
        #expect(book.calls == ["insert", "willSave", "willSave", "didSave"])
        try context.delete(book)
        try context.save()
        #expect(book.calls.contains("delete"))
        let id = try Book(context: context).objectID
        try context.save()
        context.reset()
        #expect(id.isTemporaryID)
        let fetched = try #require(try context.fetch(FetchRequest<Book>()).first)
        #expect(fetched.calls.isEmpty)
        #expect(fetched.isFault)
        #expect(fetched.title == "untitled")
        #expect(fetched.calls == ["fetch"] && !fetched.isFault)
        try context.refresh(fetched, mergeChanges: false)
        #expect(fetched.isFault && fetched.calls == ["fetch"])
        #expect(fetched.pages == 0 && fetched.calls == ["fetch", "fetch"])
    }

    @Test func `an object with changes keeps what is its own though nobody holds it`() throws {
        let context = try libraryInMemory().viewContext
        func make() throws { try Book(context: context).note = "mine" }
        try make()
        #expect(try context.fetch(FetchRequest<Book>()).first?.note == "mine")
    }

    @Test func `all failures of a save are told together`() throws {
        let context = try libraryInMemory().viewContext
        let book = try Book(context: context)
        try book.setValue(nil, forKey: "title")
        book.pages = -1
        let other = try Book(context: context)
        other.title = "forbidden fruit"
        let error = try #require(throws: ManagedObjectValidationError.self) { try context.save() }
        #expect(error.coreData?.number == 1560)
        let found = Set(error.failures.map { "\($0.key) \($0.coreData.number)" })
        #expect(found == ["title 1570", "pages 1620", "title 1550"])
        #expect(error.failures.allSatisfy { $0.entityName == "Book" })
        #expect(context.hasChanges)
        book.title = "Emma"
        book.pages = 1
        other.title = "Fruit"
        try context.save()
    }

    @Test func `the changes of an object are known until it is saved`() throws {
        let context = try libraryInMemory().viewContext
        let book = try Book(context: context)
        try context.save()
        book.pages = 7
        #expect(try book.changedValues().keys.sorted() == ["pages"])
        #expect(try book.changedValues()["pages"] as? Int == 7)
        #expect(try book.committedValues(forKeys: ["pages"])["pages"] as? Int == 0)
        #expect(book.isUpdated)
        try context.save()
        #expect(try book.changedValues().isEmpty)
        #expect(!book.hasChanges)
    }

    @Test func `key paths lead through relationships and operators`() throws {
        let context = try libraryInMemory().viewContext
        let author = try Author(context: context)
        author.name = "Borges"
        for pages in [100, 200, 300] {
            let book = try Book(context: context)
            book.pages = pages
            book.author = author
        }
        #expect(try author.value(forKeyPath: "books.@count") as? Int == 3)
        #expect(try author.value(forKeyPath: "books.@sum.pages") as? Int == 600)
        #expect(try author.books.first?.value(forKeyPath: "author.name") as? String == "Borges")
        #expect(try author.value(forKeyPath: "books.pages") as? Set<Int> == [100, 200, 300])
        let books = try author.value(forKeyPath: "books") as? Set<ManagedObject>
        #expect(books?.count == 3)
    }
}
