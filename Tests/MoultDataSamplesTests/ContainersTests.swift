import MoultData
import Testing

@Suite struct ContainersTests {
    let store: SampleStore
    init() throws { store = try SampleStore() }

    @Model final class Note {
        var text: String
        init(text: String) { self.text = text }
    }

    @Model final class Setting {
        @Attribute(.unique) var key: String
        var value: String
        init(key: String, value: String) {
            self.key = key
            self.value = value
        }
    }

    @Test func `a container of types, with a configuration of its own`() throws {
        let container = try ModelContainer(
            for: Note.self, Setting.self, configurations: ModelConfiguration(url: store.url))
        #expect(container.schema.entities.count == 2 && container.configurations.first?.url == store.url)
        #expect(try store.sql("SELECT Z_NAME FROM Z_PRIMARYKEY ORDER BY 1").contains("Note"))
    }

    @Test func `a container of a schema, and a list of configurations`() throws {
        let schema = Schema([Note.self])
        let configuration = ModelConfiguration("Notes", schema: schema, url: store.url, allowsSave: true)
        let container = try ModelContainer(for: schema, configurations: [configuration])
        #expect(container.schema == schema && container.configurations == [configuration])
        #expect(container.migrationPlan == nil)
    }

    @Test func `a store in memory leaves no file and is empty again`() throws {
        let configuration = ModelConfiguration(isStoredInMemoryOnly: true)
        let context = ModelContext(try ModelContainer(for: Note.self, configurations: configuration))
        context.insert(Note(text: "gone"))
        try context.save()
        #expect(try context.fetchCount(FetchDescriptor<Note>()) == 1)
        let another = ModelContext(try ModelContainer(for: Note.self, configurations: configuration))
        #expect(try another.fetchCount(FetchDescriptor<Note>()) == 0)
    }

    @Test func `what was saved is there when the program starts again`() throws {
        do {
            let context = ModelContext(try store.container(Note.self))
            context.insert(Note(text: "kept"))
            try context.save()
        }
        let context = ModelContext(try store.container(Note.self))
        #expect(try context.fetch(FetchDescriptor<Note>()).map(\.text) == ["kept"])
    }

    @Test func `a store that allows no saving is read and not written`() throws {
        do {
            let context = ModelContext(try store.container(Note.self))
            context.insert(Note(text: "kept"))
            try context.save()
        }
        let configuration = ModelConfiguration(url: store.url, allowsSave: false)
        let context = ModelContext(try ModelContainer(for: Note.self, configurations: configuration))
        #expect(try context.fetchCount(FetchDescriptor<Note>()) == 1)
        context.insert(Note(text: "refused"))
        #expect(throws: (any Error).self) { try context.save() }
        #expect(try store.sql("SELECT count(*) FROM ZNOTE") == ["1"])
    }

    @Test func `two configurations keep their models in two files`() throws {
        let other = store.url.deletingLastPathComponent().appendingPathComponent("settings.store")
        let container = try ModelContainer(
            for: Schema([Note.self, Setting.self]),
            configurations: [
                ModelConfiguration("notes", schema: Schema([Note.self]), url: store.url),
                ModelConfiguration("settings", schema: Schema([Setting.self]), url: other),
            ])
        let context = ModelContext(container)
        context.insert(Note(text: "here"))
        context.insert(Setting(key: "a", value: "there"))
        try context.save()
        #expect(try store.sql("SELECT ZTEXT FROM ZNOTE") == ["here"])
        #expect(try store.sql("ATTACH '\(other.path)' AS other; SELECT ZVALUE FROM other.ZSETTING") == ["there"])
        #expect(try context.fetchCount(FetchDescriptor<Setting>()) == 1)
    }

    @MainActor @Test func `the main context is one`() throws {
        let container = try store.container(Note.self)
        #expect(container.mainContext === container.mainContext && container.mainContext.autosaveEnabled)
        container.mainContext.insert(Note(text: "main"))
        try container.mainContext.save()
        #expect(try ModelContext(container).fetchCount(FetchDescriptor<Note>()) == 1)
    }

    @Test func `deleting all data empties the store`() throws {
        let container = try store.container(Note.self)
        let context = ModelContext(container)
        context.insert(Note(text: "a"))
        try context.save()
        container.deleteAllData()
        #expect(try ModelContext(container).fetchCount(FetchDescriptor<Note>()) == 0)
    }

    @Test func `CloudKit may be named and is not used`() throws {
        let configuration = ModelConfiguration(url: store.url, cloudKitDatabase: .private("iCloud.com.example.notes"))
        _ = try ModelContainer(for: Note.self, configurations: configuration)
        #expect(configuration.cloudKitContainerIdentifier == "iCloud.com.example.notes")
    }

    @Test func `a unique model is refused with a CloudKit database, as SwiftData refuses it`() throws {
        let mirrored = ModelConfiguration(url: store.url, cloudKitDatabase: .private("iCloud.com.example.notes"))
        let error = #expect(throws: SwiftDataError.self) {
            try ModelContainer(for: Note.self, Setting.self, configurations: mirrored)
        }
        #expect(error == .loadIssueModelContainer && error?.message.contains("Setting (key)") == true)
        #expect(!FileManager.default.fileExists(atPath: store.url.path))
        let own = ModelConfiguration("own", schema: Schema([Setting.self]), isStoredInMemoryOnly: true)
        let notes = ModelConfiguration(
            "notes", schema: Schema([Note.self]), url: store.url, cloudKitDatabase: .private("iCloud.com.example.notes")
        )
        _ = try ModelContainer(for: Schema([Note.self, Setting.self]), configurations: [own, notes])
    }

    @Test func `a container is opened off the caller's actor`() async throws {
        let configuration = ModelConfiguration(url: store.url)
        do {
            let container = try await ModelContainer.open(for: Schema([Note.self]), configurations: configuration)
            let context = ModelContext(container)
            context.insert(Note(text: "a"))
            try context.save()
        }
        let again = try await ModelContainer.open(for: Schema([Note.self]), configurations: configuration)
        #expect(try ModelContext(again).fetchCount(FetchDescriptor<Note>()) == 1)
        try Data("my diary".utf8).write(to: store.url.appendingPathExtension("other"))
        let other = ModelConfiguration(url: store.url.appendingPathExtension("other"))
        await #expect(throws: SwiftDataError.loadIssueModelContainer) {
            _ = try await ModelContainer.open(for: Schema([Note.self]), configurations: other)
        }
    }

    @Test func `a file that is no store is refused with SwiftData's name for it, and left alone`() throws {
        let text = Data("my diary".utf8)
        try text.write(to: store.url)
        #expect(throws: SwiftDataError.loadIssueModelContainer) { try store.container(Note.self) }
        #expect(try Data(contentsOf: store.url) == text)
    }
}
