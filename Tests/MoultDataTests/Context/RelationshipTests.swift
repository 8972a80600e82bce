import Foundation
import MoultData
import Testing

/// Both ends of relationships, and what deleting does.
@Suite struct RelationshipTests {
    typealias Shelf = Bookshop.Shelf
    typealias Book = Bookshop.Book
    typealias Tag = Bookshop.Tag
    typealias Author = Bookshop.Author

    let container: ModelContainer
    let context: ModelContext

    init() throws {
        container = try Bookshop.container()
        context = ModelContext(container)
    }

    @Test func `setting one end changes the other at once`() {
        let (one, two, book) = (Shelf(code: "A"), Shelf(code: "B"), Book("Emma"))
        for shelf in [one, two] { context.insert(shelf) }
        one.books.append(book)
        #expect(book.modelContext === context && book.shelf === one)
        book.shelf = two
        #expect(one.books.isEmpty && two.books == [book])
        two.books = []
        #expect(book.shelf == nil)
    }

    @Test func `many to many`() throws {
        let (emma, persuasion) = (Book("Emma"), Book("Persuasion"))
        let (old, good) = (Tag("old"), Tag("good"))
        context.insert(emma)
        context.insert(persuasion)
        emma.tags = [old, good]
        good.books.append(persuasion)
        #expect(Set(good.books) == [emma, persuasion] && persuasion.tags == [good])
        try context.save()
        context.delete(good)
        try context.save()
        #expect(emma.tags == [old] && persuasion.tags.isEmpty)
        #expect(try ModelContext(container).all(Book.self).first { $0.title == "Emma" }?.tags.map(\.name) == ["old"])
    }

    @Test func `cascade takes along, nullify empties`() throws {
        let (shelf, tag) = (Shelf(code: "A"), Tag("old"))
        let book = Book("Emma", shelf: shelf)
        book.tags = [tag]
        context.insert(book)
        try context.save()
        context.delete(shelf)
        try context.save()
        #expect(try context.fetchCount(FetchDescriptor<Book>()) == 0)
        #expect(tag.books.isEmpty && tag.modelContext === context)
    }

    @Test func `deny refuses as long as there is anything in the way`() throws {
        let (author, book) = (Author("Austen"), Book("Emma"))
        book.author = author
        context.insert(book)
        try context.save()
        context.delete(author)
        let error = #expect(throws: SwiftDataError.self) { try context.save() }
        #expect(error == .modelValidationFailure && error?.message.contains("books") == true)
        context.delete(book)
        try context.save()
        #expect(try context.fetchCount(FetchDescriptor<Author>()) == 0)
    }

    @Test func `deleting by a predicate follows the rules, and is undone by a rollback`() throws {
        for code in ["A", "B", "C"] {
            let shelf = Shelf(code: code)
            shelf.books = [Book("\(code)1"), Book("\(code)2")]
            context.insert(shelf)
        }
        try context.save()
        try context.delete(model: Shelf.self, where: #Predicate { $0.code != "B" })
        #expect(try context.fetchCount(FetchDescriptor<Book>()) == 2)
        context.rollback()
        #expect(try context.fetchCount(FetchDescriptor<Book>()) == 6)
        try context.delete(model: Shelf.self, where: #Predicate { $0.code != "B" })
        try context.save()
        #expect(Set(try ModelContext(container).all(Book.self).map(\.title)) == ["B1", "B2"])
        try context.delete(model: Shelf.self)
        try context.save()
        #expect(try ModelContext(container).fetchCount(FetchDescriptor<Book>()) == 0)
    }

    @Test func `a model of another context is refused with its name`() throws {
        let shelf = Shelf(code: "A")
        context.insert(shelf)
        try context.save()
        let other = ModelContext(container)
        let book = Book("Emma")
        other.insert(book)
        book.shelf = shelf
        #expect(book.shelf == nil)
        let error = #expect(throws: SwiftDataError.modelValidationFailure) { try other.save() }
        #expect(error?.message.contains("another context") == true)
        let own = try #require(other.model(for: shelf.persistentModelID) as? Shelf)
        book.shelf = own
        try other.save()
        #expect(try ModelContext(container).all(Shelf.self).first?.books.map(\.title) == ["Emma"])
    }
}
