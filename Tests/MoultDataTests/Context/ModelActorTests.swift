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
}
