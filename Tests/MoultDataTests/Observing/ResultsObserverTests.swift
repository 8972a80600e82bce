import Foundation
import MoultData
import Observation
import Synchronization
import TestSupport
import Testing

/// A model that the container does not have.
@Model final class Outsider {
    var name = ""
    init() {}
}

/// What an observer shows is what a fetch finds, and who reads it is told when that changes.
@Suite struct ResultsObserverTests {  // tier: long
    typealias Book = Bookshop.Book
    typealias Shelf = Bookshop.Shelf

    let container: ModelContainer
    let context: ModelContext

    init() throws {
        container = try Bookshop.container()
        context = ModelContext(container)
    }

    /// Whether anybody was told since `reading`.
    private final class Told: Sendable {
        private let isTold = Mutex(false)
        var value: Bool { isTold.withLock { $0 } }

        func reading<Result>(_ read: () -> Result) -> Result {
            isTold.withLock { $0 = false }
            return withObservationTracking(read) { [self] in isTold.withLock { $0 = true } }
        }
    }

    private func observer(_ told: Told = Told()) throws -> ResultsObserver<Book, Never> {
        try ResultsObserver<Book, Never>(
            filterBy: #Predicate { $0.pages >= 100 }, sortBy: [SortDescriptor(\.title)], modelContext: context)
    }

    @Test func `changes of the context show before and after its save`() throws {
        let observer = try observer()
        let told = Told()
        func titles() -> [String] { told.reading { observer.results.map(\.title) } }
        #expect(titles().isEmpty)
        let book = Book("Emma", pages: 474)
        context.insert(book)
        #expect(told.value && titles() == ["Emma"])
        context.insert(Book("Leaflet", pages: 2))
        #expect(titles() == ["Emma"])
        book.title = "Sanditon"
        #expect(told.value && titles() == ["Sanditon"])
        book.pages = 50
        #expect(told.value && titles().isEmpty)
        book.pages = 500
        try context.save()
        #expect(titles() == ["Sanditon"] && !told.value)
        context.delete(book)
        #expect(told.value && titles().isEmpty)
        context.rollback()
        #expect(told.value && titles() == ["Sanditon"])
    }

    @Test func `an erased container shows`() throws {
        context.insert(Book("Emma", pages: 474))
        try context.save()
        let observer = try observer()
        let told = Told()
        #expect(told.reading { observer.results.map(\.title) } == ["Emma"])
        try container.erase()
        #expect(told.value && observer.results.isEmpty)
    }

    @Test func `saves of another context show`() throws {
        let observer = try observer()
        let told = Told()
        #expect(told.reading { observer.results.isEmpty })
        let other = ModelContext(container)
        let book = Book("Emma", pages: 474)
        other.insert(book)
        #expect(!told.value)
        try other.save()
        #expect(told.value && told.reading { observer.results.map(\.title) } == ["Emma"])
        book.title = "Persuasion"
        try other.save()
        #expect(told.value && told.reading { observer.results.map(\.title) } == ["Persuasion"])
        other.delete(book)
        try other.save()
        #expect(told.value && observer.results.isEmpty)
    }

    @Test func `sections come in the order of their titles, each in the order that is asked for`() throws {
        for (title, room) in [("B", "attic"), ("A", "hall"), ("C", "attic")] {
            context.insert(Shelf(code: title, room: room))
        }
        let observer = try ResultsObserver<Shelf, String>(
            sortBy: [SortDescriptor(\.code, order: .reverse)], sectionBy: \.room, modelContext: context)
        var sections = try #require(observer.sections)
        #expect(sections.sectionTitles == ["attic", "hall"])
        #expect(sections.map { $0.map(\.code) } == [["C", "B"], ["A"]] && sections.map(\.id) == ["attic", "hall"])
        #expect(observer.results.map(\.code) == ["C", "B", "A"])
        #expect(sections[sectionTitle: "hall"]?.count == 1 && sections[sectionTitle: "cellar"] == nil)
        observer.sortBy = [SortDescriptor(\.code)]
        observer.filterBy = #Predicate { $0.room == "attic" }
        sections = try #require(observer.sections)
        #expect(sections.map { $0.map(\.code) } == [["B", "C"]] && observer.sortBy?.count == 1)
        #expect(observer.sectionBy == \Shelf.room)
    }

    @Test func `a missing title is an empty one`() throws {
        let book = Book("Emma")
        book.isbn = "1"
        for one in [book, Book("Persuasion")] { context.insert(one) }
        let observer = try ResultsObserver<Book, String>(sectionBy: \.isbn, modelContext: context)
        #expect(observer.sections?.sectionTitles == ["", "1"])
        #expect(try ResultsObserver<Book, Never>(modelContainer: container).sections == nil)
    }

    @Test func `an observer that nobody has is gone`() throws {
        weak var gone: ResultsObserver<Book, Never>?
        do {
            let observer = try observer()
            gone = observer
            _ = observer.results
        }
        #expect(gone == nil)
        context.insert(Book("Emma"))
        try context.save()
    }

    @Test func `what cannot be fetched is refused at once`() throws {
        #expect(throws: (any Error).self) {
            try ResultsObserver<Outsider, Never>(modelContext: context)
        }
    }

