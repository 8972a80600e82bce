import MoultData
import Testing

@ModelActor actor BookImporter {
    func add(_ titles: [String]) throws -> [PersistentIdentifier] {
        let books = titles.map { Bookshop.Book($0) }
        for book in books { modelContext.insert(book) }
        try modelContext.save()
        return books.map(\.persistentModelID)
    }

    func title(_ id: PersistentIdentifier) -> String? { self[id, as: Bookshop.Book.self]?.title }
    func isShelf(_ id: PersistentIdentifier) -> Bool { self[id, as: Bookshop.Shelf.self] != nil }
}

@Suite struct ModelActorTests {
    @Test func `actors work side by side, each with a context of its own`() async throws {
        let container = try Bookshop.container()
        let importers = (0..<4).map { _ in BookImporter(modelContainer: container) }
        let ids = try await withThrowingTaskGroup(of: [PersistentIdentifier].self) { group in
            for (number, importer) in importers.enumerated() {
                group.addTask { try await importer.add((0..<50).map { "\(number)-\($0)" }) }
            }
            return try await group.reduce(into: []) { $0 += $1 }
        }
        #expect(Set(ids).count == 200)
        #expect(try ModelContext(container).fetchCount(FetchDescriptor<Bookshop.Book>()) == 200)
        let title = await importers[0].title(ids[199])
        #expect(title?.hasSuffix("-49") == true)
        #expect(await !importers[0].isShelf(ids[0]))
    }

    @Test func `an actor whose executor promises no order does one thing after the other all the same`() async throws {
        let clerk = Clerk(try Bookshop.container())
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<200 { group.addTask { await clerk.addPage() } }
        }
        #expect(try await clerk.pages() == 200)
    }
}

/// Runs nothing itself: it is not asked to.
private final class LooseExecutor: ModelExecutor, @unchecked Sendable {
    let modelContext: ModelContext
    init(_ container: ModelContainer) { modelContext = ModelContext(container) }
    func enqueue(_ job: consuming ExecutorJob) { Issue.record("it was asked") }
}

private actor Clerk: ModelActor {
    nonisolated let modelContainer: ModelContainer
    nonisolated let modelExecutor: any ModelExecutor
    private var book: Bookshop.Book?

    init(_ container: ModelContainer) {
        modelContainer = container
        modelExecutor = LooseExecutor(container)
    }

    func addPage() {
        let book = book ?? Bookshop.Book("Ledger", pages: 0)
        self.book = book
        modelContext.insert(book)
        book.pages += 1
    }

    func pages() throws -> Int {
        try modelContext.save()
        return try ModelContext(modelContainer).fetch(FetchDescriptor<Bookshop.Book>()).reduce(0) { $0 + $1.pages }
    }
}
