import Foundation
import MoultData
import Testing

/// `@Attribute(.unique)`: an insert whose unique value a row has changes that row.
@Suite struct UniquenessTests {
    typealias Shelf = Bookshop.Shelf
    typealias Book = Bookshop.Book
    typealias Tag = Bookshop.Tag

    let container: ModelContainer
    let context: ModelContext

    init() throws {
        container = try Bookshop.container()
        context = ModelContext(container)
    }

    @Test func `a row is changed, keeps its identity, and the new model shows it`() throws {
        context.insert(Shelf(code: "A", room: "cellar"))
        try context.save()
        let id = try #require(try ModelContext(container).all(Shelf.self).first?.persistentModelID)

        let other = ModelContext(container)
        let again = Shelf(code: "A")
        again.books = [Book("Emma")]
        other.insert(again)
        try other.save()
        #expect(again.persistentModelID == id && again.modelContext === other && !again.hasChanges)
        let found = try ModelContext(container).all(Shelf.self)
        #expect(found.count == 1 && found.first?.persistentModelID == id)
        #expect(found.first?.room == "hall" && found.first?.books.map(\.title) == ["Emma"])
    }

    @Test func `the model that shows the row already stays the row's`() throws {
        let first = Shelf(code: "A", room: "cellar")
        context.insert(first)
        try context.save()
        let second = Shelf(code: "A", room: "roof")
        context.insert(second)
        try context.save()
        #expect(first.room == "roof" && first.modelContext === context)
        #expect(second.modelContext == nil && second.room == "roof")
        #expect(try context.fetchCount(FetchDescriptor<Shelf>()) == 1)
    }

    @Test func `of several new ones the last one's values stay`() throws {
        for room in ["hall", "cellar", "roof"] { context.insert(Shelf(code: "A", room: room)) }
        try context.save()
        #expect(try ModelContext(container).all(Shelf.self).map(\.room) == ["roof"])
    }

    @Test func `relationships of the row stay, and new ones come to them`() throws {
        let (tag, book) = (Tag("old"), Book("Emma"))
        book.tags = [tag]
        context.insert(book)
        try context.save()
        let again = Tag("old")
        let other = Book("Persuasion")
        other.tags = [again]
        context.insert(other)
        try context.save()
        let tags = try ModelContext(container).all(Tag.self)
        #expect(tags.count == 1 && Set(tags[0].books.map(\.title)) == ["Emma", "Persuasion"])
    }

    @Test func `a change that would take another row's value is refused, and nothing is saved`() throws {
        let (one, two) = (Shelf(code: "A"), Shelf(code: "B"))
        context.insert(one)
        context.insert(two)
        try context.save()
        two.code = "A"
        two.room = "roof"
        #expect(throws: SwiftDataError.saveConflict) { try context.save() }
        #expect(two.code == "A" && two.hasChanges)
        #expect(try ModelContext(container).all(Shelf.self).map(\.room) == ["hall", "hall"])
        context.rollback()
        #expect(two.code == "B")
    }
}
