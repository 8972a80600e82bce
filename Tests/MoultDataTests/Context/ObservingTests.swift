import Foundation
import MoultData
import Synchronization
import Testing

/// Who observes a model learns of changes that were not made through it.
@Suite struct ObservingTests {
    typealias Shelf = Bookshop.Shelf
    typealias Book = Bookshop.Book

    let container: ModelContainer
    let context: ModelContext

    init() throws {
        container = try Bookshop.container()
        context = ModelContext(container)
    }

    /// Whether `change` is told to who reads `value`.
    private func tells<Value>(_ value: @autoclosure () -> Value, _ change: () throws -> Void) rethrows -> Bool {
        let told = Mutex(false)
        withObservationTracking {
            _ = value()
        } onChange: {
            told.withLock { $0 = true }
        }
        try change()
        return told.withLock { $0 }
    }

    @Test func `setting a value, and no other`() {
        let book = Book("Emma")
        context.insert(book)
        #expect(tells(book.title) { book.title = "Persuasion" })
        #expect(!tells(book.title) { book.pages = 1 })
    }

    @Test func `the other end of a relationship`() {
        let (shelf, book) = (Shelf(code: "A"), Book("Emma"))
        context.insert(shelf)
        context.insert(book)
        #expect(tells(shelf.books) { book.shelf = shelf })
        #expect(!tells(shelf.room) { book.shelf = nil })
        #expect(tells(book.shelf) { shelf.books = [book] })
        #expect(
            tells(shelf.books) {
                context.delete(book)
                context.processPendingChanges()
            })
    }

    @Test func `a rollback`() throws {
        let book = Book("Emma")
        context.insert(book)
        try context.save()
        book.title = "Persuasion"
        #expect(tells(book.title) { context.rollback() })
    }

    @MainActor @Test func `what another context saves, for the main context`() throws {
        let main = container.mainContext
        let book = Book("Emma")
        main.insert(book)
        try main.save()
        let id = book.persistentModelID
        let told = try tells(book.title) {
            let other = ModelContext(container)
            (other.model(for: id) as? Book)?.title = "Persuasion"
            try other.save()
        }
        #expect(told && book.title == "Persuasion" && !main.hasChanges)
    }

    @Test func `notifications before and after a save`() throws {
        let book = Book("Emma")
        context.insert(book)
        try context.save()
        let id = book.persistentModelID
        book.title = "Persuasion"
        let posted = Mutex<[String]>([])
        let center = NotificationCenter.default
        let tokens = [ModelContext.willSave, ModelContext.didSave].map { name in
            center.addObserver(forName: name, object: context, queue: nil) { note in
                let ids = note.userInfo?[ModelContext.NotificationKey.updatedIdentifiers.rawValue]
                // Under the key itself too.
                let same = note.userInfo?[ModelContext.NotificationKey.updatedIdentifiers] as? [PersistentIdentifier]
                let isRight = ids as? [PersistentIdentifier] == [id] && same == [id]
                posted.withLock { $0.append("\(name.rawValue) \(isRight)") }
            }
        }
        try context.save()
        try context.save()
        for token in tokens { center.removeObserver(token) }
        #expect(posted.withLock { $0 } == ["NSModelContextWillSave false", "NSModelContextDidSave true"])
    }

    @MainActor @Test func `the main context saves by itself when the main actor is free`() async throws {
        container.mainContext.insert(Book("Emma"))
        for _ in 0..<100 where container.mainContext.hasChanges { await Task.yield() }
        #expect(try ModelContext(container).all(Book.self).map(\.title) == ["Emma"])
        container.mainContext.autosaveEnabled = false
        container.mainContext.insert(Book("Persuasion"))
        for _ in 0..<100 { await Task.yield() }
        #expect(container.mainContext.hasChanges)
    }
}