    @Test(arguments: UInt64(1)...4)
    func `after random changes it shows what a fetch finds, and tells of it before`(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let observer = try observer()
        let told = Told()
        let descriptor = observer.fetchDescriptor
        let other = ModelContext(container)
        var seen = told.reading { observer.results.map(\.title) }
        for number in 0..<300 {
            let actor = Bool.random(using: &generator) ? context : other
            let books = try actor.fetch(FetchDescriptor<Book>())
            switch Int.random(in: 0..<8, using: &generator) {
            case 0, 1: actor.insert(Book("Book \(number)", pages: Int.random(in: 50..<200, using: &generator)))
            case 2: books.randomElement(using: &generator)?.pages = Int.random(in: 50..<200, using: &generator)
            case 3: books.randomElement(using: &generator)?.title = "Title \(number)"
            case 4: if let book = books.randomElement(using: &generator) { actor.delete(book) }
            case 5: actor.rollback()
            // Both may have changed one book: then the loser gives up.
            default: do { try actor.save() } catch { actor.rollback() }
            }
            let found = try context.fetch(descriptor).map(\.title)
            #expect(found == seen || told.value, "nobody was told in round \(number)")
            seen = told.reading { observer.results.map(\.title) }
            #expect(seen == found, "round \(number)")
        }
    }
}

@Suite struct HistoryObserverTests {
    typealias Book = Bookshop.Book
    typealias Tag = Bookshop.Tag

    private let folder: ScratchFolder
    private let container: ModelContainer

    init() throws {
        folder = try ScratchFolder()
        container = try ModelContainer(
            for: Schema(versionedSchema: Bookshop.self),
            configurations: ModelConfiguration(url: URL(fileURLWithPath: folder.path + "/Bookshop.store")))
    }

    private func save(_ model: any PersistentModel, author: String? = nil) throws {
        let context = ModelContext(container)
        context.author = author
        context.insert(model)
        try context.save()
    }

    @Test func `it counts the saves that bring what is observed`() throws {
        try save(Book("Before"))
        let all = try HistoryObserver(modelContainer: container)
        let books = try HistoryObserver(observedModels: [Book.self], modelContainer: container)
        let imports = try HistoryObserver(authors: ["import"], modelContainer: container)
        #expect(all.eventCounter == 0)
        let told = Mutex(false)
        withObservationTracking {
            _ = books.eventCounter
        } onChange: {
            told.withLock { $0 = true }
        }
        try save(Tag("old"))
        #expect(!told.withLock { $0 })
        try save(Book("Emma"), author: "import")
        #expect(told.withLock { $0 })
        try save(Book("Persuasion"), author: "app")
        #expect(all.eventCounter == 3 && books.eventCounter == 2 && imports.eventCounter == 1)
    }

    @Test func `it goes on from tokens, and says how far it is`() throws {
        let first = try HistoryObserver(modelContainer: container)
        let tokens = first.historyTokens
        try save(Book("Emma"))
        let second = try HistoryObserver(historyTokens: tokens, modelContainer: container)
        #expect(second.eventCounter == 1)
        let third = try HistoryObserver(historyTokens: second.historyTokens, modelContainer: container)
        #expect(third.eventCounter == 0)
        try save(Book("Persuasion"))
        #expect([first, second, third].map(\.eventCounter) == [2, 2, 1])
        let transactions = try ModelContext(container).fetchHistory(HistoryDescriptor<DefaultHistoryTransaction>())
        let store = try #require(transactions.first?.storeIdentifier)
        #expect((third.historyTokens[store] as? DefaultHistoryToken) == transactions.last?.token)
    }

    @Test func `a model of another schema is refused`() throws {
        #expect(throws: SwiftDataError.self) {
            try HistoryObserver(observedModels: [Outsider.self], modelContainer: container)
        }
    }
}
