import Foundation
import SwiftData
import Testing

/// One use of a context or a fetch for each test.
@Suite struct ContextIdioms {
    let store: Store
    var context: ModelContext { store.context }
    init() throws { store = try Store() }

    @Test func fetchAll() throws { #expect(try context.fetch(FetchDescriptor<Book>()).count == 3) }
    @Test func fetchCount() throws { #expect(try context.fetchCount(FetchDescriptor<Author>()) == 2) }
    @Test func fetchIdentifiers() throws {
        #expect(try context.fetchIdentifiers(FetchDescriptor<Author>()).count == 2)
    }
    @Test func fetchIdentifiersInBatches() throws {
        #expect(try context.fetchIdentifiers(FetchDescriptor<Author>(), batchSize: 1).count == 2)
    }
    @Test func fetchInBatches() throws {
        #expect(try context.fetch(FetchDescriptor<Book>(), batchSize: 2).map(\.pages).reduce(0, +) == 1150)
    }
    @Test func fetchLimit() throws {
        var descriptor = FetchDescriptor<Book>(sortBy: [SortDescriptor(\.pages)])
        descriptor.fetchLimit = 1
        #expect(try context.fetch(descriptor).map(\.title) == ["Persuasion"])
    }
    @Test func fetchOffset() throws {
        var descriptor = FetchDescriptor<Book>(sortBy: [SortDescriptor(\.pages)])
        descriptor.fetchOffset = 2
        #expect(try context.fetch(descriptor).map(\.title) == ["Germinal"])
    }
    @Test func propertiesToFetch() throws {
        var descriptor = FetchDescriptor<Book>()
        descriptor.propertiesToFetch = [\.title, \.pages]
        #expect(Set(try context.fetch(descriptor).map(\.title)).count == 3)
    }
    @Test func prefetching() throws {
        var descriptor = FetchDescriptor<Author>()
        descriptor.relationshipKeyPathsForPrefetching = [\.books]
        #expect(try context.fetch(descriptor).flatMap(\.books).count == 3)
    }
    @Test func pendingChangesAreIncluded() throws {
        context.insert(Book(title: "New"))
        #expect(try context.fetchCount(FetchDescriptor<Book>()) == 4)
    }
    @Test func pendingChangesAreLeftOut() throws {
        context.insert(Book(title: "New"))
        var descriptor = FetchDescriptor<Book>()
        descriptor.includePendingChanges = false
        #expect(try context.fetchCount(descriptor) == 3)
    }
    @Test func sortForward() throws {
        #expect(try store.titles(nil, SortDescriptor(\.pages)) == ["Persuasion", "Emma", "Germinal"])
    }
    @Test func sortReverse() throws {
        #expect(try store.titles(nil, SortDescriptor(\Book.pages, order: .reverse)).first == "Germinal")
    }
    @Test func sortByTwo() throws {
        let titles = try store.titles(nil, SortDescriptor(\.author?.name), SortDescriptor(\.pages, order: .reverse))
        #expect(titles == ["Germinal", "Emma", "Persuasion"])
    }
    @Test func sortWithComparator() throws {
        #expect(try store.titles(nil, SortDescriptor(\Book.title, comparator: .localizedStandard)).first == "Emma")
    }
    @Test func sortLexical() throws {
        #expect(try store.titles(nil, SortDescriptor(\Book.title, comparator: .lexical)).last == "Persuasion")
    }
    @Test func sortByOptional() throws {
        #expect(try store.titles(nil, SortDescriptor(\.rating), SortDescriptor(\.pages)).count == 3)
    }
    @Test func sortByDate() throws {
        #expect(try store.titles(nil, SortDescriptor(\Book.published, order: .reverse)).count == 3)
    }
    @Test func implicitSortDescriptor() throws {
        let descriptor = FetchDescriptor<Book>(sortBy: [.init(\.title, order: .reverse)])
        #expect(try context.fetch(descriptor).first?.title == "Persuasion")
    }
    @Test func sortingInMemory() throws {
        let books = try context.fetch(FetchDescriptor<Book>()).sorted(using: KeyPathComparator(\.pages))
        #expect(books.map(\.pages) == [250, 400, 500])
    }
    @Test func enumerate() throws {
        var pages = 0
        try context.enumerate(FetchDescriptor<Book>()) { pages += $0.pages }
        #expect(pages == 1150)
    }
    @Test func enumerateInBatches() throws {
        var titles: [String] = []
        try context.enumerate(FetchDescriptor<Book>(sortBy: [SortDescriptor(\.title)]), batchSize: 2) {
            titles.append($0.title)
        }
        #expect(titles.count == 3)
    }
    @Test func enumerateWithMutations() throws {
        try context.enumerate(FetchDescriptor<Book>(), batchSize: 1, allowEscapingMutations: true) { $0.isRead = true }
        try context.save()
        #expect(try store.titles(#Predicate { $0.isRead }).count == 3)
    }
    @Test func insertAndSave() throws {
        context.insert(Book(title: "Nana", pages: 480))
        #expect(context.hasChanges)
        try context.save()
        #expect(!context.hasChanges)
    }
    @Test func insertReturnsTheModel() throws {
        let book = Book(title: "Nana")
        context.insert(book)
        #expect(book.modelContext === context && book.hasChanges)
    }
    @Test func insertWithRelated() throws {
        let author = Author(name: "Anne")
        author.books = [Book(title: "Agnes Grey"), Book(title: "Villette")]
        context.insert(author)
        try context.save()
        #expect(try context.fetchCount(FetchDescriptor<Book>()) == 5)
    }
    @Test func childOfAModelOfTheContext() throws {
        let author = try #require(try context.fetch(FetchDescriptor<Author>()).first)
        author.books.append(Book(title: "New"))
        try context.save()
        #expect(try context.fetchCount(FetchDescriptor<Book>()) == 4)
    }
    @Test func update() throws {
        try store.book("Emma").pages += 1
        try context.save()
        #expect(try ModelContext(store.container).fetch(FetchDescriptor<Book>()).contains { $0.pages == 401 })
    }
    @Test func delete() throws {
        context.delete(try store.book("Emma"))
        try context.save()
        #expect(try store.titles() == ["Germinal", "Persuasion"])
    }
    @Test func deleteAllOfAModel() throws {
        try context.delete(model: Book.self)
        try context.save()
        #expect(try context.fetchCount(FetchDescriptor<Book>()) == 0)
    }
    @Test func deleteWhere() throws {
        try context.delete(model: Book.self, where: #Predicate { $0.pages > 300 })
        try context.save()
        #expect(try store.titles() == ["Persuasion"])
    }
    @Test func deleteWithSubclasses() throws {
        try context.delete(model: Book.self, where: .true, includeSubclasses: true)
        #expect(try context.fetchCount(FetchDescriptor<Book>()) == 0)
    }
    @Test func deleteAllData() throws {
        store.container.deleteAllData()
        #expect(try ModelContext(store.container).fetchCount(FetchDescriptor<Book>()) == 0)
    }
    @Test func erase() throws {
        try store.container.erase()
        #expect(try ModelContext(store.container).fetchCount(FetchDescriptor<Author>()) == 0)
    }
    @Test func cascade() throws {
        let jane = try #require(try store.book("Emma").author)
        context.delete(jane)
        try context.save()
        #expect(try store.titles() == ["Germinal"])
    }
    @Test func isDeleted() throws {
        let book = try store.book("Emma")
        context.delete(book)
        #expect(book.isDeleted && context.deletedModelsArray.count == 1)
    }
    @Test func rollback() throws {
        let book = try store.book("Emma")
        book.pages = 1
        context.insert(Book(title: "New"))
        context.rollback()
        #expect(book.pages == 400 && !context.hasChanges)
    }
    @Test func transaction() throws {
        try context.transaction {
            context.insert(Book(title: "One"))
            context.insert(Book(title: "Two"))
        }
        #expect(!context.hasChanges)
        #expect(try context.fetchCount(FetchDescriptor<Book>()) == 5)
    }
    @Test func changedModels() throws {
        try store.book("Emma").pages = 1
        context.insert(Book(title: "New"))
        #expect(context.changedModelsArray.count == 1 && context.insertedModelsArray.count == 1)
    }
    @Test func modelForIdentifier() throws {
        let id = try store.book("Emma").persistentModelID
        #expect((ModelContext(store.container).model(for: id) as? Book)?.title == "Emma")
    }
    @Test func registeredModel() throws {
        let book = try store.book("Emma")
        let found: Book? = context.registeredModel(for: book.persistentModelID)
        let other: Book? = ModelContext(store.container).registeredModel(for: book.persistentModelID)
        #expect(found === book && other == nil)
    }
    @Test func oneModelForARow() throws { #expect(try store.book("Emma") === store.book("Emma")) }
    @Test func temporaryIdentifier() throws {
        let book = Book(title: "New")
        context.insert(book)
        #expect(book.persistentModelID.storeIdentifier == nil)
        try context.save()
        #expect(book.persistentModelID.storeIdentifier != nil && book.persistentModelID.entityName == "Book")
    }
    @Test func identifierIsCodable() throws {
        let id = try store.book("Emma").persistentModelID
        let data = try JSONEncoder().encode(id)
        #expect(try JSONDecoder().decode(PersistentIdentifier.self, from: data) == id)
    }
    @Test func identifiable() throws {
        let book = try store.book("Emma")
        #expect(book.id == book.persistentModelID && Set([book]).contains(book))
    }
    @Test func upsert() throws {
        context.insert(Author(name: "Jane", born: .distantPast))
        try context.save()
        let authors = try context.fetch(FetchDescriptor<Author>(predicate: #Predicate { $0.name == "Jane" }))
        #expect(authors.map(\.born) == [.distantPast])
    }
    @Test func autosave() throws {
        context.autosaveEnabled = true
        context.autosaveEnabled = false
        #expect(!context.autosaveEnabled)
    }
    @Test func author() throws {
        context.author = "import"
        #expect(context.author == "import")
    }
    @Test func contextOfContainer() { #expect(context.container == store.container) }
    @MainActor @Test func mainContext() throws {
        let main = store.container.mainContext
        #expect(main === store.container.mainContext)
        #expect(try main.fetchCount(FetchDescriptor<Book>()) == 3)
    }
    @Test func willSaveIsPosted() throws {
        nonisolated(unsafe) var posted = 0
        let observers = [ModelContext.willSave, ModelContext.didSave].map { name in
            NotificationCenter.default.addObserver(forName: name, object: context, queue: nil) { _ in posted += 1 }
        }
        context.insert(Book(title: "New"))
        try context.save()
        for observer in observers { NotificationCenter.default.removeObserver(observer) }
        #expect(posted == 2)
    }
    @Test func didSaveHasIdentifiers() throws {
        nonisolated(unsafe) var inserted: [PersistentIdentifier] = []
        let observer = NotificationCenter.default.addObserver(
            forName: ModelContext.didSave, object: context, queue: nil
        ) { notification in
            let key = ModelContext.NotificationKey.insertedIdentifiers.rawValue
            inserted = notification.userInfo?[key] as? [PersistentIdentifier] ?? []
        }
        context.insert(Book(title: "New"))
        try context.save()
        NotificationCenter.default.removeObserver(observer)
        #expect(inserted.map(\.entityName) == ["Book"])
    }
    @Test func undoManagerIsNil() { #expect(context.undoManager == nil) }
    @Test func undoManager() throws {
        context.undoManager = UndoManager()
        context.insert(Book(title: "New"))
        context.undoManager?.undo()
        #expect(try context.fetchCount(FetchDescriptor<Book>()) == 3)
        context.undoManager?.redo()
        #expect(try context.fetchCount(FetchDescriptor<Book>()) == 4)
    }
    @Test func resultsObserver() throws {
        let observer = try ResultsObserver<Book, Never>(
            filterBy: #Predicate { $0.pages > 300 }, sortBy: [SortDescriptor(\.title)], modelContext: context)
        let before = observer.results.count
        context.insert(Book(title: "New", pages: 301))
        #expect(observer.results.count == before + 1)
    }
    @Test func sectionedResults() throws {
        let observer = try ResultsObserver<Book, String>(sectionBy: \.title, modelContext: context)
        #expect(observer.sections?.sectionTitles.count == 3)
        #expect(observer.sections?[sectionTitle: "Persuasion"]?.count == 1)
    }
    @Test func historyObserver() throws {
        let observer = try HistoryObserver(observedModels: [Book.self], modelContainer: store.container)
        context.insert(Book(title: "New"))
        try context.save()
        #expect(observer.eventCounter == 1)
    }
    @Test func editingState() {
        context.editingState.author = "importer"
        #expect(context.author == "importer")
    }
}
