import Foundation
import MoultData
import Testing

/// What a context finds, with its unsaved changes.
@Suite struct FetchingFromContextTests {
    typealias Shelf = Bookshop.Shelf
    typealias Book = Bookshop.Book

    let container: ModelContainer
    let context: ModelContext

    init() throws {
        container = try Bookshop.container()
        context = ModelContext(container)
        for number in 1...25 { context.insert(Book("Book \(number)", pages: number * 10)) }
        try context.save()
    }

    private var byPages: FetchDescriptor<Book> { FetchDescriptor(sortBy: [SortDescriptor(\.pages)]) }

    @Test func `unsaved changes are found, unless they are not wanted`() throws {
        context.insert(Book("New", pages: 1000))
        let first = try #require(try context.fetch(byPages).first)
        first.pages = 5000
        context.delete(try #require(try context.fetch(byPages).last { $0.pages == 250 }))
        #expect(try context.fetchCount(byPages) == 25)
        #expect(try context.fetch(byPages).last === first)
        var saved = FetchDescriptor<Book>(predicate: #Predicate { $0.pages >= 1000 })
        #expect(try context.fetchCount(saved) == 2)
        saved.includePendingChanges = false
        #expect(try context.fetchCount(saved) == 0)
        #expect(try context.fetchIdentifiers(byPages).count == 25)
    }

    @Test func `a batch at a time, forwards and backwards`() throws {
        let found = try context.fetch(byPages, batchSize: 10)
        #expect(found.count == 25 && found.map(\.pages) == (1...25).map { $0 * 10 })
        #expect(found.reversed().map(\.pages) == (1...25).reversed().map { $0 * 10 })
        let eighth = found[7]
        #expect(context.registeredModel(for: eighth.persistentModelID) as Book? === eighth)
        #expect(try context.fetchIdentifiers(byPages, batchSize: 4).map(\.self) == context.fetchIdentifiers(byPages))
    }

    @Test func `enumerating calls for each, and stops at changes that would stay in memory`() throws {
        var pages = 0
        try context.enumerate(byPages, batchSize: 4) { pages += $0.pages }
        #expect(pages == 3250)
        #expect(throws: (any Error).self) { try context.enumerate(byPages, batchSize: 4) { $0.pages += 1 } }
        #expect(context.changedModelsArray.count == 4)
        context.rollback()
        try context.enumerate(byPages, batchSize: 4, allowEscapingMutations: true) { $0.pages += 1 }
        #expect(context.changedModelsArray.count == 25)
        try context.save()
        #expect(try ModelContext(container).fetch(byPages).first?.pages == 11)
    }

    @Test func `what memory may answer is enumerated and deleted too, and nothing unless it may`() throws {
        var descriptor = byPages
        descriptor.predicate = #Predicate { $0.tags.first?.name == nil && $0.pages < 50 }
        descriptor.sortBy = [SortDescriptor(\.pages, order: .reverse)]
        let predicate = descriptor.predicate
        #expect(throws: SwiftDataError.unsupportedPredicate) { try context.enumerate(descriptor) { _ in } }
        #expect(throws: SwiftDataError.unsupportedPredicate) {
            try context.delete(model: Book.self, where: predicate)
        }
        descriptor.allowsInMemoryEvaluation = true
        var pages: [Int] = []
        try context.enumerate(descriptor, batchSize: 2) { pages.append($0.pages) }
        #expect(pages == [40, 30, 20, 10])
        try context.delete(model: Book.self, where: predicate, allowsInMemoryEvaluation: true)
        try context.save()
        #expect(try context.fetch(byPages).map(\.pages).min() == 50)
    }

    @Test func `a model of no schema here is refused`() throws {
        let error = #expect(throws: SwiftDataError.unknownSchema) { try context.fetch(FetchDescriptor<Dog>()) }
        #expect(error?.message.contains("Dog") == true && error?.remedy.contains("Shelf") == true)
        context.insert(Dog(name: "Rex", tricks: 1))
        #expect(throws: SwiftDataError.unknownSchema) { try context.save() }
        #expect(!context.hasChanges)
    }

    @Test func `an identity from before the save leads to the same model after it`() throws {
        let book = Book("New")
        context.insert(book)
        let temporary = book.persistentModelID
        #expect(temporary.storeIdentifier == nil && temporary.entityName == "Book")
        try context.save()
        #expect(book.persistentModelID != temporary && book.persistentModelID.storeIdentifier != nil)
        #expect(context.model(for: temporary) === book)
        #expect(context.registeredModel(for: temporary) as Book? === book)
        let coded = try JSONDecoder().decode(
            PersistentIdentifier.self, from: JSONEncoder().encode(book.persistentModelID))
        #expect((ModelContext(container).model(for: coded) as? Book)?.title == "New")
    }

    @Test func `an identity of a row that is gone gives a model without values`() throws {
        let book = try #require(try context.fetch(byPages).first)
        let id = book.persistentModelID
        let other = ModelContext(container)
        let gone = try #require(other.model(for: id) as? Book)
        context.delete(book)
        try context.save()
        #expect(gone.title == "" && gone.pages == 0)
        #expect(context.registeredModel(for: id) as Book? == nil)
    }
}
