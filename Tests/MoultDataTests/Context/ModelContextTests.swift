import MoultData
import Testing

/// The life of models in a context.
@Suite struct ModelContextTests {
    typealias Shelf = Bookshop.Shelf
    typealias Book = Bookshop.Book
    typealias Tag = Bookshop.Tag

    let container: ModelContainer
    let context: ModelContext

    init() throws {
        container = try Bookshop.container()
        context = ModelContext(container)
    }

    @Test func `what is inserted and saved is there for another context`() throws {
        let book = Book("Emma", pages: 474)
        book.price = 12.5
        context.insert(book)
        #expect(context.hasChanges && book.hasChanges && book.modelContext === context)
        try context.save()
        #expect(!context.hasChanges && !book.hasChanges)

        let found = try ModelContext(container).all(Book.self)
        #expect(found.map(\.title) == ["Emma"] && found.first?.pages == 474 && found.first?.price == 12.5)
        #expect(found.first !== book && found.first?.persistentModelID == book.persistentModelID)
    }

    @Test func `a row is one model in a context`() throws {
        context.insert(Book("Emma"))
        try context.save()
        let first = try #require(try context.all(Book.self).first)
        let again = try #require(try context.all(Book.self).first)
        #expect(first === again)
        #expect(context.registeredModel(for: first.persistentModelID) as Book? === first)
        #expect(context.model(for: first.persistentModelID) === first)
    }

    @Test func `inserting a model inserts what it leads to, from either end`() throws {
        let (shelf, tag) = (Shelf(code: "A"), Tag("old"))
        let book = Book("Emma", shelf: shelf)
        book.tags = [tag]
        context.insert(book)
        #expect(shelf.modelContext === context && tag.modelContext === context)
        #expect(shelf.books == [book] && tag.books == [book])
        try context.save()
        #expect(try ModelContext(container).all(Shelf.self).first?.books.map(\.title) == ["Emma"])
    }

    @Test func `rolling back leaves the values of models that were never saved`() throws {
        let book = Book("Emma", shelf: Shelf(code: "A"))
        context.insert(book)
        context.rollback()
        #expect(book.modelContext == nil && book.title == "Emma" && book.shelf?.code == "A")
        #expect(try context.all(Book.self).isEmpty && !context.hasChanges)
        context.insert(book)
        try context.save()
        #expect(try ModelContext(container).all(Book.self).first?.shelf?.code == "A")
    }

    @Test func `rolling back gives the saved values back`() throws {
        let book = Book("Emma")
        context.insert(book)
        try context.save()
        book.title = "Persuasion"
        #expect(context.changedModelsArray.count == 1)
        context.rollback()
        #expect(book.title == "Emma" && !book.hasChanges)
    }

    @Test func `a value that is set again is a change until the next save`() throws {
        let book = Book("Emma")
        context.insert(book)
        try context.save()
        book.title = "Emma"
        #expect(book.hasChanges && context.hasChanges && context.changedModelsArray.count == 1)
        try context.save()
        #expect(!book.hasChanges && !context.hasChanges && context.changedModelsArray.isEmpty)
        book.shelf = book.shelf
        #expect(book.hasChanges && context.changedModelsArray.count == 1)
        try context.save()
        #expect(!book.hasChanges && !context.hasChanges)
    }

    @Test func `a deleted model keeps what it held`() throws {
        let shelf = Shelf(code: "A")
        let book = Book("Emma", shelf: shelf)
        context.insert(book)
        try context.save()
        context.delete(shelf)
        #expect(shelf.isDeleted && book.isDeleted)
        #expect(context.deletedModelsArray.count == 2)
        try context.save()
        #expect(!book.isDeleted && book.modelContext == nil && book.title == "Emma")
        #expect(try ModelContext(container).all(Book.self).isEmpty)
    }

    @Test func `a context holds models with changes, and what only they have`() throws {
        func insert() {
            let book = Book("Emma")
            book.isOpen = true
            context.insert(book)
        }
        insert()
        #expect(try context.all(Book.self).map(\.isOpen) == [true])
        try context.save()
        #expect(try context.all(Book.self).map(\.isOpen) == [false])
    }
}
