import Foundation
import MoultData
import TestSupport
import Testing

/// A new model that leads to one of a context, which leads back to it, is in the context without having been inserted.
@Suite struct InsertedChildTests {
    typealias Shelf = Bookshop.Shelf
    typealias Book = Bookshop.Book
    typealias Tag = Bookshop.Tag
    typealias Mast = Harbour.Mast

    let container: ModelContainer
    let context: ModelContext
    let shelf = Shelf(code: "A")

    init() throws {
        container = try Bookshop.container()
        context = ModelContext(container)
        context.insert(shelf)
        try context.save()
    }

    @Test func `by its initialiser`() throws {
        let book = Book("Emma", shelf: shelf)
        #expect(book.modelContext === context && shelf.books == [book])
        try context.save()
        #expect(try ModelContext(container).all(Book.self).map { $0.shelf?.code } == ["A"])
    }

    @Test func `even when nobody holds it`() throws {
        for number in 1...3 { _ = Book("Book \(number)", shelf: shelf) }
        #expect(shelf.books.count == 3 && context.insertedModelsArray.count == 3)
        try context.save()
        #expect(try ModelContext(container).fetchCount(FetchDescriptor<Book>()) == 3)
    }

    @Test func `by a property that is set later, to-one or to-many, with all that it leads to`() throws {
        let (book, tag) = (Book("Emma"), Tag("old"))
        book.tags = [tag]
        #expect(book.modelContext == nil && tag.modelContext == nil)
        book.shelf = shelf
        #expect(book.modelContext === context && tag.modelContext === context && shelf.books == [book])
        let other = Book("Persuasion")
        other.tags = [tag]
        #expect(other.modelContext === context && Set(tag.books) == [book, other])
        try context.save()
        #expect(try ModelContext(container).fetchCount(FetchDescriptor<Book>()) == 2)
    }

    @Test func `an insertion that follows changes nothing, and a rollback takes it away`() throws {
        let book = Book("Emma", shelf: shelf)
        context.insert(book)
        shelf.books.append(book)
        #expect(shelf.books == [book] && context.insertedModelsArray.count == 1)
        context.rollback()
        #expect(book.modelContext == nil && shelf.books.isEmpty && !context.hasChanges)
        try context.save()
        #expect(try ModelContext(container).fetchCount(FetchDescriptor<Book>()) == 0)
    }

    @Test func `a parent that no context has takes nobody in, nor does one that does not lead back`() throws {
        let book = Book("Emma", shelf: Shelf(code: "B"))
        #expect(book.modelContext == nil && !context.hasChanges)
        let harbour = try ModelContainer(
            for: Schema(versionedSchema: Harbour.self), configurations: .init(isStoredInMemoryOnly: true))
        let sea = ModelContext(harbour)
        let sail = Harbour.Sail("red")
        sea.insert(sail)
        let flag = Harbour.Flag("flag", sail)
        #expect(flag.modelContext == nil)
        let ship = Harbour.Ship("Beagle")
        sea.insert(ship)
        let mast = Mast(height: 3, ship: ship)
        #expect(mast.modelContext === sea && ship.masts == [mast])
        try sea.save()
        #expect(try ModelContext(harbour).fetchCount(FetchDescriptor<Mast>()) == 1)
        #expect(try ModelContext(harbour).fetchCount(FetchDescriptor<Harbour.Flag>()) == 0)
    }
}
