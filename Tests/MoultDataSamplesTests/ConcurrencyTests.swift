import MoultData
import Testing

@Suite struct ConcurrencyTests {
    @Model final class Entry {
        var text: String
        init(text: String) { self.text = text }
    }

    @ModelActor actor Importer {
        func add(_ texts: [String]) throws -> Int {
            for text in texts { modelContext.insert(Entry(text: text)) }
            try modelContext.save()
            return try modelContext.fetchCount(FetchDescriptor<Entry>())
        }

        func shout(_ id: PersistentIdentifier) throws {
            guard let entry = self[id, as: Entry.self] else { return }
            entry.text = entry.text.uppercased()
            try modelContext.save()
        }
    }

    private func container() throws -> ModelContainer {
        try ModelContainer(for: Entry.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true))
    }

    @Test func `an actor works on a context of its own`() async throws {
        let container = try container()
        let importer = Importer(modelContainer: container)
        #expect(try await importer.add(["a", "b"]) == 2)
        #expect(try ModelContext(container).fetchCount(FetchDescriptor<Entry>()) == 2)
    }

    @Test func `an identifier goes from actor to actor`() async throws {
        let container = try container()
        let importer = Importer(modelContainer: container)
        _ = try await importer.add(["quiet"])
        let id = try #require(try ModelContext(container).fetchIdentifiers(FetchDescriptor<Entry>()).first)
        try await importer.shout(id)
        #expect(try ModelContext(container).fetch(FetchDescriptor<Entry>()).map(\.text) == ["QUIET"])
    }

    @Test func `many tasks share a container`() async throws {
        let container = try container()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 1...8 {
                group.addTask {
                    let context = ModelContext(container)
                    context.insert(Entry(text: "\(number)"))
                    try context.save()
                }
            }
            try await group.waitForAll()
        }
        #expect(try ModelContext(container).fetchCount(FetchDescriptor<Entry>()) == 8)
    }

    @MainActor @Test func `the main context and a background actor`() async throws {
        let container = try container()
        let importer = Importer(modelContainer: container)
        _ = try await importer.add(["from the actor"])
        let entries = try container.mainContext.fetch(FetchDescriptor<Entry>())
        #expect(entries.map(\.text) == ["from the actor"])
    }
}
